"""How many rows the next cycle has: the width with the most expected tokens a second, 1 (plain decoding) included.

Expected tokens come from how often drafts were kept lately (`Acceptance`), expected seconds from a calibration of this
machine (`Costs`), corrected by the cycles seen while running (`Pace`). Nothing here looks at a clock: `Policy` is told.
"""

import math
from collections import deque
from itertools import accumulate
from operator import mul

import numpy as np

from dflash_mlx.decoding.costs import Costs, Pace
from dflash_mlx.decoding.sequence import Offer

# Acceptance
PRIOR_RATE, PRIOR_WEIGHT = 0.7, 2.0  # what is believed before the first draft, and the weight of how many cycles it has
BORROWED_WEIGHT = 2.0  # a position's rate leans on the one before it with the weight of this many cycles
MEMORY = 16  # cycles after which evidence has faded to 1/e
PLAIN_MEMORY, STALE_WEIGHT = 64, 4.0  # the same for plain cycles, which leave evidence the weight of so many cycles
CHANGE = 0.0001  # a run of misses less likely than this means that the text has changed

# Choice
MARGIN = 1.02  # another width must be this much faster
WORTHWHILE = 1.05  # speculation that gains less than this with every draft kept is not worth a try: no text is that good
DOUBT = 2.0  # standard deviations by which plain decoding may be faster than thought
PROBE_SHARE = 0.015  # of the request's time, that probes may cost; 2% are promised
PROBE_REST = 8  # cycles from one probe to the next
PROBE_EASE = 10  # a probe may need so many percent more of its drafts kept than the width that needs least
HELD_UP = 3.0  # times its expected seconds; what a cycle takes beyond that is not its own

TREES = (8, 16)  # rows of a tree
TREE_GAIN, TREE_MEMORY = 1.15, 32  # tokens of a tree against those of the longest chain: at first; cycles after which that fades
MOST_COPIED = 16  # rows of a cycle whose drafts were copied: what the kernels serve

# Alarm
ALARM_CYCLES, ALARM_RATE = 40, 0.02


class Acceptance:
    """How likely a draft is kept, by its position, given that those before it were: recent evidence counts most.

    `kept` and `tried` are sums over cycles that fade as cycles pass; only drafts that were reached count as tried.
    The first position starts from a prior that fades with them. A later one leans on the one before it, so that a
    position never tried is taken to be like its predecessor.
    """

    def __init__(self, trained_block_size: int) -> None:
        deeper = [0.0] * (trained_block_size - 2)
        self._kept, self._tried = [PRIOR_RATE * PRIOR_WEIGHT, *deeper], [PRIOR_WEIGHT, *deeper]
        self._misses, self._before = 0, PRIOR_RATE  # in a row now; the first rate before them

    def record(self, drafted: int, accepted: int) -> None:
        """A cycle that kept `accepted` of `drafted` >= 1 drafts."""
        if accepted or not self._misses:
            self._before = (self._kept[0] + 2) / (self._tried[0] + 4)  # not too sure: two more kept, two more missed
        self._misses = 0 if accepted else self._misses + 1
        if (1 - self._before) ** self._misses < CHANGE:  # the evidence from before is of another text
            self._fade(0)
            self._tried[0], self._before = self._misses, 0.0
            return
        self._fade(1 - 1 / MEMORY)
        for i in range(min(accepted + 1, drafted)):
            self._tried[i] += 1
            self._kept[i] += i < accepted

    def age(self) -> None:
        """A plain cycle went by: the rates stay, and count for less against what comes."""
        if self._tried[0] > STALE_WEIGHT:
            self._fade(1 - 1 / PLAIN_MEMORY)

    def _fade(self, factor: float) -> None:
        self._kept = [factor * kept for kept in self._kept]
        self._tried = [factor * tried for tried in self._tried]

    def rates(self) -> list[float]:
        """P(draft i kept | those before it kept), i from 1."""
        rates = [self._kept[0] / self._tried[0]]
        for kept, tried in zip(self._kept[1:], self._tried[1:]):
            rates.append((kept + BORROWED_WEIGHT * rates[-1]) / (tried + BORROWED_WEIGHT))
        return rates

    def tokens(self) -> np.ndarray:
        """Expected tokens of a cycle of 1, 2, ... rows: 1 + r1 + r1 r2 + ..., float64 `[trained_block_size]`."""
        return np.cumsum([1.0, *accumulate(self.rates(), mul)])


class _Alarm:
    """Notices that hardly any draft is kept."""

    def __init__(self) -> None:
        self._cycles = self._kept = 0

    def record(self, accepted: int) -> None:
        self._cycles += 1
        self._kept += accepted > 0

    @property
    def text(self) -> str | None:
        if self._cycles < ALARM_CYCLES or self._kept >= ALARM_RATE * self._cycles:
            return None
        return (
            f"hardly any draft is kept ({self._kept} of {self._cycles}): drafter and target may not match, the drafter's "
            "precision may be wrong, or the temperature is very high"
        )


