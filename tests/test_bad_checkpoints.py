"""Every damaged, foreign or mismatched checkpoint is refused in one sentence with a hint, before the first token."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS

import dflash_mlx as dm
from dflash_mlx.targets import load_target

TARGET, DRAFTER = CHECKPOINTS / "target_qwen3_5", CHECKPOINTS / "dflash2_full"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TARGET, tmp_path / "target"))


@pytest.fixture
def drafter(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DRAFTER, tmp_path / "drafter"))


def edit_config(folder: Path, change: Callable[[dict], None]) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


def edit_weights(folder: Path, change: Callable[[dict], None]) -> None:
    weights = mx.load(str(folder / "model.safetensors"))
    mx.eval(weights)
    change(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights)


@pytest.mark.parametrize("drafter_name", ["auto", None, DRAFTER])
def test_what_is_wrong_with_the_target_comes_first(drafter_name: object, target: Path, tmp_path: Path) -> None:
    refused(dm.UnsupportedModelError, "holds a DFlash drafter", target=DRAFTER, drafter=drafter_name)
    (tmp_path / "empty").mkdir()
    refused(dm.ModelNotFoundError, "config.json", target=tmp_path / "empty", drafter=drafter_name)
    edit_config(target, lambda c: c.update(model_type="llama"))
    refused(dm.UnsupportedModelError, "llama", target=target, drafter=drafter_name)


def refused(kind: type[dm.DFlashError], *words: str, target: str | Path = TARGET, drafter: str | Path | None = DRAFTER) -> None:
    with pytest.raises(kind) as caught:
        dm.load(target, drafter=drafter)
    error = caught.value
    assert error.message and error.hint and "\n" not in f"{error}"
    for word in words:
        assert word in error.message, error.message


def test_a_missing_folder() -> None:
    refused(dm.ModelNotFoundError, "no-such-folder", target="no-such-folder")
    refused(dm.ModelNotFoundError, "no-such-folder", drafter="./no-such-folder")


def test_a_hub_name_while_offline() -> None:
    refused(dm.ModelNotFoundError, "owner/model", target="owner/model")


def test_a_folder_without_config(target: Path) -> None:
    (target / "config.json").unlink()
    refused(dm.ModelNotFoundError, "config.json", target=target)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"text"', "\udcff{}"])
def test_a_config_that_is_no_json_object(content: str, target: Path) -> None:
    (target / "config.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    refused(dm.CheckpointError, "config.json", target=target)


@pytest.mark.parametrize("model_type", ["llama", "", None, 5, ["qwen3_5"]])
def test_an_unknown_model_type(model_type: object, target: Path) -> None:
    edit_config(target, lambda c: c.update(model_type=model_type))
    refused(dm.UnsupportedModelError, repr(model_type), target=target)


@pytest.mark.parametrize(
    "field", ["hidden_size", "num_hidden_layers", "vocab_size", "linear_key_head_dim", "max_position_embeddings"]
)
@pytest.mark.parametrize("value", [None, 0, -1, "64", 1.5])
def test_a_target_size_that_is_missing_or_impossible(field: str, value: object, target: Path) -> None:
    edit_config(target, lambda c: c["text_config"].update({field: value}))
    refused(dm.CheckpointError, field, target=target)


def test_sizes_that_contradict_the_weights_cost_no_memory(target: Path) -> None:
    edit_config(target, lambda c: c["text_config"].update(vocab_size=2**31 - 1, intermediate_size=2**30))
    before = mx.get_active_memory()
    refused(dm.CheckpointError, "shape", target=target)
    assert mx.get_active_memory() - before < 2**24


def test_heads_that_do_not_divide(target: Path) -> None:
    edit_config(target, lambda c: c["text_config"].update(linear_num_key_heads=3))
    refused(dm.CheckpointError, target=target)


@pytest.mark.parametrize("folder", ["target", "drafter"])
@pytest.mark.parametrize("size", [0, 7, 100, 0.5, -1])
def test_a_truncated_weights_file(folder: str, size: float, target: Path, drafter: Path) -> None:
    file = (target if folder == "target" else drafter) / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * size) if isinstance(size, float) else size])
    refused(dm.CheckpointError, "model.safetensors", "incomplete", target=target, drafter=drafter)


def test_a_weights_file_that_is_something_else(target: Path) -> None:
    (target / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n" * 3)
    refused(dm.CheckpointError, "model.safetensors", target=target)


@pytest.mark.parametrize("folder", ["target", "drafter"])
def test_no_weights_at_all(folder: str, target: Path, drafter: Path) -> None:
    ((target if folder == "target" else drafter) / "model.safetensors").unlink()
    refused(dm.ModelNotFoundError, "safetensors", target=target, drafter=drafter)


def test_missing_and_extra_tensors(target: Path, drafter: Path) -> None:
    edit_weights(target, lambda w: w.pop("language_model.model.norm.weight"))
    refused(dm.CheckpointError, "language_model.model.norm.weight", target=target)
    edit_weights(drafter, lambda w: w.update({"layers.7.extra": mx.zeros(3)}))
    refused(dm.CheckpointError, "layers.7.extra", drafter=drafter)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("folder", ["target", "drafter"])
def test_nan_and_infinity_in_weights(folder: str, value: float, target: Path, drafter: Path) -> None:
    name = "layers.2.mlp.up_proj.weight"
    prefix = "language_model.model." if folder == "target" else ""
    edit_weights(target if folder == "target" else drafter, lambda w: w[prefix + name].__setitem__((3, 3), value))
    refused(dm.CheckpointError, name, "NaN", target=target, drafter=drafter)


def shard(folder: Path, first: int = 30) -> dict[str, str]:
    """Splits a checkpoint in two files; returns the index's weight_map."""
    weights = mx.load(str(folder / "model.safetensors"))
    mx.eval(weights)
    (folder / "model.safetensors").unlink()
    names, weight_map = sorted(weights), {}
    for i, part in enumerate((names[:first], names[first:]), 1):
        file = f"model-0000{i}-of-00002.safetensors"
        mx.save_safetensors(str(folder / file), {name: weights[name] for name in part})
        weight_map |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return weight_map


