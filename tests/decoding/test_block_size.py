"""The block-size policy at work on machines that are cost tables and texts that are acceptance rates: no clock, no MLX."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from dflash_mlx.decoding.block_size import Acceptance, FixedBlockSize, Policy
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.decoding.sequence import Offer

TRAINED_SIZES = [2, 4, 8, 16]


def table(*start: float, draft: float = 0.0) -> list[float]:
    """Seconds of 1 to 16 rows: as listed, then growing by the last step; `draft` is added to all but plain."""
    rows = list(start)
    while len(rows) < 16:
        rows.append(2 * rows[-1] - rows[-2])
    return [rows[0], *(seconds + draft for seconds in rows[1:])]


MACHINES = {
    "a row each (M1, M2)": table(1, 2),
    "a row each, a little off": table(1, 1.9, 2.75, 3.6),
    "M3 and newer": table(1, 1.03, 1.12, 1.22, 1.6, 2.07, 2.4, 2.69),
    "M3 and newer, with the draft": table(1, 1.03, 1.12, 1.22, 1.6, 2.07, 2.4, 2.69, draft=0.1),
    "flat": table(1, 1),
    "flat, with the draft": table(1, 1, draft=0.15),
    "MoE": table(1, 1.3, 1.6, 1.9, 2.5, 3.2),
    "MoE, with a heavy draft": table(1, 1.3, 1.6, 1.9, 2.5, 3.2, draft=0.5),
}
M3, MOE = MACHINES["M3 and newer, with the draft"], MACHINES["MoE"]


def costs_of(seconds: list[float]) -> Costs:
    return Costs([(rows + 1, 0, s) for rows, s in enumerate(seconds)])


def tokens_of(rows: int, rate: float) -> float:
    """Expected tokens of a cycle when every draft is kept with the same probability."""
    return sum(rate**i for i in range(rows))


def best_of(seconds: list[float], rate: float, trained: int) -> int:
    return max(range(1, trained + 1), key=lambda rows: tokens_of(rows, rate) / seconds[rows - 1])


class Step(NamedTuple):
    rows: int
    accepted: int
    seconds: float
    position: int


def decode(
    policy: Policy | FixedBlockSize,
    seconds: Callable[[int, int], float],
    rate: Callable[[int], float],
    tokens: int,
    *,
    seed: int = 0,
    noise: float = 0.0,
    outliers: float = 0.0,
    early: bool = True,
) -> list[Step]:
    """A request.

    Args:
        seconds: of a cycle of so many rows at a position.
        rate: acceptance at a position.
        noise: standard deviation of a cycle's time, relative.
        outliers: how many cycles are held up: they are recorded as ten times as long (the steps tell their own time).
        early: ask for the next block size before the result of the last is recorded, as the loop does.
    """
    chance = random.Random(seed)
    position, waiting = 0, 0
    steps: list[Step] = []
    asked = [policy.next(0).rows]
    while position < tokens:
        if early:
            asked.append(policy.next(position).rows)
        rows = min(asked.pop(0), tokens - position)
        accepted = 0
        while accepted < rows - 1 and chance.random() < rate(position):
            accepted += 1
        spent = seconds(rows, position) * (1 + noise * chance.uniform(-1, 1) * 3**0.5)
        if rows > 1:
            spent += 0.002 * waiting  # context features of plain cycles are injected now
        waiting = 0 if rows > 1 else waiting + 1
        policy.record(rows, accepted, spent * 10 if chance.random() < outliers else spent, position)
        steps.append(Step(rows, accepted, spent, position))
        position += accepted + 1
        if not early:
            asked.append(policy.next(position).rows)
    return steps


def time_of(steps: list[Step], rate: float, seconds: list[float]) -> float:
    """Seconds a token: what the chosen block sizes cost on average, without the luck of this text's drafts."""
    cost = sum(seconds[step.rows - 1] for step in steps)
    return cost / sum(tokens_of(step.rows, rate) for step in steps)


def on(seconds: list[float], rate: float, trained: int, tokens: int, **options: Any) -> list[Step]:
    """A request on a machine whose calibration is right, with a text that does not change."""
    policy = Policy(costs_of(seconds), trained)
    return decode(policy, lambda rows, _: seconds[rows - 1], lambda _: rate, tokens, **options)


# Acceptance


