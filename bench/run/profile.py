"""Where a cycle's time goes: each part alone beside what it must move, and the whole cycle in the loop.

A part is evaluated by itself, all layers of a kind one after the other in one evaluation: a wait a layer would drown it, and
the weights of the other layers lie between two readings of the same. Its graph is built before the clock starts, so that
parts are the device's time; Python's is told apart. Parts take turns, so that no cache holds a part's weights for the next
round.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median

import mlx.core as mx

from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import NO_DRAFT, Checkpoint, TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import RequestError
from dflash_mlx.generation import check_block_size
from dflash_mlx.pair import Pair
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.calibration import TimedBlockSize
from dflash_mlx.tuning.whole_cycles import synthetic_prompt

from ..roofline.bandwidth import measured_bandwidth
from ..roofline.traffic import Kind, cycle_traffic, kinds_of, part_of

ROUNDS = 6  # of all parts, and of all widths of a pass; the first one compiles
CYCLES = 11  # of a kind in a row
COLD = 3  # of them, not counted
READ = 2048  # tokens of context that are really read; before them stand zeros, which are read as anything else would be
TAIL = 32  # tokens that are read behind zeros


@dataclass(frozen=True)
class Part:
    """A part of a cycle: what it takes alone, and the bytes that it must move."""

    name: str
    seconds: float
    bytes: int


@dataclass(frozen=True)
class Profile:
    """Where a cycle's time goes.

    rows: of a block, the anchor's included; 1: a plain step.
    context: tokens before it.
    parts: in the order of a cycle.
    cycle_seconds: of a whole cycle in the loop, where Python works while the device does.
    host_seconds: in which Python computed, of a cycle: hidden as long as the device has work.
    plain_step_seconds: of a step of one row.
    bandwidth: of reading memory, bytes a second.
    """

    rows: int
    context: int
    parts: tuple[Part, ...]
    cycle_seconds: float
    host_seconds: float
    plain_step_seconds: float
    bandwidth: float

    @property
    def bytes(self) -> int:
        """What a cycle must move."""
        return sum(part.bytes for part in self.parts)

    @property
    def floor_seconds(self) -> float:
        """What a cycle would take if it did nothing but move them."""
        return self.bytes / self.bandwidth

    @property
    def parts_seconds(self) -> float:
        """Of all parts, one after the other."""
        return sum(part.seconds for part in self.parts)


def profile(pair: Pair, rows: int, context: int, progress: Callable[[int, int], None] | None = None) -> Profile:
    """Measures a greedy cycle of `rows` rows, or with 1 row a plain step, behind `context` tokens.

    What is decoded makes no sense, and hardly any draft is accepted: a cycle costs nearly the same whatever it commits.

    Args:
        progress: called with measurements done and in all.

    Raises:
        RequestError: blocks are wider than trained, there is no drafter for them, or the context does not fit.
    """
    _check(pair, rows, context)
    target, drafter = pair.target, pair.drafter if rows > 1 else None
    assert isinstance(target, TransformerTarget)
    tell = progress or (lambda done, total: None)
    steps = ROUNDS + 3
    tell(0, steps)
    sampler, sequence = Sampler(Sampling(), target.config.vocab_size), TokenSequence(target, drafter)
    anchor = _fill(sequence, context, sampler)
    sequence.reserve(_room(rows))
    seconds: dict[str, list[float]] = {}
    for done in range(ROUNDS):
        for part, taken in _round(target, drafter, sequence, anchor, rows, sampler):
            seconds.setdefault(part, []).append(taken)
        tell(done + 1, steps)
    anchor, cycle, host = _cycles(sequence, anchor, sampler, rows)
    tell(ROUNDS + 1, steps)
    plain = cycle if rows == 1 else _cycles(sequence, anchor, sampler, 1)[1]
    tell(ROUNDS + 2, steps)
    parts = [
        Part(traffic.part, median(seconds[traffic.part][1:]), traffic.bytes)
        for traffic in cycle_traffic(target, drafter, rows, context)
    ]
    bandwidth = measured_bandwidth()
    tell(steps, steps)
    return Profile(rows, context, tuple(parts), cycle, host, plain, bandwidth)


def longest_context(pair: Pair, rows: int) -> int:
    """How many tokens there can be before a cycle of so many rows that `profile` measures."""
    return pair.context_capacity - _room(rows)


def pass_seconds(target: TransformerTarget, widths: Sequence[int], context: int) -> dict[int, float]:
    """One pass of the target with its head, by rows, behind `context` positions of zeros; medians, all widths in turn."""
    state, position = target.new_state(context + max(widths)), mx.array([context], mx.int32)
    mx.eval(state.arrays)
    seconds: dict[int, list[float]] = {rows: [] for rows in widths}
    for _ in range(ROUNDS):
        for rows, times in seconds.items():
            ids = mx.array([synthetic_prompt(target, rows)], mx.int32)
            mx.eval(ids)
            start = time.perf_counter()
            hidden, _ = target.forward(ids, state, position)
            mx.eval(target.lm_head(hidden))
            times.append(time.perf_counter() - start)
    return {rows: median(times[1:]) for rows, times in seconds.items()}


def _check(pair: Pair, rows: int, context: int) -> None:
    check_block_size(rows, pair.drafter)
    most = longest_context(pair, rows)
    if not 1 <= context <= most:
        raise RequestError(
            f"a context of {context} tokens cannot be measured: model and memory have room for 1 to {most} here.",
            "Take a context in between.",
        )


def _room(rows: int) -> int:
    """Positions behind the context that measuring needs at most."""
    return (CYCLES + 2) * rows + CYCLES


def _fill(sequence: TokenSequence, context: int, sampler: Sampler) -> mx.array:
    """Has a new sequence hold so many tokens, or zeros and the end of them. Returns the anchor."""
    assert isinstance(sequence.target, TransformerTarget)
    if context > READ:
        sequence.go_back(Checkpoint(context - TAIL, {}, {}))
    anchor = prefill(sequence, synthetic_prompt(sequence.target, context), sampler)
    sequence.settle()
    mx.eval(anchor, sequence.arrays)
    return anchor


def _round(
    target: TransformerTarget, drafter: DFlash | None, sequence: TokenSequence, anchor: mx.array, rows: int, sampler: Sampler
) -> Iterator[tuple[str, float]]:
    """Seconds of each part, once. The sequence's position and what is committed stay as they are."""
    state, position = sequence.state, mx.array([sequence.position], mx.int32)
    ids = mx.concatenate([anchor, mx.array(synthetic_prompt(target, rows - 1), mx.int32)])
    mx.eval(ids, position)
    for kind in kinds_of(target):
        yield part_of(target, kind), _layers(target, kind, sequence, ids, position)

    taps = drafter.config.target_layer_ids if drafter else ()
    hidden, features = target.forward(ids[None], state, position, taps)
    before, committed = state.layers, (rows + 1) // 2
    mx.eval(hidden, features, state.arrays)
    state.commit(committed)
    commit = _seconds(state.arrays)
    if state.recurrent:
        yield "commit", commit
    state.layers = before
    logits = target.lm_head(target.module.model.norm(hidden)).squeeze(0)  # normed before: what it costs is the same
    yield "head", _seconds(logits)
    draft = NO_DRAFT._replace(ids=ids[1:])
    verdict = sampler.accept(draft, logits)
    yield "accept", _seconds(mx.concatenate([verdict.accepted, verdict.tokens, draft.ids]))

    if drafter is None or features is None:
        return
    context = sequence.context
    assert context is not None
    context.reserve(sequence.position + 2 * rows)
    tapped = [mx.contiguous(part) for part in mx.split(features, len(taps), axis=-1)]
    mx.eval(tapped, context.arrays)
    drafter.inject(mx.concatenate(tapped, axis=-1), context, position)
    yield "injection", _seconds(context.arrays, context.waiting or ())
    behind = position + committed
    mx.eval(behind)
    hidden = drafter.hidden(anchor, context, behind, rows, target)
    yield "draft block", _seconds(hidden, context.arrays)
    hidden = mx.contiguous(hidden[:, 1:])
    mx.eval(hidden)
    logits = drafter.logits(hidden, target)
    yield "draft head", _seconds(logits)
    luck = sampler.luck(behind + 1 + mx.arange(rows - 1)) if sampler.temperature else None
    yield "draft choice", _seconds(drafter.choose(hidden, logits, anchor, sampler, luck).ids)


