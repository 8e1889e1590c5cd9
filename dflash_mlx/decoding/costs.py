"""What a cycle costs, by block size and context length: as calibrated, and as seen while running.

Nothing here looks at a clock: seconds come in as arguments.
"""

import math
from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Any, Literal

import numpy as np

# Of `Pace`, in log seconds: 0.1 is 10%
NOISE = 0.2  # of one cycle: twice what is usual, so that a width is not dropped for one slow cycle
SURPRISE = 0.5  # the most that one cycle can say: what took 10x as long was held up by something else
COMMON_SPREAD, COMMON_DRIFT = 0.3, 0.05  # of the whole machine: before the first cycle, and from one cycle to the next
OWN_SPREAD = 0.3  # of a width against the others
OWN_REACH, OWN_MEMORY = 2.0, 2000  # widths over which that is alike, cycles over which it fades


Point = tuple[int, int, float]  # block size, positions of context, seconds
Kind = Literal["chain", "copy", "tree"]  # what is drafted: by the drafter, copied from the text, by the drafter again


class Costs:
    """Seconds of a whole cycle by block size and context length: cost(w, n) = c(w) + k(w) * n.

    Block sizes between measured ones are interpolated linearly; beyond the widest the last slope goes on. A block size
    that was measured at one context length only takes k from its measured neighbours, 0 if nobody has one.

    Args:
        points: block size, positions of context, seconds, of cycles with a draft by the drafter. Block size 1 (plain,
            no draft) is needed. Of repeated measurements the median counts.
        copied: the same of cycles whose drafts were copied from the text; none: they cost as much.
        trees: the same of cycles whose drafts are a tree; none: not known.
    """

    def __init__(self, points: Iterable[Point], copied: Iterable[Point] = (), trees: Iterable[Point] = ()) -> None:
        self.points, self.copied, self.trees = (
            tuple(sorted((int(w), int(n), float(s)) for w, n, s in measured)) for measured in (points, copied, trees)
        )
        everything = self.points + self.copied + self.trees
        if not all(w >= 1 and n >= 0 and 1e-7 < s < 1e4 for w, n, s in everything):
            raise ValueError(f"costs need block sizes from 1, contexts from 0 and sensible seconds: {everything}")
        plain = tuple(point for point in self.points if point[0] == 1)
        if not plain or len({w for w, _, _ in everything}) < 2:
            raise ValueError(f"costs need block size 1 and another one, not {sorted({w for w, _, _ in everything})}")
        self.longest = max(n for _, n, _ in self.points)
        chains = _lines(self.points)
        self._lines: dict[Kind, dict[int, tuple[float, float]]] = {
            "chain": chains,
            "copy": _lines(plain + self.copied) if self.copied else chains,
            "tree": _lines(plain + self.trees),
        }

    def line(self, block_size: int, kind: Kind = "chain") -> tuple[float, float]:
        """c and k of a block size."""
        lines = self._lines[kind]
        measured = list(lines)
        if block_size in lines:
            return lines[block_size]
        below, above = next((pair for pair in pairwise(measured) if block_size <= pair[1]), (measured[-2], measured[-1]))
        share = (block_size - below) / (above - below)
        c, k = (low + (high - low) * share for low, high in zip(lines[below], lines[above]))
        if block_size > above:  # more rows are never cheaper
            c, k = max(c, lines[above][0]), max(k, lines[above][1])
        return c, k

    def seconds(self, block_size: int, position: int) -> float:
        """Of one cycle of `block_size` rows behind `position` rows of context."""
        c, k = self.line(block_size)
        return c + k * position

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: [list(point) for point in getattr(self, name)] for name in ("points", "copied", "trees")}

    @classmethod
    def from_dict(cls, data: object) -> "Costs":
        """What `to_dict` gave. Raises ValueError if it is anything else."""
        try:
            measured = [[(w, n, s) for w, n, s in data[name]] for name in ("points", "copied", "trees")]  # type: ignore[index]
        except (TypeError, KeyError, ValueError):
            raise ValueError("these are not costs: expected points of [block size, context, seconds]") from None
        if not all(type(w) is type(n) is int and type(s) in (int, float) for points in measured for w, n, s in points):
            raise ValueError(f"costs need whole block sizes and contexts, and numbers of seconds: {measured}")
        return cls(*measured)