def test_shards_load_and_a_missing_one_is_named(target: Path) -> None:
    shard(target)
    mx.save_safetensors(str(target / "model-old.safetensors"), {"stray": mx.zeros(2)})  # not in the index: not read
    dm.load(target, drafter=DRAFTER)
    (target / "model-00002-of-00002.safetensors").unlink()
    refused(dm.CheckpointError, "model-00002-of-00002.safetensors", target=target)


@pytest.mark.parametrize(
    "name", [["x"], "y" * 5000 + ".safetensors", "../other/model.safetensors", "/etc/passwd", "model.bin", "..", "", None, 5]
)
def test_an_index_that_points_elsewhere(name: object, target: Path) -> None:
    weight_map = shard(target)
    index = {"weight_map": weight_map | {sorted(weight_map)[0]: name}}
    (target / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(dm.CheckpointError, "index", target=target)


@pytest.mark.parametrize("index", [{}, {"weight_map": []}, {"weight_map": {}}, []])
def test_an_index_without_a_map(index: object, target: Path) -> None:
    (target / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(dm.CheckpointError, "index", target=target)


def test_one_tensor_in_two_files(target: Path) -> None:
    mx.save_safetensors(str(target / "model-2.safetensors"), {"language_model.model.norm.weight": mx.ones(64)})
    refused(dm.CheckpointError, "two files", target=target)


def test_two_names_for_one_tensor(target: Path) -> None:
    edit_weights(target, lambda w: w.update({"model.language_model.norm.weight": mx.ones(64)}))
    refused(dm.CheckpointError, "norm.weight", target=target)


@pytest.mark.parametrize("layers", [9, 10**9, 2**70])
def test_more_layers_than_the_weights_have(layers: int, target: Path) -> None:
    edit_config(target, lambda c: c["text_config"].update(num_hidden_layers=layers))
    refused(dm.CheckpointError, str(layers), "8", target=target)


def test_tensors_of_another_shape(drafter: Path) -> None:
    edit_weights(drafter, lambda w: w.update({"norm.weight": mx.zeros(65)}))
    refused(dm.CheckpointError, "norm.weight", "65", "64", drafter=drafter)


HEAD = "language_model.lm_head"


def test_quantisation_that_contradicts_the_tensors(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(CHECKPOINTS / "target_qwen3_5_4bit", tmp_path / "target"))
    for wrong in (
        {"bits": 4},
        {"group_size": 64, "bits": 4, "mode": "odd"},
        "4bit",
    ):
        edit_config(folder, lambda c, wrong=wrong: c.update(quantization=wrong))
        refused(dm.CheckpointError, target=folder)
    edit_config(folder, lambda c: c.update(quantization={"group_size": 64, "bits": 4}))
    edit_weights(
        folder, lambda w: w.update({f"{HEAD}.{part}": mx.tile(w[f"{HEAD}.{part}"], (1, 3)) for part in ("scales", "biases")})
    )
    refused(dm.CheckpointError, "lm_head", target=folder)
    edit_weights(folder, lambda w: w.update({f"{HEAD}.scales": mx.array(1.0)}))
    refused(dm.CheckpointError, "does not fit", target=folder)


@pytest.mark.parametrize("dtype", [mx.int32, mx.uint8, mx.bool_])
def test_whole_numbers_where_weights_are_expected(dtype: mx.Dtype, target: Path, drafter: Path) -> None:
    edit_weights(target, lambda w: w.update({"language_model.model.norm.weight": mx.ones(64, dtype)}))
    refused(dm.CheckpointError, "model.norm.weight", "floating point", target=target)
    edit_weights(drafter, lambda w: w.update({"hidden_norm.weight": mx.ones(64, dtype)}))
    refused(dm.CheckpointError, "hidden_norm.weight", "floating point", drafter=drafter)


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "yarn", "rope_theta": 1e4},
        {"rope_type": "yarn", "factor": 4, "attention_factor": "x", "rope_theta": 1e4},
        {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": [], "rope_theta": 1e4},
        {"rope_type": "linear", "factor": 0, "rope_theta": 1e4},
        {"rope_type": "yarn", "factor": "4", "rope_theta": 1e4},
        {"rope_theta": "x"},
    ],
)
def test_rope_settings_that_make_no_sense(rope: dict, target: Path, drafter: Path) -> None:
    edit_config(drafter, lambda c: c.update(rope_parameters=rope))
    refused(dm.CheckpointError, drafter=drafter)
    edit_config(target, lambda c: c["text_config"].update(rope_parameters=rope))
    refused(dm.CheckpointError, target=target)


