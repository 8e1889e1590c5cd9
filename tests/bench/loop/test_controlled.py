"""The acceptance that a run is told to have is the one it has, in every engine."""

from collections.abc import Sequence
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from dflash_mlx.bench.loop.controlled import Plan, expected_length, typical_seed
from dflash_mlx.bench.loop.engines import Ours
from dflash_mlx.bench.loop.worker import Worker
from dflash_mlx.bench.roofline.synthetic import GEOMETRIES, write_pair

PROMPT, RATES, CYCLES = [5, 9, 200, 31], [0.9, 0.7, 0.8, 0.5, 0.9, 0.9, 0.9], 25


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pair(tmp_path_factory.mktemp("pair"), GEOMETRIES["tiny"])


@pytest.fixture(scope="module")
def ours(pair: Path) -> Ours:
    return Ours(str(pair))


def walked(plan: Plan, prompt: int, block_size: int, cycles: int) -> float:
    """Tokens a cycle when every cycle commits the planned drafts that are right up to the first wrong one, and one more."""
    right, position = np.array(plan.right), prompt
    for _ in range(cycles):
        drafts = right[position, : block_size - 1].tolist()
        position += 1 + (drafts + [False]).index(False)
    return (position - prompt) / cycles


@pytest.mark.parametrize("rates", [[0.75] * 7, [0.9, 0.5, 0.2]])
def test_a_plan_has_the_acceptance_length_that_its_rates_mean(rates: Sequence[float]) -> None:
    plan = Plan([1, 2, 3], np.arange(100_000) % 50, rates, seed=3)
    meant = 1 + sum(np.prod(rates[: i + 1]) for i in range(len(rates)))
    assert expected_length(rates) == pytest.approx(meant)
    assert walked(plan, 3, len(rates) + 1, 20_000) == pytest.approx(meant, abs=0.05)  # 4 standard deviations


def test_a_short_run_with_the_typical_seed_has_the_asked_acceptance_length_too() -> None:
    rates = [0.75] * 7
    plan = Plan([1, 2, 3], [0] * 200, rates, typical_seed(rates, 3, (4, 8), cycles=20))
    for block_size in (4, 8):
        assert walked(plan, 3, block_size, 20) == pytest.approx(expected_length(rates[: block_size - 1]), rel=0.05)


@pytest.mark.parametrize("drafted", [[7, 8, 9], [0, 0, 0]])
def test_a_planned_draft_is_the_truth_where_it_is_right_and_nowhere_else(drafted: list[int]) -> None:
    answer = [7, 8, 9, 7, 8, 9, 7, 8, 9]
    plan = Plan([3, 3], answer, [0.5] * 3, seed=0)
    for position in range(2, 8):
        ids = plan.apply(mx.array(drafted, mx.int32), mx.array([position], mx.int32), 10)
        assert ids.dtype == mx.int32
        assert ((np.array(ids) == answer[position - 1 : position + 2]) == np.array(plan.right)[position]).all()
        assert ids.tolist() == plan.apply(mx.array(drafted, mx.int32), position, 10).tolist()


def test_a_wrong_draft_is_the_drafters_own_so_none_of_its_work_is_spared() -> None:
    plan = Plan([3], [7, 8, 9], [0.0, 0.0], seed=0)
    assert plan.apply(mx.array([4, 5], mx.int32), 1, 10).tolist() == [4, 5]


@pytest.mark.parametrize("block_size", [2, 4, 8])
def test_our_loop_has_the_planned_acceptance_and_says_what_plain_decoding_says(ours: Ours, block_size: int) -> None:
    answer = ours.answer(PROMPT, 200)
    plan = Plan(PROMPT, answer, RATES, seed=1)
    ours.control(PROMPT, answer, RATES, seed=1)
    run = ours.run(PROMPT, block_size, CYCLES)
    assert run["cycles"] == CYCLES and run["tokens"] == answer[: len(run["tokens"])]
    assert (len(run["tokens"]) - 1) / CYCLES == walked(plan, len(PROMPT), block_size, CYCLES)


@pytest.mark.parametrize("rate, length", [(0.0, 1), (1.0, 4)])
def test_drafts_can_be_always_right_and_never(ours: Ours, rate: float, length: int) -> None:
    answer = ours.answer(PROMPT, 60)
    ours.control(PROMPT, answer, [rate] * 7, seed=1)
    assert len(ours.run(PROMPT, 4, 10)["tokens"]) == 1 + 10 * length


def test_z_labs_loop_has_the_same_acceptance(pair: Path) -> None:
    pytest.importorskip("dflash")
    with Worker("dflash-mlx", pair) as ours, Worker("z-lab", pair) as theirs:
        guess = ours("answer", prompt=PROMPT, tokens=200)
        answer = theirs("answer", prompt=PROMPT, guess=guess)
        plan = Plan(PROMPT, answer, RATES, seed=1)
        theirs("control", prompt=PROMPT, answer=answer, rates=RATES, seed=1)
        for block_size in (4, 8):
            run = theirs("run", prompt=PROMPT, block_size=block_size, cycles=CYCLES)
            assert run["tokens"] == answer[: len(run["tokens"])]
            assert (len(run["tokens"]) - 1) / CYCLES == walked(plan, len(PROMPT), block_size, CYCLES)
