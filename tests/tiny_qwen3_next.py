"""A tiny random Qwen3-Next checkpoint, made by mlx-lm's own model."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3_next
from mlx_lm.utils import save_config

QWEN3_NEXT = {
    "model_type": "qwen3_next",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "shared_expert_intermediate_size": 64,
    "mlp_only_layers": [1],
    "moe_intermediate_size": 64,
    "rms_norm_eps": 1e-6,
    "vocab_size": 256,
    "num_key_value_heads": 2,
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.25,
    "max_position_embeddings": 4096,
    "head_dim": 16,
    "norm_topk_prob": True,
}


def save(folder: Path, model: nn.Module, config: dict[str, Any]) -> Path:
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())))
    save_config(dict(config), folder / "config.json")
    return folder


def save_qwen3_next(folder: Path) -> Path:
    mx.random.seed(0)
    model = qwen3_next.Model(qwen3_next.ModelArgs.from_dict(QWEN3_NEXT))
    for layer in model.layers:  # as trained ones are: neither all ones nor far from it
        layer.input_layernorm.weight = mx.random.uniform(0.5, 1.5, (64,))
    return save(folder, model, QWEN3_NEXT)
