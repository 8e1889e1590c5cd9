"""Qwen3, mixture of experts: full attention in every layer, sparse MLPs (`mlx_lm.models.qwen3_moe`)."""

from mlx_lm.models import qwen3_moe

from dflash_mlx.targets.family import Family
from dflash_mlx.targets.transformer import TransformerTarget

FAMILY = Family(TransformerTarget, qwen3_moe, ("num_experts", "num_experts_per_tok", "moe_intermediate_size"))
