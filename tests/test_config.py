"""config.json: RoPE settings in every published form, how far they reach, and what of the other fields is served."""

from pathlib import Path
from typing import Any

import pytest

from dflash_mlx.config import bare, check_served, longest, quantization_of, read_rope
from dflash_mlx.errors import CheckpointError, UnsupportedModelError

FILE = Path("model/config.json")
YARN = {"factor": 4.0, "original_max_position_embeddings": 256}
MAX = {"max_position_embeddings": 256}

# As transformers 5 reads them: fields of config.json, and what is meant.
FORMS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"rope_theta": 1e6}, {"type": "default", "rope_theta": 1e6}),
    ({"rope_theta": 1e6, "rope_scaling": None}, {"type": "default", "rope_theta": 1e6}),
    ({"rope_theta": 1e6, "rope_parameters": {}}, {"type": "default", "rope_theta": 1e6}),
    ({"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}}, {"type": "default", "rope_theta": 1e6}),
    ({"rope_theta": 5.0, "rope_parameters": {"rope_theta": 1e6}}, {"type": "default", "rope_theta": 1e6}),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]}}, {"type": "default", "rope_theta": 1e6}),
    ({"rope_theta": 1e6, "partial_rotary_factor": 0.5}, {"type": "default", "partial_rotary_factor": 0.5}),
    (
        {"partial_rotary_factor": 1.0, "rope_parameters": {"rope_theta": 1e6, "partial_rotary_factor": 0.5}},
        {"partial_rotary_factor": 0.5},
    ),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 2}}, {"type": "linear", "factor": 2}),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "yarn"} | YARN}, {"type": "yarn", "rope_theta": 1e6} | YARN),
    ({"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn"} | YARN}, {"type": "yarn"} | YARN),
    ({"rope_parameters": {"rope_theta": 1e6, "rope_type": "yarn"} | YARN}, {"type": "yarn"} | YARN),
    # a user has changed one of the two names, or put rope_scaling beside what was there
    ({"rope_parameters": {"rope_theta": 1e6, "type": "default", "rope_type": "yarn"} | YARN}, {"type": "yarn"} | YARN),
    (
        {"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}, "rope_scaling": {"type": "yarn"} | YARN},
        {"type": "yarn"} | YARN,
    ),
    ({"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn", "factor": 4}}, {"original_max_position_embeddings": 256}),
    ({"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn", "beta_fast": None} | YARN}, {"type": "yarn"} | YARN),
    (
        {"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn"} | YARN, "original_max_position_embeddings": 128},
        {"original_max_position_embeddings": 128},
    ),
    ({"rope_theta": 1e6, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, {"original_max_position_embeddings": 256}),
    ({"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn", "attention_factor": 1.1386294361} | YARN}, {"type": "yarn"}),
    (
        {
            "rope_theta": 1e6,
            "rope_scaling": {"rope_type": "yarn", "mscale": 1.0, "mscale_all_dim": 0.707, "truncate": True} | YARN,
        },
        {"mscale": 1.0, "mscale_all_dim": 0.707},
    ),
]


@pytest.mark.parametrize(("fields", "meant"), FORMS, ids=range(len(FORMS)))
def test_rope_settings_are_read_in_every_form(fields: dict[str, Any], meant: dict[str, Any]) -> None:
    rope = read_rope(MAX | fields, FILE)
    assert rope | meant == rope
    assert "beta_fast" not in rope


FULL = {"rope_type": "yarn", "rope_theta": 1e6} | YARN
SLIDING = {"rope_type": "default", "rope_theta": 5e4}
BY_KIND = {"full_attention": FULL, "sliding_attention": SLIDING}


@pytest.mark.parametrize("place", ["rope_parameters", "rope_scaling"])
def test_rope_by_layer_types_is_that_of_the_layers_that_there_are(place: str) -> None:
    fields = MAX | {"rope_theta": 10.0, place: BY_KIND}
    assert FULL.items() <= read_rope(fields, FILE).items()
    sliding = read_rope(fields, FILE, ["sliding_attention"])
    assert (sliding["type"], sliding["rope_theta"], sliding.get("factor")) == ("default", 5e4, None)
    alike = MAX | {place: dict.fromkeys(BY_KIND, FULL)}
    assert FULL.items() <= read_rope(alike, FILE, list(BY_KIND)).items()
    assert read_rope(MAX | {"rope_theta": 7.0, place: {"full_attention": {"rope_type": "default"}}}, FILE)["rope_theta"] == 7.0


