"""config.json: RoPE settings in every published form, how far they reach, and entries on quantisation."""

from pathlib import Path
from typing import Any

import pytest

from dflash_mlx.config import bare, longest, quantization_of, read_rope
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
