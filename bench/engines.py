"""Engines that can be measured, each behind the same few calls."""

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import dflash_mlx as dm
from bench.controlled import ControlledDrafter, Plan
from dflash_mlx.drafters import DFlash


class Engine(Protocol):
    """What a worker process runs. Arguments and results are what JSON can hold."""

    def run(self, prompt: list[int], block_size: int, cycles: int) -> dict[str, Any]:
        """Decodes greedily for so many cycles after the first token; see `timed`."""


def timed(chunks: Iterable[Sequence[int]], cycles: int) -> dict[str, Any]:
    """Takes the first chunk and `cycles` more: time to the first, seconds for the others, all tokens.

    Stopping early keeps every cycle as wide as asked: engines narrow the last ones of a limited answer.
    """
    start = time.perf_counter()
    stream = iter(chunks)
    tokens = list(next(stream))
    first = time.perf_counter()
    for chunk in islice(stream, cycles):
        tokens += chunk
    last = time.perf_counter()
    getattr(stream, "close", lambda: None)()
    return {"first_s": first - start, "seconds": last - first, "cycles": cycles, "tokens": tokens}


class Ours:
    """dflash-mlx."""

    def __init__(self, folder: Path, drafter: bool = True) -> None:
        self.pair = dm.load(folder, drafter="auto" if drafter else None)
        self._real = self.pair.drafter

    def control(self, prompt: list[int], answer: list[int], rates: list[float], seed: int) -> None:
        """From now on drafts go by this plan."""
        assert self._real is not None
        plan = Plan(prompt, answer, rates, seed)
        self.pair.drafter = cast(DFlash, ControlledDrafter(self._real, plan, self.pair.target.config.vocab_size))

    def answer(self, prompt: list[int], tokens: int) -> list[int]:
        """What plain decoding says."""
        return list(self.pair.generate(prompt, max_tokens=tokens, block_size=1).token_ids)

    def run(self, prompt: list[int], block_size: int | Literal["auto"], cycles: int) -> dict[str, Any]:
        width = self._real.config.block_size if self._real else 1
        stream = self.pair.stream(prompt, max_tokens=(cycles + 1) * width, block_size=block_size)
        return timed((chunk.token_ids for chunk in stream), cycles)


class MlxLm:
    """mlx-lm's plain decoding."""

    def __init__(self, folder: Path) -> None:
        from mlx_lm import load

        self.model, self.tokenizer, *_ = load(str(folder))

    def run(self, prompt: list[int], block_size: int, cycles: int) -> dict[str, Any]:
        from mlx_lm import stream_generate

        responses = stream_generate(self.model, self.tokenizer, prompt, max_tokens=cycles + 2)
        return timed(([response.token] for response in responses), cycles)
