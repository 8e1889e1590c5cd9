"""Attention of a block's rows over a long context in K and V buffers, as verification needs it.

    y[h, i] = softmax(q[h, i] · K[h // group] * head_dim ** -0.5 over keys <= position + i) V[h // group]

with `position` known on the device only. There is no mask array, and keys from `position` + rows on are not read, whatever
the capacity of the buffers.

Two dispatches. The keys are split into chunks of `CHUNK` by their absolute index; the first makes the unnormed sums of
every chunk, reading its keys and values once for all query heads and rows; the second joins a row's chunks in order.
What is added for a row, and in which order, depends on its absolute position alone: its bits are the same alone and
among other rows, and whatever the capacity.
"""

import mlx.core as mx

from dflash_mlx.kernels import metal_kernel

# Rows of the shortest buffers that it is used over. One verdict cannot hold for all lengths: a few chunks occupy a fraction of
# a GPU, and the second dispatch must pay for itself; with more keys, more is saved. So its speed is judged over just so many,
# and over fewer MLX's op does the work as ever.
FROM = 2048
CHUNK = 256  # keys a threadgroup takes
SIMDGROUPS = 8  # as in verify_attention.metal
QUERIES = 64  # heads of a kv head times rows: what the registers of 8 simdgroups hold
DTYPES = (mx.bfloat16, mx.float16, mx.float32)


def verify_attention_reference(
    queries: mx.array, keys: mx.array, values: mx.array, position: mx.array, ancestors: mx.array | None = None
) -> mx.array:
    """As `verify_attention_metal`, in plain MLX.

    Args:
        queries: `[1, heads, rows, head_dim]`; row i stands at `position` + i.
        keys, values: `[1, kv_heads, capacity, head_dim]`; position p stands in row p, the block's own rows included.
        position: int32 `[1]`; `position` + rows must not be more than the capacity.
        ancestors: bool `[rows, rows]`, which of the block's rows each of them sees, none behind it; None: all up to itself.

    Returns:
        `[1, heads, rows, head_dim]`.
    """
    rows, head_dim = queries.shape[2:]
    column = mx.arange(keys.shape[2])
    mask = column <= (position + mx.arange(rows))[:, None]
    if ancestors is not None:
        of_block = mx.take_along_axis(ancestors, mx.broadcast_to(mx.clip(column - position, 0, rows - 1), mask.shape), axis=1)
        mask = mask & ((column < position) | of_block)
    return mx.fast.scaled_dot_product_attention(queries, keys, values, scale=head_dim**-0.5, mask=mask)


def verify_attention_metal(
    queries: mx.array, keys: mx.array, values: mx.array, position: mx.array, ancestors: mx.array | None = None
) -> mx.array:
    """Two dispatches; for the arguments see `verify_attention_reference`.

    What is returned is a view of `[1, rows, heads, head_dim]`: transposed back it is no copy.
    """
    (_, heads, rows, head_dim), (_, kv_heads, capacity, _) = queries.shape, keys.shape
    chunks = -(-capacity // CHUNK)
    seen = mx.array([0], mx.uint32)
    if ancestors is not None:
        bits = mx.left_shift(mx.array(1, mx.uint32), mx.arange(rows, dtype=mx.uint32))
        seen = mx.where(ancestors, bits, 0).sum(axis=1).astype(mx.uint32)
    partials = heads, rows, chunks
    sums, bests, weights = metal_kernel(
        "verify_attention", ("queries", "keys", "values", "position", "seen"), ("sums", "bests", "weights")
    )(
        inputs=[queries, keys, values, position, seen],
        template=[
            ("T", queries.dtype),
            ("D", head_dim),
            ("HEADS", heads),
            ("KV_HEADS", kv_heads),
            ("CHUNK", CHUNK),
            ("PER", -(-heads // kv_heads * rows // SIMDGROUPS)),
            ("TREE", ancestors is not None),
        ],
        grid=(32, SIMDGROUPS, kv_heads * chunks),
        threadgroup=(32, SIMDGROUPS, 1),
        output_shapes=[(*partials, head_dim), partials, partials],
        output_dtypes=[mx.float32] * 3,
    )
    [y] = metal_kernel("verify_attention_combine", ("sums", "bests", "weights", "position"), ("y",))(
        inputs=[sums, bests, weights, position],
        template=[("T", queries.dtype), ("D", head_dim), ("CHUNK", CHUNK)],
        grid=(head_dim, rows, heads),
        threadgroup=(head_dim, 1, 1),
        output_shapes=[(1, rows, heads, head_dim)],
        output_dtypes=[queries.dtype],
    )
    return y.transpose(0, 2, 1, 3)


def covers(dtype: mx.Dtype, heads: int, kv_heads: int, head_dim: int, rows: int) -> bool:
    """Whether the kernel serves these shapes; any capacity is served."""
    return dtype in DTYPES and head_dim in (128, 256) and heads % kv_heads == 0 and heads // kv_heads * rows <= QUERIES