class FixedBlockSize:
    """A block size that is obeyed, with what `Policy` tells.

    Args:
        block_size: rows a cycle with drafts by the drafter.
        reason: why it is 1.
        copied: rows of a cycle that copies.
        tree: whether the drafter proposes a tree.
    """

    def __init__(self, block_size: int, reason: str = "block_size is 1", copied: int = 1, tree: bool = False) -> None:
        self._block_size, self._reason, self._copied, self._tree = block_size, reason, copied, tree
        self._copying = False
        self._alarm = _Alarm()

    @property
    def plain_only(self) -> bool:
        """Whether no cycle will ever be drafted."""
        return self._block_size == 1

    def next(self, position: int) -> Offer:
        return Offer(self._block_size, self._tree)

    def copy(self, rate: float) -> int:
        return self._copied

    def record(
        self,
        block_size: int,
        accepted: int,
        seconds: float,
        position: int,
        copied: bool = False,
        chain: tuple[int, int] | None = None,
    ) -> None:
        self._copying = copied
        if block_size > 1 and not copied:
            self._alarm.record(accepted)

    @property
    def speculative(self) -> bool:
        """Whether cycles are drafted now."""
        return self._block_size > 1 or self._copying

    @property
    def reason(self) -> str | None:
        return self._alarm.text if self.speculative else self._reason

    def plain_seconds(self, position: int) -> None:
        """Not measured."""


