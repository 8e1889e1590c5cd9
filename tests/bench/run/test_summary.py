"""What a summary says is true of the machine that was measured: of one whose truth is known."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

from dflash_mlx.bench.loop.controlled import expected_length
from dflash_mlx.bench.run.measure import Answer, Engine, Question, Run, Way, measure, plan
from dflash_mlx.bench.run.summary import Summary, figure, first_difference, interval_rank, summarise

PLAIN_STEP, CYCLE = 0.020, 0.031  # seconds
RATES = (0.9, 0.8, 0.7)
CYCLES = 40  # of an answer


def synthetic(seed: int, noise: float = 0.05, drift: float = 0.0) -> Engine:
    """An engine of known speed and acceptance. Answers have log-normal noise, and each is slower by `drift`."""
    random, count = np.random.default_rng(seed), 0

    def engine(prompt: list[int], way: Way, max_tokens: int, seed: int) -> Answer:
        nonlocal count
        slower = (1 + drift) ** count * float(random.lognormal(0, noise))
        count += 1
        if way.block_size == 1:
            tokens, drafted, accepted, seconds = CYCLES, (), (), CYCLES * PLAIN_STEP
        else:
            kept = np.cumprod(random.random((CYCLES, len(RATES))) < RATES, axis=1)
            tokens, seconds = CYCLES + int(kept.sum()), CYCLES * CYCLE
            drafted, accepted = (CYCLES,) * len(RATES), tuple(kept.sum(axis=0).tolist())
        return Answer(tuple(range(1 + tokens)), CYCLES, seconds * slower, drafted, accepted, 0.1, 100.0, 0, None, None)

    return engine


def benched(engine: Engine, prompts: int = 12, block_sizes: Sequence[int] = (4,), rounds: int = 1) -> list[Summary]:
    asked = [Question("chat", number, [1]) for number in range(prompts)]
    steps = plan({None: asked}, (0.0,), block_sizes, rounds)
    return summarise(measure(engine, steps, 99, 0), block_sizes, 0)


RATIO = PLAIN_STEP * expected_length(RATES) / CYCLE


@pytest.mark.parametrize(
    "of, truth",
    [
        (lambda summary: summary.ratio, RATIO),
        (lambda summary: summary.acceptance_length, expected_length(RATES)),
        (lambda summary: summary.tokens_per_second, expected_length(RATES) / CYCLE),
        (lambda summary: summary.plain_tokens_per_second, 1 / PLAIN_STEP),
    ],
    ids=["ratio", "acceptance length", "speed", "plain speed"],
)
def test_the_interval_holds_the_truth_as_often_as_it_says(of: Callable, truth: float, benches: list[Summary]) -> None:
    figures = [of(summary) for summary in benches]
    holding = np.mean([low <= truth <= high for _, low, high in figures])
    assert 0.94 <= holding <= 0.99  # 96.1% for 12 values; and equal acceptance lengths make it wider
    assert median(middle for middle, _, _ in figures) == pytest.approx(truth, rel=0.01)
    assert median(high - low for _, low, high in figures) < 0.15 * truth


@pytest.fixture(scope="module")
def benches() -> list[Summary]:
    """As a user would have them who measures very often."""
    return [benched(synthetic(seed))[0] for seed in range(500)]


def test_acceptance_by_position_is_that_of_the_drafts(benches: list[Summary]) -> None:
    rates = np.mean([summary.acceptance_by_position for summary in benches], axis=0)
    assert rates == pytest.approx(np.cumprod(RATES), abs=0.01)


@pytest.mark.parametrize("prompts", [12, 13])
def test_a_machine_that_gets_slower_all_the_time_does_not_move_the_ratio(prompts: int) -> None:
    steady = benched(synthetic(3, noise=0), prompts, (2, 4, 8))
    drifting = benched(synthetic(3, noise=0, drift=0.01), prompts, (2, 4, 8))  # to a half, at the end
    for before, after in zip(steady, drifting):
        assert after.tokens_per_second.median < 0.85 * before.tokens_per_second.median
        assert after.ratio.median == pytest.approx(before.ratio.median, rel=0.03)


def test_rounds_make_the_ratio_of_a_prompt_surer() -> None:
    once, often = (benched(synthetic(seed=5, noise=0.2), rounds=rounds)[0].ratio for rounds in (1, 15))
    assert often.high - often.low < 0.5 * (once.high - once.low)
    assert often.median == pytest.approx(RATIO, rel=0.05)


# of the distribution-free interval of the median, as tables in textbooks have them
@pytest.mark.parametrize("count, rank", [(0, 0), (5, 0), (6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (25, 8), (72, 28), (100, 40)])
def test_the_ranks_of_the_interval_are_those_of_the_tables(count: int, rank: int) -> None:
    assert interval_rank(count) == rank


def test_a_figure_of_few_values_has_no_interval() -> None:
    assert figure([3.0, 1.0, 2.0]) == (2.0, None, None)
    assert figure([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (3.5, 1.0, 6.0)
    assert figure([float(value) for value in range(12, 0, -1)]) == (6.5, 3.0, 10.0)


def run(prompt: int = 0, size: int = 1, tokens: Sequence[int] = (1, 2, 3), **changes: object) -> Run:
    """Two tokens after the first in a second, if nothing else is said."""
    answer = Answer(tuple(tokens), 2, 1.0, (), (), 0.1, 50.0, 100, None, None)
    told = {name: changes.pop(name) for name in Answer._fields if name in changes}
    return replace(Run("chat", Way(size, 0.0, None), prompt, 0, 5, answer._replace(**told)), **changes)


def test_a_summary_has_the_medians_of_its_prompts() -> None:
    seconds = {0: (1.0, 0.5), 1: (2.0, 0.5), 2: (4.0, 0.5)}
    runs = [run(prompt, size, decode_seconds=s) for prompt, both in seconds.items() for size, s in zip((1, 4), both)]
    [summary] = summarise(runs, (4,), 0)
    assert summary.plain_tokens_per_second.median == 2 / 2.0
    assert summary.tokens_per_second.median == 2 / 0.5
    assert summary.ratio.median == 4.0
    assert summary.plain_quartiles == (0.75, 1.5)  # of 0.5, 1, 2
    assert summary.quartiles == (4.0, 4.0)


def test_the_ratio_is_of_the_same_prompt_and_round() -> None:
    runs = [
        run(size=size, round=round, decode_seconds=seconds)
        for round, both in enumerate([(1.0, 0.5), (10.0, 5.0), (3.0, 1.0)])
        for size, seconds in zip((1, 4), both)
    ]
    assert summarise(runs, (4,), 0)[0].ratio.median == 2.0  # of 2, 2 and 3; the medians' ratio is 3


def test_runs_without_their_counterpart_do_not_count() -> None:
    runs = [run(0, 1), run(0, 4), run(1, 4), run(2, 1)]
    [summary] = summarise(runs, (4,), 0)
    assert summary.prompts == 1
    assert summarise([run(1, 4)], (4,), 0) == []


def test_answers_of_one_token_have_no_speed_but_are_compared() -> None:
    runs = [run(0, 1), run(0, 4), run(1, 1, tokens=[1]), run(1, 4, tokens=[2])]
    [summary] = summarise(runs, (4,), 0)
    assert (summary.prompts, summary.same_answers) == (2, 1)
    assert summary.tokens_per_second.median == 2.0
    assert summarise(runs[2:], (4,), 0) == []


def test_an_answer_that_differs_anywhere_is_not_the_same() -> None:
    for tokens, same in [((1, 2, 3), 1), ((1, 2, 4), 0), ((1, 2), 0), ((1, 2, 3, 4), 0)]:
        assert summarise([run(), run(size=4, tokens=tokens)], (4,), 0)[0].same_answers == same
    assert (first_difference((1, 2), (1, 2)), first_difference((1, 2), (1, 3)), first_difference((1, 2), (1,))) == (None, 1, 1)


def test_answers_at_a_temperature_are_not_compared() -> None:
    warm = Way(1, 0.7, None)
    assert summarise([run(way=warm), run(way=warm._replace(block_size=4))], (4,), 0)[0].same_answers is None


def test_memory_over_plain_has_the_drafters_weights() -> None:
    runs = [run(), run(size=4, peak_memory_bytes=170)]
    assert summarise(runs, (4,), 1000)[0].memory_over_plain_bytes == 1070


def test_plain_decoding_can_be_a_row_of_its_own() -> None:
    [plain, four] = summarise([run(), run(size=4)], (1, 4), 1000)
    assert (plain.way.block_size, plain.ratio.median, plain.memory_over_plain_bytes) == (1, 1.0, 0)
    assert four.way.block_size == 4


def test_several_categories_are_summed_up_together_too() -> None:
    runs = [run(size=size, category=c, decode_seconds=s) for c, s in (("chat", 1.0), ("math", 3.0)) for size in (1, 4)]
    summaries = summarise(runs, (4,), 0)
    assert [summary.category for summary in summaries] == ["chat", "math", "all"]
    assert summaries[-1].prompts == 2 and summaries[-1].quartiles == (pytest.approx(2 / 3 + 1 / 3), pytest.approx(2 - 1 / 3))


def test_each_context_and_temperature_is_held_against_its_own_plain_decoding() -> None:
    ways = [Way(1, 0.0, 50), Way(1, 0.0, 90), Way(1, 0.7, 50)]
    runs = [run(way=way._replace(block_size=size), decode_seconds=1.0 + at) for at, way in enumerate(ways) for size in (1, 4)]
    summaries = summarise(runs, (4,), 0)
    assert [summary.way.plain for summary in summaries] == ways
    assert all(summary.ratio.median == 1.0 for summary in summaries)


def test_counts_of_positions_are_summed_over_answers_of_any_depth() -> None:
    runs = [run(0, 1), run(0, 4, drafted=(10, 8, 6), accepted=(9, 4, 0)), run(1, 1), run(1, 4, drafted=(10,), accepted=(1,))]
    assert summarise(runs, (4,), 0)[0].acceptance_by_position == (0.5, 0.5, 0.0)


def test_energy_is_of_the_runs_for_which_it_is_known() -> None:
    runs = [run(0, 1, joules=4.0), run(0, 4, joules=1.0), run(1, 1), run(1, 4)]
    [summary] = summarise(runs, (4,), 0)
    assert (summary.plain_joules_per_token, summary.joules_per_token) == (2.0, 0.5)
    [summary] = summarise(runs[2:], (4,), 0)
    assert summary.joules_per_token is None
