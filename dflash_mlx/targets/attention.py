"""A decoder layer with full attention, over mlx-lm's weights, in two halves around the K and V buffers.

Ours, because the halves can be compiled for good: only what stands between them depends on the buffers' capacity.
"""

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.targets.row_invariance import Op
from dflash_mlx.targets.state import AttentionState


class AttentionLayer:
    """One layer of `mlx_lm.models.qwen3`, `qwen3_moe` or `qwen3_next`, called as a function of rows and state.

    Where `q_proj` is twice as wide as the heads, its second half gates the heads' outputs.

    Attributes:
        ops: what it does beside its modules, for exact verification.
    """

    ops: tuple[Op, ...] = ("attention", "rope", "elementwise")

    def __init__(self, layer: nn.Module, heads: int, kv_heads: int, head_dim: int) -> None:
        self.layer, self.heads, self.kv_heads, self.head_dim = layer, heads, kv_heads, head_dim
        self._compiled = mx.compile(self._before), mx.compile(self._after)

    def __call__(self, x: mx.array, state: AttentionState, position: mx.array, mask: mx.array, commit: bool = False) -> mx.array:
        """Writes the K and V of rows `[1, rows, hidden]` at `position` and attends where `mask` `[rows, capacity]` allows.

        With `commit`, the rows are a chunk of a prompt: they come in too many sizes to compile for.
        """
        before, after = (self._before, self._after) if commit else self._compiled
        queries, keys, values, gate = before(x, position)
        state.write(keys, values, position)
        y = mx.fast.scaled_dot_product_attention(queries, state.keys, state.values, scale=self.head_dim**-0.5, mask=mask)
        return after(x, y, gate)

    def one_by_one(
        self, x: mx.array, state: AttentionState, position: mx.array, mask: mx.array, commit: bool = False
    ) -> mx.array:
        """The same, each row as if it were alone."""
        rows = mx.split(x, x.shape[1], axis=1)
        return mx.concatenate([self(row, state, position + i, mask[i : i + 1]) for i, row in enumerate(rows)], axis=1)

    def _before(self, x: mx.array, position: mx.array) -> tuple[mx.array, mx.array, mx.array, mx.array | None]:
        """Normed, rotated queries and keys, plain values, `[1, heads, rows, head_dim]`; and the gate before its sigmoid."""
        attention, (B, rows, _) = self.layer.self_attn, x.shape
        x = self.layer.input_layernorm(x)
        queries, *gate = mx.split(attention.q_proj(x).reshape(B, rows, self.heads, -1), [self.head_dim], axis=-1)
        keys, values = (p(x).reshape(B, rows, self.kv_heads, -1) for p in (attention.k_proj, attention.v_proj))
        queries, keys = attention.q_norm(queries).transpose(0, 2, 1, 3), attention.k_norm(keys).transpose(0, 2, 1, 3)
        return (
            attention.rope(queries, offset=position),
            attention.rope(keys, offset=position),
            values.transpose(0, 2, 1, 3),
            gate[0].reshape(B, rows, -1) if gate[0].size else None,
        )

    def _after(self, x: mx.array, y: mx.array, gate: mx.array | None) -> mx.array:
        B, rows, _ = x.shape
        y = y.transpose(0, 2, 1, 3).reshape(B, rows, -1)
        x = x + self.layer.self_attn.o_proj(y if gate is None else y * mx.sigmoid(gate))
        return x + self.layer.mlp(self.layer.post_attention_layernorm(x))
