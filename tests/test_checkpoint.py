"""Checkpoints as they lie on the Hub: names, and entries on quantisation, in every published form."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS
from mlx_lm.utils import load_model, quantize_model
from tiny_qwen3_next import save

from dflash_mlx.convert.source import open_source
from dflash_mlx.drafters import load_drafter
from dflash_mlx.errors import CheckpointError
from dflash_mlx.targets import load_target

IDS = [5, 9, 200, 17, 3]


def logits(folder: Path) -> np.ndarray:
    target = load_target(folder)
    hidden, _ = target.forward(mx.array([IDS]), target.new_state(len(IDS)), mx.array([0], mx.int32))
    return np.array(target.lm_head(hidden))


def edit(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def copy(name: str, folder: Path, change: Callable[[dict[str, Any]], Any] = lambda config: None) -> Path:
    return edit(Path(shutil.copytree(CHECKPOINTS / name, folder)), change)


def rename(folder: Path, name_of: Callable[[str], str]) -> None:
    weights = {name_of(name): tensor for name, tensor in mx.load(str(folder / "model.safetensors")).items()}
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)


def as_mlx_lm(name: str) -> str:
    return name


def as_original(name: str) -> str:
    return name.replace("language_model.model.", "model.language_model.").replace("language_model.lm_head", "lm_head")


def as_text_alone(name: str) -> str:
    return name.removeprefix("language_model.")


def as_nested(name: str) -> str:
    return f"model.{name}"


def as_base_model(name: str) -> str:
    return name.removeprefix("language_model.").removeprefix("model.")


FORMS = [as_mlx_lm, as_original, as_text_alone, as_nested, as_base_model]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A checkpoint of three widths and a layer that is not quantised, as mlx-lm writes it; and what mlx-lm computes with it."""

    def width(path: str, layer: Any) -> Any:
        if "k_proj" in path:
            return False
        return {"group_size": 32, "bits": 6 if "lm_head" in path else 8} if "in_proj_qkv" in path or "lm_head" in path else True

    model, config = load_model(CHECKPOINTS / "target_qwen3_5")
    folder = save(tmp_path_factory.mktemp("mixed"), *quantize_model(model, config, 64, 4, quant_predicate=width))
    reference, _ = load_model(folder)
    return folder, np.array(reference(mx.array([IDS])))


@pytest.mark.parametrize("tensors", FORMS)
@pytest.mark.parametrize("entries", [*FORMS, lambda name: f"{as_original(name)}.weight"])
def test_layers_of_other_widths_are_found_however_they_are_named(
    tensors: Callable[[str], str], entries: Callable[[str], str], mixed: tuple[Path, np.ndarray], tmp_path: Path
) -> None:
    def renamed(config: dict[str, Any]) -> None:
        named = config.pop("quantization")
        config.pop("quantization_config", None)
        config["quantization"] = {entries(name) if isinstance(how, dict) else name: how for name, how in named.items()}

    folder = edit(Path(shutil.copytree(mixed[0], tmp_path / "model")), renamed)
    rename(folder, tensors)
    np.testing.assert_allclose(logits(folder), mixed[1], atol=2e-4, rtol=0)
    plain = {name: tensor for name, tensor in mx.load(str(mixed[0] / "model.safetensors")).items() if "lm_head" in name}
    [head] = [tensor for name, tensor in open_source(folder).weights.items() if "lm_head" in name]
    parts = [plain[f"language_model.lm_head.{part}"] for part in ("weight", "scales", "biases")]
    assert mx.array_equal(head, mx.dequantize(*parts, group_size=32, bits=6))


UNWRAPPED = "language_model.model."
UNFIT: list[Any] = [None, {}, True, False, {"bits": None, "group_size": None}, {"bits": 2}, {"mode": "mxfp4", "bits": 4}]


def head_and_inputs(weights: dict[str, mx.array]) -> list[mx.array]:
    return [weights["language_model.lm_head.weight"], weights["language_model.model.layers.0.linear_attn.in_proj_qkv.weight"]]


def unpacked(folder: Path) -> list[mx.array]:
    """Two layers of the mixed checkpoint, as MLX unpacks what it packed."""
    weights, names = dict(mx.load(str(folder / "model.safetensors"))), ("lm_head", "model.layers.0.linear_attn.in_proj_qkv")
    parts = [[weights[f"language_model.{name}.{part}"] for part in ("weight", "scales", "biases")] for name in names]
    return [mx.dequantize(*of_layer, group_size=32, bits=bits) for of_layer, bits in zip(parts, (6, 8))]


