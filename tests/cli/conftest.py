"""The command, run inside the test process where that is the same, and as a process of its own where it is not."""

import functools
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from command import ENDLESS, PROMPT, Result
from fixture_data import SHALLOW

import dflash_mlx
from dflash_mlx.cli import main

LOAD = dflash_mlx.load


@functools.cache
def load(model: str, **settings: Any) -> dflash_mlx.Pair:
    """A pair, loaded once for all tests that run inside this process; a small one for the demo pair."""
    return LOAD(SHALLOW if model == "demo" else model, **settings)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs `dflash-mlx` with arguments (on the demo pair, if they name no model); no stream is a terminal.

    stdin: what a file there holds, or what there is instead.
    """
    monkeypatch.setattr(dflash_mlx, "load", lambda model, progress, **settings: load(model, **settings))

    def run(*arguments: str, stdin: bytes | io.IOBase = b"") -> Result:
        if arguments[0] == "generate" and "--model" not in arguments:
            arguments += ("--model", "demo")
        with tempfile.TemporaryFile() as file:
            if isinstance(stdin, bytes):
                file.write(stdin)
                file.seek(0)
                stdin = file
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
            with pytest.raises(SystemExit) as end:
                main(arguments)
        out, err = capfd.readouterr()
        return Result(int(end.value.code or 0), out, err)

    return run


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[bytes]]:
    """Starts `dflash-mlx generate --max-tokens 3000` on the endless demo pair, with pipes on all sides."""

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", ENDLESS, "generate", PROMPT, "--model", "demo", "--max-tokens", "3000", *arguments]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return start


@pytest.fixture(scope="session")
def demo() -> dflash_mlx.Pair:
    """The embedded pair, as the library loads it."""
    return load("demo", drafter="auto", drafter_bits="auto", force=False, kernels="auto")