def _layers(target: TransformerTarget, kind: Kind, sequence: TokenSequence, ids: mx.array, position: mx.array) -> float:
    """Of all layers of a kind, in a chain; with the embedding, where the first layer is one of them."""
    state, x = sequence.state, target.embed(ids[None])
    mask = state.visible(position, ids.size)
    if not isinstance(target.layers[0], kind):
        mx.eval(x)
    written = []
    for layer, layer_state in zip(target.layers, state.layers):
        if isinstance(layer, kind):
            x = layer(x, layer_state, position, mask)  # type: ignore[arg-type]
            written += layer_state.arrays
    return _seconds(x, written)


def _cycles(sequence: TokenSequence, anchor: mx.array, sampler: Sampler, rows: int) -> tuple[mx.array, float, float]:
    """Runs cycles. Returns the newest token, and of a cycle the seconds and those in which this thread computed."""
    timer, host = TimedBlockSize(rows), list[float]()
    start = time.thread_time()
    for cycle in islice(run(sequence, anchor, sampler, timer, (CYCLES + 2) * rows, len), CYCLES):
        host.append(time.thread_time() - start)
        anchor = mx.array(cycle.token_ids[-1:], mx.int32)
        start = time.thread_time()
    return anchor, median(timer.seconds[COLD:]), median(host[COLD:])


def _seconds(*arrays: object) -> float:
    """Of evaluating arrays whose graphs are built."""
    start = time.perf_counter()
    mx.eval(*arrays)
    return time.perf_counter() - start