@pytest.mark.parametrize(
    "entry", [*UNFIT, "thinker.model.", "base_model.model.", "text_model.", "model.text_model.", "absent"], ids=str
)
def test_shapes_tell_the_widths_where_an_entry_does_not(entry: Any, mixed: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    def changed(config: dict[str, Any]) -> None:
        config.pop("quantization_config", None)
        named = {name: how for name, how in config["quantization"].items() if not isinstance(how, dict)}
        for name in config["quantization"].keys() - named.keys() if entry != "absent" else ():
            wrapped = isinstance(entry, str)
            named[name.replace(UNWRAPPED, entry) if wrapped else name] = config["quantization"][name] if wrapped else entry
        config["quantization"] = named | {"quant_method": "mlx"}

    folder = edit(Path(shutil.copytree(mixed[0], tmp_path / "model")), changed)
    np.testing.assert_allclose(logits(folder), mixed[1], atol=2e-4, rtol=0)
    assert all(map(mx.array_equal, head_and_inputs(open_source(folder).weights), unpacked(mixed[0])))


def test_what_a_layer_s_entry_leaves_out_is_its_mode_s_default(tmp_path: Path) -> None:
    def width(path: str, layer: Any) -> Any:
        return {"lm_head": {"bits": 8}, "up_proj": {"mode": "mxfp8"}, "down_proj": {"mode": "nvfp4"}}.get(
            path.rpartition(".")[2], True
        )

    model, config = load_model(CHECKPOINTS / "target_qwen3_5")
    folder = save(tmp_path, *quantize_model(model, config, 32, 4, quant_predicate=width))
    said = json.loads((folder / "config.json").read_text())["quantization"]
    assert said["language_model.lm_head"] == {"bits": 8} and said["group_size"] == 32
    reference, _ = load_model(folder)
    np.testing.assert_allclose(logits(folder), np.array(reference(mx.array([IDS]))), atol=2e-4, rtol=0)
    packed = dict(mx.load(str(folder / "model.safetensors")))
    weights = open_source(folder).weights
    head = [packed[f"language_model.lm_head.{part}"] for part in ("weight", "scales", "biases")]
    assert mx.array_equal(weights["language_model.lm_head.weight"], mx.dequantize(*head, group_size=64, bits=8))
    layer = "language_model.model.layers.0.mlp"
    for name, mode in (("up_proj", "mxfp8"), ("down_proj", "nvfp4")):
        meant = mx.dequantize(packed[f"{layer}.{name}.weight"], packed[f"{layer}.{name}.scales"], mode=mode)
        assert mx.array_equal(weights[f"{layer}.{name}.weight"], meant)


SILENT: list[Any] = [
    None,
    {},
    [],
    False,
    {"bits": None},
    {"quant_method": None},
    {"bits": None, "group_size": None, "mode": None},
]


@pytest.mark.parametrize("entry", SILENT, ids=str)
@pytest.mark.parametrize("key", ["quantization", "quantization_config"])
@pytest.mark.parametrize("name", ["target_qwen3", "target_qwen3_5"])
def test_an_entry_that_says_nothing_is_none(entry: Any, key: str, name: str, tmp_path: Path) -> None:
    folder = copy(name, tmp_path / "model", lambda config: config.get("text_config", config).update({key: entry}))
    edit(folder, lambda config: config.update({key: entry}))
    assert np.array_equal(logits(folder), logits(CHECKPOINTS / name))
    assert "quantization" not in json.dumps(open_source(folder).config)


@pytest.mark.parametrize("keys", [("quantization",), ("quantization_config",), ("quantization", "quantization_config")])
@pytest.mark.parametrize("nested", [False, True])
def test_mlx_s_own_entry_counts_by_either_name_and_in_either_place(keys: tuple[str, ...], nested: bool, tmp_path: Path) -> None:
    def moved(config: dict[str, Any]) -> None:
        entry = config.pop("quantization")
        config.pop("quantization_config", None)
        (config["text_config"] if nested else config).update(dict.fromkeys(keys, entry))

    folder = copy("target_qwen3_5_4bit", tmp_path / "model", moved)
    assert np.array_equal(logits(folder), logits(CHECKPOINTS / "target_qwen3_5_4bit"))
    assert open_source(folder).weights["language_model.lm_head.weight"].dtype == mx.float32


def test_mlx_s_entry_counts_before_what_is_left_of_the_source_s(tmp_path: Path) -> None:
    left = {"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic"}}
    folder = copy("target_qwen3_4bit", tmp_path / "model", lambda config: config.update(left))
    assert np.array_equal(logits(folder), logits(CHECKPOINTS / "target_qwen3_4bit"))


