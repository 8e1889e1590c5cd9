"""Qwen3-Next and Coder-Next: the hybrid layout with one fused input projection (`mlx_lm.models.qwen3_next`)."""

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models import qwen3_next

from dflash_mlx.kernels.columns import Columns
from dflash_mlx.targets.family import Family
from dflash_mlx.targets.gated_delta import Projected
from dflash_mlx.targets.qwen3_5 import GATED, MOE_SIZES, RECURRENT_SIZES
from dflash_mlx.targets.transformer import TransformerTarget


class Qwen3Next(TransformerTarget):
    """A Qwen3-Next target."""

    def projections(self, net: nn.Module) -> list[nn.Module]:
        return [net.in_proj_qkvz, net.in_proj_ba]

    def arrange(self, net: nn.Module, outputs: list[Columns]) -> Projected:
        q, k, v, z, b, a = net.fix_query_key_value_ordering(*(part.view for part in outputs))
        B, rows = q.shape[:2]
        return Projected(mx.concatenate([t.reshape(B, rows, -1) for t in (q, k, v)], axis=-1), z, a, b)


FAMILY = Family(Qwen3Next, qwen3_next, (*RECURRENT_SIZES, *MOE_SIZES), GATED)
