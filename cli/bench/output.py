"""Where the results of `dflash-mlx bench` go while they come: JSON lines on stdout, and in a file."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dflash_mlx.errors import RequestError

from ..render import json_line, note, write

if TYPE_CHECKING:
    from dflash_mlx.bench.run.measure import Run


def check_new(path: Path) -> None:
    """Raises RequestError where a new file cannot be made: results that took an hour are not overwritten by the next ones."""
    if os.path.lexists(path):  # also a link that leads nowhere
        raise RequestError(f"{path} already exists.", "Give --save another name, or delete it first.")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise RequestError(f"{path} cannot be created.", "Name a folder that exists and that you may write to.")


class Lines:
    """Writes records as they come, each whole or not at all.

    Attributes:
        failed: whether the file could not take them all.
    """

    def __init__(self, to_stdout: bool, path: Path | None) -> None:
        """path: of a new file."""
        self._to_stdout, self._path, self.failed = to_stdout, path, False
        self._file = path.open("xb", buffering=0) if path else None
        self._question: Any = None
        self._plain: Run | None = None
        self._waiting: list[Run] = []

    def run(self, run: "Run") -> None:
        """Writes a run as soon as plain decoding has answered the same: its line tells whether they agree."""
        question = (run.category, run.prompt, run.round, run.way.plain)
        if question != self._question:
            self._question, self._plain = question, None
        if run.way.block_size == 1:
            self._plain = run
        self._waiting.append(run)
        if self._plain:
            self.rest()

    def rest(self) -> None:
        """Writes the runs that wait, also those whose counterpart does not come any more."""
        from dflash_mlx.bench.run.report import run_record

        while self._waiting:
            run = self._waiting.pop(0)  # before it is written: an interruption in the middle does not write it again
            self.record(run_record(run, None if run is self._plain else self._plain))

    def record(self, content: dict[str, Any]) -> None:
        """Writes any other record."""
        line = json_line(content)
        if self._file:  # first: writing to stdout can wait for its reader, and be interrupted
            self._append(self._file, line.encode())
        if self._to_stdout:
            write(line)

    def _append(self, file: io.RawIOBase, line: bytes) -> None:
        end = file.tell()
        try:
            if file.write(line) == len(line):
                return
            reason = "no room for a whole line"
        except OSError as error:
            reason = str(error.strerror)
        file.truncate(end)
        file.close()
        self._file, self.failed = None, True
        note(f"error: {self._path} cannot be written ({reason}): it ends here; the measurement continues.")
