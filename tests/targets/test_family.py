"""From config.json and tensors to a model: fields as they are published, tied embeddings, RoPE scaling, experts one by one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS
from mlx_lm.utils import load_model

from dflash_mlx.convert import convert_target
from dflash_mlx.errors import CheckpointError
from dflash_mlx.targets import load_target

IDS = [5, 9, 200, 17, 3, 3, 88, 61, 40]


def copy(name: str, folder: Path, change: Callable[[dict[str, Any]], Any] = lambda config: None) -> Path:
    shutil.copytree(CHECKPOINTS / name, folder)
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def edit_weights(folder: Path, change: Callable[[dict[str, mx.array]], Any]) -> None:
    weights: dict[str, mx.array] = dict(mx.load(str(folder / "model.safetensors")))
    change(weights)
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)


def logits(folder: Path) -> np.ndarray:
    target = load_target(folder)
    hidden, _ = target.forward(mx.array([IDS]), target.new_state(len(IDS)), mx.array([0], mx.int32))
    return np.array(target.lm_head(hidden)[0])


def of_mlx_lm(folder: Path, prepare: Callable[[Any], Any] = lambda model: None, **config: Any) -> np.ndarray:
    model, _ = load_model(folder, model_config=config)
    prepare(model)
    return np.array(model(mx.array([IDS]))[0])


def say(root: Any, text: Any) -> Callable[[dict[str, Any]], None]:
    def change(config: dict[str, Any]) -> None:
        for place, said in ((config, root), (config.get("text_config", config), text)):
            place.pop("tie_word_embeddings", None)
            if said != "nothing":
                place["tie_word_embeddings"] = said

    return change


HEADS = ["lm_head", "language_model.lm_head", "model.lm_head", "model.language_model.lm_head"]
TABLE = "language_model.model.embed_tokens"


@pytest.mark.parametrize(
    "root, text", [(True, False), (True, "nothing"), (False, True), ("nothing", True), (True, True), (True, None)]
)
def test_embeddings_without_a_head_are_tied_wherever_it_is_said(root: Any, text: Any, tmp_path: Path) -> None:
    wanted = of_mlx_lm(CHECKPOINTS / "target_qwen3_5_tied")
    folder = copy("target_qwen3_5_tied", tmp_path / "model", say(root, text))
    np.testing.assert_allclose(logits(folder), wanted, atol=2e-4, rtol=0)
    result = convert_target(folder, tmp_path / "result", recipe="float", check=False).folder
    np.testing.assert_allclose(of_mlx_lm(result), wanted, atol=2e-4, rtol=0)


@pytest.mark.parametrize("said", [False, "nothing"])
def test_a_missing_head_that_nobody_called_tied_is_missed(said: Any, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"lacks 1 tensors, first .*lm_head\.weight"):
        load_target(copy("target_qwen3_5_tied", tmp_path / "model", say(said, said)))


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("quantised", [False, True])
def test_a_head_that_is_a_copy_of_the_embeddings_is_left_out(name: str, quantised: bool, tmp_path: Path) -> None:
    source = "target_qwen3_5_tied" + "_4bit" * quantised
    folder = copy(source, tmp_path / "model")

    def add(weights: dict[str, mx.array]) -> None:
        weights |= {f"{name}.{part.rpartition('.')[2]}": w for part, w in weights.items() if part.startswith(TABLE)}

    edit_weights(folder, add)
    np.testing.assert_allclose(logits(folder), of_mlx_lm(CHECKPOINTS / source), atol=2e-4, rtol=0)
    result = convert_target(folder, tmp_path / "result", recipe="float", check=False).folder
    assert not any("lm_head" in tensor for tensor in mx.load(str(result / "model.safetensors")))


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_stands_for_the_embeddings_becomes_them(name: str, tmp_path: Path) -> None:
    folder = copy("target_qwen3_5_tied", tmp_path / "model")
    edit_weights(folder, lambda weights: weights.update({f"{name}.weight": weights.pop(f"{TABLE}.weight")}))
    np.testing.assert_allclose(logits(folder), of_mlx_lm(CHECKPOINTS / "target_qwen3_5_tied"), atol=2e-4, rtol=0)


@pytest.mark.parametrize("source", ["target_qwen3", "target_qwen3_4bit", "target_qwen3_5", "target_qwen3_5_moe_4bit"])
@pytest.mark.parametrize("root, text", [(True, True), (True, False), (False, True)])
def test_a_head_that_differs_from_the_embeddings_counts_whatever_is_said(
    root: bool, text: bool, source: str, tmp_path: Path
) -> None:
    wanted = of_mlx_lm(CHECKPOINTS / source)
    folder = copy(source, tmp_path / "model", say(root, text))
    np.testing.assert_allclose(logits(folder), wanted, atol=2e-4, rtol=0)
    result = convert_target(folder, tmp_path / "result", recipe="float", check=False).folder
    np.testing.assert_allclose(of_mlx_lm(result), wanted, atol=2e-4, rtol=0)  # whose model believes config.json alone


def test_a_quantised_head_beside_plain_embeddings_counts(tmp_path: Path) -> None:
    folder = copy("target_qwen3", tmp_path / "model", say(True, True))
    config = json.loads((folder / "config.json").read_text()) | {"quantization": {"group_size": 64, "bits": 8}}
    (folder / "config.json").write_text(json.dumps(config))

    def quantise(weights: dict[str, mx.array]) -> None:
        parts = mx.quantize(weights["lm_head.weight"], 64, 8)
        weights |= {f"lm_head.{part}": w for part, w in zip(("weight", "scales", "biases"), parts)}

    edit_weights(folder, quantise)
    np.testing.assert_allclose(logits(folder), of_mlx_lm(folder, tie_word_embeddings=False), atol=2e-4, rtol=0)