def test_rates_follow_the_text_position_by_position() -> None:
    chance, acceptance, true = random.Random(1), Acceptance(6), [0.9, 0.5, 0.8]
    sums = [0.0] * 5
    for cycle in range(4200):
        accepted = 0
        while accepted < 3 and chance.random() < true[accepted]:
            accepted += 1
        acceptance.record(3, accepted)
        if cycle >= 200:
            sums = [total + rate for total, rate in zip(sums, acceptance.rates())]
    means = [total / 4000 for total in sums]
    assert means[0] == pytest.approx(0.9, abs=0.02)
    # a position leans on the one before it, so its mean lies a little on that one's side
    assert 0.5 <= means[1] < 0.59
    assert 0.68 < means[2] <= 0.8
    assert means[3] == means[4] == pytest.approx(means[2])  # never tried


def test_a_draft_behind_a_rejected_one_says_nothing() -> None:
    short, long = Acceptance(8), Acceptance(8)
    for _ in range(20):
        short.record(1, 0)
        long.record(7, 0)
        assert short.rates() == long.rates()


def test_expected_tokens_are_the_sum_of_the_chances_to_come_so_far() -> None:
    acceptance = Acceptance(4)
    for accepted in (3, 1, 0, 2, 3):
        acceptance.record(3, accepted)
    r1, r2, r3 = acceptance.rates()
    assert acceptance.tokens() == pytest.approx([1, 1 + r1, 1 + r1 + r1 * r2, 1 + r1 + r1 * r2 + r1 * r2 * r3])


# Choice


@pytest.mark.parametrize("trained", TRAINED_SIZES)
def test_flat_costs_give_the_widest_block(trained: int) -> None:
    steps = on(MACHINES["flat"], 0.7, trained, 600)
    assert Counter(step.rows for step in steps)[trained] > 0.9 * len(steps)


@pytest.mark.parametrize("trained", TRAINED_SIZES)
def test_costs_proportional_to_rows_give_plain_decoding_without_a_probe(trained: int) -> None:
    seconds = MACHINES["a row each (M1, M2)"]
    policy = Policy(costs_of(seconds), trained)
    steps = decode(policy, lambda rows, _: seconds[rows - 1], lambda _: 0.95, 400, noise=0.1, outliers=0.02)
    assert policy.plain_only
    assert {step.rows for step in steps} == {1}


@pytest.mark.parametrize(("rate", "best"), [(0.7, 3), (0.8, 4), (0.95, 4)])
def test_a_mixture_of_experts_gives_a_middle_width(rate: float, best: int) -> None:
    assert best_of(MOE, rate, 8) == best
    steps = on(MOE, rate, 8, 4000)
    # where two widths are within 2% either will do
    assert time_of(steps, rate, MOE) < 1.03 * MOE[best - 1] / tokens_of(best, rate)
    assert Counter(step.rows for step in steps).most_common(1)[0][0] == best


@pytest.mark.parametrize("trained", TRAINED_SIZES)
@pytest.mark.parametrize("machine", MACHINES)
def test_never_slower_than_plain_and_near_the_best_width(machine: str, trained: int) -> None:
    seconds = MACHINES[machine]
    for rate in (0.0, 0.05, 0.3, 0.6, 0.8, 0.95):
        steps = on(seconds, rate, trained, 1500, seed=trained, noise=0.1, outliers=0.01)
        best = best_of(seconds, rate, trained)
        assert time_of(steps, rate, seconds) < 1.03, rate
        assert time_of(steps, rate, seconds) < 1.06 * seconds[best - 1] / tokens_of(best, rate), rate


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(
    ("machine", "back"),
    [("M3 and newer", 24), ("M3 and newer, with the draft", 24), ("MoE", 64), ("MoE, with a heavy draft", 250)],
)
def test_plain_within_16_cycles_of_a_collapse_and_up_again_when_the_text_recovers(machine: str, back: int, early: bool) -> None:
    """Up again within `back` cycles: where a probe that fails is dear, it is long till the next."""
    seconds = MACHINES[machine]
    for seed in range(5):
        policy = Policy(costs_of(seconds), 8)
        rate = lambda position: 0.0 if 300 <= position < 700 else 0.9  # noqa: E731
        steps = decode(policy, lambda rows, _: seconds[rows - 1], rate, 700 + 5 * (back + 20), seed=seed, early=early)
        collapse = next(i for i, step in enumerate(steps) if step.position >= 300)
        recovery = next(i for i, step in enumerate(steps) if step.position >= 700)
        assert sum(step.rows > 1 for step in steps[collapse - 20 : collapse]) >= 18
        while_down = [step.rows > 1 for step in steps[collapse + 16 : recovery]]
        assert sum(while_down) <= len(while_down) / 7  # probes
        assert not any(a and b for a, b in zip(while_down, while_down[1:]))
        assert sum(step.rows > 1 for step in steps[recovery + back : recovery + back + 20]) >= 16


