"""What a cycle costs on this machine, measured: at first use, in a second or two, and kept on disk.

Whole cycles are timed behind a short context. What attention costs behind a long one is timed apart, on one layer, and
scaled by their number: in a whole cycle it would drown in the noise.
"""

import hashlib
import json
import math
import os
import platform
import time
from importlib.metadata import version
from itertools import cycle
from pathlib import Path

import mlx.core as mx

from dflash_mlx.buffers import GROWTH
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.targets import Target
from dflash_mlx.targets.row_invariance import backend

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 13, 16, 24, 32, 48, 64)  # costs are interpolated between them; kernels step at 5-6 and 12-13
RUN = 4  # cycles of a width in a row: the first compiles, the last drafts for the next width already
SECONDS = 1.0  # to go on for: small models, which little things disturb, get several rounds, and the least time counts
LONG_CONTEXT = 8192  # positions: few enough for one layer's buffers to be small, enough to see them read
REPEATS = 5


def calibrate(target: Target, drafter: DFlash, exact: bool) -> Costs:
    """Measures cycles of block sizes up to the drafter's trained one."""
    schedule = _Schedule(drafter.config.block_size)
    sequence, sampler = TokenSequence(target, drafter, exact), Sampler(Sampling(), target.config.vocab_size)
    anchor = prefill(sequence, [0, 1, 2], sampler)
    start = time.perf_counter()
    for _ in run(sequence, anchor, sampler, schedule, 10**9, take=len):
        if schedule.round_done and (time.perf_counter() - start > SECONDS or sequence.position > GROWTH):
            break
    points = []
    for width, short in schedule.seconds.items():
        longer = short + _attention_seconds(target, width, LONG_CONTEXT) - _attention_seconds(target, width, GROWTH)
        points += [(width, 0, short), (width, LONG_CONTEXT, max(short, longer))]
    return Costs(points)


class _Schedule:
    """Block sizes in turn, a run of cycles each.

    Attributes:
        seconds: the least that a cycle of each block size took.
        round_done: whether the last cycle was a round's last.
    """

    def __init__(self, trained_block_size: int) -> None:
        widths = [width for width in WIDTHS if width < trained_block_size] + [trained_block_size]
        self.seconds = dict.fromkeys(widths, math.inf)
        self.round_done = False
        self._round = [(width, i) for width in widths for i in range(RUN)]
        self._asked, self._done = cycle(self._round), cycle(self._round)

    def next(self, position: int) -> int:
        return next(self._asked)[0]

    def record(self, block_size: int, accepted: int, seconds: float, position: int) -> None:
        width, i = next(self._done)
        if block_size == width and 0 < i < RUN - 1:
            self.seconds[width] = min(self.seconds[width], seconds)
        self.round_done = (width, i) == self._round[-1]


def _attention_seconds(target: Target, rows: int, capacity: int) -> float:
    """What the attention layers of one pass take to read buffers of `capacity` positions."""
    config, dtype = target.config, target.embed(mx.array([[0]])).dtype
    queries = mx.zeros((1, config.num_attention_heads, rows, config.head_dim), dtype)
    keys, values = (mx.zeros((1, config.num_key_value_heads, capacity, config.head_dim), dtype) for _ in range(2))
    mask = mx.ones((rows, capacity), mx.bool_)
    times = []
    for _ in range(3):
        mx.eval(queries, keys, values, mask)
        start = time.perf_counter()
        for _ in range(REPEATS):
            queries = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=1.0, mask=mask)
        mx.eval(queries)
        times.append(time.perf_counter() - start)
    return min(times) / REPEATS * config.attention_layers


def file_for(*facts: object) -> Path:
    """Where costs are kept that hold for these facts (of target and drafter), this machine and these versions."""
    machine = platform.system(), platform.machine(), mx.device_info().get("device_name"), os.cpu_count(), mx.default_device()
    versions = version("mlx"), version("dflash-mlx"), backend()
    name = hashlib.sha256(repr((facts, machine, versions)).encode()).hexdigest()[:32]
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "dflash-mlx" / "costs" / f"{name}.json"


def cached(file: Path) -> Costs | None:
    """Costs that `save` wrote; None: there are none that can be used."""
    try:
        return Costs.from_dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def save(costs: Costs, file: Path) -> None:
    """Keeps costs for the next time, where the disk allows it."""
    part = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(costs.to_dict()), encoding="utf-8")
        part.replace(file)
    except OSError:  # a read-only home: it is measured again next time
        pass