@pytest.mark.parametrize("kind", ["odd", "dynamic", "longrope", 5, ["yarn"]])
def test_a_rope_type_that_is_not_computed(kind: object, target: Path, drafter: Path) -> None:
    rope = {"rope_type": kind, "factor": 2.0, "rope_theta": 1e4}
    edit_config(drafter, lambda c: c.update(rope_parameters=rope))
    refused(dm.UnsupportedModelError, "the drafter's config.json", repr(kind), drafter=drafter)
    edit_config(target, lambda c: c["text_config"].update(rope_parameters=rope))
    refused(dm.UnsupportedModelError, "config.json", repr(kind), target=target)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_json_that_no_reader_can_take(content: str, target: Path) -> None:
    (target / "config.json").write_text(content)
    refused(dm.CheckpointError, "config.json", target=target)


@pytest.mark.parametrize("name", ["~nobody-of-that-name/x", "a" * 5000, "", "x\0y"])
def test_names_that_no_folder_can_have(name: str) -> None:
    refused(dm.ModelNotFoundError, target=name)
    refused(dm.ModelNotFoundError, drafter=name)


def test_a_library_s_long_explanation_is_one_line(target: Path) -> None:
    folder = Path(shutil.copytree(CHECKPOINTS / "target_qwen3_5_4bit", target.parent / "quantised"))
    edit_config(folder, lambda c: c.update(quantization={"group_size": "64", "bits": 4}))
    edit_weights(folder, lambda w: w.update({f"{HEAD}.scales": mx.tile(w[f"{HEAD}.scales"], (1, 3))}))
    refused(dm.CheckpointError, "quantization", target=folder)


