"""Qwen3, mixture of experts: full attention in every layer, sparse MLPs (`mlx_lm.models.qwen3_moe`)."""

from pathlib import Path
from typing import Any

from mlx_lm.models import qwen3_moe

from dflash_mlx.checkpoint import Weights
from dflash_mlx.targets.transformer import TransformerTarget, build


def load(folder: Path, config: dict[str, Any], weights: Weights | None = None) -> TransformerTarget:
    """The target of a checkpoint folder; errors as `build` raises them."""
    sizes = ("head_dim", "num_experts", "num_experts_per_tok", "moe_intermediate_size")
    return TransformerTarget(build(folder, config, qwen3_moe, sizes, weights))
