"""The question before a large download: asked once, on a terminal, and never elsewhere."""

import io

import pytest

from dflash_mlx.cli import download
from dflash_mlx.errors import RequestError
from dflash_mlx.loading import hub


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TypedNo(io.BytesIO):
    """A terminal on which somebody said no."""

    def __init__(self) -> None:
        super().__init__(b"n\n")

    def isatty(self) -> bool:
        return True


@pytest.fixture
def ask(monkeypatch, capfd):
    """Asks; gives what was said, and fails as the command would."""

    def ask(answer: str, size: int, *, terminal: bool = True, yes: bool = False) -> str:
        monkeypatch.setattr(hub, "to_download", lambda target, drafter: {"owner/target": size, "owner/drafter": 2 * 10**9})
        monkeypatch.setattr("sys.stdin", Terminal(answer) if terminal else io.StringIO(answer))
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        download.ask_to_download("owner/target", "auto", yes)
        return capfd.readouterr().err

    return ask


@pytest.mark.parametrize("answer", ["\n", "y\n", "Yes\n"])
def test_the_question_says_what_how_big_and_how_long(ask, answer):
    said = ask(answer, 16 * 10**9)
    assert "owner/target, 16.0 GB" in said and "owner/drafter, 2.0 GB" in said
    assert "Download 18.0 GB, about 24 min at 100 Mbit/s?" in said  # 18e9 bytes * 8 / 100e6 bit/s = 1440 s


@pytest.mark.parametrize("answer", ["n\n", "no\n", "", "what?\n"])
def test_anything_but_yes_downloads_nothing(ask, answer):
    with pytest.raises(RequestError, match="nothing was downloaded"):
        ask(answer, 16 * 10**9)


def test_without_a_terminal_or_with_yes_nothing_is_asked(ask):
    assert ask("n\n", 16 * 10**9, terminal=False) == ask("n\n", 16 * 10**9, yes=True) == ""


def test_what_is_small_or_there_is_not_asked_for(monkeypatch, capfd):
    for missing in ({}, {"owner/target": 3 * 10**8}):
        monkeypatch.setattr(hub, "to_download", lambda target, drafter, missing=missing: missing)
        monkeypatch.setattr("sys.stdin", Terminal("n\n"))
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        download.ask_to_download("owner/target", "auto", False)
    assert capfd.readouterr().err == ""


CONVERSIONS = [
    ("target owner/target", ("owner/target", None)),
    ("drafter owner/drafter", (None, "owner/drafter")),
    ("drafter owner/drafter --target owner/target", ("owner/target", "owner/drafter")),
    ("pair owner/target", ("owner/target", "auto")),
]


@pytest.mark.parametrize(("arguments", "wanted"), CONVERSIONS, ids=[arguments for arguments, _ in CONVERSIONS])
def test_convert_asks_for_what_it_would_download(run, monkeypatch, tmp_path, arguments, wanted):
    asked = []
    monkeypatch.setattr(hub, "to_download", lambda *names: asked.append(names) or {"owner/target": 16 * 10**9})
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    command = ["convert", *arguments.split(), "-o", str(tmp_path / "result")]
    code, out, err = run(*command, stdin=TypedNo())
    assert (code, out, asked) == (2, "", [wanted])
    assert "Download 16.0 GB" in err and "nothing was downloaded" in err
    assert "Download" not in run(*command, "--yes", stdin=TypedNo()).err
    assert asked == [wanted]
