"""Targets as transformers writes them: what we make of them computes what transformers computes, and is what mlx-lm makes."""

import json
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import published
import pytest
from fixture_data import CHECKPOINTS, FIXTURES
from mlx.utils import tree_flatten
from mlx_lm.utils import load_model, quantize_model

from dflash_mlx.convert import convert_target
from dflash_mlx.targets import load_target

RECORDED = FIXTURES / "published"


def logits_of(folder: Path) -> np.ndarray:
    """Ours, for the ids of the recording."""
    target, ids = load_target(folder), mx.array(published.IDS)
    hidden, _ = target.forward(ids, target.new_state(ids.shape[1]), mx.zeros(1, mx.int32))
    return np.array(target.lm_head(hidden))


@pytest.mark.parametrize("family", published.MODELS)
def test_float_logits_agree_with_transformers(family: str, tmp_path: Path) -> None:
    result = convert_target(RECORDED / family, tmp_path / "result", recipe="float").folder
    wanted = np.load(RECORDED / family / "logits.npz")["logits"]
    assert np.abs(logits_of(result) - wanted).max() < 1e-4
    model, _ = load_model(result)
    assert np.abs(np.array(model(mx.array(published.IDS))) - wanted).max() < 1e-4


@pytest.mark.parametrize("family", published.MODELS)
def test_float_logits_agree_with_the_transformers_that_is_installed(family: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    wanted = published.publish(family, tmp_path / "source")
    result = convert_target(tmp_path / "source", tmp_path / "result", recipe="float").folder
    assert np.abs(logits_of(result) - wanted).max() < 1e-4


MADE_BY_MLX_LM = [*(RECORDED / name for name in published.MODELS if name != "qwen3_5_moe"), *CHECKPOINTS.glob("target_*[!t]")]


@pytest.mark.parametrize("source", MADE_BY_MLX_LM, ids=lambda source: source.name)
def test_four_bits_are_those_of_mlx_lm(source: Path, tmp_path: Path) -> None:
    result = convert_target(source, tmp_path / "result", group_size=32).folder
    config = json.loads((result / "config.json").read_text())
    found, quantization = mx.load(str(result / "model.safetensors")), config.pop("quantization")
    assert config.pop("quantization_config") == quantization
    model, plain = load_model(source, model_config=config)  # ours: mlx-lm's models do not know all of transformers 5's names
    narrow = model.model_type in ("qwen3_moe", "qwen3_next") and source.parent == RECORDED  # mlx-lm insists on groups of 64
    model, wanted_config = quantize_model(model, plain, 32, 4, quant_predicate=routers_in_groups_of_32 if narrow else None)
    wanted = dict(tree_flatten(model.parameters()))
    assert found.keys() == wanted.keys()
    assert [name for name in wanted if wanted[name].dtype != found[name].dtype] == []
    assert [name for name in wanted if not mx.array_equal(wanted[name], found[name])] == []
    assert {path: {"mode": "affine", **how} for path, how in wanted_config["quantization"].items() if isinstance(how, dict)} == {
        path: how for path, how in quantization.items() if isinstance(how, dict)
    }


def routers_in_groups_of_32(path: str, layer: nn.Module) -> bool | dict[str, int]:
    return {"group_size": 32, "bits": 8} if path.endswith(("mlp.gate", "shared_expert_gate")) else True


def test_vision_is_left_out_with_a_notice(tmp_path: Path) -> None:
    notices: list[str] = []
    result = convert_target(RECORDED / "qwen3_5", tmp_path / "result", group_size=32, notice=notices.append).folder
    assert [notice for notice in notices if "vision" in notice] == notices != []
    assert not any("visual" in name for name in mx.load(str(result / "model.safetensors")))
    assert "vision_config" not in json.loads((result / "config.json").read_text())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_what_is_not_quantised_takes_on_the_dtype(dtype: str, tmp_path: Path) -> None:
    result = convert_target(RECORDED / "qwen3_5_text", tmp_path / "result", group_size=32, dtype=dtype).folder
    for name, tensor in mx.load(str(result / "model.safetensors")).items():
        assert tensor.dtype == (
            mx.float32 if name.endswith("A_log") else mx.uint32 if _packed(name, result) else getattr(mx, dtype)
        )
    assert json.loads((result / "config.json").read_text())["dtype"] == dtype


def _packed(name: str, folder: Path) -> bool:
    return name.endswith(".weight") and f"{name.removesuffix('weight')}scales" in mx.load(str(folder / "model.safetensors"))