def test_weights_quantised_in_a_foreign_format(target: Path) -> None:
    edit_config(target, lambda c: c.update(quantization_config={"quant_method": "gptq", "bits": 4}))
    refused(dm.UnsupportedModelError, target=target)


def test_a_drafter_given_as_target_and_the_reverse() -> None:
    refused(dm.UnsupportedModelError, "drafter", target=DRAFTER)
    refused(dm.UnsupportedModelError, "not a DFlash drafter", drafter=TARGET)


def test_a_drafter_config_with_a_field_missing(drafter: Path) -> None:
    edit_config(drafter, lambda c: c["dflash_config"].pop("mask_token_id"))
    refused(dm.CheckpointError, "mask_token_id", drafter=drafter)


@pytest.mark.parametrize(
    "field", ["dflash_config", "rope_parameters", "layer_types", "rms_norm_eps", "mask_token_id", "target_layer_ids"]
)
@pytest.mark.parametrize("value", ["x", [], 5, -1, {}, True])
def test_a_drafter_config_with_a_field_of_the_wrong_kind(field: str, value: object, drafter: Path) -> None:
    edit_config(drafter, lambda c: (c["dflash_config"] if field in c["dflash_config"] else c).update({field: value}))
    if (field, value) in [("rms_norm_eps", 5), ("rms_norm_eps", True), ("mask_token_id", 5)]:
        dm.load(TARGET, drafter=drafter)
    else:
        refused(dm.DFlashError, drafter=drafter)


@pytest.mark.parametrize(
    "field", ["layer_types", "max_window_layers", "use_sliding_window", "rope_scaling", "num_local_experts", "mlp_only_layers"]
)
@pytest.mark.parametrize("value", ["x", [None], 5, {"a": 1}, True])
@pytest.mark.parametrize("name", ["target_qwen3", "target_qwen3_moe", "target_qwen3_5_moe"])
def test_a_field_of_the_wrong_kind_gives_no_traceback(name: str, field: str, value: object, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(CHECKPOINTS / name, tmp_path / name))
    given = {"use_sliding_window": True, "sliding_window": 8} if "window" in field else {}
    edit_config(folder, lambda c: c.get("text_config", c).update({**given, field: value}))
    try:
        load_target(folder)
    except dm.DFlashError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("field", ["text_config", "quantization", "architectures", "eos_token_id"])
@pytest.mark.parametrize("value", ["x", [], 5, [None], {"a": 1}])
def test_a_target_config_with_a_field_of_the_wrong_kind_gives_no_traceback(field: str, value: object, target: Path) -> None:
    edit_config(target, lambda c: c.update({field: value}))
    try:
        dm.load(target, drafter=DRAFTER)
    except dm.DFlashError as error:
        assert "\n" not in str(error)
    else:
        assert field in ("architectures", "eos_token_id") or not value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_hidden_layers", 3_000_000),
        ("block_size", 10**9),
        ("selector_top_k", 257),
        ("input_embedding_scale", float("nan")),
        ("output_multiplier", 0),
        ("output_multiplier", float("inf")),
        ("final_logit_softcapping", -1),
        ("is_causal", "no"),
    ],
)
def test_a_drafter_config_with_an_absurd_value(field: str, value: object, drafter: Path) -> None:
    def change(config: dict) -> None:
        (config["dflash_config"] if field not in ("num_hidden_layers", "is_causal") else config)[field] = value
        if field == "num_hidden_layers":
            config["layer_types"] = None

    edit_config(drafter, change)
    refused(dm.CheckpointError, str(value) if value != 0 else field, drafter=drafter)


