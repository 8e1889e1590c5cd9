"""Whole cycles of a pair with some kernels beside the same without them: the same tokens, and not slower?"""

import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from statistics import median
from typing import Literal, NamedTuple, TypeVar

import mlx.core as mx

from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.prefix_cache import common_length
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.kernels import MAX_ROWS, Kernels, verify_attention
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.targets import Target
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.calibration import TimedBlockSize

PROMPT_TOKENS = 32
CYCLES = 8  # of a width in a row; the first ones compile
ROUNDS = 2  # each side in turn
NOISE = 1.03  # whole cycles may seem so much slower
NEAR_TIE = {mx.float32: 2.0**-16, mx.float16: 2.0**-8, mx.bfloat16: 2.0**-6}  # of two logits, relative to the larger

Result = TypeVar("Result")


def use_kernels(target: Target, drafter: DFlash | None, kernels: Kernels) -> None:
    """Has a pair compute with these kernels from now on. If they are those in use, what is compiled stays."""
    for model in (target, drafter) if drafter else (target,):
        if model.kernels != kernels:
            model.use_kernels(kernels)


def synthetic_prompt(target: TransformerTarget, tokens: int) -> list[int]:
    """Ids that repeat late, so that a mixture chooses experts as if by chance."""
    return [7919 * i % target.config.vocab_size for i in range(1, tokens + 1)]


class Against(NamedTuple):
    """What speaks against kernels.

    result: "failed": they give other tokens; or "slower".
    why: with figures.
    """

    result: Literal["failed", "slower"]
    why: str


def compare_cycles(
    target: TransformerTarget, drafter: DFlash | None, without: Kernels, kernels: Kernels, exact: bool = False
) -> Against | None:
    """Greedy cycles with other kernels than before: what speaks against these, other tokens or slower cycles.

    Where the tokens part, the target's two best logits may have been closer than rounding: that is no difference.

    Args:
        exact: of exact verification, where not even that may be. Few cycles: without kernels it takes row after row.
    """
    for width in _widths(drafter, without, kernels, exact):
        cycles = partial(_cycles, target, drafter, width, exact)
        rounds = 1 if exact else ROUNDS
        (ours, our_seconds), (theirs, their_seconds) = _in_turn(target, drafter, without, kernels, cycles, rounds)
        if difference := _difference(target, ours, theirs, 0.0 if exact else NEAR_TIE[target.dtype]):
            return Against("failed", f"other tokens in cycles of {width} rows: {difference}")
        if slower := _slower(f"whole cycles of {width} rows", our_seconds, their_seconds):
            return slower
    return None


def compare_passes(target: TransformerTarget, drafter: DFlash, without: Kernels, kernels: Kernels) -> Against | None:
    """The same of the target's passes behind a context that is long enough for attention's kernel: no short cycle has it."""
    for width in _widths(drafter, without, kernels):
        passes = partial(_passes, target, width)
        (ours, our_seconds), (theirs, their_seconds) = _in_turn(target, drafter, without, kernels, passes, ROUNDS)
        chosen, best = (mx.argmax(logits, axis=-1, keepdims=True) for logits in (ours, theirs))
        gaps = mx.take_along_axis(theirs, best, axis=-1) - mx.take_along_axis(theirs, chosen, axis=-1)
        near_tie = NEAR_TIE[target.dtype] * mx.abs(theirs).max(axis=-1, keepdims=True)
        if ((chosen != best) & ~(gaps < near_tie)).any().item():
            return Against("failed", f"other tokens in passes of {width} rows behind {verify_attention.FROM} positions")
        if slower := _slower(f"passes of {width} rows behind {verify_attention.FROM} positions", our_seconds, their_seconds):
            return slower
    return None


