"""The block-parallel forward against the path that inference takes, for every kind of drafter."""

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS

from dflash_mlx.drafters import load_drafter
from dflash_mlx.targets import load_target
from dflash_mlx.training.blocks import hidden_of_blocks
from dflash_mlx.training.corpus import Batch

VARIANTS = [f"dflash2_{kind}" for kind in ("full", "swa", "swa_bidir")] + [
    f"dflash1_{kind}" for kind in ("full", "swa", "swa_bidir")
]
LENGTH = 30  # longer than the window of 16


@pytest.mark.parametrize("name", VARIANTS)
def test_every_block_gets_the_hidden_states_it_would_get_alone(name: str) -> None:
    drafter, target = load_drafter(CHECKPOINTS / name), load_target(CHECKPOINTS / "target_qwen3_5")
    config = drafter.config
    mx.random.seed(0)
    features = mx.random.normal((2, LENGTH, len(config.target_layer_ids) * config.hidden_size))
    positions = np.array([[5, 17, 29], [12, 1, 29]], np.int32)
    tokens = mx.random.randint(0, 200, (2, 3, config.block_size))
    together = hidden_of_blocks(
        drafter, target, Batch(features, mx.array(positions), tokens, mx.ones((2, 3, config.block_size - 1)))
    )
    for text in range(2):
        for block in range(3):
            position = int(positions[text, block])
            context = drafter.new_context(position + config.block_size)
            drafter.inject(features[text : text + 1, :position], context, mx.array([0], mx.int32))
            alone = drafter.hidden(tokens[text, block, :1], context, mx.array([position], mx.int32), config.block_size, target)
            np.testing.assert_allclose(np.array(together[text, block]), np.array(alone[0]), atol=2e-5, rtol=1e-4)


def test_rows_after_the_anchor_depend_on_no_token_but_the_anchor() -> None:
    drafter, target = load_drafter(CHECKPOINTS / "dflash2_full"), load_target(CHECKPOINTS / "target_qwen3_5")
    features = mx.random.normal((1, 8, len(drafter.config.target_layer_ids) * drafter.config.hidden_size))
    tokens = mx.random.randint(0, 200, (1, 1, drafter.config.block_size))
    other = mx.concatenate([tokens[..., :1], tokens[..., 1:] + 7], axis=-1)
    weights = mx.ones((1, 1, drafter.config.block_size - 1))
    first, second = (hidden_of_blocks(drafter, target, Batch(features, mx.array([[4]]), t, weights)) for t in (tokens, other))
    assert mx.array_equal(first, second)
