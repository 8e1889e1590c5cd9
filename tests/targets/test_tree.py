"""A pass over a tree against passes over its paths, each a chain, and what a committed path leaves behind."""

import random
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, expected
from tiny_qwen3_next import save_qwen3_next
from tree_shapes import SHAPES, parents_of, path_to

from dflash_mlx.targets import State, Target, load_target
from dflash_mlx.targets.tree import Tree

FAMILIES = ["target_qwen3_5", "target_qwen3", "target_qwen3_moe", "target_qwen3_5_moe", "target_qwen3_5_4bit"]
TAPS = (0, 1)
TOLERANCE = 2e-4


def at(position: int) -> mx.array:
    return mx.array([position], mx.int32)


@pytest.mark.parametrize("seed", range(4))
def test_ancestors_and_depths_are_those_of_the_paths(seed: int) -> None:
    rng = random.Random(seed)
    for rows in (1, 2, 3, 5, 8, 15, 16):
        parents = parents_of(rng.choice(SHAPES), rows, seed)
        tree = Tree.of(mx.array(parents, mx.int32))
        paths = [path_to(parents, row) for row in range(rows)]
        assert tree.depths.tolist() == [len(path) - 1 for path in paths]
        assert np.array(tree.ancestors).tolist() == [[column in path for column in range(rows)] for path in paths]


def chain(ids: list[int], target: Target, state: State, layers: Any, position: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits and features of rows that follow each other, on the state that `layers` was."""
    state.layers = [layer.copy() if hasattr(layer, "copy") else layer for layer in layers]
    hidden, features = target.forward(mx.array([ids]), state, at(position), TAPS)
    return np.array(target.lm_head(hidden)[0]), np.array(features[0])


def check(target: Target, prompt: list[int], vocab: int, seed: int) -> None:
    rng = random.Random(seed)
    for rows in (2, 5, 8, 15, 16):
        parents, ids = parents_of(rng.choice(SHAPES), rows, seed), [rng.randrange(vocab) for _ in range(rows)]
        state = target.new_state(len(prompt) + 64)
        target.forward(mx.array([prompt]), state, at(0), commit=True)
        layers = state.layers
        tree = Tree.of(mx.array(parents, mx.int32))
        hidden, features = target.forward(mx.array([ids]), state, at(len(prompt)), TAPS, tree=tree)
        logits = np.array(target.lm_head(hidden)[0])
        assert features is not None
        path = path_to(parents, rng.randrange(rows))
        count = rng.randint(1, len(path))
        state.commit(count, path, len(prompt))
        after, _ = target.forward(mx.array([[5, 6]]), state, at(len(prompt) + count))

        for row in range(rows):
            wanted, of_chain = chain([ids[above] for above in path_to(parents, row)], target, state, layers, len(prompt))
            np.testing.assert_allclose(logits[row], wanted[-1], atol=TOLERANCE, rtol=0)
            np.testing.assert_allclose(np.array(features[0, row]), of_chain[-1], atol=TOLERANCE, rtol=0)
        chain([ids[row] for row in path[:count]], target, state, layers, len(prompt))
        state.commit(count)
        wanted, _ = target.forward(mx.array([[5, 6]]), state, at(len(prompt) + count))
        np.testing.assert_allclose(np.array(after), np.array(wanted), atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_row_of_a_tree_is_the_last_of_the_chain_to_it(name: str, seed: int) -> None:
    check(load_target(CHECKPOINTS / name), expected(name)["prompt0"].tolist(), 240, seed)


def test_qwen3_next_too(tmp_path) -> None:
    save_qwen3_next(tmp_path)
    target = load_target(tmp_path)
    check(target, [3, 1, 4, 1, 5], target.config.vocab_size, 0)


def test_a_path_is_brought_together_in_place() -> None:
    target, buffers = load_target(CHECKPOINTS / "target_qwen3"), 40_000
    state = target.new_state(buffers)
    target.forward(mx.array([[5, 9, 200]]), state, at(0), commit=True)
    hidden, _ = target.forward(mx.array([[1, 2, 3]]), state, at(3), tree=Tree.of(mx.array([-1, 0, 0], mx.int32)))
    mx.eval(hidden, state.arrays)
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    state.commit(2, [0, 2], 3)
    mx.eval(state.arrays)
    assert mx.get_peak_memory() - before < state.arrays[0].nbytes / 2
