"""Qwen3, mixture of experts: full attention in every layer, sparse MLPs (`mlx_lm.models.qwen3_moe`)."""

import mlx.nn as nn
from mlx_lm.models import qwen3_moe
from mlx_lm.models.rope_utils import initialize_rope

from dflash_mlx.targets.family import Family
from dflash_mlx.targets.qwen3 import FULL
from dflash_mlx.targets.transformer import TransformerTarget


class Qwen3Moe(TransformerTarget):
    """A Qwen3 MoE target."""

    def __init__(self, text: nn.Module) -> None:
        args = text.args
        for layer in text.layers:  # mlx-lm's model leaves the scaling out
            layer.self_attn.rope = initialize_rope(args.head_dim, args.rope_theta, False, args.rope_scaling)
        super().__init__(text)


FAMILY = Family(Qwen3Moe, qwen3_moe, ("num_experts", "num_experts_per_tok", "moe_intermediate_size"), FULL)
