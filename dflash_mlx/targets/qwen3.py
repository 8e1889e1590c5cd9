"""Qwen3, dense: full attention in every layer (`mlx_lm.models.qwen3`)."""

from pathlib import Path
from typing import Any

from mlx_lm.models import qwen3

from dflash_mlx.checkpoint import Weights
from dflash_mlx.targets.transformer import TransformerTarget, build


def load(folder: Path, config: dict[str, Any], weights: Weights | None = None) -> TransformerTarget:
    """The target of a checkpoint folder; errors as `build` raises them."""
    return TransformerTarget(build(folder, config, qwen3, ("head_dim", "intermediate_size"), weights))