@pytest.mark.parametrize("entry", SILENT, ids=str)
def test_a_drafter_whose_entry_says_nothing_is_quantised_as_asked(entry: Any, tmp_path: Path) -> None:
    folder = copy("dflash2_full", tmp_path / "drafter", lambda config: config.update(quantization=entry))
    assert load_drafter(folder, bits=4).fc.bits == 4


LEFTOVERS = {
    "the vision part": [
        "model.visual.blocks.0.attn.qkv.weight",
        "visual.merger.norm.weight",
        "vision_tower.patch_embed.proj.weight",
    ],
    "multi-token prediction": ["mtp.layers.0.mlp.up_proj.weight", "model.mtp.norm.weight", "language_model.mtp.fc.weight"],
    "scales of activations and caches": [
        *(
            f"{{layer}}.self_attn.q_proj.{name}"
            for name in ("input_scale", "activation_scale", "output_scale", "input_zero_point")
        ),
        *(
            f"{{layer}}.self_attn.{name}"
            for name in ("k_scale", "v_scale", "kv_scale", "attn.q_scale", "k_proj.k_scale", "prob_scale")
        ),
        *(f"{{layer}}.self_attn.{name}" for name in ("kv_cache_scale", "k_cache_scale", "v_cache_scale")),
        *(
            f"{{layer}}.mlp.down_proj.{name}"
            for name in ("input_scale_inv", "input_global_scale", "input_scale_ub", "act_scale", "input_amax")
        ),
    ],
    "positions and masks": [
        *(f"{{layer}}.self_attn.{name}" for name in ("rotary_emb.inv_freq", "inv_freq", "masked_bias")),
        *("model.rotary_emb.inv_freq", "model.position_ids", "model.embeddings.position_ids"),
    ],
}


@pytest.mark.parametrize("what", LEFTOVERS)
@pytest.mark.parametrize("layer", ["model.language_model.layers.3", "language_model.model.layers.3", "model.layers.3"])
def test_tensors_that_have_no_part_in_text_are_left_out(what: str, layer: str, tmp_path: Path) -> None:
    folder = copy("target_qwen3_5", tmp_path / "model")
    names = [name.replace("{layer}", layer) for name in LEFTOVERS[what]]
    weights = dict(mx.load(str(folder / "model.safetensors"))) | {name: mx.array([0.5]) for name in names}
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    assert np.array_equal(logits(folder), logits(CHECKPOINTS / "target_qwen3_5"))
    notices: list[str] = []
    open_source(folder, notice=notices.append)
    assert notices == [f"{len(names)} tensors of {what} are left out."]


@pytest.mark.parametrize("name", ["weight_scale_2", "layer_scale", "q_proj.scale", "mlp.weight_zero_point", "norm.bias"])
def test_tensors_that_may_matter_are_not_left_out(name: str, tmp_path: Path) -> None:
    folder = copy("target_qwen3", tmp_path / "model")
    weights = dict(mx.load(str(folder / "model.safetensors"))) | {f"model.layers.0.{name}": mx.array([0.5])}
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    with pytest.raises(CheckpointError, match=f"unexpected 1 tensors, first model.layers.0.{name}"):
        load_target(folder)


def test_a_drafter_s_leftovers_are_left_out(tmp_path: Path) -> None:
    folder = copy("dflash2_full", tmp_path / "model")
    left = {f"layers.0.self_attn.{name}": mx.array([0.5]) for name in ("rotary_emb.inv_freq", "k_scale")}
    weights = dict(mx.load(str(folder / "model.safetensors"))) | left
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    assert load_drafter(folder)


@pytest.mark.parametrize("wrapper", ["", "model.", "language_model.model.", "draft_model."])
@pytest.mark.parametrize("name", ["embed_tokens", "lm_head"])
def test_a_drafter_s_copies_of_the_target_s_tables_are_left_out(name: str, wrapper: str, tmp_path: Path) -> None:
    folder = copy("dflash2_full", tmp_path / "model")
    own = dict(mx.load(str(folder / "model.safetensors")))
    weights = own | {f"{wrapper}{name}.{part}": mx.zeros((256, 64)) for part in ("weight", "scales")}
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    assert mx.array_equal(load_drafter(folder).norm.weight, own["norm.weight"])


def test_two_tensors_of_one_bare_name_are_refused(tmp_path: Path) -> None:
    folder = copy("target_qwen3_5", tmp_path / "model")
    weights = dict(mx.load(str(folder / "model.safetensors")))
    weights["model.lm_head.weight"] = weights["language_model.lm_head.weight"]
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    with pytest.raises(CheckpointError, match=r"has both .*lm_head\.weight and .*lm_head\.weight"):
        load_target(folder)
