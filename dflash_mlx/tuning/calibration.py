"""What a cycle costs on this machine, measured: at first use, in a second or two, and kept on disk.

Whole cycles are timed behind a short context. What attention costs behind a long one is timed apart, on one layer, and
scaled by their number: in a whole cycle it would drown in the noise.
"""

import hashlib
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.checkpoint import size_in_memory
from dflash_mlx.decoding.block_size import MOST_COPIED, TREES
from dflash_mlx.decoding.copies import SHORTEST, Copies
from dflash_mlx.decoding.costs import Costs, Kind, Point
from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import Offer, TokenSequence
from dflash_mlx.drafters import DFlash, DrafterConfig
from dflash_mlx.kernels import source_of
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.kernels.verify_attention import FROM, covers, verify_attention_metal
from dflash_mlx.targets import Target, TargetConfig
from dflash_mlx.targets.row_invariance import backend, rows_apart
from dflash_mlx.tuning import user_cache

WIDTHS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # between them, costs are interpolated
COPIED = (4, MOST_COPIED)  # the same where drafts are copied
CYCLES = 3  # of a width in a row; the first one compiles
ROUNDS = 2  # of all widths, so that what disturbs the machine for a moment does not disturb all of a width's cycles
SECONDS = 2.0  # after which nothing new is started
LINEAR = 0.95  # of a row each: where passes of 2 and 4 rows cost that, wider ones need not be tried
DISTURBED = 1.3  # times what was seen at best: where no second cycle comes near that, something else was running
LONG_CONTEXT = 8192  # positions: few enough for one layer's buffers to be small, enough to see them read
REPEATS = 5


class Calibration(NamedTuple):
    """What was measured, and whether it is worth keeping: other programs may have disturbed it."""

    costs: Costs
    undisturbed: bool


def costs_of(target: Target, drafter: DFlash | None, exact: bool, progress: Callable[[int, int], None] | None = None) -> Costs:
    """What cycles of a pair cost here: as it was kept, or measured now and kept if nothing disturbed it."""
    file = file_for(target, drafter, exact)
    costs = cached(file)
    if costs is None:
        costs, undisturbed = calibrate(target, drafter, exact, progress)
        if undisturbed:
            save(costs, file)
    return costs


def calibrate(
    target: Target, drafter: DFlash | None, exact: bool, progress: Callable[[int, int], None] | None = None
) -> Calibration:
    """Measures cycles of block sizes up to the drafter's trained one, and of copies.

    Args:
        progress: called with measurements done and in all.
    """
    trained = drafter.config.block_size if drafter else 1
    ways = [Way(width) for width in WIDTHS if width < trained] + [Way(trained)]
    ways += [Way(rows, "tree") for rows in TREES if trained > 1 and not exact] + [Way(rows, "copy") for rows in COPIED]
    sampler = Sampler(Sampling(), target.config.vocab_size)
    sequence: TokenSequence | None = None
    seconds: dict[Way, list[float]] = {}
    start, done = time.perf_counter(), 0
    for _ in range(ROUNDS):
        for way in list(ways):
            if way not in ways or (len(seconds) > 2 and time.perf_counter() - start > SECONDS):
                continue
            if progress:
                progress(done, ROUNDS * len(ways))
            if sequence is None or GROWTH - sequence.position % GROWTH < CYCLES * way.rows:  # buffers shall not grow meanwhile
                sequence = TokenSequence(target, drafter, exact)
                anchor = prefill(sequence, [0, 1, 2], sampler)
            timer, copies = TimedBlockSize(way.rows, way.kind == "tree"), Repeated() if way.kind == "copy" else None
            for cycle in islice(run(sequence, anchor, sampler, timer, CYCLES * way.rows, len, copies), CYCLES):
                anchor = mx.array(cycle.token_ids[-1:], mx.int32)
            seconds.setdefault(way, []).extend(timer.seconds[1:])
            done += 1
            if way == Way(4) and all(min(seconds[Way(w)]) > LINEAR * w * min(seconds[Way(1)]) for w in (2, 4)):
                ways = [other for other in ways if other.kind == "copy" or other.rows <= 4]
    return _calibration(target, drafter, exact, seconds)


class Way(NamedTuple):
    """A way to draft: so many rows a cycle, of a kind."""

    rows: int
    kind: Kind = "chain"


class TimedBlockSize:
    """One block size, and the seconds of its cycles."""

    def __init__(self, block_size: int, tree: bool = False) -> None:
        self._block_size, self._tree, self.seconds = block_size, tree, list[float]()

    def next(self, position: int) -> Offer:
        return Offer(self._block_size, self._tree)

    def copy(self, rate: float) -> int:
        return self._block_size

    def record(self, block_size: int, accepted: int, seconds: float, *_: object) -> None:
        self.seconds.append(seconds)


