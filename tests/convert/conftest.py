"""What the tests of conversion share."""

import pytest

from dflash_mlx.convert import check


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less text than for models that people use."""
    monkeypatch.setattr(check, "TOKENS", 24)
    monkeypatch.setattr(check, "ANSWER", 6)
    monkeypatch.setattr(check, "PROMPTS", check.PROMPTS[::2])
