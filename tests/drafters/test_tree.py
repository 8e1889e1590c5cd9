"""The tree of the most probable drafts, against numpy in float64 and, where few enough, against all paths."""

from itertools import product

import mlx.core as mx
import numpy as np
import pytest
from drafters.test_draw import Pair

from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.drafters.tree import BEAM, grow

NODES = (1, 3, 7, 15)


class Scores:
    """Random probabilities of n candidates at each of some levels, given the token before."""

    def __init__(self, levels: int, n: int, vocab: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.candidates = np.array([rng.permutation(vocab)[:n] for _ in range(levels)])
        logits = rng.normal(0, 2, (levels, vocab, n))
        self.table = (logits - np.log(np.exp(logits).sum(-1, keepdims=True))).astype(np.float32)

    def __call__(self, level: int, before: mx.array) -> mx.array:
        return mx.array(self.table)[level][before]

    def grow(self, nodes: int) -> tuple[list[int], list[int]]:
        ids, parents = grow(mx.array(self.candidates, mx.int32), self, mx.array([0], mx.int32), nodes)
        assert ids.dtype == parents.dtype == mx.int32 and ids.shape == parents.shape == (nodes,)
        return ids.tolist(), parents.tolist()


def paths_of(ids: list[int], parents: list[int]) -> list[tuple[int, ...]]:
    paths: list[tuple[int, ...]] = []
    for token, parent in zip(ids, parents):
        assert 0 <= parent <= len(paths), "a parent stands before its children"
        paths.append((*(paths[parent - 1] if parent else ()), token))
    return paths


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("seed", range(5))
def test_the_nodes_are_the_most_probable_of_all_paths_where_the_beam_holds_them(seed: int, nodes: int) -> None:
    scores = Scores(levels=4, n=2, vocab=9, seed=seed)  # 2, 4, 8 and, of 16, 8 partial paths
    everything: dict[tuple[int, ...], float] = {}
    for length in range(1, 4):
        for choice in product(range(2), repeat=length):
            path = tuple(int(scores.candidates[level, i]) for level, i in enumerate(choice))
            before = (0, *path)
            everything[path] = float(sum(scores.table[level, before[level], i] for level, i in enumerate(choice)))
    best = sorted(everything, key=lambda path: -everything[path])[:nodes]
    paths = paths_of(*Scores.grow(scores, nodes))
    assert len(set(paths)) == nodes
    assert {path for path in paths if len(path) < 4} <= set(best)
    assert set(best) - set(paths) == set() or any(len(path) == 4 for path in paths)


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_partial_paths_by_hand(seed: int, nodes: int) -> None:
    scores = Scores(levels=7, n=16, vocab=60, seed=seed)
    kept: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    everything: list[tuple[float, tuple[int, ...]]] = []
    for level in range(7):
        longer = [
            (total + float(scores.table[level, (0, *path)[-1], i]), (*path, int(token)))
            for total, path in kept
            for i, token in enumerate(scores.candidates[level])
        ]
        kept = sorted(longer, key=lambda pair: -pair[0])[:BEAM]
        everything += kept
    wanted = sorted(everything, key=lambda pair: -pair[0])[:nodes]
    paths = paths_of(*scores.grow(nodes))
    assert set(paths) == {path for _, path in wanted}
    assert [len(path) for path in paths] == sorted(len(path) for path in paths), "level by level"


def test_where_one_path_is_certain_the_tree_holds_it_from_its_beginning() -> None:
    certain = np.full((7, 20, 8), -np.inf, np.float32)
    certain[..., 3] = 0.0
    candidates = mx.array([[10 * level + i for i in range(8)] for level in range(7)], mx.int32)
    ids, parents = grow(candidates, lambda level, before: mx.array(certain[level])[: before.size], mx.array([0]), 5)
    assert ids.tolist() == [3, 13, 23, 33, 43] and parents.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["dflash1_full", "dflash2_full"])
@pytest.mark.parametrize("nodes", [5, 15])
def test_the_best_path_of_a_drafters_tree_is_likelier_than_its_chain(name: str, nodes: int) -> None:
    """And begins with it where the tree has room: siblings are other tokens."""
    pair = Pair(name)
    arguments = pair.anchor, pair.context, pair.position, 6, pair.target
    chain, tree = pair.drafter.draft(*arguments).ids.tolist(), pair.drafter.draft(*arguments, nodes=nodes)
    assert tree.q is None and tree.parents is not None
    paths = paths_of(tree.ids.tolist(), tree.parents.tolist())
    assert len(set(paths)) == nodes
    if name == "dflash1_full":  # each place is chosen by itself there: its best path is the chain
        longest = max(len(path) for path in paths)
        assert any(path == tuple(chain[: len(path)]) for path in paths if len(path) == min(longest, 2))
    assert (chain[0],) in paths


@pytest.mark.parametrize("name", ["dflash1_full", "dflash2_full"])
def test_with_a_seed_the_tree_holds_what_is_likely_drawn(name: str) -> None:
    """The first token that the target draws by the drafter's own logits is in the tree more often than without the numbers."""
    pair = Pair(name)
    vocab = pair.target.lm_head(mx.zeros((1, 1, pair.drafter.config.hidden_size))).shape[-1]
    hits = {True: 0, False: 0}
    hidden = pair.drafter.hidden(pair.anchor, pair.context, pair.position, 6, pair.target)[:, 1:]
    logits = pair.drafter.logits(hidden, pair.target)[0, :1]
    for seed in range(60):
        sampler = Sampler(Sampling(temperature=1.0, seed=seed), vocab)
        drawn, _ = sampler.draw(logits, False, sampler.luck(pair.position + 1))
        arguments = pair.anchor, pair.context, pair.position, 6, pair.target
        for coupled in (True, False):
            tree = pair.drafter.draft(*arguments, *([sampler] if coupled else []), nodes=7)
            first = [token for token, parent in zip(tree.ids.tolist(), tree.parents.tolist()) if parent == 0]
            hits[coupled] += drawn.item() in first
    assert hits[True] > hits[False] + 5
