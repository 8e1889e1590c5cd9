"""Every layout of a drafter's config.json that published checkpoints use (sizes: their cards)."""

import pytest

from dflash_mlx.drafters import DrafterConfig
from dflash_mlx.errors import CheckpointError

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
