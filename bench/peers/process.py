"""An engine's process, from the caller's side: whatever happens in it, the caller gets an answer or a sentence."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from threading import Event, Timer
from types import TracebackType
from typing import Any

SERVE = Path(__file__).parent / "serve.py"
LIMIT = 900.0  # seconds that an engine may take to load, or to answer once


class EngineFailed(Exception):
    """An engine gave no answer. The text is a line: its own last words, or what it did instead."""


class EngineProcess:
    """An engine in its own Python. Start several, then wait for each with `ready`."""

    def __init__(self, python: Sequence[str | Path], adapter: Path, target: Path, drafter: Path) -> None:
        """Starts it.

        Args:
            python: the command, options included.
        """
        self._words = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [*map(str, python), str(SERVE), str(adapter), str(target), str(drafter)],
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            start_new_session=True,  # what it starts ends with it
        )

    def ready(self) -> dict[str, str]:
        """Waits until it is loaded. Returns versions by distribution. Raises EngineFailed."""
        return self._receive()

    def __call__(self, call: str, **arguments: Any) -> Any:
        """Has a method of the adapter run; returns what it returned. Raises EngineFailed."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"call": call, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: there is no answer either
        return self._receive()

    def close(self) -> None:
        """Ends it, and all that it started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it had ended
        self._process.communicate()
        self._words.close()

    def __enter__(self) -> "EngineProcess":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _receive(self) -> Any:
        assert self._process.stdout
        late = Event()

        def end() -> None:
            late.set()
            os.killpg(self._process.pid, signal.SIGKILL)

        timer = Timer(LIMIT, end)
        timer.start()
        line = self._process.stdout.readline().decode(errors="replace")
        timer.cancel()
        if late.is_set():
            raise EngineFailed(f"no answer within {LIMIT:g} seconds")
        if not line:
            raise EngineFailed(f"its process ended ({_how(self._process.wait())}): {self._last_words()}")
        try:
            answer = json.loads(line)
            if "error" in answer:
                raise EngineFailed(_line(answer["error"]))
            return answer["result"]
        except (ValueError, TypeError, LookupError) as error:
            raise EngineFailed(f"its answer is not of the protocol: {_line(line)}") from error

    def _last_words(self) -> str:
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").split("\n")
        return _line(next((line for line in reversed(lines) if line.strip()), "it said nothing"))


def _how(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _line(text: str) -> str:
    return shorten(text, 200, placeholder=" ...")
