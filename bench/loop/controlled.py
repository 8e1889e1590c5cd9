"""A drafter whose acceptance is chosen: it costs what a real one costs and is right as often as it is told.

Engines can so be measured without a trained pair: on random weights a real draft is never accepted.
"""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from dflash_mlx.drafters import DFlash, Draft


class Plan:
    """What a draft is to be, for every position an anchor may stand at. Fixed before the run, the same for every engine.

    Attributes:
        truth: int32 `[positions, drafts]`, the tokens that plain decoding has after an anchor.
        right: bool `[positions, drafts]`, which of them are drafted.
    """

    def __init__(self, prompt: Sequence[int], answer: Sequence[int], rates: Sequence[float], seed: int) -> None:
        """
        Args:
            prompt, answer: token ids; the answer is what plain greedy decoding says.
            rates: for each drafted position, the probability that its token is right.
            seed: of the pattern.
        """
        text, drafts = np.array([*prompt, *answer], np.int32), len(rates)
        anchors = np.arange(len(text))[:, None]
        after = np.minimum(anchors + 1 + np.arange(drafts), len(text) - 1)
        self.truth, self.right = mx.array(text[after]), mx.array(_pattern(len(text), rates, seed))
        mx.eval(self.truth, self.right)

    def apply(self, drafted: mx.array, position: mx.array | int, vocab: int) -> mx.array:
        """The planned draft: int32 `[drafts]`, as `drafted`, which it depends on, so that none of its work is spared.

        Args:
            drafted: int32 `[drafts]`, what the real drafter says; kept where a wrong token is wanted and it is wrong.
            position: the anchor's, int or int32 `[1]`.
        """
        row = mx.minimum(position, self.truth.shape[0] - 1).reshape(1)
        truth, right = (mx.take(table, row, axis=0)[0, : drafted.size] for table in (self.truth, self.right))
        wrong = mx.where(drafted == truth, (truth + 1) % vocab, drafted)
        return mx.where(right, truth, wrong).astype(mx.int32)


class ControlledDrafter:
    """Stands in for a drafter: all is the real one's but what `draft` says."""

    def __init__(self, drafter: DFlash, plan: Plan, vocab: int) -> None:
        self._drafter, self._plan, self._vocab = drafter, plan, vocab

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drafter, name)

    def draft(self, anchor: mx.array, context: Any, position: mx.array, *args: Any, **kwargs: Any) -> Draft:
        """As `DFlash.draft`; the ids are the plan's."""
        real = self._drafter.draft(anchor, context, position, *args, **kwargs)
        return Draft(self._plan.apply(real.ids, position, self._vocab), None)


def expected_length(rates: Sequence[float]) -> float:
    """The acceptance length that rates mean: 1 + r0 + r0 r1 + ..."""
    return 1.0 + float(np.cumprod(rates).sum())


def typical_seed(rates: Sequence[float], start: int, block_sizes: Sequence[int], cycles: int) -> int:
    """Of a hundred seeds the one whose acceptance length over so many cycles is nearest to what the rates mean.

    A short run is a small sample: with any seed, its acceptance may be far off.

    Args:
        start: the first anchor's position.
        block_sizes: the worst of these counts.
    """

    def off(seed: int) -> float:
        right = _pattern(start + cycles * (len(rates) + 1), rates, seed)
        return max(abs(_length(right[:, : n - 1], start, cycles) / expected_length(rates[: n - 1]) - 1) for n in block_sizes)

    return min(range(100), key=off)


def _pattern(positions: int, rates: Sequence[float], seed: int) -> np.ndarray:
    """Which drafts are right, bool `[positions, drafts]`."""
    return np.random.default_rng(seed).random((positions, len(rates))) < np.array(rates)


def _length(right: np.ndarray, start: int, cycles: int) -> float:
    """Tokens a cycle, the first anchor standing at `start`."""
    position = start
    for _ in range(cycles):
        position += 1 + int(np.cumprod(right[position]).sum())
    return (position - start) / cycles
