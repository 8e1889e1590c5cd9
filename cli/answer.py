"""How the answer of `dflash-mlx generate` looks: as text, as a picture of its drafts, as JSON lines; and its sum on stderr."""

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TextIO

from .render import VISIBLE, json_line, note, write, write_stderr

if TYPE_CHECKING:
    from dflash_mlx import Chunk, Statistics

GREEN, YELLOW, RESET = "\x1b[32m", "\x1b[33m", "\x1b[0m"


class Text:
    """The answer as text on stdout, and the thinking before it on stderr, or with `show_thinking` on stdout too.

    With `show_drafts`, accepted drafts stand out from the target's own tokens.
    """

    def __init__(self, show_drafts: bool, show_thinking: bool, quiet: bool) -> None:
        self._answer = _Stream(sys.stdout, write)
        self._thinking = self._answer if show_thinking else _Stream(sys.stderr, (lambda text: None) if quiet else write_stderr)
        self._show_drafts, self._quiet = show_drafts, quiet
        self._started, self._explained, self._drafted = False, False, False
        self._thought, self._answered = False, False

    @property
    def colours(self) -> bool:
        """Whether drafts are told by colours; else by brackets."""
        return self._answer.colours

    def chunk(self, chunk: "Chunk") -> None:
        """Shows what one cycle added."""
        if not self._started and chunk.statistics.mode == "speculative":
            self._explain()
        self._started, self._drafted = True, self._drafted or bool(chunk.drafted)
        origins = [i < chunk.accepted for i, piece in enumerate(chunk.pieces) for _ in piece] if self._show_drafts else []
        if chunk.thinking:
            self._think(chunk.thinking, origins[: len(chunk.thinking)])
        if chunk.text:
            if not self._answered and self._thinking is not self._answer:
                self._thinking.end_line()
            self._answered = True
            self._answer.add(chunk.text, origins[len(chunk.thinking) :])

    def finish(self, finish_reason: str, statistics: "Statistics | None") -> None:
        """Ends the last line and sums up, where there is something to sum up."""
        self._thinking.end_line()
        self._answer.end_line()
        if self._drafted:
            self._explain()
        elif self._show_drafts and statistics is not None and not self._quiet:
            note("nothing was drafted: try --block-size 4, with a drafter")
        if statistics is not None and self._thought and not self._answered and finish_reason == "length":
            tokens = statistics.generated_tokens
            note(f"there is no answer: thinking used up all {tokens} tokens. Raise --max-tokens, or try --no-think.")
        if statistics is not None and not self._quiet:
            note(summary(finish_reason, statistics))

    def _think(self, text: str, accepted: Sequence[bool]) -> None:
        from dflash_mlx.text import THINKING  # here, and not at the top: --help need not wait for it

        if not self._thought and not text.lstrip().startswith(THINKING):  # the template wrote it into the prompt
            self._thinking.add(f"{THINKING}\n")
        self._thought = True
        self._thinking.add(text, accepted)

    def _explain(self) -> None:
        """Gives the picture's legend, once: before the text, or where drafts began only later, behind it."""
        if self._show_drafts and not self._quiet and not self._explained:
            accepted, own = ("green", "yellow") if self.colours else ("[in brackets]", "outside")
            note(f"{accepted}: drafts that the target accepted; {own}: the target's own tokens")
        self._explained = True


class _Stream:
    """stdout or stderr, as far as what it is bears on the text."""

    def __init__(self, file: TextIO, put: Callable[[str], None]) -> None:
        from rich.console import Console

        console = Console(file=file)  # knows NO_COLOR and its kin
        self.colours = console.color_system is not None and not console.no_color
        self._terminal, self._put, self._line_open = file.isatty(), put, False
        if isinstance(file, io.TextIOWrapper):
            file.reconfigure(errors="replace")  # a character that its encoding lacks is no reason to stop

    def add(self, text: str, accepted: Sequence[bool] = ()) -> None:
        """Writes text. accepted: of each character whether it was, to be made visible."""
        if text:
            self._line_open = not text.endswith("\n")
        text = text.translate(VISIBLE) if self._terminal else text
        if accepted:
            runs = groupby(zip(text, accepted), key=itemgetter(1))
            text = "".join(self._picture("".join(character for character, _ in run), drafted) for drafted, run in runs)
        self._put(text)

    def end_line(self) -> None:
        """Ends a line that is open."""
        if self._line_open:
            self.add("\n")

    def _picture(self, text: str, accepted: bool) -> str:
        if self.colours:
            return f"{GREEN if accepted else YELLOW}{text}{RESET}"
        return "\n".join(f"[{line}]" if line else "" for line in text.split("\n")) if accepted else text


class JsonLines:
    """One object a line: one a cycle, and a last one with the whole answer, why it ended and how it went."""

    def __init__(self, **about: object) -> None:
        """about: what each object has besides."""
        self._about, self._text, self._thinking = about, "", ""

    def chunk(self, chunk: "Chunk") -> None:
        """Shows what one cycle added."""
        self._text, self._thinking = self._text + chunk.text, self._thinking + chunk.thinking
        names = ("text", "thinking", "pieces", "token_ids", "drafted", "accepted")
        write(json_line({"type": "chunk", **self._about} | {name: getattr(chunk, name) for name in names}))

    def finish(self, finish_reason: str, statistics: "Statistics | None") -> None:
        """Writes the last object."""
        answer = {"text": self._text, "thinking": self._thinking, "finish_reason": finish_reason}
        write(json_line({"type": "end", **self._about} | answer | {"statistics": asdict(statistics) if statistics else None}))


def summary(finish_reason: str, statistics: "Statistics") -> str:
    """The statistics in one line."""
    ending = {"length": " (cut at the limit)", "cancelled": " (interrupted)"}.get(finish_reason, "")
    count = statistics.generated_tokens
    parts = [f"{count} token{'' if count == 1 else 's'}{ending}"]
    if statistics.cycles:  # none where the first token was the last
        parts.append(f"{statistics.tokens_per_second:.1f} tok/s")
        if statistics.mode_reason:
            parts.append("plain: " * (statistics.mode == "plain") + statistics.mode_reason)
    if statistics.acceptance_by_position:
        parts.append(f"acceptance length {statistics.acceptance_length:.2f}")
        parts.append("block size " + ", ".join(f"{size} ({count}x)" for size, count in sorted(statistics.block_sizes.items())))
    parts.append(f"first token after {statistics.time_to_first_token_s:.2f} s")
    return "; ".join(parts)
