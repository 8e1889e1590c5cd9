"""The gated delta rule over a block, on a state that the last block's accepted rows are still to be written into.

A row (q, k, v, decay g, write strength beta) turns the state S of a value head into

    S' = S * g + (v - (S * g) k) beta kᵀ        and gives        y = S' q

(`mlx_lm.models.gated_delta`; value head h reads queries and keys of key head h // (value_heads / key_heads)). A block is
verified before it is known how many of its rows are accepted. So it leaves its `Writes` instead of a state, and the next
block's pass writes the first `count` of them into the state, keeps the result, and goes on with its own rows in registers:
the state is read once and written once a cycle, whatever was accepted.

The bits are those of one row at a time, and of mlx-lm's kernels: the same additions in the same order.
"""

from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels import metal_kernel

LANES = 4  # that share a row of the state, 4, 8, 16 or 32, `key_dim` being a multiple of 4 times as many: the bits are the same
INPUTS = ("state", "count", "last_k", "last_v", "last_g", "last_beta", "q", "k", "v", "g", "beta")
OUTPUTS = ("y", "committed")


class Writes(NamedTuple):
    """What rows write into the state: all that is needed to repeat them.

    k: `[1, rows, key_heads, key_dim]`, normed; v: `[1, rows, value_heads, value_dim]`.
    g, beta: `[1, rows, value_heads]`, decay (float32) and write strength.
    """

    k: mx.array
    v: mx.array
    g: mx.array
    beta: mx.array


def covers(key_heads: int, key_dim: int, value_heads: int, value_dim: int, dtype: mx.Dtype) -> bool:
    """Whether the Metal kernel serves these heads, with activations of `dtype`; any number of rows."""
    return (
        value_heads % key_heads == 0
        and key_dim % 32 == 0
        and key_dim <= 256  # what a lane has of it fits into registers
        and value_dim % 8 == 0
        and dtype in (mx.bfloat16, mx.float16, mx.float32)
    )


def gated_delta_reference(state: mx.array, last: Writes, count: mx.array, q: mx.array, new: Writes) -> tuple[mx.array, mx.array]:
    """As `gated_delta_metal`, in plain MLX: all states of the last block are made, and the one after row `count` is picked."""
    committed = mx.concatenate([state, *states_after(last, state)])[count]
    return outputs(q, states_after(new, committed)), committed


def gated_delta_metal(state: mx.array, last: Writes, count: mx.array, q: mx.array, new: Writes) -> tuple[mx.array, mx.array]:
    """Writes accepted rows into the state and runs new ones from there.

    Args:
        state: float32 `[1, value_heads, value_dim, key_dim]`, before the last block.
        last: the last block's rows, one at least: a fresh state has a row of zeros, and count 0.
        count: int32 `[1]`, how many of them were accepted; later ones are not looked at.
        q: `[1, rows, key_heads, key_dim]`, normed and scaled.
        new: the new rows.

    Returns:
        y `[1, rows, value_heads, value_dim]` of q's dtype, and the state after the accepted rows.
    """
    rows, (_, value_heads, value_dim, key_dim) = q.shape[1], state.shape
    y, committed = metal_kernel("gated_delta", INPUTS, OUTPUTS)(
        inputs=[state, count, *last, q, *new],
        template=[("T", q.dtype), ("Dk", key_dim), ("Lanes", LANES)],
        grid=(32, value_dim * LANES // 32, value_heads),
        threadgroup=(32, 2, 1),
        output_shapes=[(1, rows, value_heads, value_dim), state.shape],
        output_dtypes=[q.dtype, mx.float32],
    )
    return y, committed


def states_after(writes: Writes, state: mx.array) -> list[mx.array]:
    """The states after each of the rows, in plain MLX."""
    rows, heads = writes.v.shape[1:3]
    vs, gs, betas = (mx.split(part.reshape(rows, heads, -1, 1), rows) for part in writes[1:])
    states = []
    for k, v, g, beta in zip(_heads_of_values(writes.k, heads), vs, gs, betas):
        state = state * g
        remembered = (state * k).sum(axis=-1, keepdims=True)
        state = state + k * ((v - remembered) * beta)
        states.append(state)
    return states


def outputs(q: mx.array, states: list[mx.array]) -> mx.array:
    """y `[1, rows, value_heads, value_dim]`: what the queries of each row find in the state after it, in plain MLX."""
    queries = _heads_of_values(q, states[0].shape[1])
    return mx.stack([(state * row).sum(axis=-1).astype(q.dtype) for row, state in zip(queries, states)], axis=1)


def _heads_of_values(x: mx.array, heads: int) -> list[mx.array]:
    """Rows of queries or keys, each `[1, value_heads, 1, key_dim]`."""
    _, rows, key_heads, key_dim = x.shape
    return list(mx.split(mx.repeat(x, heads // key_heads, axis=2).reshape(rows, heads, 1, key_dim), rows))