@pytest.mark.parametrize("seconds", [table(1, 1.8, 2.5, 3.3), table(1, 2.7, 2.8, 2.9), table(1, 1.75)])
@pytest.mark.parametrize("outliers", [0.0, 0.05])
def test_probes_cost_at_most_2_percent_of_the_time(seconds: list[float], outliers: float) -> None:
    """Of these machines' requests every speculative cycle is a probe: nothing is kept, and plain decoding comes first."""
    for seed in range(5):
        steps = on(seconds, 0.0, 8, 1500, seed=seed, outliers=outliers)
        elapsed = plain = 0.0
        for step in steps:
            elapsed += step.seconds
            plain += seconds[0]
            assert elapsed - plain <= 0.02 * elapsed
        assert sum(step.rows > 1 for step in steps) >= 5


def test_a_probe_that_pays_is_followed_by_the_next() -> None:
    """Cheap probes and a text that recovers: no waiting for a budget."""
    seconds = table(1, 1.5, 1.6)
    policy = Policy(costs_of(seconds), 4)
    steps = decode(policy, lambda rows, _: seconds[rows - 1], lambda position: 0.95 if position >= 400 else 0.0, 600)
    first = next(i for i, step in enumerate(steps) if step.position >= 400 and step.accepted)
    assert all(step.rows > 1 for step in steps[first + 8 : first + 28])


# Costs that change, or were wrong


def test_throttling_is_no_reason_to_change_the_width() -> None:
    for seed in range(5):
        policy = Policy(costs_of(M3), 8)
        steps = decode(
            policy,
            lambda rows, position: M3[rows - 1] * (1.6 if position > 800 else 1),
            lambda _: 0.9,
            2000,
            seed=seed,
            noise=0.1,
        )
        after = Counter(step.rows for step in steps if step.position > 800)
        assert after[4] + after[1] > 0.98 * after.total()
        assert after[1] < 0.05 * after.total()  # looks at plain decoding
        assert policy.plain_seconds(2000) == pytest.approx(1.6, rel=0.12)


def test_a_width_that_costs_more_than_calibrated_is_left_for_the_best_of_the_others() -> None:
    true = [seconds * (1.5 if rows == 4 else 1) for rows, seconds in enumerate(M3, 1)]
    assert (best_of(M3, 0.6, 8), best_of(true, 0.6, 8)) == (4, 3)
    for seed in range(5):
        steps = decode(Policy(costs_of(M3), 8), lambda rows, _: true[rows - 1], lambda _: 0.6, 1500, seed=seed, noise=0.1)
        assert time_of(steps, 0.6, true) < 1.06 * true[2] / tokens_of(3, 0.6)


@pytest.mark.parametrize("rate", [0.5, 0.6, 0.7])
def test_a_calibration_that_promised_too_much_does_not_make_it_slower_than_plain(rate: float) -> None:
    promised, true = table(1, 1.2), table(1, 1.85)
    for seed in range(3):
        steps = decode(Policy(costs_of(promised), 8), lambda rows, _: true[rows - 1], lambda _: rate, 2500, seed=seed, noise=0.1)
        assert time_of(steps, rate, true) < 1.06


def test_a_growing_context_narrows_the_block_where_attention_makes_wide_passes_dear() -> None:
    short, long = M3[:8], [1.3, 1.5, 1.7, 2.6, 3.5, 6.0, 7.0, 8.0]
    costs = Costs([(rows + 1, n, s) for n, line in ((0, short), (32768, long)) for rows, s in enumerate(line)])
    steps = decode(Policy(costs, 8), costs.seconds, lambda _: 0.9, 32768, noise=0.1)
    best = [[costs.seconds(rows, 1000 * k) for rows in range(1, 9)] for k in range(33)]
    assert best_of(best[0], 0.9, 8) > best_of(best[32], 0.9, 8)
    cost = sum(costs.seconds(step.rows, step.position) for step in steps)
    least = sum(
        tokens_of(step.rows, 0.9) * min(costs.seconds(rows, step.position) / tokens_of(rows, 0.9) for rows in range(1, 9))
        for step in steps
    )
    assert cost < 1.03 * least


