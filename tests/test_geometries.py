"""The published geometries, built lazily (no data): tensor names, shapes and counts as the checkpoints list them."""

import mlx.core as mx
import pytest
from drafters.test_config import DFLASH2_27B
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3_5, qwen3_5_moe

from dflash_mlx.drafters import DFlash, DFlash2, DrafterConfig, new_drafter
from dflash_mlx.loading.known_pairs import known_pairs
from dflash_mlx.targets.qwen3_5 import Qwen35

HYBRID = {
    "vocab_size": 248320,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 262144,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10]},
}
DENSE_27B = HYBRID | {
    "hidden_size": 5120,
    "intermediate_size": 17408,
    "num_hidden_layers": 64,
    "num_attention_heads": 24,
    "num_key_value_heads": 4,
    "linear_num_value_heads": 48,
}
MOE_35B = HYBRID | {
    "hidden_size": 2048,
    "num_hidden_layers": 40,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "linear_num_value_heads": 32,
    "num_experts": 256,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
}
DFLASH1_27B = {k: v for k, v in DFLASH2_27B.items() if k not in ("is_causal", "rope_parameters", "dflash_config")} | {
    "architectures": ["DFlashDraftModel"],
    "layer_types": ["sliding_attention"] * 4 + ["full_attention"],
    "rope_theta": 10000000,
    "block_size": 16,
    "dflash_config": {"mask_token_id": 248070, "target_layer_ids": [1, 16, 31, 46, 61]},
}


def shapes(module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(array.shape) for name, array in tree_flatten(module.parameters())}


def test_the_27b_target_has_the_851_published_text_tensors() -> None:
    model = qwen3_5.Model(qwen3_5.ModelArgs.from_dict({"model_type": "qwen3_5", "text_config": DENSE_27B}))
    found = shapes(model)
    assert len(found) == 851
    layer = "language_model.model.layers."
    assert found[layer + "0.linear_attn.conv1d.weight"] == (10240, 4, 1)
    assert found[layer + "0.linear_attn.in_proj_a.weight"] == (48, 5120)
    assert found[layer + "3.self_attn.q_proj.weight"] == (2 * 24 * 256, 5120)  # queries and their gate
    assert found[layer + "3.self_attn.k_proj.weight"] == (4 * 256, 5120)
    assert found["language_model.lm_head.weight"] == (248320, 5120)
    state = Qwen35(model.language_model).new_state(0)
    recurrent = [layer.recurrent for layer in state.layers if hasattr(layer, "recurrent")]
    assert len(recurrent) == 48 and sum(r.nbytes for r in recurrent) == pytest.approx(151e6, rel=0.01)


def test_the_35b_target_has_256_experts_and_a_shared_one() -> None:
    model = qwen3_5_moe.Model(qwen3_5_moe.ModelArgs.from_dict({"model_type": "qwen3_5_moe", "text_config": MOE_35B}))
    found = shapes(model)
    mlp = "language_model.model.layers.7.mlp."
    assert found[mlp + "switch_mlp.gate_proj.weight"] == (256, 512, 2048)
    assert found[mlp + "switch_mlp.down_proj.weight"] == (256, 2048, 512)
    assert found[mlp + "gate.weight"] == (256, 2048) and found[mlp + "shared_expert.up_proj.weight"] == (512, 2048)
    assert sum("self_attn.k_proj" in name for name in found) == 10


def test_the_27b_dflash2_drafter_has_the_81_published_tensors() -> None:
    found = shapes(DFlash2(DrafterConfig.from_dict(DFLASH2_27B)))
    assert len(found) == 81
    published = {
        "fc.weight": (5120, 25600),
        "hidden_norm.weight": (5120,),
        "norm.weight": (5120,),
        "candidate_selector.hidden_projection.weight": (256, 5120),
        "candidate_selector.predecessor_codebook": (248320, 256),
        "candidate_selector.successor_codebook": (248320, 256),
        "layers.4.self_attn.q_proj.weight": (4096, 5120),
        "layers.4.self_attn.k_proj.weight": (1024, 5120),
        "layers.4.self_attn.v_proj.weight": (1024, 5120),
        "layers.4.self_attn.o_proj.weight": (5120, 4096),
        "layers.4.self_attn.q_norm.weight": (128,),
        "layers.4.self_attn.k_norm.weight": (128,),
        "layers.4.attention_conv.base_kernel": (2, 2, 5120),
        "layers.4.attention_conv.kernel_projection.weight": (1280, 5120),
        "layers.4.mlp_conv.base_kernel": (2, 2, 5120),
        "layers.4.mlp_conv.kernel_projection.weight": (1280, 5120),
        "layers.4.mlp.down_proj.weight": (5120, 17408),
    }
    assert {name: found.get(name) for name in published} == published


def test_the_27b_dflash_drafter_has_the_58_published_tensors() -> None:
    found = shapes(DFlash(DrafterConfig.from_dict(DFLASH1_27B)))
    assert len(found) == 58 and found["fc.weight"] == (5120, 25600)
    assert sum(name.startswith("layers.2.") for name in found) == 11


@pytest.mark.parametrize("pair", known_pairs(), ids=lambda pair: pair.family)
def test_every_known_drafter_builds_and_takes_its_targets_features(pair) -> None:
    config = DrafterConfig.from_dict(pair.drafter_config)
    found = shapes(new_drafter(config))
    hidden, taps = pair.target_config["hidden_size"], len(config.target_layer_ids)
    assert found["fc.weight"] == (hidden, taps * hidden)
    assert sum(array.nbytes // array.itemsize * 2 for _, array in _arrays(config)) == pytest.approx(
        pair.drafter_download, rel=0.02
    )


def _arrays(config: DrafterConfig) -> list[tuple[str, mx.array]]:
    return tree_flatten(new_drafter(config).parameters())
