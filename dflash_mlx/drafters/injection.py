"""KV injection: how the K and V of context rows and of a block's rows get into a drafter's context cache.

The K and V projections of all layers are one matrix, so that context rows, which all layers share, take one matmul. A
layer's own part of it, a view, projects its block rows.

By the kernel `inject_kv`, context rows wait until a block is drafted: each layer writes them with its own rows.
"""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.rope_utils import Llama3RoPE, YarnRoPE

from dflash_mlx.drafters.context import Context
from dflash_mlx.drafters.layers import Attention
from dflash_mlx.kernels import Kernels
from dflash_mlx.kernels import inject_kv as kernel
from dflash_mlx.kernels.projections import Projections
from dflash_mlx.kernels.verify_matmul import project


class Injection:
    """The K and V projections of all layers, and what is made of their results.

    The layers' own projections become views of the joint one: nothing is held twice.
    """

    def __init__(self, attentions: list[Attention], block_size: int) -> None:
        self._attentions, self._block_size = attentions, block_size
        self._of_all = Projections([part for attention in attentions for part in (attention.k_proj, attention.v_proj)])
        self._of_each = [self._of_all.some(2 * i, 2) for i in range(len(attentions))]
        self.use_kernels(Kernels())

    def use_kernels(self, kernels: Kernels) -> None:
        """Computes with these kernels from now on."""
        self._kernels, self._project = kernels, partial(project, kernels=kernels)
        rope = self._attentions[0].rope
        self._frequencies = frequencies(rope) if "inject_kv" in kernels.rows else None
        if self._frequencies is not None:
            self._norms = scaled_norms(self._attentions)
            mx.eval(self._norms, self._frequencies)

    @property
    def layers(self) -> list[nn.Module]:
        """The linear layers that it calls."""
        return [layer for projections in (self._of_all, *self._of_each) for layer in projections.layers]

    def by_kernel(self, rows: int, dtype: mx.Dtype) -> bool:
        """Whether so many rows are made by the kernel: never more than a block's, for which every ring has room."""
        served = self._frequencies is not None and kernel.covers(dtype, self._attentions[0].head_dim)
        return served and rows <= self._block_size and self._kernels.use("inject_kv", rows)

    def project(self, x: mx.array) -> mx.array:
        """K and V of context rows `[1, rows, hidden]`, of each layer in turn: `[1, rows, layers * 2 * kv_heads * head_dim]`."""
        return self._of_all.side_by_side(x, self._project)

    def write(self, projected: mx.array, context: Context, position: mx.array) -> None:
        """Writes projected context rows, of which the first stands at `position`."""
        rows = projected.shape[1]
        if self.by_kernel(rows, projected.dtype):
            made = self._make(projected, None, context, position, mx.array([rows], mx.int32))
            for cache, *layer in zip(context.layers, made.keys, made.values, made.slots):
                cache.put(*layer)
            return
        parts = mx.split(projected, 2 * len(self._attentions), axis=-1)
        for attention, cache, keys, values in zip(self._attentions, context.layers, parts[::2], parts[1::2]):
            cache.write(*attention.layout(keys, values, position), position)

    def write_block(self, x: mx.array, layer: int, context: Context, position: mx.array) -> None:
        """Writes a layer's K and V of block rows `[1, rows, hidden]`; by the kernel, waiting context rows before them."""
        cache, parts = context.layers[layer], self._of_each[layer]
        if self.by_kernel(x.shape[1], x.dtype):
            block = parts.side_by_side(x, self._project)
            projected, start = context.waiting or (None, position)
            made = self._make(projected, block, context, start, position - start, layer)
            cache.put(*made)
        else:
            keys, values = parts(x, self._project)
            cache.write(*self._attentions[layer].layout(keys, values, position), position)

    def _make(
        self,
        projected: mx.array | None,
        block: mx.array | None,
        context: Context,
        position: mx.array,
        count: mx.array,
        layer: int | None = None,
    ) -> kernel.Injected:
        assert self._frequencies is not None
        attention = self._attentions[0]
        return kernel.inject_kv_metal(
            projected,
            block,
            self._norms,
            self._frequencies,
            attention.k_norm.eps,
            position,
            count,
            mx.array([cache.capacity for cache in context.layers], mx.int32),
            attention.kv_heads,
            layer,
        )


def scaled_norms(attentions: list[Attention]) -> mx.array:
    """Each layer's k_norm weight, float32 `[layers, head_dim]`, with yarn's factor on the rows, where RoPE has one."""
    norms = mx.stack([attention.k_norm.weight for attention in attentions]).astype(mx.float32)
    return norms * getattr(attentions[0].rope, "mscale", 1.0)


def frequencies(rope: nn.Module) -> mx.array | None:
    """What mlx-lm's `rope` divides positions by, float32 `[head_dim / 2]`; None: it depends on the length, or not all turn."""
    if isinstance(rope, nn.RoPE):
        return rope.base ** (mx.arange(0, rope.dims, 2) / rope.dims) / rope.scale
    return rope._freqs if isinstance(rope, Llama3RoPE | YarnRoPE) else None
