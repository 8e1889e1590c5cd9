"""An engine in a process of its own, so that none disturbs another and runs can take turns.

A line of JSON in, `{"call": method, ...arguments}`; a line of JSON out, what the method returned.
"""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

ENGINES = {"dflash-mlx": "engines:Ours", "mlx-lm": "engines:MlxLm", "z-lab": "zlab:ZLab"}


class Worker:
    """The caller's end."""

    def __init__(self, engine: str, pair: str | Path, preload: str | None = None, **options: Any) -> None:
        """Starts the process.

        Args:
            engine: a key of ENGINES.
            pair: its folder, or "demo".
            preload: a library for the dynamic loader to load first.
            options: for the engine.
        """
        environment = dict(os.environ, LD_PRELOAD=preload) if preload else None
        command = [sys.executable, "-m", "dflash_mlx.bench.loop.worker", engine, str(pair), json.dumps(options)]
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, call: str, **arguments: Any) -> Any:
        """Has a method of the engine run; returns what it returned."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps({"call": call, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: there is no answer either
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("an engine's process ended: its own words are above")
        return json.loads(answer)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.communicate()


def main() -> None:
    """The process's end."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    name, pair, options = sys.argv[1:]
    module, cls = ENGINES[name].split(":")
    engine = getattr(import_module(f"dflash_mlx.bench.loop.{module}"), cls)(pair, **json.loads(options))
    for line in sys.stdin:
        arguments = json.loads(line)
        print(json.dumps(getattr(engine, arguments.pop("call"))(**arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()
