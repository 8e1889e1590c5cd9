"""Qwen3, dense: full attention in every layer (`mlx_lm.models.qwen3`)."""

from mlx_lm.models import qwen3

from dflash_mlx.targets.family import Family
from dflash_mlx.targets.transformer import TransformerTarget

FULL = {"attn_output_gate": (False,), "partial_rotary_factor": (1,)}
WINDOWS = {"use_sliding_window": (False, True)}  # for layers from `max_window_layers` on: there must be none
FAMILY = Family(TransformerTarget, qwen3, ("intermediate_size",), FULL | WINDOWS)
