"""The drafter's losses against the formulas, computed in numpy with float64."""

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS

from dflash_mlx.drafters import DFlash2, load_drafter
from dflash_mlx.targets import load_target
from dflash_mlx.training.blocks import hidden_of_blocks
from dflash_mlx.training.corpus import Batch
from dflash_mlx.training.loss import losses


@pytest.fixture
def batch() -> Batch:
    mx.random.seed(3)
    features = mx.random.normal((2, 12, 256)) * 3
    weights = mx.array(np.exp(-np.arange(7) / 4)[None, None] * [[[1], [1]], [[1], [0]]], mx.float32)
    return Batch(features, mx.array([[4, 9], [3, 7]]), mx.random.randint(0, 256, (2, 2, 8)), weights)


def log_sum_exp(x: np.ndarray) -> np.ndarray:
    top = x.max(-1, keepdims=True)
    return (np.log(np.exp(x - top).sum(-1, keepdims=True)) + top)[..., 0]


def test_the_losses_are_the_published_formulas(batch: Batch) -> None:
    drafter, target = load_drafter(CHECKPOINTS / "dflash2_full"), load_target(CHECKPOINTS / "target_qwen3_5")
    assert isinstance(drafter, DFlash2)
    taps = len(drafter.config.target_layer_ids) * drafter.config.hidden_size
    batch = batch._replace(features=mx.tile(batch.features, (1, 1, -(-taps // 256)))[..., :taps])
    # every other true token is made the likeliest, so that some are among the candidates and some are not
    likely = mx.argmax(target.lm_head(hidden_of_blocks(drafter, target, batch)), -1)
    batch = batch._replace(tokens=mx.where((mx.arange(8) % 2 == 1), likely, batch.tokens))

    hidden = hidden_of_blocks(drafter, target, batch)[:, :, 1:]
    logits = np.array(target.lm_head(hidden), np.float64)
    tokens, weights = np.array(batch.tokens), np.array(batch.weights, np.float64)
    truth = tokens[..., 1:, None]
    unary = log_sum_exp(logits) - np.take_along_axis(logits, truth, -1)[..., 0]

    selector = drafter.candidate_selector
    before, after, projection = (
        np.array(w, np.float64)
        for w in (selector.predecessor_codebook, selector.successor_codebook, selector.hidden_projection.weight)
    )
    context = before[tokens[..., :-1]] * (np.array(hidden, np.float64) @ projection.T)
    scores = logits + context @ after.T
    candidates = np.argsort(-logits, -1)[..., : drafter.config.selector_top_k]
    among = (candidates == truth).any(-1)
    assert 0 < among.sum() < among.size
    choice = log_sum_exp(np.take_along_axis(scores, candidates, -1)) - np.take_along_axis(scores, truth, -1)[..., 0]

    found = losses(drafter, target, batch)
    assert found.unary.item() == pytest.approx((weights * unary).sum() / weights.sum(), rel=1e-5)
    assert found.selector.item() == pytest.approx((weights * among * choice).sum() / weights.sum(), rel=1e-5)


def test_rows_past_the_end_of_the_text_change_nothing(batch: Batch) -> None:
    drafter, target = load_drafter(CHECKPOINTS / "dflash2_full"), load_target(CHECKPOINTS / "target_qwen3_5")
    taps = len(drafter.config.target_layer_ids) * drafter.config.hidden_size
    batch = batch._replace(features=mx.random.normal((2, 12, taps)))
    other = mx.array(batch.tokens)
    other[1, 1, 1:] = 5  # the block of weight 0
    assert losses(drafter, target, batch) == losses(drafter, target, batch._replace(tokens=other))


def test_a_drafter_without_selector_has_no_selector_loss(batch: Batch) -> None:
    drafter, target = load_drafter(CHECKPOINTS / "dflash1_full"), load_target(CHECKPOINTS / "target_qwen3_5")
    taps = len(drafter.config.target_layer_ids) * drafter.config.hidden_size
    batch = batch._replace(features=mx.random.normal((2, 12, taps)))
    assert losses(drafter, target, batch).selector.item() == 0
