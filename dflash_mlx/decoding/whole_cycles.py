"""Whole cycles of a pair with some kernels beside the same cycles without them: the same tokens, and not slower?"""

from itertools import islice
from statistics import median

import mlx.core as mx

from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.kernels import MAX_ROWS, Kernels
from dflash_mlx.targets import Target
from dflash_mlx.targets.transformer import TransformerTarget

PROMPT_TOKENS = 32
CYCLES = 8  # of a width in a row; the first ones compile
ROUNDS = 2  # each side in turn
NOISE = 1.03  # whole cycles may seem so much slower
NEAR_TIE = {mx.float32: 2.0**-16, mx.float16: 2.0**-8, mx.bfloat16: 2.0**-6}  # of two logits, relative to the larger


def use_kernels(target: Target, drafter: DFlash | None, kernels: Kernels) -> None:
    """Has a pair compute with these kernels from now on."""
    target.use_kernels(kernels)
    if drafter:
        drafter.use_kernels(kernels)


def compare_cycles(
    target: TransformerTarget, drafter: DFlash | None, without: Kernels, kernels: Kernels, exact: bool = False
) -> str | None:
    """Greedy cycles with other kernels than before: what speaks against these, other tokens or slower cycles.

    Where the tokens part, the target's two best logits may have been closer than rounding: that is no difference.

    Args:
        exact: of exact verification, where not even that may be. Few cycles: without kernels it takes row after row.
    """
    widest = min(drafter.config.block_size, MAX_ROWS) if drafter else 1
    used = frozenset().union(*kernels.rows.values())
    for width in sorted(({min(4, widest)} if exact else {1, min(4, widest), widest}) & used):
        tokens: dict[bool, list[int]] = {}
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(1 if exact else ROUNDS):
            for ours in (True, False):
                use_kernels(target, drafter, kernels if ours else without)
                tokens[ours], times = _cycles(target, drafter, width, exact)
                seconds[ours] += times
        if difference := _difference(target, tokens[True], tokens[False], 0.0 if exact else NEAR_TIE[target.dtype]):
            return f"other tokens in cycles of {width} rows: {difference}"
        ours_ms, theirs_ms = (median(seconds[ours]) * 1e3 for ours in (True, False))
        if ours_ms > NOISE * theirs_ms:
            return f"whole cycles of {width} rows are slower: {ours_ms:.2f} ms, not {theirs_ms:.2f} ms"
    return None


class _Width:
    """One block size, and the seconds of its cycles."""

    def __init__(self, block_size: int) -> None:
        self._block_size, self.seconds = block_size, list[float]()

    def next(self, position: int) -> int:
        return self._block_size

    def record(self, block_size: int, accepted: int, seconds: float, position: int) -> None:
        self.seconds.append(seconds)


def _prompt(target: TransformerTarget) -> list[int]:
    return [7919 * i % target.config.vocab_size for i in range(1, PROMPT_TOKENS + 1)]


def _cycles(target: TransformerTarget, drafter: DFlash | None, width: int, exact: bool) -> tuple[list[int], list[float]]:
    """The tokens of a few cycles behind the prompt, and the seconds of each."""
    sampler, sequence, sizes = Sampler(Sampling(), target.config.vocab_size), TokenSequence(target, drafter, exact), _Width(width)
    count = CYCLES // 2 if exact else CYCLES
    anchor = prefill(sequence, _prompt(target), sampler)
    tokens: list[int] = anchor.tolist()  # type: ignore[assignment]
    for cycle in islice(run(sequence, anchor, sampler, sizes, (count + 1) * width, len), count):
        tokens += cycle.token_ids
    return tokens, sizes.seconds


def _difference(target: TransformerTarget, ours: list[int], theirs: list[int], near_tie: float) -> str | None:
    """Where two texts part and it is no near tie; the target computes by MLX's ops."""
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), None)
    if at is None:
        return None
    text = _prompt(target) + theirs[:at]
    hidden, _ = target.forward(mx.array([text]), target.new_state(len(text)), mx.array([0], mx.int32), commit=True)
    logits = target.lm_head(hidden[:, -1:])[0, 0].astype(mx.float32)
    gap, best = mx.abs(logits[theirs[at]] - logits[ours[at]]).item(), mx.abs(logits).max().item()
    if gap < near_tie * best:  # type: ignore[operator]
        return None
    return f"token {at} is {ours[at]} and not {theirs[at]}, whose logit is {gap:.2g} higher"