def test_a_drafter_that_computes_no_numbers(drafter: Path) -> None:
    edit_weights(drafter, lambda w: w.update({"norm.weight": mx.full((64,), 3e38)}))
    refused(dm.CheckpointError, "drafter's logits", drafter=drafter)


def test_a_drafter_for_another_hidden_size(tmp_path: Path) -> None:
    from mlx.utils import tree_flatten

    from dflash_mlx.drafters import DFlash2, DrafterConfig

    config = json.loads((DRAFTER / "config.json").read_text()) | {"hidden_size": 32}
    weights = tree_flatten(DFlash2(DrafterConfig.from_dict(config)).parameters())
    (tmp_path / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(tmp_path / "model.safetensors"), dict(weights))
    refused(dm.PairMismatchError, "hidden size", "32", "64", drafter=tmp_path)


def test_a_drafter_for_another_vocabulary(drafter: Path) -> None:
    edit_config(drafter, lambda c: c.update(vocab_size=300))
    for name in ("predecessor_codebook", "successor_codebook"):
        edit_weights(drafter, lambda w, name=name: w.update({f"candidate_selector.{name}": mx.zeros((300, 8))}))
    refused(dm.PairMismatchError, "300", "256", drafter=drafter)


def test_a_drafter_for_another_number_of_layers(drafter: Path) -> None:
    edit_config(drafter, lambda c: c.update(num_target_layers=36))
    refused(dm.PairMismatchError, "36", "8", drafter=drafter)


def test_a_drafter_that_reads_layers_the_target_lacks(drafter: Path) -> None:
    edit_config(drafter, lambda c: c["dflash_config"].update(target_layer_ids=[1, 3, 8]))
    refused(dm.PairMismatchError, "8", "7", drafter=drafter)


def test_a_mask_token_outside_the_vocabulary(drafter: Path) -> None:
    edit_config(drafter, lambda c: c["dflash_config"].update(mask_token_id=248070))
    refused(dm.PairMismatchError, "248070", "255", drafter=drafter)


def test_a_model_without_tokenizer(target: Path) -> None:
    (target / "tokenizer.json").unlink()
    refused(dm.ModelNotFoundError, "tokenizer.json", target=target)


def test_a_damaged_tokenizer(target: Path) -> None:
    (target / "tokenizer.json").write_text('{"model": 5}')
    refused(dm.CheckpointError, "tokenizer", target=target)


def test_no_drafter_known_for_a_folder() -> None:
    assert dm.load(TARGET, drafter="auto").drafter is None


@pytest.mark.parametrize(("target_name", "drafter_name"), [(5, None), (None, None), (TARGET, 5), (TARGET, ["demo"])])
def test_names_that_are_none(target_name: object, drafter_name: object) -> None:
    with pytest.raises(dm.RequestError, match="not the name of a model"):
        dm.load(target_name, drafter=drafter_name)  # type: ignore[arg-type]


def test_drafter_bits_without_a_drafter() -> None:
    with pytest.raises(dm.RequestError, match="needs a drafter"):
        dm.load(TARGET, drafter=None, drafter_bits=4)


@pytest.mark.parametrize("bits", [0, 1, 7, 16, -4, "4", 4.0, True])
def test_drafter_bits_that_mlx_does_not_have(bits: object) -> None:
    with pytest.raises(dm.RequestError, match="drafter_bits"):
        dm.load(TARGET, drafter=DRAFTER, drafter_bits=bits)  # type: ignore[arg-type]
