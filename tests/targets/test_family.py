"""From config.json and tensors to a model: fields as they are published, tied embeddings, RoPE scaling, experts one by one."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, FIXTURES
from mlx_lm.models.rope_utils import YarnRoPE
from mlx_lm.utils import load_model
from tiny_qwen3_next import save_qwen3_next

import dflash_mlx as dm
from dflash_mlx.convert import convert_target
from dflash_mlx.errors import CheckpointError, UnsupportedModelError
from dflash_mlx.loading.known_pairs import known_pairs
from dflash_mlx.loading.memory import estimate
from dflash_mlx.targets import FAMILIES, load_target
from dflash_mlx.targets.family import read_text_config

IDS = [5, 9, 200, 17, 3, 3, 88, 61, 40]
SILU = {"hidden_act": "silu", "rms_norm_eps": 1e-6, "attention_bias": False, "attention_dropout": 0.0, "use_cache": True}
SILU |= {"initializer_range": 0.02, "bos_token_id": None, "eos_token_id": 5, "pad_token_id": None, "dtype": "bfloat16"}
FULL = {"rope_theta": 1000000, "rope_scaling": None, "sliding_window": None, "use_sliding_window": False}
LINEAR = {"linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_num_key_heads": 16}
ROUTED = {"norm_topk_prob": True, "output_router_logits": False, "router_aux_loss_coef": 0.001, "decoder_sparse_step": 1}
ROUTED |= {"mlp_only_layers": [], "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768}
MROPE = {"mrope_interleaved": True, "mrope_section": [11, 11, 10], "partial_rotary_factor": 0.25, "rope_theta": 1e7}
MTP = {"mtp_num_hidden_layers": 1, "mtp_use_dedicated_embeddings": False, "mamba_ssm_dtype": "float32", "attn_output_gate": True}
VISION = {"vision_config": {"hidden_act": "gelu_pytorch_tanh"}, "image_token_id": 248056, "vision_start_token_id": 248053}


def sizes(layers: int, hidden: int, heads: int, kv_heads: int, dim: int, positions: int, **more: Any) -> dict[str, Any]:
    named = {"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, "num_key_value_heads": kv_heads}
    return named | {"head_dim": dim, "max_position_embeddings": positions, "vocab_size": 151936} | more


def hybrid(layers: int) -> dict[str, Any]:
    kinds = (["linear_attention"] * 3 + ["full_attention"]) * (layers // 4)
    return LINEAR | {"linear_num_value_heads": 32, "full_attention_interval": 4, "layer_types": kinds}


PUBLISHED: dict[str, dict[str, Any]] = {  # all fields that the cards' config.json have
    "Qwen3-8B": SILU
    | FULL
    | sizes(
        36, 4096, 32, 8, 128, 40960, model_type="qwen3", intermediate_size=12288, max_window_layers=36, tie_word_embeddings=False
    ),
    "Qwen3-30B-A3B": SILU
    | FULL
    | ROUTED
    | sizes(48, 2048, 32, 4, 128, 40960, model_type="qwen3_moe", intermediate_size=6144, max_window_layers=48),
    "Qwen3-Next-80B-A3B": SILU
    | ROUTED
    | LINEAR
    | sizes(48, 2048, 16, 2, 256, 262144, model_type="qwen3_next", intermediate_size=5120, linear_num_value_heads=32)
    | {"full_attention_interval": 4, "partial_rotary_factor": 0.25, "rope_theta": 10000000, "rope_scaling": None}
    | {"shared_expert_intermediate_size": 512},
    "Qwen3.8-27B": {"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"], "tie_word_embeddings": False}
    | VISION
    | {
        "text_config": SILU
        | MTP
        | hybrid(64)
        | sizes(64, 5120, 24, 4, 256, 262144, model_type="qwen3_5_text", intermediate_size=17408)
        | {"rope_parameters": MROPE | {"rope_type": "default"}, "output_gate_type": "swish", "mlp_only_layers": []}
    },
    "Qwen3.6-35B-A3B": {"model_type": "qwen3_5_moe", "tie_word_embeddings": False}
    | VISION
    | {
        "text_config": SILU
        | MTP
        | ROUTED
        | hybrid(40)
        | sizes(40, 2048, 16, 2, 256, 262144, model_type="qwen3_5_moe_text", shared_expert_intermediate_size=512)
        | {"rope_parameters": MROPE | {"rope_type": "default"}}
    },
}


def text_of(config: dict[str, Any]) -> dict[str, Any]:
    return read_text_config(Path("model"), config, FAMILIES[config["model_type"]])


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_family_is_served(name: str) -> None:
    text = text_of(PUBLISHED[name])
    assert text["rope_theta"] in (1e6, 1e7) and text["rope_scaling"] is None


def test_every_known_pair_s_target_is_served() -> None:
    for pair in known_pairs():
        assert text_of(pair.target_config)["num_hidden_layers"] == pair.target_config["num_hidden_layers"]


CARD = {"rope_type": "yarn", "factor": 4.0}  # as the cards tell to go beyond the trained length
BEYOND: list[tuple[str, dict[str, Any], int]] = [
    ("Qwen3-8B", {"rope_scaling": CARD | {"original_max_position_embeddings": 32768}}, 131072),
    ("Qwen3-30B-A3B", {"rope_scaling": CARD | {"original_max_position_embeddings": 32768}}, 131072),
    ("Qwen3-Next-80B-A3B", {"rope_scaling": CARD | {"original_max_position_embeddings": 262144}}, 1048576),
    ("Qwen3.8-27B", {"rope_parameters": MROPE | CARD | {"original_max_position_embeddings": 262144}}, 1048576),
]


@pytest.mark.parametrize(("name", "change", "positions"), BEYOND, ids=[name for name, _, _ in BEYOND])
def test_yarn_as_the_cards_tell_it_is_served(name: str, change: dict[str, Any], positions: int) -> None:
    config = PUBLISHED[name]
    text = {**config.get("text_config", config), **change}
    rope = text_of({**config, "text_config": text} if "text_config" in config else text)["rope_scaling"]
    assert rope["type"] == "yarn" and rope["factor"] * rope["original_max_position_embeddings"] == positions


ABSENT = object()
WINDOW = {"use_sliding_window": True, "sliding_window": 16}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("Qwen3-8B", WINDOW | {"max_window_layers": 0}, "use_sliding_window"),
    ("Qwen3-8B", WINDOW | {"max_window_layers": 35}, "use_sliding_window"),
    ("Qwen3-8B", WINDOW | {"max_window_layers": None}, "use_sliding_window"),
    ("Qwen3-8B", {"layer_types": ["full_attention"] * 35 + ["sliding_attention"]}, "layer_types"),
    ("Qwen3-8B", {"use_sliding_window": True, "max_window_layers": 28, "sliding_window": ABSENT}, "use_sliding_window"),
    ("Qwen3-30B-A3B", WINDOW, "use_sliding_window"),
    ("Qwen3-Next-80B-A3B", WINDOW, "use_sliding_window"),
    ("Qwen3-Next-80B-A3B", {"layer_types": (["linear_attention"] * 3 + ["sliding_attention"]) * 12}, "layer_types"),
    ("Qwen3.8-27B", WINDOW, "use_sliding_window"),
    ("Qwen3.8-27B", {"layer_types": (["full_attention"] + ["linear_attention"] * 3) * 16}, "layer_types"),
    ("Qwen3.8-27B", {"layer_types": ["linear_attention"] * 64}, "layer_types"),
    ("Qwen3.8-27B", {"attn_output_gate": False}, "attn_output_gate"),
    ("Qwen3.6-35B-A3B", {"mlp_only_layers": [3]}, "mlp_only_layers"),
    ("Qwen3.6-35B-A3B", {"decoder_sparse_step": 2}, "decoder_sparse_step"),
    ("Qwen3-8B", {"attn_output_gate": True}, "attn_output_gate"),
    ("Qwen3-8B", {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    ("Qwen3-8B", {"query_pre_attn_scalar": 256}, "query_pre_attn_scalar"),
    ("Qwen3-30B-A3B", {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "dynamic"),
    *((name, {"hidden_act": "gelu"}, "hidden_act") for name in PUBLISHED),
    *((name, {"attention_bias": True}, "attention_bias") for name in ("Qwen3-8B", "Qwen3-30B-A3B")),
]


@pytest.mark.parametrize(("name", "change", "field"), REFUSED, ids=range(len(REFUSED)))
def test_a_checkpoint_that_computes_otherwise_is_refused_by_name(name: str, change: dict[str, Any], field: str) -> None:
    config = PUBLISHED[name]
    text = {name: said for name, said in {**config.get("text_config", config), **change}.items() if said is not ABSENT}
    with pytest.raises(UnsupportedModelError, match=field):
        text_of({**config, "text_config": text} if "text_config" in config else text)


@pytest.mark.parametrize(
    "change",
    [
        WINDOW | {"max_window_layers": 36},
        WINDOW | {"layer_types": ["full_attention"] * 36},
        {"use_sliding_window": True, "sliding_window": None, "max_window_layers": 0},
        {"sliding_window": 4096, "use_sliding_window": False, "max_window_layers": 0},
        {"query_pre_attn_scalar": 128, "attn_output_gate": False, "partial_rotary_factor": 1.0},
    ],
    ids=range(5),
)
def test_a_window_that_no_layer_has_and_what_is_so_anyway_are_served(change: dict[str, Any]) -> None:
    assert text_of(PUBLISHED["Qwen3-8B"] | change)


def test_the_order_of_layers_counts_before_the_interval() -> None:
    text = PUBLISHED["Qwen3.8-27B"]["text_config"]
    kinds = ["linear_attention", "full_attention"] * 32
    for interval in ({}, {"full_attention_interval": None}, {"full_attention_interval": 4}):
        config = {**PUBLISHED["Qwen3.8-27B"], "text_config": text | {"layer_types": kinds} | interval}
        assert text_of(config)["full_attention_interval"] == 2
    states = [estimate({"text_config": text | change}, 0, None, 0, 4096).context for change in ({}, {"layer_types": kinds})]
    assert states[1] > 1.5 * states[0]  # twice as many layers with K and V


def test_names_of_transformers_5_are_read(tmp_path: Path) -> None:
    text = text_of(
        {name: value for name, value in PUBLISHED["Qwen3-30B-A3B"].items() if name not in ("num_experts", "rope_theta")}
        | {"num_local_experts": 64, "rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}, "mlp_only_layers": None}
    )
    assert (text["num_experts"], text["rope_theta"], text["mlp_only_layers"]) == (64, 5e5, [])
    by_kind = {"full_attention": {"rope_type": "default", "rope_theta": 2e6}, "sliding_attention": {"rope_theta": 1e4}}
    assert text_of(PUBLISHED["Qwen3-8B"] | {"rope_parameters": by_kind})["rope_theta"] == 2e6
    without = {name: value for name, value in PUBLISHED["Qwen3-8B"].items() if "rope" not in name}
    assert text_of(without)["rope_theta"] == 10_000  # `default_theta`


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


@pytest.mark.parametrize("name", ["target_qwen3_5", "target_qwen3_5_moe", "qwen3_next"])
def test_biases_of_gated_attention_are_computed_as_mlx_lm_does(name: str, tmp_path: Path) -> None:
    folder = save_qwen3_next(tmp_path) if name == "qwen3_next" else copy(name, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config.get("text_config", config)["attention_bias"] = True
    (folder / "config.json").write_text(json.dumps(config))
    rng = np.random.default_rng(7)

    def add(weights: dict[str, mx.array]) -> None:
        for layer in [name for name in weights if re.search(r"self_attn\.[qkvo]_proj\.weight", name)]:
            bias = rng.normal(size=weights[layer].shape[0]).astype(np.float32)
            weights[layer.replace("weight", "bias")] = mx.array(bias)

    edit_weights(folder, add)
    np.testing.assert_allclose(logits(folder), of_mlx_lm(folder), atol=2e-4, rtol=0)


def yarn(dims: int, base: float) -> Callable[[Any], None]:
    """Puts mlx-lm's YaRN into the attention of a model of its."""

    def prepare(model: Any) -> None:
        for layer in model.layers:
            if "self_attn" in layer:
                layer.self_attn.rope = YarnRoPE(dims, base=base, scaling_factor=4.0, original_max_position_embeddings=64)

    return prepare


