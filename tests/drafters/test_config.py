"""Every layout of a drafter's config.json that published checkpoints use (sizes: their cards)."""

import pytest
from transformers import Qwen3Config

from dflash_mlx.drafters import DrafterConfig
from dflash_mlx.errors import CheckpointError, UnsupportedModelError
from dflash_mlx.loading.known_pairs import known_pairs

DFLASH2_27B = {
    "architectures": ["DFlash2DraftModel"],
    "model_type": "qwen3",
    "is_causal": False,
    "hidden_size": 5120,
    "intermediate_size": 17408,
    "num_hidden_layers": 5,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 248320,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 262144,
    "num_target_layers": 64,
    "layer_types": ["sliding_attention"] * 5,
    "sliding_window": 2048,
    "rope_parameters": {"rope_theta": 10000000, "rope_type": "default"},
    "dflash_config": {
        "block_size": 8,
        "conv_group_size": 16,
        "conv_kernel_size": 2,
        "mask_token_id": 248070,
        "selector_rank": 256,
        "selector_top_k": 16,
        "target_layer_ids": [5, 19, 33, 47, 61],
    },
}


def test_dflash2_reads_nested_fields_and_rope_parameters() -> None:
    config = DrafterConfig.from_dict(DFLASH2_27B)
    assert (config.version, config.block_size, config.mask_token_id, config.rope_theta) == (2, 8, 248070, 1e7)
    assert (config.selector_rank, config.selector_top_k, config.conv_group_size) == (256, 16, 16)
    assert config.window(0) == 2048 and not config.causal(0)


def test_dflash1_reads_top_level_fields_and_yarn() -> None:
    config = DrafterConfig.from_dict(
        {
            "architectures": ["DFlashDraftModel"],
            "hidden_size": 2048,
            "intermediate_size": 6144,
            "num_hidden_layers": 8,
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "rms_norm_eps": 1e-6,
            "max_position_embeddings": 262144,
            "rope_theta": 10000000,
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 64.0,
                "original_max_position_embeddings": 4096,
                "beta_fast": 32,
                "beta_slow": 1,
            },
            "block_size": 16,
            "dflash_config": {"mask_token_id": 248070, "target_layer_ids": [1, 10, 19, 28, 37]},
        }
    )
    assert (config.version, config.block_size, config.vocab_size) == (1, 16, None)
    assert config.rope_scaling is not None and config.rope_scaling["factor"] == 64.0
    assert config.layer_types == ("full_attention",) * 8


def test_without_is_causal_only_sliding_layers_are_causal() -> None:
    silent = {k: v for k, v in DFLASH2_27B.items() if k != "is_causal"} | {
        "layer_types": ["sliding_attention"] * 4 + ["full_attention"]
    }
    config = DrafterConfig.from_dict(silent)
    assert config.causal(0) and not config.causal(4) and config.window(4) is None


@pytest.mark.parametrize(
    "name",
    ["hidden_size", "num_attention_heads", "rms_norm_eps", "rope_theta", "block_size", "mask_token_id", "target_layer_ids"],
)
def test_a_missing_field_is_named(name: str) -> None:
    def without(config: dict) -> dict:
        return {k: without(v) if isinstance(v, dict) else v for k, v in config.items() if k != name}

    with pytest.raises(CheckpointError, match=name):
        DrafterConfig.from_dict(without(DFLASH2_27B))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_size", 0),
        ("num_hidden_layers", "5"),
        ("layer_types", ["full_attention"]),
        ("layer_types", ["odd"] * 5),
        ("sliding_window", None),
    ],
)
def test_impossible_values_are_refused(field: str, value: object) -> None:
    with pytest.raises(CheckpointError, match=field):
        DrafterConfig.from_dict(DFLASH2_27B | {field: value})


def test_multipliers_and_soft_cap_are_read() -> None:
    nested = DFLASH2_27B["dflash_config"] | {
        "final_logit_softcapping": 20.0,
        "output_multiplier": 0.196,
        "input_embedding_scale": 3,
    }
    config = DrafterConfig.from_dict(DFLASH2_27B | {"dflash_config": nested})
    assert (config.final_logit_softcapping, config.output_multiplier, config.input_embedding_scale) == (20.0, 0.196, 3.0)


def test_every_known_pair_s_drafter_is_served() -> None:
    for pair in known_pairs():
        assert DrafterConfig.from_dict(pair.drafter_config)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_act", "gelu"),
        ("attention_bias", True),
        ("mlp_bias", True),
        ("partial_rotary_factor", 0.5),
        ("attn_logit_softcapping", 50.0),
        ("residual_multiplier", 0.5),
        ("query_pre_attn_scalar", 144),
    ],
)
def test_what_would_be_computed_otherwise_is_refused_by_name(field: str, value: object) -> None:
    told = {field: value}
    nested = [{place: DFLASH2_27B[place] | told} for place in ("dflash_config", "rope_parameters")]
    for change in (told, *nested[: 2 if field == "partial_rotary_factor" else 1]):
        with pytest.raises(UnsupportedModelError, match=f"sets {field} to"):
            DrafterConfig.from_dict(DFLASH2_27B | change)


def test_what_is_so_anyway_is_served() -> None:
    so = {"hidden_act": "silu", "attention_bias": False, "partial_rotary_factor": 1.0, "use_sliding_window": False}
    assert DrafterConfig.from_dict(DFLASH2_27B | so) == DrafterConfig.from_dict(DFLASH2_27B)


@pytest.mark.parametrize(
    "fields",
    [
        {"use_sliding_window": True, "max_window_layers": 3},
        {"use_sliding_window": True, "max_window_layers": 0},
        {"use_sliding_window": True},
        {"use_sliding_window": False, "max_window_layers": 0},
        {},
    ],
    ids=str,
)
def test_without_layer_types_the_layers_slide_that_slide_in_transformers(fields: dict) -> None:
    without = {name: said for name, said in DFLASH2_27B.items() if name != "layer_types"}
    wanted = Qwen3Config(num_hidden_layers=5, sliding_window=2048, **fields).layer_types
    assert DrafterConfig.from_dict(without | fields).layer_types == tuple(wanted)


def test_rope_by_layer_types_must_be_one_for_all_layers() -> None:
    by_kind = {"full_attention": {"rope_theta": 5.0}, "sliding_attention": {"rope_theta": 7.0}}
    assert DrafterConfig.from_dict(DFLASH2_27B | {"rope_parameters": by_kind}).rope_theta == 7.0
    both = {"layer_types": ["sliding_attention"] * 4 + ["full_attention"]}
    with pytest.raises(UnsupportedModelError, match="RoPE by layer types"):
        DrafterConfig.from_dict(DFLASH2_27B | both | {"rope_parameters": by_kind})
