"""The gated delta rule over a block, on a state that the last block's accepted rows are still to be written into.

A row (q, k, v, decay g, write strength beta) turns the state S of a value head into

    S' = S * g + (v - (S * g) k) beta kᵀ        and gives        y = S' q

(`mlx_lm.models.gated_delta`; value head h reads queries and keys of key head h // (value_heads / key_heads)). A block is
verified before it is known how many of its rows are accepted. So it leaves its `Writes` instead of a state, and the next
block's pass writes the first `count` of them into the state, keeps the result, and goes on with its own rows in registers:
the state is read once and written once a cycle, whatever was accepted.

The bits are those of one row at a time, and of mlx-lm's kernels: the same additions in the same order.

The new rows may be a tree: each starts from its parent's state. A lane holds the committed state beside the one it works on, and
walks from there again where a row does not follow the one before it.
"""

from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels import metal_kernel

LANES = 4  # that share a row of the state, 4, 8, 16 or 32, `key_dim` being a multiple of 4 times as many: the bits are the same
INPUTS = ("state", "path", "parents", "last_k", "last_v", "last_g", "last_beta", "q", "k", "v", "g", "beta")
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


def gated_delta_reference(
    state: mx.array, last: Writes, path: mx.array, q: mx.array, new: Writes, parents: mx.array | None = None
) -> tuple[mx.array, mx.array]:
    """As `gated_delta_metal`, in plain MLX: row after row, each from its parent's state."""
    count, rows = path[:1], path[1 : 1 + last.v.shape[1]]
    committed = state
    for i in range(rows.size):
        longer = states_after(Writes(*(mx.take(part, rows[i : i + 1], axis=1) for part in last)), committed)[-1]
        committed = mx.where(i < count, longer, committed)
    if parents is None:
        return outputs(q, states_after(new, committed)), committed
    states = [committed]  # before the rows, then after each of them
    for i in range(q.shape[1]):
        parent = mx.take(mx.concatenate(states), parents[i : i + 1] + 1, axis=0)
        states += states_after(Writes(*(part[:, i : i + 1] for part in new)), parent)
    return outputs(q, states[1:]), committed