@pytest.mark.parametrize(
    "rope", [BY_KIND, {"full_attention": FULL}, BY_KIND | {"full_attention": None}, {"linear_attention": FULL}], ids=range(4)
)
def test_rope_that_differs_among_layers_or_that_some_lack_is_refused_by_name(rope: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedModelError, match="RoPE by layer types"):
        read_rope(MAX | {"rope_theta": 1e6, "rope_parameters": rope}, FILE, ["full_attention", "sliding_attention"])


@pytest.mark.parametrize("only", ["mscale", "mscale_all_dim"])
def test_one_of_yarn_s_two_scales_means_nothing_without_the_other(only: str) -> None:
    assert only not in read_rope(MAX | {"rope_theta": 1e6, "rope_scaling": {"type": "yarn", only: 0.5} | YARN}, FILE)


@pytest.mark.parametrize("kind", ["dynamic", "longrope", "proportional", "axial", "su", "ntk"])
def test_a_rope_type_whose_turns_are_not_computed_is_refused_by_name(kind: str) -> None:
    with pytest.raises(UnsupportedModelError, match=f"the RoPE type to '{kind}'"):
        read_rope(MAX | {"rope_theta": 1e6, "rope_scaling": {"rope_type": kind, "factor": 2.0}}, FILE)


@pytest.mark.parametrize("told", [{"attention_factor": 1.5}, {"truncate": False}], ids=str)
def test_what_yarn_is_told_and_mlx_lm_does_not_compute_is_refused_by_name(told: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedModelError, match=next(iter(told))):
        read_rope(MAX | {"rope_theta": 1e6, "rope_scaling": {"rope_type": "yarn"} | YARN | told}, FILE)


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "rope_theta"),
    ({"rope_theta": 0}, "rope_theta"),
    ({"rope_theta": True}, "rope_theta"),
    ({"rope_theta": float("inf")}, "rope_theta"),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "linear"}}, "factor"),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": "4"}}, "factor"),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": None}}, "factor"),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": -1}}, "original"),
    ({"rope_theta": 1e6, "partial_rotary_factor": "half"}, "partial_rotary_factor"),
    ({"rope_theta": 1e6, "rope_scaling": {"type": "yarn", "beta_fast": "x"} | YARN}, "beta_fast"),
    ({"rope_theta": 1e6, "rope_scaling": 5}, "JSON object"),
]


