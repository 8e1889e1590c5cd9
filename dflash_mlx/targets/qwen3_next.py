"""Qwen3-Next and Coder-Next: the hybrid layout with one fused input projection (`mlx_lm.models.qwen3_next`)."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models import qwen3_next

from dflash_mlx.checkpoint import Weights
from dflash_mlx.kernels.columns import Columns
from dflash_mlx.targets.gated_delta import Projected
from dflash_mlx.targets.qwen3_5 import RECURRENT_SIZES
from dflash_mlx.targets.transformer import TransformerTarget, build


class Qwen3Next(TransformerTarget):
    """A Qwen3-Next target."""

    def projections(self, net: nn.Module) -> list[nn.Module]:
        return [net.in_proj_qkvz, net.in_proj_ba]

    def arrange(self, net: nn.Module, outputs: list[Columns]) -> Projected:
        q, k, v, z, b, a = net.fix_query_key_value_ordering(*(part.view for part in outputs))
        B, rows = q.shape[:2]
        return Projected(mx.concatenate([t.reshape(B, rows, -1) for t in (q, k, v)], axis=-1), z, a, b)


def load(folder: Path, config: dict[str, Any], weights: Weights | None = None) -> Qwen3Next:
    """The target of a checkpoint folder; errors as `build` raises them."""
    return Qwen3Next(build(folder, config, qwen3_next, (*RECURRENT_SIZES, "num_experts", "moe_intermediate_size"), weights))
