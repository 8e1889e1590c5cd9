"""Engines that can be measured, each behind the same few calls. Arguments and results are what JSON can hold."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import islice
from statistics import median
from typing import Any, Literal, cast

import mlx.core as mx

import dflash_mlx as dm
from dflash_mlx.decoding.parity import parity
from dflash_mlx.drafters import DFlash

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

    def alone(self, prompt: list[int], block_size: int, repeats: int) -> dict[str, float]:
        """Seconds, medians, of a cycle's pieces with nothing around them, behind a prompt of one chunk.

        verify: the target over `block_size` rows, its head and argmax. draft: the drafter's block. inject: as many rows of
        context features into the drafter.
        """
        assert self._real is not None
        target, drafter, rows = self.pair.target, self._real, len(prompt)
        state, context = target.new_state(rows + block_size), drafter.new_context(rows + block_size)
        taps, start, position = drafter.config.target_layer_ids, mx.array([0], mx.int32), mx.array([rows], mx.int32)
        _, features = target.forward(mx.array([prompt], mx.int32), state, start, taps, commit=True)
        assert features is not None
        drafter.inject(features, context, start)
        block, features = mx.array([prompt[:block_size]], mx.int32), features[:, :block_size]
        mx.eval(state.arrays, context.arrays, block, features)

        def verify() -> list[mx.array | None]:
            hidden, tapped = target.forward(block, state, position, taps)
            return [mx.argmax(target.lm_head(hidden), axis=-1), tapped]

        def draft() -> mx.array:
            return drafter.draft(block[0, :1], context, position, block_size, target).ids

        def inject() -> list[mx.array]:
            drafter.inject(features, context, position)
            return context.arrays

        pieces = {"verify": verify} if block_size == 1 else {"verify": verify, "draft": draft, "inject": inject}
        return {name: _seconds(piece, repeats) for name, piece in pieces.items()}

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


def _seconds(piece: Any, repeats: int) -> float:
    """Median time of evaluating what `piece` returns."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        mx.eval(piece())
        times.append(time.perf_counter() - start)
    return median(times[1:])  # the first one warms up