def _lines(points: Iterable[Point]) -> dict[int, tuple[float, float]]:
    """c and k of every measured block size, in order."""
    points = tuple(points)
    seconds: dict[int, dict[int, float]] = {}
    for w, n, _ in sorted(points):
        seconds.setdefault(w, {})[n] = median(s for v, m, s in points if (v, m) == (w, n))
    slopes = {
        w: max(0.0, (by_context[max(by_context)] - by_context[min(by_context)]) / (max(by_context) - min(by_context)))
        for w, by_context in seconds.items()
        if len(by_context) > 1
    }
    lines = {}
    for w, by_context in seconds.items():
        shortest = min(by_context)
        k = float(np.interp(w, list(slopes), list(slopes.values()))) if slopes else 0.0
        if shortest:  # at least half of a measured time belongs to the weights
            k = min(k, by_context[shortest] / 2 / shortest)
        lines[w] = (by_context[shortest] - k * shortest, k)
    return lines


class Pace:
    """How far cycles are off their calibrated seconds: log(seen / calibrated) = m + r(w), and what is noise in it.

    m is the whole machine (throttling, another program) and may wander quickly. r(w) is one width's own error in the
    calibration (other experts on real text), alike in neighbouring widths, and fades towards 0 where it is not confirmed.
    A Kalman filter on [m, r(1), r(2), ...] divides a surprise between them: a width known for long that becomes slower
    has met a slower machine, so all widths do; a width that is off when first seen, beside others just seen, is off itself.
    """

    def __init__(self, count: int) -> None:
        """count: of widths, 1, 2, ..."""
        widths = np.arange(count)
        alike = OWN_SPREAD**2 * np.exp(-np.abs(widths[:, None] - widths) / OWN_REACH)
        self._mean = np.zeros(count + 1)
        self._fade = np.full(count + 1, 1 - 1 / OWN_MEMORY)
        self._fade[0] = 1
        self._covariance, self._drift = (np.zeros((count + 1,) * 2) for _ in range(2))
        self._covariance[0, 0], self._covariance[1:, 1:] = COMMON_SPREAD**2, alike
        self._drift[0, 0], self._drift[1:, 1:] = COMMON_DRIFT**2, alike * (1 - self._fade[1] ** 2)

    def record(self, block_size: int, ratio: float, at_most: bool) -> None:
        """A cycle took `ratio` times its calibrated seconds; `at_most` says that other work was in them."""
        self._mean *= self._fade
        self._covariance = self._covariance * np.outer(self._fade, self._fade) + self._drift
        surprise = math.log(ratio) - self._mean[0] - self._mean[block_size]
        if at_most:  # it tells something only if it is faster than noise explains
            surprise = min(surprise + NOISE, 0)
        surprise = min(max(surprise, -SURPRISE), SURPRISE)
        shared = self._covariance[:, 0] + self._covariance[:, block_size]  # of every part with what was seen
        gain = shared / (shared[0] + shared[block_size] + NOISE**2)
        self._mean += gain * surprise
        if not at_most:
            self._covariance -= np.outer(gain, shared)

    def common(self) -> float:
        """What to multiply calibrated seconds with whatever the width: how the whole machine is off."""
        return math.exp(self._mean[0])

    def factor(self, block_size: int) -> float:
        """The same for one block size."""
        return math.exp(self._mean[0] + self._mean[block_size])

    def factors(self) -> np.ndarray:
        """`factor` of every width, float64 `[count]`."""
        return np.exp(self._mean[0] + self._mean[1:])

    def spread(self, a: int, b: int) -> float:
        """Standard deviation of how block sizes `a` and `b` compare."""
        own = self._covariance
        return math.sqrt(max(0.0, own[a, a] + own[b, b] - 2 * own[a, b]))
