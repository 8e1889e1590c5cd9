"""The end of what a terminal shows: lines that may still change. Those above scroll away and are never touched again."""

import os
import re
import shutil
import sys
from itertools import takewhile

from prompt_toolkit.utils import is_dumb_terminal
from rich.cells import cell_len

from dflash_mlx.errors import DFlashError

from ..answer import RESET
from ..render import folded, write, write_stderr
from ..words import in_the_chat

NOTE = "note: "  # before what is dim elsewhere
DIM, RED = "\x1b[2m", "\x1b[31m"
STYLE = re.compile(r"\x1b\[[\d;]*m")
# Terminals disagree how wide joined emoji are. A line that may still change must not wrap, whatever its terminal thinks of its
# width: else nobody knew how many rows to go up.
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"
JOINERS = ("\u200d", "\ufe0f")


class Screen:
    """Draws lines at the end of the terminal, and again what changes of them, from the first line that does."""

    def __init__(self) -> None:
        self._lines: list[str] = []  # that may change; the cursor stands behind the last one
        self._columns = 0

    def draw(self, final: list[str], lines: list[str]) -> None:
        """Shows `final`, which stays, and then `lines`, which the next call replaces, in place of the `lines` before.

        Args:
            final, lines: without line ends; `lines` narrower than the terminal, and fewer than its rows.
        """
        old, new = self._lines, [*final, *lines]
        if old == new and lines:
            return
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new)))
        same = min(same, len(new) - 1 if len(new) < len(old) else len(new))  # the cursor has to end behind the last line
        # now they may wrap: nothing of them is lost, and they will not be counted any more
        same = max(0, min([same, *(i for i, line in enumerate(final) if any(joiner in line for joiner in JOINERS))]))
        if same < len(old):
            rows = sum(self._rows(line) for line in old[same:])
            start = "\r" + f"\x1b[{rows - 1}A" * (rows > 1)
        else:
            start = "\n" * bool(old)
        stay, change = final[same:], lines[max(0, same - len(final)) :]
        write(start + "".join(f"{line}\x1b[K\n" for line in stay) + NO_WRAP + "\x1b[K\n".join(change) + WRAP + "\x1b[J")
        self._lines, self._columns = lines, columns()

    def forget(self) -> None:
        """Leaves the lines as they are: the cursor stands elsewhere by now, at the start of a line."""
        self._lines = []

    def _rows(self, line: str) -> int:
        """How many rows a line takes that was drawn before: a terminal that became narrower has broken it, as most do."""
        return max(1, -(-cell_len(STYLE.sub("", line)) // columns())) if columns() < self._columns else 1


def columns() -> int:
    """The terminal's width."""
    return shutil.get_terminal_size().columns


def rows() -> int:
    """The terminal's height."""
    return shutil.get_terminal_size().lines


def show(text: str, style: str = "") -> None:
    """Puts what was asked for on stderr; on a terminal broken between words, and unable to command it.

    Args:
        style: of it, where stderr has styles.
    """
    lines = folded(text, sys.stderr).split("\n")
    if style and _has_styles():
        lines = [line and f"{style}{line}{RESET}" for line in lines]
    write_stderr("\n".join(lines) + "\n")


def tell(text: str) -> None:
    """Puts what the chat itself has to say on stderr, so that nobody takes it for the model's words."""
    show(text if _has_styles() else NOTE + text, DIM)


def complain(error: DFlashError) -> None:
    """Puts an error on stderr, and the way out."""
    message, hint = in_the_chat(error)
    show(f"error: {message}", "" if "NO_COLOR" in os.environ else RED)
    tell(hint)


def counted(number: int, noun: str) -> str:
    """As in "1 turn" and "2 turns"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _has_styles() -> bool:
    return sys.stderr.isatty() and not is_dumb_terminal()
