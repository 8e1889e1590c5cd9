"""What stdout and stderr get from the command itself, on a terminal and elsewhere."""

import io
import os
import sys

import pytest
from terminal import Screen

from dflash_mlx.cli.render import folded

pexpect = pytest.importorskip("pexpect")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_are_broken_between_words_on_a_terminal_and_nowhere_else(monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    text = "a line that is longer than a terminal is wide\n\nshort --model NAME\n/a/path/that/is/longer/than/that\n"
    told = "a line that is longer\nthan a terminal is wide\n\nshort --model NAME\n/a/path/that/is/longer/than/that\n"
    assert folded(text, Terminal()) == told
    assert folded(text, io.StringIO()) == text


def test_a_name_in_a_note_does_not_command_the_terminal():
    assert folded("no folder \x1b[2J.\n", Terminal()) == "no folder ␛[2J.\n"


DUMB = [(command, 60, "dumb") for command in ("generate --help", "convert --help", "chat --nonsense")]
SMALL = [(command, 40, term) for command in ("models", "generate hi --model owner/model") for term in ("xterm", "dumb")]


@pytest.mark.parametrize(("command", "columns", "term"), [*DUMB, *SMALL])
def test_no_word_is_broken_on_a_narrow_terminal(command, columns, term):
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    arguments = ["-c", "from dflash_mlx.cli import main; main()", *command.split()]
    environment = inherited | {"TERM": term}
    child = pexpect.spawn(sys.executable, arguments, dimensions=(24, columns), env=environment, encoding="utf-8", timeout=60)
    screen = Screen(columns, 24)
    screen.feed(child.read())
    child.close()
    assert len(screen.lines) > 2 and screen.lines == [line.rstrip() for line in screen.raw.splitlines()]
