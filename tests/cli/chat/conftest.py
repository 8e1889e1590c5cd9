"""Each test has chats of its own: what one leaves would be offered to the next."""

import json
import shutil
from pathlib import Path

import pytest
from fixture_data import SHALLOW


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo pair with a context of 512 tokens."""
    folder = Path(shutil.copytree(SHALLOW, tmp_path_factory.mktemp("small") / "demo"))
    config = json.loads((folder / "target" / "config.json").read_text())
    (folder / "target" / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
    return folder
