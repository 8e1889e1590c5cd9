"""A decoder layer with a Gated DeltaNet recurrence, able to stop after any row of a verified block.

Ours, over mlx-lm's weights and equations (`mlx_lm.models.qwen3_5`, `qwen3_next`, `gated_delta`), because verification
must be able to go back to any row.
"""

from collections.abc import Callable
from typing import NamedTuple

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.gated_delta import compute_g, gated_delta_kernel, normalize_qk

from dflash_mlx.targets.row_invariance import Op
from dflash_mlx.targets.state import RecurrentState


class Projected(NamedTuple):
    """What a layer's input projections give.

    qkv: `[1, rows, conv_dim]`, queries, keys and values side by side.
    z: `[1, rows, value_heads * value_dim]`, the output gate.
    a, b: `[1, rows, value_heads]`, what decay and write strength are made from.
    """

    qkv: mx.array
    z: mx.array
    a: mx.array
    b: mx.array


class Writes(NamedTuple):
    """What rows write into the state: all that is needed to repeat them.

    k: `[1, rows, key_heads, key_dim]`, normed; v: `[1, rows, value_heads, value_dim]`.
    g, beta: `[1, rows, value_heads]`, decay and write strength.
    """

    k: mx.array
    v: mx.array
    g: mx.array
    beta: mx.array


class RecurrentLayer:
    """One layer of `mlx_lm.models.qwen3_5` or `qwen3_next`, called as a function of rows and state.

    Attributes:
        ops: what it does beside its modules, for exact verification.
    """

    ops: tuple[Op, ...] = ("recurrence", "norm", "elementwise")

    def __init__(self, layer: nn.Module, project: Callable[[nn.Module, mx.array], Projected]) -> None:
        """project: gives the input projections of the layer's `linear_attn` over `[1, rows, hidden]`."""
        self.layer, self.project = layer, project
        self._compiled = mx.compile(self._rows)

    def __call__(self, x: mx.array, state: RecurrentState, position: mx.array, mask: mx.array, commit: bool = False) -> mx.array:
        """Rows `[1, rows, hidden]` from the committed state on, which knows neither positions nor masks.

        With `commit` they are committed at once: a chunk of a prompt, in too many sizes to compile for.
        """
        x, conv_rows, states, writes = (self._rows if commit else self._compiled)(x, state.conv, state.recurrent)
        if commit:
            rows = x.shape[1]
            state.advance(mx.contiguous(conv_rows[:, rows:]), states[-1])  # a view would keep all of the chunk's rows alive
        else:
            before, known = state.recurrent, dict(zip(range(x.shape[1], 0, -1), reversed(states)))
            state.keep(conv_rows, lambda count: known[count] if count in known else replay(count, Writes(*writes), before))
        return x

    def one_by_one(
        self, x: mx.array, state: RecurrentState, position: mx.array, mask: mx.array, commit: bool = False
    ) -> mx.array:
        """The same, each row as if it were alone."""
        conv, recurrent, outputs, conv_rows, states = state.conv, state.recurrent, [], [state.conv], []
        for row in mx.split(x, x.shape[1], axis=1):
            output, rows, [recurrent], _ = self._compiled(row, conv, recurrent)
            conv = rows[:, 1:]
            outputs.append(output)
            conv_rows.append(rows[:, -1:])
            states.append(recurrent)
        state.keep(mx.concatenate(conv_rows, axis=1), lambda count: states[count - 1])
        return mx.concatenate(outputs, axis=1)

    def _rows(self, x: mx.array, conv: mx.array, recurrent: mx.array) -> tuple[mx.array, mx.array, list[mx.array], Writes]:
        """The layer's output, the rows before the convolution with those before them, states as `recur` has them, the writes."""
        net, (B, rows, _) = self.layer.linear_attn, x.shape
        qkv, z, a, b = self.project(net, self.layer.input_layernorm(x))
        conv_rows = mx.concatenate([conv, qkv], axis=1)  # [1, kernel - 1 + rows, conv_dim]
        q, k, v = mx.split(nn.silu(net.conv1d(conv_rows)), [net.key_dim, 2 * net.key_dim], axis=-1)
        q, k = normalize_qk(
            q.reshape(B, rows, net.num_k_heads, net.head_k_dim),
            k.reshape(B, rows, net.num_k_heads, net.head_k_dim),
            inv_scale=net.head_k_dim**-0.5,
            eps=1e-6,
        )
        v = v.reshape(B, rows, net.num_v_heads, net.head_v_dim)
        writes = Writes(k, v, compute_g(net.A_log, a, net.dt_bias), mx.sigmoid(b))
        y, states = recur(q, writes, recurrent)
        y = net.norm(y, z.reshape(B, rows, net.num_v_heads, net.head_v_dim)).reshape(B, rows, -1)
        x = x + net.out_proj(y)
        return x + self.layer.mlp(self.layer.post_attention_layernorm(x)), conv_rows, states, writes


def recur(q: mx.array, writes: Writes, state: mx.array) -> tuple[mx.array, list[mx.array]]:
    """The gated delta rule over rows, one after the other (`mlx_lm.models.gated_delta`).

    Args:
        q: `[1, rows, key_heads, key_dim]`, normed and scaled.
        state: float32 `[1, value_heads, value_dim, key_dim]`.

    Returns:
        `[1, rows, value_heads, value_dim]`, and the states after the last rows: after each one in plain MLX, where they
        all exist anyway, and after the last one from mlx-lm's Metal kernel, which keeps the others in registers.
    """
    if _has_kernel(q):
        y, last = gated_delta_kernel(q, *writes, state)
        return y, [last]
    outputs, states = [], []
    for queries, row in zip(_heads_of_values(q, state.shape[1]), zip(*_writes_by_row(writes))):
        state = _write(*row, state)
        outputs.append((state * queries).sum(axis=-1).astype(q.dtype))
        states.append(state)
    return mx.stack(outputs, axis=1), states


def replay(count: int, writes: Writes, state: mx.array) -> mx.array:
    """The state after the first `count` rows: bit for bit what `recur` had there."""
    writes = Writes(*(rows[:, :count] for rows in writes))
    if _has_kernel(writes.k):
        return gated_delta_kernel(writes.k, *writes, state)[1]
    for row in zip(*_writes_by_row(writes)):
        state = _write(*row, state)
    return state


def _has_kernel(k: mx.array) -> bool:
    """Whether mlx-lm's Metal kernel serves these rows."""
    return mx.default_device() == mx.gpu and mx.metal.is_available() and k.shape[-1] % 32 == 0


def _writes_by_row(writes: Writes) -> tuple[list[mx.array], list[mx.array], list[mx.array], list[mx.array]]:
    """The writes of each row, each shaped to meet the state `[1, value_heads, value_dim, key_dim]`."""
    rows, heads = writes.v.shape[1:3]
    v, g, beta = (list(mx.split(part.reshape(rows, heads, -1, 1), rows)) for part in writes[1:])
    return _heads_of_values(writes.k, heads), v, g, beta


def _heads_of_values(x: mx.array, heads: int) -> list[mx.array]:
    """Rows of queries or keys, each `[1, value_heads, 1, key_dim]`."""
    _, rows, key_heads, key_dim = x.shape
    return list(mx.split(mx.repeat(x, heads // key_heads, axis=2).reshape(rows, heads, 1, key_dim), rows))


def _write(k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array) -> mx.array:
    """The state after one more row."""
    state = state * g
    remembered = (state * k).sum(axis=-1, keepdims=True)
    return state + k * ((v - remembered) * beta)
