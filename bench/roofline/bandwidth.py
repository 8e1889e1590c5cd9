"""How fast this machine reads its memory: what decoding is bound by."""

import time
from statistics import median

import mlx.core as mx

BYTES = 256 * 2**20  # more than any cache holds
REPEATS = 4  # the first one compiles


def measured_bandwidth() -> float:
    """Bytes a second of reading: the better of two ways to sum. Which one that is, differs by device."""
    data = mx.ones((1024, BYTES // 4096))
    mx.eval(data)
    best = 0.0
    for axis in (None, 0):
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            mx.eval(mx.sum(data, axis=axis))
            seconds.append(time.perf_counter() - start)
        best = max(best, BYTES / median(seconds[1:]))
    return best