@pytest.mark.parametrize(
    ("name", "dims", "fields"),
    [
        ("target_qwen3", 16, {"rope_scaling": CARD}),
        ("target_qwen3", 16, {"rope_theta": None, "rope_parameters": CARD | {"rope_theta": 10000.0}}),
        ("target_qwen3_moe", 16, {"rope_scaling": CARD}),
        ("target_qwen3_moe_4bit", 16, {"rope_theta": None, "rope_parameters": CARD | {"rope_theta": 10000.0}}),
        ("target_qwen3_5", 4, {"rope_scaling": CARD}),
        ("target_qwen3_5_moe", 4, {"rope_parameters": CARD | {"type": "default", "rope_theta": 10000.0}}),
        ("target_qwen3_5", 8, {"rope_parameters": CARD | {"rope_theta": 10000.0}, "partial_rotary_factor": 0.5}),
    ],
    ids=range(7),
)
def test_yarn_turns_as_mlx_lm_s_and_lengthens_the_context(name: str, dims: int, fields: dict[str, Any], tmp_path: Path) -> None:
    fields = fields | {"max_position_embeddings": 64}
    folder = copy(name, tmp_path / "model", lambda config: config.get("text_config", config).update(fields))
    np.testing.assert_allclose(logits(folder), of_mlx_lm(CHECKPOINTS / name, yarn(dims, 10000.0)), atol=2e-4, rtol=0)
    pair = dm.load(folder, None)
    assert pair.context_capacity == pair.target.config.max_position_embeddings == 256
    assert len(pair.generate([i % 200 for i in range(200)], max_tokens=100, sampling=dm.Sampling()).token_ids) == 56


@pytest.mark.parametrize("family", ["qwen3_moe", "qwen3_next", "qwen3_5_moe"])
def test_experts_one_by_one_are_refused_with_the_command_that_reads_them(family: str, tmp_path: Path) -> None:
    source = Path(shutil.copytree(FIXTURES / "published" / family, tmp_path / "with spaces"))
    with pytest.raises(UnsupportedModelError, match="experts one by one") as caught:
        load_target(source)
    assert f"dflash-mlx convert target '{source}' -o" in caught.value.hint
    assert load_target(convert_target(source, tmp_path / "result", group_size=32, check=False).folder)


@pytest.mark.parametrize(("method", "hint"), [("fp8", "dflash-mlx convert target"), ("gptq", "MLX conversion")])
def test_what_only_the_conversion_reads_is_refused_with_the_command(method: str, hint: str, tmp_path: Path) -> None:
    entry = {"quantization_config": {"quant_method": method, "bits": 8}}
    with pytest.raises(UnsupportedModelError, match=f"quantised as {method}") as caught:
        load_target(copy("target_qwen3", tmp_path / "model", lambda config: config.update(entry)))
    assert hint in caught.value.hint
