"""How an answer looks: as text, as a picture of its drafts, as JSON lines; and what stderr tells beside it."""

import errno
import io
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

import typer

if TYPE_CHECKING:
    from dflash_mlx import Chunk, Statistics

GREEN, YELLOW, RESET = "\x1b[32m", "\x1b[33m", "\x1b[0m"
# What a model writes must not command the terminal: there, control characters are shown as pictures of themselves.
VISIBLE = {code: 0x2400 + code for code in range(0x20)} | {code: 0xFFFD for code in range(0x7F, 0xA0)}
for _kept in "\t\n\r":
    del VISIBLE[ord(_kept)]


def write(text: str) -> None:
    """Puts text on stdout at once. Ends the command where nobody reads it any more (`| head -1`), or it cannot be written."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise typer.Exit(unwritten(error)) from None


def unwritten(error: OSError) -> int:
    """The exit code where stdout could not be written; says why, if anybody is left to tell."""
    abandon(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 0
    if error.errno != errno.EIO:  # so it is where a terminal has disappeared
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        note(f"error: stdout cannot be written ({reason}).\nMake room, or send the text elsewhere.")
    return 1


def json_line(content: dict[str, Any]) -> str:
    """A JSON object and the end of its line. What is no number in JSON is null."""
    return json.dumps(_finite(content), allow_nan=False) + "\n"


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def note(line: str) -> None:
    """Puts a line on stderr."""
    _tell(f"{line}\n")


def _tell(text: str) -> None:
    """Puts text on stderr, if anybody listens there: the answer does not depend on it."""
    try:
        print(text, end="", file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Sends what a broken stream still holds to nowhere, or the interpreter would complain on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Progress:
    """A display of loading, prefill or conversion that vanishes when it is done; only where stderr is a terminal.

    Args:
        time_left: show that too.
    """

    def __init__(self, quiet: bool, time_left: bool = False) -> None:
        from huggingface_hub.utils import disable_progress_bars
        from rich.console import Console
        from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._quiet, self._trying = quiet, False
        shown = sys.stderr.isatty() and not quiet
        if not shown:
            disable_progress_bars()  # of downloads
        columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn()]
        columns += [TimeRemainingColumn()] if time_left else []
        self._bars = Bars(
            *columns,
            console=Console(stderr=True),
            transient=True,
            disable=not shown,
            redirect_stdout=False,  # or it would end up on stderr
            speed_estimate_period=600,
        )
        self._task = self._bars.add_task("", total=None)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()

    def loading(self, stage: str, done: int, total: int) -> None:
        """The `progress` of `dflash_mlx.load`."""
        if stage == "kernels":
            if not self._trying and not self._quiet:
                note("trying Metal kernels on this model: once, and after updates.")
            self._trying = True
            self._show("trying kernels", done, total)
        elif stage == "first cycle":
            self._show("trying a cycle (what MLX compiles for it is kept)", done, total)
        elif not stage.startswith("download"):
            self._show(f"loading the {stage}", done, total)
        elif not self._quiet:
            note(f"{stage}: {total / 1e9:.1f} GB")

    def measuring(self, done: int, total: int) -> None:
        """The `progress` of `Pair.calibrate`."""
        if done == 0 and not self._quiet:
            note("measuring what passes cost on this machine: once for each pair, if nothing disturbs it.")
        self._show("measuring", done, total)

    def comparing(self, done: int, total: int) -> None:
        """The `progress` of `dflash_mlx.tuning.parity.parity`."""
        self._show("comparing", done, total)

    def prefill(self, done: int, total: int) -> None:
        """The `progress` of `Pair.stream`."""
        self._show("reading the prompt", done, total)

    def benching(self, what: str, done: int, total: int) -> None:
        """What `dflash-mlx bench` is at, and how far."""
        self._show(f"{what}, {done} of {total}", done, total)

    def converting(self, stage: str, done: int, total: int) -> None:
        """The `progress` of `dflash_mlx.convert`."""
        if stage.startswith("download"):
            self.loading(stage, done, total)
        elif stage in ("writing", "tensors"):  # counted in bytes
            what = "writing" if stage == "writing" else "comparing tensors"
            self._show(f"{what}, {done / 1e9:.2f} of {total / 1e9:.2f} GB", done, total)
        else:
            self._show("comparing logits" if stage == "layers" else f"measuring {stage}", done, total)

    def _show(self, what: str, done: int, total: int) -> None:
        self._bars.update(self._task, description=what, completed=done, total=total)
        self._bars.start()  # only now: a download before has the Hub's own display, and the two would overwrite each other


class Text:
    """The answer as text on stdout, and the thinking before it on stderr, or with `show_thinking` on stdout too.

    With `show_drafts`, accepted drafts stand out from the target's own tokens.
    """

    def __init__(self, show_drafts: bool, show_thinking: bool, quiet: bool) -> None:
        self._answer = _Stream(sys.stdout, write)
        self._thinking = self._answer if show_thinking else _Stream(sys.stderr, (lambda text: None) if quiet else _tell)
        self._show_drafts, self._quiet = show_drafts, quiet
        self._started, self._explained, self._drafted = False, False, False
        self._thought, self._answered = False, False
        self._accepted: list[bool] = []  # of each character that was decoded and not written yet

    def chunk(self, chunk: "Chunk") -> None:
        """Shows what one cycle added."""
        if not self._started and chunk.statistics.mode == "speculative":
            self._explain()
        self._started, self._drafted = True, self._drafted or bool(chunk.drafted)
        self._accepted += [i < chunk.accepted for i, piece in enumerate(chunk.pieces) for _ in piece]
        if chunk.thinking:
            self._think(chunk.thinking)
        if chunk.text:
            self._say(chunk.text)

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

    def _think(self, text: str) -> None:
        from dflash_mlx.text import THINKING  # here, and not at the top: --help need not wait for it

        if not self._thought and not text.lstrip().startswith(THINKING):  # the template wrote it into the prompt
            self._thinking.add(f"{THINKING}\n")
        self._thought = True
        self._thinking.add(text, self._marks(text))

    def _say(self, text: str) -> None:
        marks = self._marks(text)
        if self._thought and not self._answered and self._thinking is not self._answer:
            self._thinking.end_line()
            text = text.lstrip("\n")  # they part it from the thinking
            marks = marks[len(marks) - len(text) :]
        self._answered = self._answered or bool(text)
        self._answer.add(text, marks)

    def _marks(self, text: str) -> list[bool]:
        """Of each character of a text, whether it was drafted and accepted; none where that is not to be shown."""
        marks, self._accepted = self._accepted[: len(text)], self._accepted[len(text) :]
        return marks if self._show_drafts else []

    def _explain(self) -> None:
        """Gives the picture's legend, once: before the text, or where drafts began only later, behind it."""
        if self._show_drafts and not self._quiet and not self._explained:
            accepted, own = ("green", "yellow") if self._answer.colours else ("[in brackets]", "outside")
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
        return f"[{text}]" if accepted else text


