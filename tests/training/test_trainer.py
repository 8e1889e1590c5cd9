"""A few steps on a tiny pair, from a new drafter to a folder that inference loads."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from fixture_data import CHECKPOINTS

from dflash_mlx.checkpoint import read_config
from dflash_mlx.drafters import load_drafter
from dflash_mlx.targets import Target, load_target
from dflash_mlx.training import DrafterConfig, Example, Progress, TrainingOptions, new_drafter, record, save_drafter, train

TARGET = CHECKPOINTS / "target_qwen3_5"


def config() -> dict[str, Any]:
    return read_config(CHECKPOINTS / "dflash2_full")


def examples(target: Target) -> list[Example]:
    """Texts that count up: easy to guess."""
    taps = new_drafter(DrafterConfig.from_dict(config())).config.target_layer_ids
    return [record(target, list(range(start, start + 40)), 8, taps) for start in range(10, 60, 5)]


def lent(target: Target) -> list[np.ndarray]:
    """The target's embedding and head, as matrices."""
    ids, hidden = mx.arange(target.config.vocab_size)[None], mx.eye(target.config.hidden_size)[None]
    return [np.array(target.embed(ids)), np.array(target.lm_head(hidden))]


def test_a_few_steps_reduce_the_loss_and_leave_the_target_alone() -> None:
    target = load_target(TARGET)
    before = lent(target)
    mx.random.seed(1)
    reports: list[Progress] = []
    train(
        new_drafter(DrafterConfig.from_dict(config())),
        target,
        examples(target),
        TrainingOptions(steps=25, sequences=5, blocks=4),
        reports.append,
    )
    assert [report.step for report in reports] == list(range(1, 26))
    first, last = (np.mean([r.unary_loss + r.selector_loss for r in part]) for part in (reports[:3], reports[-3:]))
    assert last < first / 2
    assert all(np.array_equal(a, b) for a, b in zip(before, lent(target), strict=True))


def test_training_is_the_same_for_the_same_seed() -> None:
    target = load_target(TARGET)
    runs: list[list[Progress]] = [[], []]
    for reports in runs:
        mx.random.seed(4)
        train(
            new_drafter(DrafterConfig.from_dict(config())),
            target,
            examples(target),
            TrainingOptions(steps=4, sequences=5, blocks=4),
            reports.append,
        )
    assert runs[0] == runs[1]


def test_a_saved_drafter_loads_and_has_the_published_names(tmp_path: Path) -> None:
    drafter = new_drafter(DrafterConfig.from_dict(config()))
    save_drafter(drafter, config(), tmp_path / "plain")
    save_drafter(drafter, config(), tmp_path / "small", bits=4)
    published = mx.load(str(CHECKPOINTS / "dflash2_full" / "model.safetensors"))
    assert set(mx.load(str(tmp_path / "plain" / "model.safetensors"))) == set(published)
    plain, small = load_drafter(tmp_path / "plain"), load_drafter(tmp_path / "small")
    assert mx.array_equal(plain.layers[0].mlp.up_proj.weight, drafter.layers[0].mlp.up_proj.weight)
    assert small.layers[0].mlp.up_proj.bits == 4
    assert mx.array_equal(small.candidate_selector.successor_codebook, drafter.candidate_selector.successor_codebook)