def test_frozen_decides_the_same_whatever_the_time_taken() -> None:
    def widths(frozen: bool, seed: int) -> list[int]:
        stopwatch, text = random.Random(seed), random.Random(7)
        policy, rows = Policy(costs_of(MOE), 8, frozen=frozen), []
        for cycle in range(600):
            rows.append(policy.next(cycle).rows)
            accepted = sum(text.random() < (0.1 if 200 < cycle < 400 else 0.8) for _ in range(7))
            policy.record(rows[-1], min(accepted, rows[-1] - 1), stopwatch.uniform(0.2, 8), cycle)
        return rows

    assert widths(True, 1) == widths(True, 2)
    assert len(set(widths(True, 1))) > 2  # decisions were made
    assert widths(False, 1) != widths(False, 2)


def test_a_block_cut_short_is_recorded_as_what_it_was() -> None:
    policy = Policy(costs_of(M3), 8)
    for cycle in range(200):
        assert 1 <= policy.next(cycle).rows <= 8
        policy.record(2, 1, M3[1], cycle)
    assert policy.next(200).rows > 2


# Words


def test_plain_by_cost_is_explained_by_the_cost() -> None:
    policy = Policy(Costs([(1, 0, 0.04), (4, 0, 0.156)]), 4)
    assert policy.plain_only and policy.next(0).rows == 1
    assert policy.reason == "a cycle of 4 rows costs 3.9x a plain step on this machine"


def test_plain_by_acceptance_is_explained_by_the_acceptance() -> None:
    policy = Policy(costs_of(table(1, 1.35, 2)), 4)  # to be 2% faster with 2 rows, 1.02 * 1.35 tokens a cycle: 38% kept
    for cycle in range(30):
        policy.next(cycle)
        policy.record(2, cycle % 8 == 0, 1.35, cycle)
    assert policy.next(30).rows == 1
    assert policy.reason and policy.reason.startswith("of the drafts only 1")
    assert policy.reason.endswith("% are kept lately, 38% would be needed")


@pytest.mark.parametrize("trained", [1, 8])
def test_what_was_copied_lately_decides_whether_and_how_much_is_copied(trained: int) -> None:
    flat = Costs([(1, 0, 1.0), (8, 0, 1.1)], [(2, 0, 1.05), (16, 0, 1.2)])
    policy = Policy(flat, trained, without_drafter="none is known")
    assert (policy.next(0).rows > 1) == (trained > 1), "a drafter is believed in at first"
    assert policy.copy(0.01) == 1 and policy.copy(0.97) == 16
    assert policy.copy(0.6) == (8 if trained == 1 else 1), "the drafter promises more"
    dear = Policy(Costs([(1, 0, 1.0), (8, 0, 8.0)], [(2, 0, 2.0), (16, 0, 16.0)]), trained)
    assert dear.next(0).rows == 1 and dear.copy(1.0) == 1


def on_trees(policy: Policy, cycles: int, rate: float, sibling: float, seconds: float = 1.2) -> list[Offer]:
    """Cycles whose first choices are kept with `rate`, and where one is not, another of the tree with `sibling`."""
    rng, asked = random.Random(1), []
    for _ in range(cycles):
        offer = policy.next(0)
        accepted, kept, first = 0, 0, True
        while accepted < min(offer.rows, 8) - 1:
            if rng.random() >= rate:
                if not offer.tree or rng.random() >= sibling:
                    break
                first = False
            accepted += 1
            kept += first
        chain = (min(7, offer.rows - 1), kept) if offer.tree else None
        policy.record(offer.rows, accepted, seconds if offer.rows > 1 else 1.0, 0, chain=chain)
        asked.append(offer)
    return asked


TREES_FREE = Costs([(1, 0, 1.0), (8, 0, 1.2)], trees=[(8, 0, 1.2), (16, 0, 1.2)])


