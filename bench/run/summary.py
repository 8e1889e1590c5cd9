"""From runs to figures: medians over prompts with their intervals, beside plain decoding of the same prompts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import comb
from statistics import median, quantiles
from typing import NamedTuple

from dflash_mlx.decoding.prefix_cache import common_length

from .measure import Answer, BlockSize, Run, Way

ALL = "all"


class Figure(NamedTuple):
    """A median and the interval that holds the true one with 95% confidence, whatever the values' distribution.

    low, high: None where there are fewer than 6 values.
    """

    median: float
    low: float | None
    high: float | None


class Together(NamedTuple):
    """A run, and plain decoding's answer to the same prompt in the same round."""

    run: Run
    plain: Answer


@dataclass(frozen=True)
class Summary:
    """A category answered in one way. A prompt's figure is the median of its rounds, a category's of its prompts.

    Attributes:
        category: or "all", for all of them together.
        prompts: how many were answered both in this way and plainly.
        ratio: how many times as fast as plain decoding, by pairs of runs.
        acceptance_length: tokens a cycle.
        acceptance_by_position: how often a drafted token was kept.
        memory_over_plain_bytes: what is held at the peak more than in plain decoding, with the drafter's weights.
        same_answers: of how many prompts all answers were plain decoding's, token by token; None at a temperature.
        joules_per_token: of decoding; None: not known.
        quartiles: of the prompts' tokens a second: between them lies the middle half.
    """

    category: str
    way: Way
    prompts: int
    plain_tokens_per_second: Figure
    tokens_per_second: Figure
    ratio: Figure
    acceptance_length: Figure
    acceptance_by_position: tuple[float, ...]
    plain_time_to_first_token_s: Figure
    time_to_first_token_s: Figure
    plain_prefill_tokens_per_second: Figure
    prefill_tokens_per_second: Figure
    memory_over_plain_bytes: int
    same_answers: int | None
    plain_joules_per_token: float | None
    joules_per_token: float | None
    plain_quartiles: tuple[float, float]
    quartiles: tuple[float, float]


def summarise(runs: Iterable[Run], block_sizes: Sequence[BlockSize], drafter_bytes: int) -> list[Summary]:
    """A summary for each category and way, and of several categories together; in the order of the runs and block sizes.

    Runs without their counterpart, as an interruption leaves them, do not count. Where no answer of a category has a second
    token, there is no speed and no summary.

    Args:
        block_sizes: those to sum up; 1 holds plain decoding against itself.
        drafter_bytes: of the drafter's weights, which plain decoding does not need.
    """
    runs = list(runs)
    plain = {(r.category, r.prompt, r.round, r.way): r.answer for r in runs if r.way.block_size == 1}
    pairs = [Together(r, plain[key]) for r in runs if (key := (r.category, r.prompt, r.round, r.way.plain)) in plain]
    categories = list(dict.fromkeys(r.category for r in runs))
    contexts_and_temperatures = dict.fromkeys(r.way.plain for r in runs)
    ways = [way._replace(block_size=size) for way in contexts_and_temperatures for size in block_sizes]
    summaries = []
    for category in [*categories, *([None] if len(categories) > 1 else [])]:
        for way in ways:
            wanted = [pair for pair in pairs if pair.run.way == way and category in (None, pair.run.category)]
            if any(_timed(pair) for pair in wanted):
                summaries.append(_summary(ALL if category is None else category, way, wanted, drafter_bytes))
    return summaries


def figure(values: Sequence[float]) -> Figure:
    """The median, and its interval by order statistics.

    Each value lies below the true median with probability 1/2: that fewer than k do has a binomial probability, and of
    all k for which it is at most 2.5% the largest gives the k-th and the k-th last value as limits.
    """
    ordered, rank = sorted(values), interval_rank(len(values))
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (None, None)
    return Figure(median(ordered), low, high)


def interval_rank(count: int) -> int:
    """Which value from either end limits the interval, from 1; 0: too few values for any."""
    rank, outcomes = 0, 1  # of 2**count equally likely ones, those with at most `rank` values below the median
    while 40 * outcomes <= 2**count:
        rank += 1
        outcomes += comb(count, rank)
    return rank


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The first position where two answers are not the same, from 0; None: there is none."""
    at = common_length(one, other)
    return None if at == len(one) == len(other) else at


def _timed(pair: Together) -> bool:
    return pair.plain.tokens_per_second is not None and pair.run.answer.tokens_per_second is not None


def _speed(answer: Answer) -> float:
    assert answer.tokens_per_second is not None
    return answer.tokens_per_second


def _summary(category: str, way: Way, pairs: Sequence[Together], drafter_bytes: int) -> Summary:
    by_prompt: dict[tuple[str, int], list[Together]] = {}
    for pair in pairs:
        by_prompt.setdefault((pair.run.category, pair.run.prompt), []).append(pair)
    timed = [kept for rounds in by_prompt.values() if (kept := [pair for pair in rounds if _timed(pair)])]

    def values(of: Callable[[Together], float], prompts: Iterable[list[Together]] = by_prompt.values()) -> list[float]:
        return [median(map(of, rounds)) for rounds in prompts]

    plain_speeds = values(lambda pair: _speed(pair.plain), timed)
    speeds = values(lambda pair: _speed(pair.run.answer), timed)
    same = sum(all(p.run.answer.token_ids == p.plain.token_ids for p in rounds) for rounds in by_prompt.values())
    memory = values(lambda pair: pair.run.answer.peak_memory_bytes - pair.plain.peak_memory_bytes)
    return Summary(
        category=category,
        way=way,
        prompts=len(by_prompt),
        plain_tokens_per_second=figure(plain_speeds),
        tokens_per_second=figure(speeds),
        ratio=figure(values(lambda pair: _speed(pair.run.answer) / _speed(pair.plain), timed)),
        acceptance_length=figure(values(lambda pair: pair.run.answer.decoded / pair.run.answer.cycles, timed)),
        acceptance_by_position=_by_position([pair.run.answer for pair in pairs]),
        plain_time_to_first_token_s=figure(values(lambda pair: pair.plain.time_to_first_token_s)),
        time_to_first_token_s=figure(values(lambda pair: pair.run.answer.time_to_first_token_s)),
        plain_prefill_tokens_per_second=figure(values(lambda pair: pair.plain.prefill_tokens_per_second)),
        prefill_tokens_per_second=figure(values(lambda pair: pair.run.answer.prefill_tokens_per_second)),
        memory_over_plain_bytes=round(median(memory)) + (0 if way.block_size == 1 else drafter_bytes),
        same_answers=same if way.temperature == 0 else None,
        plain_joules_per_token=_joules_per_token([[pair.plain for pair in rounds] for rounds in timed]),
        joules_per_token=_joules_per_token([[pair.run.answer for pair in rounds] for rounds in timed]),
        plain_quartiles=_quartiles(plain_speeds),
        quartiles=_quartiles(speeds),
    )


def _by_position(answers: Iterable[Answer]) -> tuple[float, ...]:
    drafted = [sum(counts) for counts in zip_longest(*(answer.drafted for answer in answers), fillvalue=0)]
    accepted = [sum(counts) for counts in zip_longest(*(answer.accepted for answer in answers), fillvalue=0)]
    return tuple(kept / tried for kept, tried in zip(accepted, drafted))


def _joules_per_token(prompts: Iterable[Sequence[Answer]]) -> float | None:
    """Over those prompts for which energy is known."""
    known = [[each.joules / each.decoded for each in rounds if each.joules is not None] for rounds in prompts]
    values = [median(rounds) for rounds in known if rounds]
    return median(values) if values else None


def _quartiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high
