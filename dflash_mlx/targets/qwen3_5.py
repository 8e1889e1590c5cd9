"""Qwen3.5, 3.6 and 3.8, dense and mixture of experts (`mlx_lm.models.qwen3_5`, `qwen3_5_moe`).

Three Gated DeltaNet layers, then one gated full-attention layer, and so on.
"""

import mlx.nn as nn
from mlx_lm.models import qwen3_5, qwen3_5_moe

from dflash_mlx.kernels.columns import Columns
from dflash_mlx.targets.family import Family
from dflash_mlx.targets.gated_delta import Projected
from dflash_mlx.targets.transformer import TransformerTarget

RECURRENT_SIZES: tuple[str, ...] = (
    "linear_num_value_heads",
    "linear_num_key_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
)
RECURRENT_SIZES += ("linear_conv_kernel_dim", "full_attention_interval")


class Qwen35(TransformerTarget):
    """A Qwen3.5-family target."""

    def projections(self, net: nn.Module) -> list[nn.Module]:
        return [net.in_proj_qkv, net.in_proj_z, net.in_proj_a, net.in_proj_b]

    def arrange(self, net: nn.Module, outputs: list[Columns]) -> Projected:
        qkv, z, a, b = outputs
        return Projected(qkv, z.view, a, b)


GATED = {"attn_output_gate": (True,), "attention_bias": (False, True)}
SERVED = GATED | {"decoder_sparse_step": (1,), "mlp_only_layers": ([],)}  # which its layers do not read
DENSE = Family(Qwen35, qwen3_5, (*RECURRENT_SIZES, "intermediate_size"), SERVED)
MOE_SIZES = ("num_experts", "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size")
MOE = Family(Qwen35, qwen3_5_moe, (*RECURRENT_SIZES, *MOE_SIZES), SERVED)
