"""Qwen3.5, 3.6 and 3.8, dense and mixture of experts (`mlx_lm.models.qwen3_5`, `qwen3_5_moe`).

Three Gated DeltaNet layers, then one gated full-attention layer, and so on.
"""

from pathlib import Path
from typing import Any

import mlx.nn as nn
from mlx_lm.models import qwen3_5, qwen3_5_moe

from dflash_mlx.checkpoint import Weights
from dflash_mlx.kernels.columns import Columns
from dflash_mlx.targets.gated_delta import Projected
from dflash_mlx.targets.transformer import TransformerTarget, build

RECURRENT_SIZES = (
    "head_dim",
    "linear_num_value_heads",
    "linear_num_key_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "linear_conv_kernel_dim",
)


class Qwen35(TransformerTarget):
    """A Qwen3.5-family target."""

    def projections(self, net: nn.Module) -> list[nn.Module]:
        return [net.in_proj_qkv, net.in_proj_z, net.in_proj_a, net.in_proj_b]

    def arrange(self, net: nn.Module, outputs: list[Columns]) -> Projected:
        qkv, z, a, b = outputs
        return Projected(qkv, z.view, a, b)


def load(folder: Path, config: dict[str, Any], weights: Weights | None = None) -> Qwen35:
    """The dense target of a checkpoint folder; errors as `build` raises them."""
    return Qwen35(build(folder, config, qwen3_5, (*RECURRENT_SIZES, "intermediate_size"), weights).language_model)


def load_moe(folder: Path, config: dict[str, Any], weights: Weights | None = None) -> Qwen35:
    """The mixture-of-experts target of a checkpoint folder; errors as `build` raises them."""
    sizes = (*RECURRENT_SIZES, "num_experts", "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size")
    return Qwen35(build(folder, config, qwen3_5_moe, sizes, weights).language_model)
