"""Checkpoints as mlx-lm writes them: quantisations, mixtures, dtypes, Qwen3-Next; mlx-lm's own model is the reference."""

import json
import shutil
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from fixture_data import CHECKPOINTS
from mlx_lm.models import qwen3_next
from mlx_lm.utils import load_model, quantize_model
from tiny_qwen3_next import QWEN3_NEXT, save, save_qwen3_next

from dflash_mlx.targets import load_target

IDS = mx.array([[5, 9, 200, 17, 3, 3, 88, 61, 40]])


@pytest.fixture
def next_folder(tmp_path: Path) -> Path:
    return save_qwen3_next(tmp_path)


def assert_equals_mlx_lm(folder: Path, tolerance: float = 2e-4) -> None:
    """Logits of a prompt in one piece, in verified blocks, and after a rollback, against mlx-lm's one pass."""
    reference, _ = load_model(folder)
    wanted = np.array(reference(IDS)[0].astype(mx.float32))
    target = load_target(folder)

    def logits(ids: mx.array, state: Any, position: int, commit: bool) -> np.ndarray:
        hidden, _ = target.forward(ids, state, mx.array([position], mx.int32), commit=commit)
        return np.array(target.lm_head(hidden)[0].astype(mx.float32))

    whole = logits(IDS, target.new_state(9), 0, commit=True)
    state = target.new_state(12)
    first = logits(IDS[:, :4], state, 0, commit=True)
    block = logits(IDS[:, 4:], state, 4, commit=False)
    state.commit(2)
    rest = logits(IDS[:, 6:], state, 6, commit=False)
    for got, rows in ((whole, wanted), (first, wanted[:4]), (block, wanted[4:]), (rest, wanted[6:])):
        np.testing.assert_allclose(got, rows, atol=tolerance, rtol=0)


def test_qwen3_next_equals_mlx_lm(next_folder: Path) -> None:
    assert_equals_mlx_lm(next_folder)


QUANTISATIONS = [("affine", bits, 64) for bits in (2, 3, 4, 5, 6, 8)] + [("affine", 4, 32), ("affine", 8, 32)]
QUANTISATIONS += [("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)]


def quantised(source: Path, folder: Path, mode: str, bits: int, group_size: int, predicate: Any = None) -> Path:
    model, config = load_model(source)
    model, config = quantize_model(model, config, group_size, bits, mode=mode, quant_predicate=predicate)
    for file in source.iterdir():
        if file.suffix != ".safetensors":
            shutil.copy(file, folder)
    return save(folder, model, config)


@pytest.mark.parametrize("family", ["qwen3_5", "qwen3_moe"])
@pytest.mark.parametrize(("mode", "bits", "group_size"), QUANTISATIONS)
def test_every_quantisation_equals_mlx_lm(family: str, mode: str, bits: int, group_size: int, tmp_path: Path) -> None:
    assert_equals_mlx_lm(quantised(CHECKPOINTS / f"target_{family}", tmp_path, mode, bits, group_size))


def test_qwen3_next_quantised_equals_mlx_lm(next_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert_equals_mlx_lm(quantised(next_folder, tmp_path_factory.mktemp("q"), "affine", 4, 64))


def test_groups_of_128_equal_mlx_lm(tmp_path: Path) -> None:
    config = QWEN3_NEXT | {"hidden_size": 128, "moe_intermediate_size": 128, "shared_expert_intermediate_size": 128}
    (source := tmp_path / "source").mkdir()
    (goal := tmp_path / "goal").mkdir()
    save(source, qwen3_next.Model(qwen3_next.ModelArgs.from_dict(config)), config)
    assert_equals_mlx_lm(quantised(source, goal, "affine", 4, 128, lambda path, module: module.weight.shape[-1] % 128 == 0))


def test_a_mixture_by_layer_equals_mlx_lm(tmp_path: Path) -> None:
    def mixture(path: str, module: nn.Module) -> Any:
        if "down_proj" in path:
            return {"bits": 6, "group_size": 64, "mode": "affine"}
        if "lm_head" in path:
            return False
        return {"bits": 8, "group_size": 32, "mode": "mxfp8"} if "v_proj" in path else True

    folder = quantised(CHECKPOINTS / "target_qwen3_5", tmp_path, "affine", 4, 64, mixture)
    assert {"bits": 6, "group_size": 64, "mode": "affine"} in json.loads((folder / "config.json").read_text())[
        "quantization"
    ].values()
    assert_equals_mlx_lm(folder)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
@pytest.mark.parametrize("family", ["qwen3", "qwen3_5"])
def test_half_precision_targets_equal_mlx_lm(dtype: mx.Dtype, family: str, tmp_path: Path) -> None:
    model, config = load_model(CHECKPOINTS / f"target_{family}")
    model.set_dtype(dtype)
    assert_equals_mlx_lm(save(tmp_path, model, config), tolerance=0.0)


@pytest.mark.parametrize(
    "rope",
    [{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}, {"rope_type": "linear", "factor": 2.0}],
)
def test_rope_variants_equal_mlx_lm(rope: dict[str, Any], tmp_path: Path) -> None:
    model, config = load_model(CHECKPOINTS / "target_qwen3")
    save(tmp_path, model, config | {"rope_scaling": rope})
    plain = load_target(CHECKPOINTS / "target_qwen3")
    hidden, _ = plain.forward(IDS, plain.new_state(9), mx.array([0], mx.int32))
    assert_equals_mlx_lm(tmp_path)
    reference, _ = load_model(tmp_path)
    assert mx.abs(reference(IDS) - plain.lm_head(hidden)).max() > 1e-3, "the variant must change something"
