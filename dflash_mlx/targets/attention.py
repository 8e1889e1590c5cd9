"""A decoder layer with full attention, over mlx-lm's weights, in two halves around the K and V buffers.

Ours, because the halves can be compiled for good: only what stands between them depends on the buffers' capacity.
"""

from collections.abc import Callable
from functools import partial

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.kernels import Kernels
from dflash_mlx.kernels import verify_attention as kernel
from dflash_mlx.kernels.projections import FeedForward, Projections
from dflash_mlx.kernels.verify_matmul import project
from dflash_mlx.targets.row_invariance import Op, ops_of, rows_apart
from dflash_mlx.targets.state import AttentionState
from dflash_mlx.targets.tree import Tree

Before = tuple[mx.array, mx.array, mx.array, mx.array | None]


class AttentionLayer:
    """One layer of `mlx_lm.models.qwen3`, `qwen3_moe` or `qwen3_next`, called as a function of rows and state.

    Where `q_proj` is twice as wide as the heads, its second half gates the heads' outputs.
    """

    def __init__(self, layer: nn.Module, heads: int, kv_heads: int, head_dim: int) -> None:
        self.layer, self.heads, self.kv_heads, self.head_dim = layer, heads, kv_heads, head_dim
        self.dtype, attention = layer.input_layernorm.weight.dtype, layer.self_attn
        self._inputs = Projections([attention.q_proj, attention.k_proj, attention.v_proj])
        self._mlp = FeedForward(layer.mlp)
        self.use_kernels(Kernels())

    def use_kernels(self, kernels: Kernels) -> None:
        """Computes with these kernels from now on."""
        self.kernels = kernels
        self._compiled = {exact: self._compile(exact) for exact in (False, True)}

    @property
    def linear_layers(self) -> list[nn.Module]:
        """What it projects by, as it is called."""
        return [*self._inputs.layers, self.layer.self_attn.o_proj, *self._mlp.layers]

    def exact_ops(self, rows: int) -> frozenset[Op]:
        """MLX's ops that decide whether exact verification takes its rows apart; attention does so by itself."""
        return ops_of(self.layer, rows, self.dtype, self.kernels, "rope", "elementwise")

    def __call__(
        self,
        x: mx.array,
        state: AttentionState,
        position: mx.array,
        mask: mx.array,
        commit: bool = False,
        exact: bool = False,
        tree: Tree | None = None,
    ) -> mx.array:
        """Writes the K and V of rows `[1, rows, hidden]` at `position` and attends where `mask` `[rows, capacity]` allows.

        The rows of a tree stand there side by side, each rotated to the position it has on its path.

        With `commit`, the rows are a chunk of a prompt: they come in too many sizes to compile for.
        """
        before, after = (self._before, self._after) if commit else self._compiled[exact]
        queries, keys, values, gate = before(x, position + tree.depths if tree else position)
        state.write(keys, values, position)
        state.tree = (keys, values) if tree else None
        return after(x, self._attend(queries, state, position, mask, exact, tree), gate)

    def one_by_one(
        self, x: mx.array, state: AttentionState, position: mx.array, mask: mx.array, commit: bool = False, exact: bool = True
    ) -> mx.array:
        """The same, each row as if it were alone."""
        rows = mx.split(x, x.shape[1], axis=1)
        return mx.concatenate([self(row, state, position + i, mask[i : i + 1]) for i, row in enumerate(rows)], axis=1)

    def _compile(self, exact: bool) -> tuple[Callable[..., Before], Callable[..., mx.array]]:
        return mx.compile(partial(self._before, exact=exact)), mx.compile(partial(self._after, exact=exact))

    def _attend(
        self, queries: mx.array, state: AttentionState, position: mx.array, mask: mx.array, exact: bool, tree: Tree | None
    ) -> mx.array:
        """`[1, heads, rows, head_dim]`, over the buffers."""
        rows = queries.shape[2]
        if exact and rows > 1 and rows_apart("attention"):
            alone = zip(mx.split(queries, rows, axis=2), mx.split(mask, rows))
            return mx.concatenate([self._sdpa(query, state, row) for query, row in alone], axis=2)
        if not exact and state.capacity >= kernel.FROM and self.kernels.use("verify_attention", rows):
            if kernel.covers(queries.dtype, self.heads, self.kv_heads, self.head_dim, rows):
                return kernel.verify_attention_metal(queries, state.keys, state.values, position, tree and tree.ancestors)
        return self._sdpa(queries, state, mask)

    def _sdpa(self, queries: mx.array, state: AttentionState, mask: mx.array) -> mx.array:
        scale = self.head_dim**-0.5
        return mx.fast.scaled_dot_product_attention(queries, state.keys, state.values, scale=scale, mask=mask)

    def _before(self, x: mx.array, position: mx.array, exact: bool = False) -> Before:
        """Normed, rotated queries and keys, plain values, `[1, heads, rows, head_dim]`; and the gate before its sigmoid.

        position: int32 `[1]`, the first row's, or `[rows]`, each one's.
        """
        attention, (B, rows, _) = self.layer.self_attn, x.shape
        x = self.layer.input_layernorm(x)
        queries, keys, values = self._inputs(x, partial(project, kernels=self.kernels, exact=exact))
        queries, *gate = mx.split(queries.reshape(B, rows, self.heads, -1), [self.head_dim], axis=-1)
        keys, values = (part.reshape(B, rows, self.kv_heads, -1) for part in (keys, values))
        queries, keys = attention.q_norm(queries).transpose(0, 2, 1, 3), attention.k_norm(keys).transpose(0, 2, 1, 3)
        return (
            _rotate(attention.rope, queries, position),
            _rotate(attention.rope, keys, position),
            values.transpose(0, 2, 1, 3),
            gate[0].reshape(B, rows, -1) if gate[0].size else None,
        )

    def _after(self, x: mx.array, y: mx.array, gate: mx.array | None, exact: bool = False) -> mx.array:
        linear = partial(project, kernels=self.kernels, exact=exact)
        B, rows, _ = x.shape
        y = y.transpose(0, 2, 1, 3).reshape(B, rows, -1)
        x = x + linear(self.layer.self_attn.o_proj, y if gate is None else y * mx.sigmoid(gate))
        return x + self._mlp(self.layer.post_attention_layernorm(x), linear)


def _rotate(rope: nn.Module, x: mx.array, position: mx.array) -> mx.array:
    """RoPE of `[1, heads, rows, head_dim]`, the rows at consecutive positions or each at its own."""
    if position.size == 1:
        return rope(x, offset=position)
    return rope(x.transpose(2, 1, 0, 3), offset=position).transpose(2, 1, 0, 3)