class Repeated(Copies):
    """A text that always matches: copies to measure."""

    def __init__(self) -> None:
        super().__init__([0] * (SHORTEST + 1))

    def add(self, tokens: Sequence[int]) -> None:
        """Stays as it is."""


def _calibration(target: Target, drafter: DFlash | None, exact: bool, seconds: dict[Way, list[float]]) -> Calibration:
    points: dict[Kind, list[Point]] = {"chain": [], "copy": [], "tree": []}
    undisturbed = True
    for kind, measured in points.items():
        at_least = math.inf
        for way in sorted((way for way in seconds if way.kind == kind), reverse=True):
            best, *others = sorted(seconds[way])
            undisturbed &= min(others, default=best) <= DISTURBED * best and best <= DISTURBED * at_least
            at_least = min(best, at_least)  # fewer rows are never dearer
            by_drafter = None if kind == "copy" else drafter
            longer = _attention_seconds(target, by_drafter, exact, way.rows, LONG_CONTEXT)
            longer -= _attention_seconds(target, by_drafter, exact, way.rows, GROWTH)
            measured += [(way.rows, 0, at_least), (way.rows, LONG_CONTEXT, at_least + max(0.0, longer))]
    return Calibration(Costs(*points.values()), undisturbed)


def _attention_seconds(target: Target, drafter: DFlash | None, exact: bool, rows: int, capacity: int) -> float:
    """What the attention of one cycle takes to read buffers of `capacity` positions, but for windows, which do not grow."""
    config, dtype = target.config, target.embed(mx.array([[0]])).dtype
    passes, at_once = (rows, 1) if exact and rows_apart("attention") else (1, rows)
    sizes = config.num_attention_heads, config.num_key_value_heads, config.head_dim
    by_kernel = capacity >= FROM and target.kernels.use("verify_attention", at_once, exact) and covers(dtype, *sizes, at_once)
    seconds = config.attention_layers * passes * _layer_seconds(config, dtype, at_once, capacity, by_kernel)
    full = sum(drafter.config.window(i) is None for i in range(drafter.config.num_hidden_layers)) if drafter else 0
    if drafter and rows > 1 and full:
        seconds += full * _layer_seconds(drafter.config, drafter.dtype, rows, capacity)
    return seconds


def _layer_seconds(
    config: TargetConfig | DrafterConfig, dtype: mx.Dtype, rows: int, capacity: int, by_kernel: bool = False
) -> float:
    queries = mx.zeros((1, config.num_attention_heads, rows, config.head_dim), dtype)
    keys, values = (mx.zeros((1, config.num_key_value_heads, capacity, config.head_dim), dtype) for _ in range(2))
    mask, position = mx.ones((rows, capacity), mx.bool_), mx.array([capacity - rows], mx.int32)
    attend = partial(mx.fast.scaled_dot_product_attention, scale=1.0, mask=mask)
    if by_kernel:
        attend = partial(verify_attention_metal, position=position)
    times = []
    for _ in range(3):
        mx.eval(queries, keys, values, mask)
        start = time.perf_counter()
        for _ in range(REPEATS):
            queries = attend(queries, keys, values)
        mx.eval(queries)
        times.append(time.perf_counter() - start)
    return min(times) / REPEATS


def file_for(target: Target, drafter: DFlash | None, exact: bool) -> Path:
    """Where the costs of a pair are kept: those with its kernels, on this machine, with these versions."""
    kernels = target.kernels
    used = sorted((name, sorted(rows), source_of(name)) for name, rows in kernels.rows.items())
    sizes = [size_in_memory(model) for model in (target.module, drafter) if model]
    pair = target.config, drafter and drafter.config, sizes, exact
    machine = platform.system(), platform.machine(), mx.device_info().get("device_name"), os.cpu_count(), mx.default_device()
    versions = version("mlx"), version("dflash-mlx"), backend()
    facts = pair, used, sorted(kernels.row_invariant), sorted(kernels.exact), machine, versions
    return user_cache.folder("costs") / f"{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}.json"


def cached(file: Path) -> Costs | None:
    """Costs that `save` wrote; None: there are none that can be used."""
    try:
        return Costs.from_dict(user_cache.read(file))
    except (ValueError, ArithmeticError):
        return None


def save(costs: Costs, file: Path) -> None:
    """Keeps costs for the next time, where the disk allows it."""
    user_cache.write(file, costs.to_dict())
