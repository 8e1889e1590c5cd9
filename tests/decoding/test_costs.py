"""What a cycle costs: between and beyond what was measured, and as corrected by what is seen."""

import json

import pytest

from dflash_mlx.decoding.costs import Costs, Pace


def test_costs_are_interpolated_between_block_sizes_and_go_on_beyond_the_widest() -> None:
    costs = Costs([(1, 100, 1.0), (4, 100, 1.6), (8, 100, 3.2)])
    assert [costs.seconds(rows, 500) for rows in (1, 2, 4, 6, 8, 10)] == pytest.approx([1.0, 1.2, 1.6, 2.4, 3.2, 4.0])


def test_costs_grow_with_the_context_and_unmeasured_slopes_come_from_the_neighbours() -> None:
    costs = Costs([(1, 0, 1.0), (1, 1000, 1.1), (4, 0, 1.5), (8, 0, 2.0), (8, 1000, 2.8)])
    assert costs.seconds(1, 2000) == pytest.approx(1.2)
    assert costs.seconds(8, 500) == pytest.approx(2.4)
    assert costs.seconds(4, 1000) == pytest.approx(1.5 + 0.1 + 0.7 * 3 / 7)


def test_a_longer_context_is_never_cheaper_and_of_repeated_measurements_the_median_counts() -> None:
    costs = Costs([(1, 0, 1.0), (1, 0, 9.0), (1, 0, 1.2), (1, 1000, 0.7), (2, 0, 1.5)])
    assert [costs.seconds(1, n) for n in (0, 1000, 30000)] == pytest.approx([1.2, 1.2, 1.2])


def test_costs_survive_json() -> None:
    costs = Costs([(1, 64, 0.03), (4, 64, 0.04), (4, 8192, 0.05)])
    again = Costs.from_dict(json.loads(json.dumps(costs.to_dict())))
    assert [again.seconds(rows, 4000) for rows in range(1, 9)] == [costs.seconds(rows, 4000) for rows in range(1, 9)]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "points",
        {},
        {"points": None},
        {"points": 3},
        {"points": []},
        {"points": [[1, 0, 1.0]]},
        {"points": [[2, 0, 1.0], [4, 0, 1.0]]},
        {"points": [[1, 0, 1.0], [2, 0]]},
        {"points": [[1, 0, 1.0], [2, 0, "1"]]},
        {"points": [[1, 0, 1.0], [2.5, 0, 1.0]]},
        {"points": [[1, 0, 1.0], [2, -1, 1.0]]},
        {"points": [[1, 0, 1.0], [True, 0, 1.0]]},
        {"points": [[1, 0, 1.0], [2, 0, 0.0]]},
        {"points": [[1, 0, 1.0], [2, 0, float("nan")]]},
        {"points": [[1, 0, 1.0], [2, 0, float("inf")]]},
    ],
)
def test_what_is_no_costs_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="costs"):
        Costs.from_dict(data)


def known_pace() -> Pace:
    """Block sizes 1 and 4 were often seen, exactly as calibrated."""
    pace = Pace(8)
    for cycle in range(60):
        pace.record(4 if cycle % 4 else 1, 1.0, at_most=False)
    return pace


def test_a_machine_that_slows_down_slows_down_every_width() -> None:
    pace = known_pace()
    for _ in range(20):
        pace.record(4, 1.8, at_most=False)
    assert pace.factor(4) == pytest.approx(1.8, rel=0.05)
    assert pace.factors() / pace.factor(4) == pytest.approx(1, abs=0.08)


def test_a_width_whose_calibration_was_wrong_is_corrected_alone() -> None:
    pace = known_pace()
    for cycle in range(30):
        pace.record(*((1, 1.0) if cycle % 4 == 0 else (8, 1.5)), at_most=False)
    assert pace.factor(8) == pytest.approx(1.5, rel=0.05)
    assert [pace.factor(1), pace.factor(2), pace.factor(4)] == pytest.approx([1, 1, 1], rel=0.05)


def test_a_cycle_that_was_held_up_says_little() -> None:
    pace = known_pace()
    pace.record(4, 10.0, at_most=False)
    assert all(1 <= factor < 1.2 for factor in pace.factors())
    assert pace.factor(4) / pace.factor(1) < 1.03


def test_a_cycle_with_other_work_in_it_can_only_show_that_a_width_is_faster() -> None:
    pace = known_pace()
    for ratio in (1.4, 1.0, 0.9):
        pace.record(4, ratio, at_most=True)
    assert pace.factors() == pytest.approx(known_pace().factors(), rel=0.01)
    for _ in range(5):
        pace.record(4, 0.5, at_most=True)
    assert pace.factor(4) < 0.7