def _widths(drafter: DFlash | None, without: Kernels, kernels: Kernels, exact: bool = False) -> list[int]:
    """Rows of the cycles to compare: few, but for each kernel that is new a block in which it is used, if there is any."""
    widest = min(drafter.config.block_size, MAX_ROWS) if drafter else 1
    usual = {min(4, widest)} if exact else {min(4, widest), widest}
    widths: set[int] = set()
    for name, rows in kernels.rows.items():
        new = rows - without.rows.get(name, frozenset())
        if 1 in new and not exact:
            widths.add(1)
        blocks = {row + (name == "candidates") for row in new} & set(range(2, widest + 1))  # that one sees drafts only
        widths |= blocks & usual or set(sorted(blocks)[:1])
    return sorted(widths)


def _in_turn(
    target: Target,
    drafter: DFlash | None,
    without: Kernels,
    kernels: Kernels,
    function: Callable[[], tuple[Result, list[float]]],
    rounds: int,
) -> list[tuple[Result, list[float]]]:
    """What a function gives with the kernels and without, and all the seconds that it tells."""
    results: dict[bool, Result] = {}
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(rounds):
        for ours, used in ((True, kernels), (False, without)):
            use_kernels(target, drafter, used)
            results[ours], times = function()
            seconds[ours] += times
    return [(results[ours], seconds[ours]) for ours in (True, False)]


def _slower(what: str, ours: list[float], theirs: list[float]) -> Against | None:
    ours_ms, theirs_ms = median(ours) * 1e3, median(theirs) * 1e3
    if ours_ms <= NOISE * theirs_ms:
        return None
    return Against("slower", f"{what} are slower: {ours_ms:.2f} ms, not {theirs_ms:.2f} ms")


def _cycles(target: TransformerTarget, drafter: DFlash | None, width: int, exact: bool) -> tuple[list[int], list[float]]:
    """The tokens of a few cycles behind the prompt, and the seconds of each."""
    sampler, sequence = Sampler(Sampling(), target.config.vocab_size), TokenSequence(target, drafter, exact)
    sizes = TimedBlockSize(width)
    count = CYCLES // 2 if exact else CYCLES
    anchor = prefill(sequence, synthetic_prompt(target, PROMPT_TOKENS), sampler)
    tokens: list[int] = anchor.tolist()  # type: ignore[assignment]
    for cycle in islice(run(sequence, anchor, sampler, sizes, (count + 1) * width, len), count):
        tokens += cycle.token_ids
    return tokens, sizes.seconds


def _passes(target: TransformerTarget, width: int) -> tuple[mx.array, list[float]]:
    """The logits of a few passes over the same rows, `[passes * rows, vocab]`, and the seconds of each.

    Zeros stand for all but the end of the context: they are read as anything else would be, and no prompt is so long to read.
    """
    prompt, position = synthetic_prompt(target, PROMPT_TOKENS), verify_attention.FROM - GROWTH
    state = target.new_state(verify_attention.FROM)
    target.forward(mx.array([prompt]), state, mx.array([position - len(prompt)], mx.int32), commit=True)
    ids, logits, seconds = mx.array([prompt[:width]]), list[mx.array](), list[float]()
    for count in range(CYCLES):
        start = time.perf_counter()
        hidden, _ = target.forward(ids, state, mx.array([position + count], mx.int32))
        logits.append(target.lm_head(hidden)[0].astype(mx.float32))
        state.commit(1)
        mx.eval(logits, state.arrays)
        seconds.append(time.perf_counter() - start)
    return mx.concatenate(logits), seconds


def _difference(target: TransformerTarget, ours: list[int], theirs: list[int], near_tie: float) -> str | None:
    """Where two texts part and it is no near tie; the target computes by MLX's ops."""
    at = common_length(ours, theirs)
    if at == min(len(ours), len(theirs)):
        return None
    text = synthetic_prompt(target, PROMPT_TOKENS) + theirs[:at]
    hidden, _ = target.forward(mx.array([text]), target.new_state(len(text)), mx.array([0], mx.int32), commit=True)
    logits = target.lm_head(hidden[:, -1:])[0, 0].astype(mx.float32)
    gap, best = mx.abs(logits[theirs[at]] - logits[ours[at]]).item(), mx.abs(logits).max().item()
    if gap < near_tie * best:  # type: ignore[operator]
        return None
    return f"token {at} is {ours[at]} and not {theirs[at]}, whose logit is {gap:.2g} higher"