class JsonLines:
    """One object a line: one a cycle, and a last one with the whole answer, why it ended and how it went."""

    def __init__(self) -> None:
        self._text, self._thinking = "", ""

    def chunk(self, chunk: "Chunk") -> None:
        """Shows what one cycle added."""
        self._text, self._thinking = self._text + chunk.text, self._thinking + chunk.thinking
        names = ("text", "thinking", "pieces", "token_ids", "drafted", "accepted")
        write(json_line({"type": "chunk"} | {name: getattr(chunk, name) for name in names}))

    def finish(self, finish_reason: str, statistics: "Statistics | None") -> None:
        """Writes the last object."""
        answer = {"text": self._text, "thinking": self._thinking, "finish_reason": finish_reason}
        write(json_line({"type": "end"} | answer | {"statistics": asdict(statistics) if statistics else None}))


def summary(finish_reason: str, statistics: "Statistics") -> str:
    """The statistics in one line."""
    ending = {"length": " (cut at the limit)", "cancelled": " (interrupted)"}.get(finish_reason, "")
    count = statistics.generated_tokens
    parts = [f"{count} token{'' if count == 1 else 's'}{ending}"]
    if statistics.cycles:  # none where the first token was the last
        parts.append(f"{statistics.tokens_per_second:.1f} tok/s")
        if statistics.mode_reason:
            parts.append(statistics.mode_reason)
    if statistics.acceptance_by_position:
        parts.append(f"acceptance length {statistics.acceptance_length:.2f}")
        parts.append("block size " + ", ".join(f"{size} ({count}x)" for size, count in sorted(statistics.block_sizes.items())))
    parts.append(f"first token after {statistics.time_to_first_token_s:.2f} s")
    return "; ".join(parts)
