"""The picture of what speculation does, on a terminal and elsewhere."""

import os
import re
import subprocess
import sys

import pytest
from command import PROMPT
from fixture_data import SHALLOW

from dflash_mlx import Chunk, Statistics
from dflash_mlx.cli.answer import GREEN, RESET, YELLOW, JsonLines, Text

pty = pytest.importorskip("pty")


def chunk(*pieces: str, accepted: int = 0) -> Chunk:
    return Chunk(
        text="".join(pieces),
        thinking="",
        pieces=pieces,
        token_ids=tuple(range(len(pieces))),
        drafted=(),
        accepted=accepted,
        finish_reason=None,
        statistics=Statistics(),
    )


def on_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code and all that a terminal would show, of a real command whose three streams are one terminal."""
    ours, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLORTERM")}
    process = subprocess.Popen(
        [sys.executable, "-c", "from dflash_mlx.cli import main; main()", *arguments, "--model", str(SHALLOW)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=inherited | {"TERM": "xterm-256color"} | environment,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def expected(demo, before: str, between: str, after: str) -> str:
    """The demo's answer with accepted drafts between `before` and `between`, the target's own up to `after`."""
    picture = ""
    for part in demo.stream(PROMPT, block_size=4):
        accepted, own = "".join(part.pieces[: part.accepted]), "".join(part.pieces[part.accepted :])
        picture += f"{before}{accepted}{between}" * bool(accepted) + own.join(after) * bool(own)
    return picture


def test_brackets_mark_accepted_drafts_where_there_are_no_colours(run, demo):
    code, out, err = run("generate", PROMPT, "--show-drafts", "--block-size", "4")
    brackets = re.compile(r"\[(.*?)\]", re.DOTALL)
    assert code == 0 and brackets.search(out)
    assert brackets.sub(r"\1", out) == demo.generate(PROMPT).text + "\n"
    assert err.startswith("[in brackets]: drafts that the target accepted; outside: the target's own tokens\n")


def test_colours_tell_origins_apart_on_a_terminal(demo):
    code, shown = on_a_terminal("generate", PROMPT, "--show-drafts", "--block-size", "4")
    picture = ""
    for part in demo.stream(PROMPT, block_size=4):
        runs = (GREEN, part.pieces[: part.accepted]), (YELLOW, part.pieces[part.accepted :])
        picture += "".join(f"{colour}{''.join(pieces)}{RESET}" for colour, pieces in runs if "".join(pieces))
    assert code == 0
    assert f"green: drafts that the target accepted; yellow: the target's own tokens\n{picture}\n" in shown


def test_no_color_is_heeded_on_a_terminal(run):
    code, shown = on_a_terminal("generate", PROMPT, "--show-drafts", "--block-size", "4", NO_COLOR="1")
    assert code == 0
    assert GREEN not in shown and YELLOW not in shown
    assert run("generate", PROMPT, "--show-drafts", "--block-size", "4").out in shown


def test_progress_is_gone_before_the_text_starts(demo):
    _, shown = on_a_terminal("generate", PROMPT)
    before, _, after = shown.partition(demo.generate(PROMPT).text)
    assert "loading" in before and before.endswith("\x1b[2K")  # the display's last act is to erase its line
    assert "loading" not in after


def test_quiet_shows_no_progress_on_a_terminal(demo):
    assert on_a_terminal("generate", PROMPT, "--quiet") == (0, demo.generate(PROMPT).text + "\n")


def test_show_drafts_without_a_drafter_marks_nothing(run, demo):
    code, out, err = run("generate", PROMPT, "--show-drafts", "--drafter", "none")
    assert (code, out) == (0, demo.generate(PROMPT).text + "\n")
    assert "nothing was drafted: try --block-size 4" in err and "brackets" not in err


def test_newlines_wide_characters_and_markup_survive_the_picture(capsys):
    text = Text(show_drafts=True, show_thinking=False, quiet=True)
    text.chunk(chunk("日本", "\n[bold]", "👩‍👩‍👧", "é", accepted=3))
    text.finish("stop", None)
    assert capsys.readouterr().out == "[日本]\n[[bold]👩‍👩‍👧]é\n"


def test_a_model_does_not_command_the_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    text = Text(show_drafts=False, show_thinking=False, quiet=True)
    text.chunk(chunk("a\x1b[2Jb\x07\x9b1m\tc\n"))
    assert capsys.readouterr().out == "a␛[2Jb␇\ufffd1m\tc\n"


def test_a_pipe_gets_every_byte_that_the_model_wrote(capsys):
    Text(show_drafts=False, show_thinking=False, quiet=True).chunk(chunk("a\x1b[2Jb\x07"))
    assert capsys.readouterr().out == "a\x1b[2Jb\x07"


def test_json_survives_any_text(capsys):
    JsonLines().chunk(chunk('"\\\n\u2028\x1b日'))
    [line] = capsys.readouterr().out.splitlines()
    assert line.isascii()
