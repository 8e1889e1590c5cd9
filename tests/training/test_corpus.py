"""Examples and the batches of blocks cut from them."""

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS

from dflash_mlx.targets import load_target
from dflash_mlx.training import corpus
from dflash_mlx.training.corpus import Example, batches, load_examples, record, row_weights, save_examples


def example(length: int, prompt_length: int) -> Example:
    """An example whose ids and features tell where they stand."""
    return Example(list(range(100, 100 + length)), prompt_length, mx.arange(length - 1)[:, None] * mx.ones((1, 4)))


def test_examples_survive_being_saved(tmp_path: Path) -> None:
    examples = [example(9, 3), example(5, 2)]
    save_examples(examples, tmp_path / "examples.safetensors")
    for before, after in zip(examples, load_examples(tmp_path / "examples.safetensors"), strict=True):
        assert (before.ids, before.prompt_length) == (after.ids, after.prompt_length)
        assert mx.array_equal(before.features, after.features)


def test_anchors_stand_in_the_answer_and_blocks_go_on_as_the_text_does() -> None:
    batch = next(batches([example(9, 3), example(12, 4)], sequences=2, blocks=20, block_size=4, gamma=2.0, seed=1))
    lengths = {9: 3, 12: 4}
    for text, (positions, tokens, weights) in enumerate(
        zip(batch.positions.tolist(), batch.tokens.tolist(), np.array(batch.weights))
    ):
        length = [9, 12][text]
        for position, block, row in zip(positions, tokens, weights):
            assert lengths[length] <= position < length - 1
            real = min(4, length - position)
            assert block[:real] == list(range(100 + position, 100 + position + real))
            np.testing.assert_array_equal(row, np.where(np.arange(3) < real - 1, row_weights(4, 2.0), 0))


def test_batches_are_the_same_for_the_same_seed() -> None:
    examples = [example(length, 3) for length in range(6, 30)]
    first, second = (batches(list(examples), 4, 3, 4, 2.0, seed=7) for _ in range(2))
    for _ in range(8):
        assert all(mx.array_equal(a, b) for a, b in zip(next(first), next(second)))


def test_early_rows_weigh_more() -> None:
    np.testing.assert_allclose(row_weights(4, 2.0), np.exp([0, -0.5, -1.0]), rtol=1e-6)


def test_recorded_features_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    target = load_target(CHECKPOINTS / "target_qwen3_5")
    ids = list(range(3, 40))
    whole = record(target, ids, 5, [1, 3])
    monkeypatch.setattr(corpus, "CHUNK", 10)
    chunked = record(target, ids, 5, [1, 3])
    assert whole.features.shape == (37, 2 * target.config.hidden_size)
    np.testing.assert_allclose(np.array(whole.features), np.array(chunked.features), atol=1e-5)