def test_a_tree_is_taken_where_its_rows_are_free_and_it_finds_more() -> None:
    policy = Policy(TREES_FREE, 8, trees=True)
    asked = on_trees(policy, 200, rate=0.6, sibling=0.5)
    assert all(offer.tree for offer in asked[-50:])
    assert not any(offer.tree for offer in on_trees(Policy(TREES_FREE, 8), 100, rate=0.6, sibling=0.5)), "unless not allowed"


def test_a_tree_that_finds_no_more_than_the_chain_is_left() -> None:
    dearer = Costs([(1, 0, 1.0), (8, 0, 1.2)], trees=[(8, 0, 1.3), (16, 0, 1.35)])
    asked = on_trees(Policy(dearer, 8, trees=True, frozen=True), 300, rate=0.7, sibling=0.0)
    assert sum(offer.tree for offer in asked[-100:]) < 30


def test_where_rows_cost_trees_are_not_taken() -> None:
    policy = Policy(Costs([(1, 0, 1.0), (8, 0, 4.6)], trees=[(8, 0, 6.0), (16, 0, 11.0)]), 8, trees=True)
    assert not any(offer.tree for offer in on_trees(policy, 100, rate=0.9, sibling=0.3, seconds=4.6))


def test_what_the_first_choices_did_is_learned_from_trees_too() -> None:
    policy = Policy(TREES_FREE, 8, trees=True, frozen=True)
    for _ in range(100):
        assert policy.next(0).tree
        policy.record(16, 3, 1.2, 0, chain=(7, 2))
    chains = Policy(Costs([(1, 0, 1.0), (8, 0, 1.2)]), 8, frozen=True)
    for _ in range(100):
        chains.next(0)
        chains.record(8, 2, 1.2, 0)
    assert policy._acceptance.rates() == chains._acceptance.rates()


def test_a_copy_says_nothing_about_the_drafter() -> None:
    policy = Policy(Costs([(1, 0, 1.0), (8, 0, 1.3)]), 8)
    width = policy.next(0).rows
    for _ in range(100):
        policy.next(0)
        policy.record(16, 0, 5.0, 0, copied=True)
        assert policy.speculative and policy.reason is None
    assert policy.next(0).rows == width


def test_without_a_drafter_it_says_so_but_while_it_copies() -> None:
    policy = Policy(Costs([(1, 0, 1.0)], [(2, 0, 1.1), (16, 0, 1.3)]), 1, without_drafter="none is known")
    assert (policy.next(0).rows, policy.speculative, policy.reason) == (1, False, "none is known")
    policy.record(16, 15, 1.3, 0, copied=True)
    assert (policy.speculative, policy.reason) == (True, None)
    policy.record(1, 0, 1.0, 16)
    assert (policy.speculative, policy.reason) == (False, "none is known")


def test_nothing_is_said_while_speculation_goes_well() -> None:
    policy = Policy(costs_of(M3), 8)
    decode(policy, lambda rows, _: M3[rows - 1], lambda _: 0.8, 300)
    assert policy.reason is None
    assert not policy.plain_only


ALARM = "hardly any draft is kept (1 of 60): drafter and target may not match, the drafter's precision may be wrong, "
ALARM += "or the temperature is very high"


@pytest.mark.parametrize("policy", [FixedBlockSize(4), Policy(costs_of(M3), 8)])
def test_drafts_that_are_never_kept_raise_the_alarm(policy: Policy | FixedBlockSize) -> None:
    for cycle in range(60):
        policy.next(cycle)
        policy.record(4, cycle == 30, M3[3], cycle)
        assert cycle >= 39 or policy.reason is None or policy.reason.startswith("of the drafts")
    assert policy.reason == ALARM


def test_unlucky_text_raises_no_alarm() -> None:
    for seed in range(50):
        policy = FixedBlockSize(4)
        decode(policy, lambda rows, _: 1.0, lambda _: 0.1, 220, seed=seed)
        assert policy.reason is None


def test_a_fixed_block_size_is_obeyed() -> None:
    policy = FixedBlockSize(6)
    steps = decode(policy, lambda rows, _: 9.0 * rows, lambda _: 0.05, 300)
    assert {step.rows for step in steps[:-6]} == {6}
    assert policy.reason is None and policy.plain_seconds(10) is None
    assert not policy.plain_only and FixedBlockSize(1).plain_only
    assert FixedBlockSize(1).reason == "block_size is 1"
