"""An engine's end: run by its environment's Python, which knows nothing of dflash-mlx, so that only Python is asked for.

    python -I serve.py ADAPTER TARGET DRAFTER

A line of JSON in, `{"call": method, ...arguments}`; a line of JSON out: `{"result": ...}` or `{"error": a sentence}`. The first
line out tells versions. An adapter is a file with PACKAGES, the distributions that it runs, the engine's own first, and a class
`Engine(target, drafter)`. Its method `answer(prompt, block_size, max_tokens, stop)` yields token ids as they are decided, the
stop token included, and returns what the engine tells of itself (`cycles`). It is timed here: every engine by the same clock.
"""

import json
import os
import sys
import time
from collections.abc import Generator
from importlib import metadata, util
from inspect import isgenerator
from types import ModuleType
from typing import Any


def timed(chunks: Generator[Any, Any, Any]) -> dict[str, Any]:
    """Takes a whole answer.

    Returns:
        `tokens`, `first_s` (seconds to the first chunk), `seconds` (from there to the last), and what the answer returned, which
        may know better.
    """
    tokens: list[int] = []
    start = first = last = time.perf_counter()
    while True:
        try:
            chunk = next(chunks)
        except StopIteration as end:
            return {"tokens": tokens, "first_s": first - start, "seconds": last - first, **end.value}
        last = time.perf_counter()
        first = first if tokens else last
        tokens += chunk


def adapter_at(path: str) -> ModuleType:
    """The adapter. Its folder is no place to import from: files there are called as the packages that they run."""
    spec = util.spec_from_file_location("adapter", path)
    assert spec and spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer, whatever language it is written in
    sys.stdout = sys.stderr

    def reply(**content: Any) -> None:
        print(json.dumps(content), file=answers, flush=True)

    try:
        path, *pair = sys.argv[1:]
        module = adapter_at(path)
        engine = module.Engine(*pair)
        reply(result={name: metadata.version(name) for name in module.PACKAGES})
        for line in sys.stdin:
            arguments = json.loads(line)
            result = getattr(engine, arguments.pop("call"))(**arguments)
            reply(result=timed(result) if isgenerator(result) else result)
    except Exception as error:
        reply(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