@pytest.mark.parametrize(("fields", "name"), BAD, ids=range(len(BAD)))
def test_an_impossible_number_is_named(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(CheckpointError, match=name):
        read_rope(MAX | fields, FILE)


# What vLLM derives (`_get_and_verify_max_len`): yarn stretches its original length, linear the given one, others nothing.
REACH: list[tuple[int, dict[str, Any], int]] = [
    (40960, {}, 40960),
    (40960, {"rope_type": "default", "factor": 4.0}, 40960),
    (40960, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
    (131072, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
    (262144, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 262144}, 1048576),
    (32768, {"rope_type": "yarn", "factor": 4.0}, 131072),
    (40960, {"rope_type": "yarn", "factor": 1.5, "original_max_position_embeddings": 32768}, 49152),
    (40960, {"rope_type": "linear", "factor": 2.0}, 81920),
    (131072, {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}, 131072),
    (40960, {"type": "mrope", "mrope_section": [1, 1, 2]}, 40960),
]


@pytest.mark.parametrize(("positions", "scaling", "reach"), REACH, ids=str)
@pytest.mark.parametrize("place", ["rope_scaling", "rope_parameters"])
def test_scaling_stretches_the_context_as_vllm_derives_it(
    place: str, positions: int, scaling: dict[str, Any], reach: int
) -> None:
    rope = read_rope({"rope_theta": 1e6, "max_position_embeddings": positions, place: scaling}, FILE)
    assert longest(rope, positions) == reach
    assert longest(None, positions) == positions


@pytest.mark.parametrize(
    "fields",
    [
        {"hidden_act": "silu", "hidden_activation": None, "attention_bias": False, "mlp_bias": None, "use_qk_norm": True},
        {"final_logit_softcapping": None, "attn_logit_softcapping": 0.0, "logits_scaling": 1.0, "embedding_multiplier": 1},
        {"scoring_func": "softmax", "n_group": 1, "topk_group": 1, "topk_method": "greedy", "routed_scaling_factor": 1.0},
        {"sliding_window": 4096, "max_window_layers": 36, "use_sliding_window": False, "chunk_size_feed_forward": 0},
        {"rope_theta": 1e6, "rope_scaling": {}, "rope_parameters": None, "mrope_interleaved": True, "mrope_section": [1, 1, 2]},
        {"mamba_ssm_dtype": "float32", "output_gate_type": "swish", "mtp_loss_scaling_factor": 0.3, "mtp_num_hidden_layers": 1},
        {"use_rope": True, "no_rope": False, "n_shared_experts": 0, "num_expert_group": 1, "attn_temperature_tuning": False},
        {"initializer_range": 0.02, "router_aux_loss_coef": 0.001, "attention_dropout": 0.1, "router_bias_update_rate": 0.001},
        {
            "torch_dtype": "bfloat16",
            "architectures": ["X"],
            "id2label": {"0": "a"},
            "top_k": 50,
            "temperature": 0.6,
            "eos_token_id": 5,
        },
        {"never_heard_of": 7, "unsloth_version": "2026.1", "vision_config": {"hidden_act": "gelu"}, "per_layer_config": {}},
    ],
    ids=range(10),
)
def test_what_means_nothing_or_changes_nothing_is_fine(fields: dict[str, Any]) -> None:
    check_served(fields, {}, FILE)


REFUSED: list[tuple[str, Any]] = [
    ("hidden_act", "gelu"),
    ("hidden_activation", "gelu_pytorch_tanh"),
    ("output_gate_type", "sigmoid"),
    ("attention_bias", True),
    ("mlp_bias", True),
    ("final_logit_softcapping", 30.0),
    ("attn_logit_softcapping", 50),
    ("attn_logits_soft_cap", 50.0),
    ("final_logits_soft_cap", 30.0),
    ("attn_temperature_tuning", True),
    ("query_pre_attn_scalar", 144),
    ("logits_scaling", 8.0),
    ("embedding_multiplier", 12.0),
    ("residual_multiplier", 0.22),
    ("scale_emb", 12),
    ("use_sliding_window", True),
    ("sliding_window_pattern", 6),
    ("attention_chunk_size", 8192),
    ("dual_chunk_attention_config", {"chunk_size": 262144}),
    ("use_rope", False),
    ("no_rope_layers", [1, 1, 0]),
    ("rope_local_base_freq", 10000),
    ("scoring_func", "sigmoid"),
    ("score_function", "sigmoid"),
    ("moe_router_score_function", "sigmoid"),
    ("router_activation", "sigmoid"),
    ("topk_method", "noaux_tc"),
    ("n_shared_experts", 1),
    ("num_expert_group", 8),
    ("n_group", 8),
    ("topk_group", 4),
    ("routed_scaling_factor", 2.5),
    ("first_k_dense_replace", 3),
    ("moe_layer_freq", 2),
    ("mamba_ssm_dtype", "bfloat16"),
    ("use_qk_norm", False),
    ("is_causal", False),
    ("use_bidirectional_attention", True),
    ("num_attention_sinks", 4),
    ("per_layer_config", {"3": {"sliding_window": 5}}),
]


@pytest.mark.parametrize(("name", "value"), REFUSED, ids=[name for name, _ in REFUSED])
def test_what_would_be_computed_otherwise_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(UnsupportedModelError, match=rf"{FILE} sets {name} to ") as caught:
        check_served({"vocab_size": 5, name: value}, {}, FILE)
    assert caught.value.hint


def test_a_family_s_own_values_count_before_those_of_all() -> None:
    check_served({"attention_bias": True}, {"attention_bias": (True,)}, FILE)
    with pytest.raises(UnsupportedModelError, match="attn_output_gate to False"):
        check_served({"attn_output_gate": False}, {"attn_output_gate": (True,)}, FILE)
    with pytest.raises(UnsupportedModelError, match="partial_rotary_factor"):
        check_served({"partial_rotary_factor": 0.5}, {"partial_rotary_factor": (1,)}, FILE)


@pytest.mark.parametrize(
    "name", ["layers.0.mlp", "model.layers.0.mlp", "language_model.model.layers.0.mlp", "model.language_model.layers.0.mlp"]
)
def test_a_bare_name_has_no_wrapper(name: str) -> None:
    assert bare(name) == "layers.0.mlp" and bare("lm_head.weight") == "lm_head.weight" == bare("language_model.lm_head.weight")


def test_the_first_entry_on_quantisation_that_says_something_counts() -> None:
    mlx, fp8 = {"group_size": 64, "bits": 4}, {"quant_method": "fp8"}
    assert quantization_of({"quantization": {"bits": None}, "quantization_config": fp8}) == fp8
    assert quantization_of({"quantization_config": {}, "text_config": {"quantization": mlx}}) == mlx
    assert quantization_of({"quantization": mlx, "quantization_config": fp8}) == mlx
    named = {"model.language_model.layers.0.mlp.weight": {"bits": 8}, "lm_head": False, "norm": None}
    assert quantization_of({"quantization": mlx | named}) == mlx | {"layers.0.mlp": {"bits": 8}, "lm_head": False}
    assert quantization_of({"text_config": None}) is None
