"""Qwen3, dense: full attention in every layer (`mlx_lm.models.qwen3`)."""

from mlx_lm.models import qwen3

from dflash_mlx.targets.family import Family
from dflash_mlx.targets.transformer import TransformerTarget

FAMILY = Family(TransformerTarget, qwen3, ("intermediate_size",))
