"""Engines that can be measured, each behind the same few calls. Arguments and results are what JSON can hold."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, Literal, cast

import mlx.core as mx

import dflash_mlx as dm
from dflash_mlx.drafters import DFlash
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.parity import parity

from ..run.profile import pass_seconds, profile
from .controlled import ControlledDrafter, Plan


def timed(chunks: Iterable[Sequence[int]], cycles: int, tokens: int | None = None) -> dict[str, Any]:
    """Takes the first chunk and `cycles` more, fewer if they have `tokens` tokens or the answer ends before.

    Returns seconds to the first chunk, seconds for the others and how many those were, and all tokens.

    Stopping early keeps every cycle as wide as asked: engines narrow the last ones of a limited answer.
    """
    start = time.perf_counter()
    stream = iter(chunks)
    taken = list(next(stream))
    first = last = time.perf_counter()
    done = 0
    for chunk in islice(stream, cycles):
        done, last = done + 1, time.perf_counter()
        taken += chunk
        if tokens is not None and len(taken) > tokens:
            break
    getattr(stream, "close", lambda: None)()
    return {"first_s": first - start, "seconds": last - first, "cycles": done, "tokens": taken}


class Ours:
    """dflash-mlx."""

    def __init__(self, pair: str, drafter: bool = True) -> None:
        self.pair = dm.load(pair, drafter="auto" if drafter else None)
        self._real = self.pair.drafter

    def answer(self, prompt: list[int], tokens: int) -> list[int]:
        """What plain decoding says."""
        return list(self.pair.generate(prompt, max_tokens=tokens, block_size=1).token_ids)

    def control(self, prompt: list[int], answer: list[int], rates: list[float], seed: int) -> None:
        """From now on drafts go by this plan."""
        assert self._real is not None
        plan = Plan(prompt, answer, rates, seed)
        self.pair.drafter = cast(DFlash, ControlledDrafter(self._real, plan, self.pair.target.config.vocab_size))

    def run(
        self, prompt: list[int] | str, block_size: int | Literal["auto"], cycles: int, tokens: int | None = None
    ) -> dict[str, Any]:
        """Decodes greedily, the first token and so many cycles, or about so many tokens; see `timed`."""
        width = self._real.config.block_size if self._real else 1
        stream = self.pair.stream(prompt, max_tokens=(cycles + 1) * width, block_size=block_size)
        return timed((chunk.token_ids for chunk in stream), cycles, tokens)

    def profile(self, block_size: int, context: int) -> dict[str, Any]:
        """Where a cycle's time goes; see `profile.Profile`."""
        controlled, self.pair.drafter = self.pair.drafter, self._real
        try:
            found = profile(self.pair, block_size, context)
        finally:
            self.pair.drafter = controlled
        return asdict(found) | {"bytes": found.bytes, "parts_seconds": found.parts_seconds}

    def passes(self, widths: list[int], context: int) -> list[tuple[int, float]]:
        """Seconds of the target's pass with its head, by rows."""
        return list(pass_seconds(cast(TransformerTarget, self.pair.target), widths, context).items())

    def memory(self, prompt: list[int], block_size: int, marks: list[int]) -> list[dict[str, int]]:
        """After so many cycles, at each mark: bytes held by MLX now and at most, and tokens so far."""
        mx.reset_peak_memory()
        seen, tokens = [], 0
        stream = self.pair.stream(prompt, max_tokens=(marks[-1] + 1) * block_size, block_size=block_size)
        for cycle, chunk in enumerate(stream):
            tokens += len(chunk.token_ids)
            if cycle in marks:
                seen.append({"cycles": cycle, "tokens": tokens, "peak": mx.get_peak_memory(), "active": mx.get_active_memory()})
            if cycle == marks[-1]:
                break
        return seen

    def parity(self, prompt: list[int], block_sizes: list[int], tokens: int) -> list[dict[str, Any]]:
        """How often, and at what gap, fast verification differs from plain decoding."""
        return [asdict(each) for each in parity(self.pair.target, [prompt], block_sizes, tokens)]

    def weights(self) -> dict[str, int]:
        """Bytes held by MLX with nothing running."""
        return {"active": mx.get_active_memory()}


class MlxLm:
    """mlx-lm's plain decoding."""

    def __init__(self, pair: str) -> None:
        from mlx_lm import load

        self.model, self.tokenizer, *_ = load(pair)

    def run(self, prompt: list[int], block_size: int, cycles: int) -> dict[str, Any]:
        from mlx_lm import stream_generate

        responses = stream_generate(self.model, self.tokenizer, prompt, max_tokens=cycles + 2)
        return timed(([response.token] for response in responses), cycles)