def gated_delta_metal(
    state: mx.array, last: Writes, path: mx.array, q: mx.array, new: Writes, parents: mx.array | None = None
) -> tuple[mx.array, mx.array]:
    """Writes accepted rows into the state and runs new ones from there.

    Args:
        state: float32 `[1, value_heads, value_dim, key_dim]`, before the last block.
        last: the last block's rows, one at least: a fresh state has a row of zeros, and an empty path.
        path: int32, how many of them were accepted, then which, in order; what stands behind is not looked at.
        q: `[1, rows, key_heads, key_dim]`, normed and scaled.
        new: the new rows.
        parents: int32 `[rows]`, whom each of them follows, a row before it or -1, the committed state; None: the row before.

    Returns:
        y `[1, rows, value_heads, value_dim]` of q's dtype, and the state after the accepted rows.
    """
    rows, (_, value_heads, value_dim, key_dim) = q.shape[1], state.shape
    y, committed = metal_kernel("gated_delta", INPUTS, OUTPUTS)(
        inputs=[state, path, mx.array([0], mx.int32) if parents is None else parents, *last, q, *new],
        template=[("T", q.dtype), ("Dk", key_dim), ("Lanes", LANES), ("IsTree", parents is not None)],
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


class Block(NamedTuple):
    """What a block writes into the state it started from, so that the state after any of its rows can be made.

    keys: float32 `[value_heads, rows, key_dim]`; corrections: float32 `[value_heads, rows, value_dim]`, what each row adds
    along its key; faded: float32 `[value_heads, rows, 1 + rows]`, what is left at each row of the state and of each row.
    """

    keys: mx.array
    corrections: mx.array
    faded: mx.array


def whole_block(q: mx.array, writes: Writes, state: mx.array, ancestors: mx.array | None = None) -> tuple[mx.array, Block]:
    """y and what is written, of all rows at once, in plain MLX: some twenty operations, where `states_after` takes ten a row.

    Each row's correction depends on the earlier ones: a triangular system (the UT transform of Yang et al. 2024, arXiv
    2412.06464), solved by (I + A)^-1 = (I - A)(I + A^2)(I + A^4)..., as A is strictly lower triangular. No product of decays is
    divided by another: they may underflow. The rounding is not that of one row at a time.

    ancestors: bool `[rows, rows]`, which rows each of them comes after, itself included; None: all that stand before it.
    """
    (_, rows, heads, _), position = writes.v.shape, mx.arange(q.shape[1])[:, None]
    keys, queries = (_by_head(mx.repeat(x, heads // x.shape[2], axis=2)) for x in (writes.k, q))
    g, beta = _by_head(writes.g[..., None]), _by_head(writes.beta[..., None])
    column = mx.arange(1 + rows)
    if ancestors is None:
        faded = mx.cumprod(mx.where(column <= position, g, 1.0), axis=1) * (column <= position + 1)
    else:
        faded = _faded_along(ancestors, g)
    both = mx.concatenate([keys, queries], axis=1)
    remembered = (both @ state[0].swapaxes(1, 2)) * mx.concatenate([faded[..., :1]] * 2, axis=1)
    alike = both @ keys.swapaxes(1, 2)
    between = faded[..., 1:] * beta * alike[:, :rows] * (column[:-1] < position)  # not with itself
    corrections = (_by_head(writes.v) - remembered[:, :rows]) * beta
    corrections = corrections - between @ corrections
    for _ in range((rows - 1).bit_length() - 1):
        between = between @ between
        corrections = corrections + between @ corrections
    y = remembered[:, rows:] + (faded[..., 1:] * alike[:, rows:]) @ corrections
    return y.swapaxes(0, 1)[None].astype(q.dtype), Block(keys, corrections, faded)


def _faded_along(ancestors: mx.array, g: mx.array) -> mx.array:
    """`Block.faded` of a tree, from its decays `[value_heads, rows, 1]`: products over the rows on the path between two."""
    rows = g.shape[1]
    # row r, column c, row t: whether t is on the path to r and not on the one to c (column 0: before all rows)
    passed = mx.pad(ancestors, [(1, 0), (0, 0)])
    between = ancestors[:, None] & ~passed[None]
    faded = mx.where(between, g.reshape(-1, 1, 1, rows), 1.0).prod(axis=-1)
    return faded * mx.pad(ancestors, [(0, 0), (1, 0)], constant_values=True)


def state_after(row: mx.array, block: Block, state: mx.array) -> mx.array:
    """The state after a row, int32 `[1]`, and those it follows, of a block that started from `state`."""
    faded = mx.take(block.faded, row, axis=1)
    written = (block.corrections * faded[..., 1:].swapaxes(1, 2)).swapaxes(1, 2) @ block.keys
    return state * faded[..., :1] + written


def _by_head(x: mx.array) -> mx.array:
    """`[1, rows, heads, dim]` -> float32 `[heads, rows, dim]`."""
    return x[0].swapaxes(0, 1).astype(mx.float32)


def outputs(q: mx.array, states: list[mx.array]) -> mx.array:
    """y `[1, rows, value_heads, value_dim]`: what the queries of each row find in the state after it, in plain MLX."""
    queries = _heads_of_values(q, states[0].shape[1])
    return mx.stack([(state * row).sum(axis=-1).astype(q.dtype) for row, state in zip(queries, states)], axis=1)


def _heads_of_values(x: mx.array, heads: int) -> list[mx.array]:
    """Rows of queries or keys, each `[1, value_heads, 1, key_dim]`."""
    _, rows, key_heads, key_dim = x.shape
    return list(mx.split(mx.repeat(x, heads // key_heads, axis=2).reshape(rows, heads, 1, key_dim), rows))
