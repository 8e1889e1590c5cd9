"""How a reply looks while it comes: as markdown on a terminal, as plain text elsewhere."""

import sys
import time
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.text import Text

from ..render import VISIBLE, write
from .figures import status_line
from .markdown import block_lines, cut, lines_of, split_blocks
from .screen import NOTE, Screen, columns, counted, rows, show, tell

if TYPE_CHECKING:
    from dflash_mlx import Chunk

ENDINGS = {"length": "cut at the limit", "cancelled": "stopped"}
THINKING_ROWS = 8  # of the terminal, at most, while the model thinks
PAUSE = 0.03  # seconds between two drawings, at least
SHARE = 0.1  # of the time may go into drawing, at most: the model comes first


class Reply(Protocol):
    """What shows a reply."""

    def reading(self, done: int, total: int) -> None:
        """Tells how far the prompt is read."""

    def add(self, chunk: "Chunk") -> None:
        """Shows what one cycle added."""

    def resumed(self) -> None:
        """Others have written to the terminal."""

    def finish(self, reason: str) -> None:
        """Ends the reply. reason: as in the last chunk."""

    def repeat(self, text: str) -> None:
        """Shows a reply that was there before, instead of a new one."""


class Thought:
    """What the model thinks before it answers."""

    def __init__(self) -> None:
        self.text, self.tokens, self._began, self._ended = "", 0, 0.0, 0.0

    def add(self, chunk: "Chunk") -> None:
        """Takes what a chunk has of it."""
        if chunk.thinking:
            self._ended = time.perf_counter()
            self._began = self._began or self._ended
            self.text += chunk.thinking
            self.tokens += len(chunk.token_ids)

    def summary(self) -> str:
        """It in a few words; none if there was nothing."""
        words = f"thought for {self._ended - self._began:.1f} s, {counted(self.tokens, 'token')}"
        return words if without_markers(self.text) else ""


class LiveReply:
    """A reply on a terminal: markdown, thinking that folds away when it ends, and below it a line of figures.

    What is finished is written once and scrolls away. Only the last block is drawn again while it grows, and of that only
    what the screen has room for.
    """

    def __init__(self, capacity: int) -> None:
        """capacity: how many tokens the context can have."""
        self._console, self._screen, self._capacity = Console(file=sys.stdout, highlight=False), Screen(), capacity
        self._thought, self._folded = Thought(), False
        self._text = ""  # of the answer, from the first block that can still change
        self._begun = False  # whether something stands above that block
        self._gone = 0  # lines of that block that have scrolled away
        self._columns = 0  # when they did
        self._last: Chunk | None = None
        self._next = 0.0  # when it may be drawn again

    def reading(self, done: int, total: int) -> None:
        """Tells how far the prompt is read."""
        if done < total:
            self._screen.draw([], self._dim(f"reading the prompt: {done} of {total} tokens"))

    def add(self, chunk: "Chunk") -> None:
        """Shows what one cycle added, unless something was drawn just now."""
        self._last = chunk
        self._thought.add(chunk)
        self._take(chunk.text)
        began = time.perf_counter()
        if began >= self._next or chunk.finish_reason:
            self._draw(self._status())
            ended = time.perf_counter()
            self._next = ended + max(PAUSE, (ended - began) / SHARE)

    def resumed(self) -> None:
        """Others have written to the terminal: what may still change is drawn below that."""
        self._screen.forget()

    def finish(self, reason: str) -> None:
        """Ends the reply."""
        self._draw(self._status(ENDINGS.get(reason, "")), last=True)

    def repeat(self, text: str) -> None:
        """Shows a reply that was there before."""
        self._take(text)
        self._draw([], last=True)

    def _take(self, text: str) -> None:
        self._text = (self._text + text.translate(VISIBLE).replace("\r", "")).lstrip("\n" * (not self._text))

    def _draw(self, status: list[str], last: bool = False) -> None:
        width = columns() - 1  # in the last column, terminals differ
        final: list[str] = []
        if (self._text or last) and not self._folded:
            self._folded = True
            final = self._dim(self._thought.summary())
            self._begun = bool(final)
        if width != self._columns:  # nobody knows where those lines would break now: better twice than not at all
            self._gone, self._columns = 0, width
        blocks = split_blocks(self._text)
        lines = [] if self._folded else self._thinking(width)
        for i, block in enumerate(blocks):
            lines = ([""] * self._begun + block_lines(block, self._console, width))[self._gone :]
            if last or i < len(blocks) - 1:
                final += lines
                lines, self._gone, self._begun = [], 0, True
        scrolled = max(0, len(lines) - max(1, rows() - 2))
        self._gone += scrolled
        self._text = "" if last else blocks[-1] if blocks else self._text
        changing = [cut(line, self._console, width) for line in lines[scrolled:]]
        self._screen.draw([*final, *lines[:scrolled], *(status if last else [])], [] if last else [*changing, *status])

    def _thinking(self, width: int) -> list[str]:
        """The end of what is being thought."""
        most = max(1, min(THINKING_ROWS, rows() // 2))
        end = "\n".join(without_markers(self._thought.text).translate(VISIBLE).replace("\r", "").split("\n")[-most:])
        return lines_of(Text(end, style="dim"), self._console, width)[-most:]

    def _status(self, ending: str = "") -> list[str]:
        if self._last is None:
            return []
        figures = self._last.statistics
        return self._dim(status_line(figures, 1 + len(self._last.drafted), self._capacity, columns() - 1, ending))

    def _dim(self, text: str) -> list[str]:
        """Text that is beside the point, as lines."""
        return lines_of(Text(text, style="dim"), self._console, columns() - 1)


class PlainReply:
    """A reply as nothing but its text, without the thinking."""

    def __init__(self, capacity: int, told: bool) -> None:
        """
        Args:
            capacity: how many tokens the context can have.
            told: whether stderr gets a word on thinking and figures.
        """
        self._capacity, self._told, self._terminal = capacity, told, sys.stdout.isatty()
        self._thought, self._begun, self._line_open = Thought(), False, False
        self._last: Chunk | None = None

    def reading(self, done: int, total: int) -> None:
        """Tells nothing."""

    def add(self, chunk: "Chunk") -> None:
        """Writes what one cycle added."""
        self._last = chunk
        self._thought.add(chunk)
        text = chunk.text.lstrip("\n") if not self._begun else chunk.text
        if text:
            if not self._begun and self._told and self._thought.summary():
                tell(self._thought.summary())
            self._begun, self._line_open = True, not text.endswith("\n")
            write(text.translate(VISIBLE) if self._terminal else text)

    def repeat(self, text: str) -> None:
        """Puts it on stderr: it is no answer."""
        show(text)

    def resumed(self) -> None:
        """Changes nothing."""

    def finish(self, reason: str) -> None:
        """Ends the last line. A reply that is all thinking has an empty one."""
        if not self._begun and self._told and self._thought.summary():
            tell(self._thought.summary())
        if self._line_open or not self._begun and not self._told:
            write("\n")
        if self._told and self._last:
            figures, ending = self._last.statistics, ENDINGS.get(reason, "")
            tell(status_line(figures, 1 + len(self._last.drafted), self._capacity, columns() - len(NOTE), ending))


def without_markers(thinking: str) -> str:
    """What was thought, without the markers around it."""
    return thinking.strip().removeprefix("<think>").removesuffix("</think>").strip()
