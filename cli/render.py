"""stdout and stderr: text, JSON lines and notes put there, and displays of progress."""

import errno
import json
import math
import os
import sys
from textwrap import TextWrapper
from types import TracebackType
from typing import Any, TextIO

import typer

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
    write_stderr(folded(f"{line}\n", sys.stderr))


def folded(text: str, file: TextIO) -> str:
    """Text of our own for a stream: on a terminal, long lines are broken between words, and nothing commands it."""
    if not file.isatty():
        return text
    wrapper = TextWrapper(terminal_width(), replace_whitespace=False, break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(wrapper.fill, text.split("\n"))).translate(VISIBLE)


def terminal_width() -> int:
    """The terminal's columns; 80 where there is no terminal."""
    from rich.console import Console

    return Console(force_terminal=False).width  # else rich would say 80 wherever TERM is dumb


def write_stderr(text: str) -> None:
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