class Policy:
    """Chooses the block size of every cycle of one request, and whether its drafts are a chain, a tree or copied.

    `next` may be called before the cycles asked for earlier are recorded. Inside, trees count as widths beyond the
    trained one: `trained_block_size` + 1 is the smallest of `TREES`.

    Args:
        costs: of this machine, with this pair.
        trained_block_size: the widest choice; 1 without a drafter.
        frozen: decide by `costs` alone whatever time cycles take, so that a request can be repeated.
        without_drafter: why there is no drafter.
        trees: whether drafts may be a tree.

    Attributes:
        plain_only: drafts by the drafter cannot pay on this machine even with each of them kept: `next` is always 1.
    """

    def __init__(
        self,
        costs: Costs,
        trained_block_size: int,
        frozen: bool = False,
        without_drafter: str = "no drafter was loaded",
        trees: bool = False,
    ) -> None:
        self._offers = [Offer(w) for w in range(1, trained_block_size + 1)]
        if trees and trained_block_size > 1 and costs.trees:
            self._offers += [Offer(rows, tree=True) for rows in TREES]
        self._c, self._k = np.array([costs.line(rows, "tree" if tree else "chain") for rows, tree in self._offers]).T
        self._copied = np.array([costs.line(w, "copy") for w in range(1, MOST_COPIED + 1)]).T
        self._gains = np.full(len(self._offers) - trained_block_size, TREE_GAIN)  # of trees
        self._trained, self._frozen, self._without_drafter = trained_block_size, frozen, without_drafter
        self._copying = False  # in the last recorded cycle
        # tokens of a cycle if 0, 1, ... 100% of the drafts at every position are kept, by rows: [101, trained_block_size]
        self._tokens_at = np.cumsum(np.linspace(0, 1, 101)[:, None] ** np.arange(trained_block_size), axis=1)
        # a cost ratio moves one way as the context grows: its ends tell
        self.plain_only = all(self._best_gain(self._c + self._k * n) <= WORTHWHILE for n in (0, costs.longest))
        self._acceptance, self._pace, self._alarm = Acceptance(trained_block_size), Pace(len(self._offers)), _Alarm()
        self._width = 1  # of regular cycles
        self._asked: deque[bool] = deque()  # of cycles not recorded yet: is it a probe?
        self._position = 0
        self._elapsed = self._spent = 0.0  # seconds: of all cycles; lost by probes
        self._rest = 0  # cycles to go before the next probe
        self._resume = 0.0  # seconds that going back to speculation took beyond its cycle, last time
        self._last = 1  # rows of the last recorded cycle
        self._tried = False
        if not self.plain_only:
            self._choose(0)

    def next(self, position: int) -> Offer:
        """What the drafter proposes for the next cycle, behind `position` committed rows."""
        self._position = position
        if self.plain_only:
            return Offer(1)
        self._choose(position)
        probe = self._probe(position, self._speeds(position))
        self._asked.append(probe is not None)
        return self._offers[(probe or self._width) - 1]

    def copy(self, rate: float) -> int:
        """Rows of the next cycle if it copies, each token being right with probability `rate`; 1: it had better not."""
        c, k = self._copied
        seconds = (c + k * self._position) * self._pace.common()
        speeds = np.cumsum(rate ** np.arange(MOST_COPIED)) / seconds
        rows = int(np.argmax(speeds)) + 1
        return rows if speeds[rows - 1] > MARGIN * self._speeds(self._position)[self._width - 1] else 1

    def _choose(self, position: int) -> None:
        speeds = self._speeds(position)
        best = int(np.argmax(speeds)) + 1
        if speeds[best - 1] > MARGIN * speeds[self._width - 1]:
            self._width = best

    def record(
        self,
        block_size: int,
        accepted: int,
        seconds: float,
        position: int,
        copied: bool = False,
        chain: tuple[int, int] | None = None,
    ) -> None:
        """The oldest cycle asked for is done.

        Args:
            block_size: its rows, perhaps fewer than asked for.
            accepted: drafts kept.
            seconds: from the cycle before it to this one.
            position: rows committed before it.
            copied: it copied instead.
            chain: of a tree, how long the path of its first choices was, and how much of that was kept.
        """
        self._copying = copied
        if self.plain_only:
            return
        probe = self._asked.popleft() if self._asked else False
        if copied:  # it says nothing about the drafter
            self._last, self._rest = 1, self._rest - 1
            return
        width = block_size if chain is None else self._trained + 1 + sum(rows < block_size for rows in TREES)
        calibrated = float(self._c[width - 1] + self._k[width - 1] * position)
        if self._frozen:
            seconds = calibrated
        expected = calibrated * self._pace.factor(width)
        resumed = width > 1 and self._last == 1  # features that waited were injected too
        self._last = width
        charged = min(seconds, HELD_UP * expected)
        self._elapsed += charged
        self._rest -= 1
        if resumed:
            self._resume = max(0.0, charged - expected)
        if probe:
            lost = charged - (accepted + 1) / float(self._speeds(position)[self._width - 1])
            self._spent = max(0.0, self._spent + lost)
            self._rest = 0 if lost <= 0 else self._rest
        if not self._frozen and seconds > 0:
            self._pace.record(width, seconds / calibrated, at_most=resumed)
        if width > 1:
            self._tried = True
            self._alarm.record(accepted)
            if chain:
                tree = width - self._trained - 1
                gain = (accepted + 1) / self._acceptance.tokens()[-1]
                self._gains[tree] += (gain - self._gains[tree]) / TREE_MEMORY
            self._acceptance.record(*(chain or (block_size - 1, accepted)))
        else:
            self._acceptance.age()

    @property
    def speculative(self) -> bool:
        """Whether cycles are drafted now."""
        return self._width > 1 or self._copying

    @property
    def reason(self) -> str | None:
        """Why decoding is plain now, or what is wrong with speculation. None: nothing to tell."""
        if self._alarm.text or self.speculative:
            return self._alarm.text
        if self._trained == 1:
            return self._without_drafter
        seconds = self._seconds(self._position)
        if self.plain_only or self._best_gain(seconds) <= WORTHWHILE:
            widths = range(2, self._trained + 1)
            width = max(widths, key=lambda w: w / seconds[w - 1])
            return f"a cycle of {width} rows costs {seconds[width - 1] / seconds[0]:.1f}x a plain step on this machine"
        needed = self._needed(seconds)
        easiest = int(np.argmin(needed)) + 1
        if not self._tried:
            return f"{needed.min()}% of the drafts would have to be kept for speculation to pay"
        kept = (self._tokens_at[:, easiest] <= self._acceptance.tokens()[easiest] + 1e-9).sum() - 1
        return f"of the drafts only {kept}% are kept lately, {needed.min()}% would be needed"

    def plain_seconds(self, position: int) -> float:
        """What a plain cycle would take now."""
        return float(self._seconds(position)[0])

    def _seconds(self, position: int) -> np.ndarray:
        return (self._c + self._k * position) * self._pace.factors()

    def _speeds(self, position: int) -> np.ndarray:
        """Expected tokens a second with every width."""
        tokens = self._acceptance.tokens()[: self._trained]
        return np.append(tokens, np.minimum(tokens[-1] * self._gains, self._trained)) / self._seconds(position)

    def _best_gain(self, seconds: np.ndarray) -> float:
        """How much faster than plain the best width is with every draft kept."""
        most = np.minimum(np.arange(1, len(seconds) + 1), self._trained)  # tokens: a tree is no deeper than the longest chain
        return float(np.max(most * seconds[0] / seconds))

    def _needed(self, seconds: np.ndarray) -> np.ndarray:
        """The percentage of drafts that must be kept for 2, 3, ... rows to be chosen over plain; 101 if even 100 is too few."""
        return (self._tokens_at < MARGIN * seconds[: self._trained] / seconds[0] - 1e-9).sum(axis=0)[1:]

    def _probe(self, position: int, speeds: np.ndarray) -> int | None:
        """A width to look at in the next cycle though another seems best, if it is time and the budget allows it."""
        if self._rest > 0 or any(self._asked):
            return None
        seconds = self._seconds(position)
        if self._width == 1:
            if self._best_gain(self._c + self._k * position) <= WORTHWHILE:
                return None
            needed = self._needed(seconds)
            probe = int(np.argmax(needed <= needed.min() + PROBE_EASE)) + 2  # the fewest rows: they risk least
            risk = seconds[probe - 1] + self._resume - seconds[0]  # with no draft kept
        else:
            doubt = DOUBT * self._pace.spread(1, self._width)
            if self._frozen or speeds[self._width - 1] > speeds[0] * math.exp(doubt):
                return None
            probe, risk = 1, seconds[0] - 1 / speeds[self._width - 1]
        if self._spent + max(0.0, risk) > PROBE_SHARE * self._elapsed:
            return None
        self._rest = PROBE_REST
        return probe
