"""The maker of the demo pair where torch is missing; training itself takes most of an hour."""

import sys
from pathlib import Path

import pytest

from dflash_mlx.bench.demo_pair import __main__ as maker


def test_without_torch_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(maker, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["demo_pair", "--out", str(tmp_path / "pair")])
    with pytest.raises(SystemExit, match="2"):
        maker.main()
    assert "torch is not installed here: pip install -e '.[demo-pair]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
