"""Trees in the loop: tokens against plain decoding's, with every shape of accepted path, greedy and sampled."""

import random
from functools import cache
from itertools import cycle
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from decoding.test_loop import PAIRS, ScriptedCopies, greedy_sampler, new_sequence, recorded_prompts
from fixture_data import DEMO, WEAK_DRAFTER
from tree_shapes import SHAPES, parents_of, path_to

import dflash_mlx as dm
from dflash_mlx.decoding.acceptance import accept_in_tree
from dflash_mlx.decoding.loop import Cycle, run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sequence import Offer
from dflash_mlx.targets.tree import Tree, depth_of, first_choices

QUESTIONS = ("What is 128 + 256?", "What is the anchor?", "How many minutes are in 3 hours?")
load = cache(dm.load)


class Mixed:
    """Chains, trees and copies in turn; it notes how cycles went."""

    def __init__(self, seed: int, *offers: Offer, copies: bool = False) -> None:
        self.offers, self.random, self.copies = cycle(offers), random.Random(seed), copies
        self.recorded: list[tuple[int, int, tuple[int, int] | None]] = []

    def next(self, position: int) -> Offer:
        return next(self.offers)

    def copy(self, rate: float) -> int:
        return self.random.choice((1, 1, 4, 16)) if self.copies else 1

    def record(
        self, block_size: int, accepted: int, seconds: float, position: int, copied: bool, chain: tuple[int, int] | None
    ) -> None:
        self.recorded.append((block_size, accepted, chain))


def decode(target: str, drafter: str, prompt: list[int], greedy: list[int], sizes: Mixed) -> list[Cycle]:
    sequence = new_sequence(target, drafter)
    sampler = greedy_sampler(sequence)
    anchor = prefill(sequence, prompt, sampler)
    cycles = list(run(sequence, anchor, sampler, sizes, len(greedy) - 1, len, ScriptedCopies(greedy) if sizes.copies else None))
    assert anchor.tolist() + [t for cycle in cycles for t in cycle.token_ids] == greedy
    assert sequence.device_reads == len(cycles)
    return cycles


@pytest.mark.parametrize("nodes", [pytest.param(3, marks=pytest.mark.long), 7, 15])
@pytest.mark.parametrize(("target", "drafter"), PAIRS)
def test_tokens_equal_mlx_lms(target: str, drafter: str, nodes: int) -> None:
    for prompt, greedy in recorded_prompts(target)[2:4]:
        sizes = Mixed(0, Offer(nodes + 1, tree=True))
        cycles = decode(target, drafter, prompt, greedy, sizes)
        assert all(cycle.accepted <= cycle.tree_depth <= 7 for cycle in cycles)
        assert all(chain and chain[1] <= accepted for rows, accepted, chain in sizes.recorded if rows > 1)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 5))])
@pytest.mark.parametrize(("target", "drafter"), PAIRS[:4])
def test_tokens_equal_mlx_lms_where_every_cycle_drafts_otherwise(target: str, drafter: str, seed: int) -> None:
    offers = [Offer(16, True), Offer(4), Offer(1), Offer(8, True), Offer(8), Offer(5, True), Offer(1), Offer(1), Offer(2, True)]
    random.Random(seed).shuffle(offers)
    for prompt, greedy in recorded_prompts(target)[2:4]:
        decode(target, drafter, prompt, greedy, Mixed(seed, *offers, copies=True))


@pytest.mark.parametrize("options", [{"block_size": 8}, {}], ids=str)
def test_a_weak_drafter_keeps_paths_of_every_kind(options: dict[str, Any]) -> None:
    pair = load("demo", drafter=WEAK_DRAFTER)
    lengths: set[int] = set()
    for question in QUESTIONS:
        plain = pair.generate(question, max_tokens=80, block_size=1)
        chunks = list(pair.stream(question, max_tokens=80, drafts="tree", **options))
        assert [token for chunk in chunks for token in chunk.token_ids] == list(plain.token_ids)
        lengths |= {chunk.accepted for chunk in chunks}
    assert {0, 1, 2, 3} <= lengths


@pytest.mark.parametrize("settings", [{}, {"top_p": 0.9, "repetition_penalty": 1.1, "presence_penalty": 0.2}], ids=str)
@pytest.mark.parametrize("temperature", [0.6, 1.2])
def test_with_a_seed_tokens_are_plain_decodings(temperature: float, settings: dict[str, float]) -> None:
    pair = load(DEMO)
    kept = 0
    for seed, question in enumerate(QUESTIONS):
        sampling = dm.Sampling(temperature=temperature, seed=seed, **settings)  # type: ignore[arg-type]
        plain = pair.generate(question, max_tokens=60, sampling=sampling, block_size=1)
        for size in (4, 8, 16):
            tree = pair.generate(question, max_tokens=60, sampling=sampling, drafts="tree", block_size=size)
            assert tree.token_ids == plain.token_ids
            kept += tree.statistics.generated_tokens - 1 - tree.statistics.cycles
    assert kept > 100


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(6))
def test_the_path_that_is_kept_is_the_one_the_target_takes(shape: str, seed: int) -> None:
    """By walking down from the anchor."""
    rng, rows = random.Random(seed), 12
    parents = parents_of(shape, rows, seed)
    ids = [sum(p == parents[r] for p in parents[:r]) for r in range(1, rows)]  # no two children of one row are alike
    tokens = [rng.randrange(3) for _ in range(rows)]
    path = [0]
    while True:
        below = [r for r in range(1, rows) if parents[r] == path[-1] and ids[r - 1] == tokens[path[-1]]]
        if not below:
            break
        path += below
    verdict = accept_in_tree(mx.array(ids, mx.int32), mx.array(tokens, mx.int32), Tree.of(mx.array(parents, mx.int32)))
    assert verdict.path is not None
    assert (verdict.accepted.tolist(), verdict.path.tolist()[: len(path)]) == ([len(path) - 1], path)
    assert verdict.tokens.tolist()[: len(path)] == [tokens[row] for row in path]


@pytest.mark.parametrize("seed", range(10))
def test_how_deep_a_tree_is_and_how_far_its_first_choices_went(seed: int) -> None:
    rng = random.Random(seed)
    parents = parents_of("any", 12, seed)
    paths = [path_to(parents, row) for row in range(12)]
    assert depth_of(parents) == max(map(len, paths)) - 1
    first = [0]
    while children := [row for row in range(12) if parents[row] == first[-1]]:
        first.append(min(children))
    taken = paths[rng.randrange(12)]
    together = int(np.cumprod([a == b for a, b in zip(first, taken)]).sum()) - 1
    assert first_choices(parents, taken) == (len(first) - 1, together)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verify": "exact"}, "not exact"),
        ({"logits_processors": [lambda t, x: x]}, "logits processors"),
        ({"block_size": 17}, "17"),
    ],
    ids=["exact", "processors", "rows"],
)
def test_trees_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dm.RequestError, match=message):
        load("demo").stream("?", drafts="tree", **options)
    with pytest.raises(dm.RequestError, match="needs a drafter"):
        load("demo", drafter=None).stream("?", drafts="tree")
