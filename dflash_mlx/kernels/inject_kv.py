"""K and V of context rows and block rows: from their projection to rows ready for the drafter's context cache.

A drafter layer's context cache wants, for row j at position p = `position` + j,

    K = rope(rms_norm(k) * weight, p)        V = v

in the layout `[kv_heads, rows, head_dim]`. Where the k and v of a row come from: the first `count` rows are context rows,
out of one projection for all layers (`DFlash.fuse`: k and v of layer 0, of layer 1, ...); the layer's own block rows stand
right behind them. `count` is known on the device only. The context rows that were not kept leave rows of zeros at the end,
beyond the block, where no mask lets anyone see.

Two ways to use it:
- all layers' context rows in one dispatch (`layer` None, no block): injection at a prompt, or without a draft;
- one layer's kept context rows and its own block rows in one dispatch (`layer` given): half as many writes into the
  cache as writing context and block one after the other.

What a Metal kernel makes is a new array: it cannot write into the cache. `put` does, one dispatch for K and one for V.

Rotation is RoPE's half-split form (not `traditional`) over the whole head: angle = p / frequencies[i] for the pair i,
i + head_dim / 2. `frequencies` is what `mx.fast.rope` takes as `freqs`, so it covers every scaling whose frequencies do not
depend on the length: default (`base ** (2 i / head_dim)`), linear (times its factor), llama3, yarn. Yarn's factor on the
rows themselves (`mscale`) goes into `norms` as float32. "dynamic" does not fit, nor heads that are rotated in part.
"""

from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels import metal_kernel

TILE, SIMDGROUPS = 8, 8  # as in inject_kv.metal
DTYPES = (mx.bfloat16, mx.float16, mx.float32)
INPUTS = ("context", "block", "norms", "frequencies", "eps", "position", "count", "capacities", "layer")
OUTPUTS = ("keys", "values", "slots")


class Injected(NamedTuple):
    """Rows for the cache.

    keys, values: `[layers, kv_heads, rows, head_dim]`, with `rows` those of the context and of the block together, and
        `layers` those asked for.
    slots: int32 `[layers, kv_heads * rows]`, where they belong in the layer's buffer taken as `[kv_heads * capacity,
        head_dim]`: see `put`.
    """

    keys: mx.array
    values: mx.array
    slots: mx.array


def inject_kv_reference(
    context: mx.array | None,
    block: mx.array | None,
    norms: mx.array,
    frequencies: mx.array,
    eps: float,
    position: mx.array,
    count: mx.array,
    capacities: mx.array,
    kv_heads: int,
    layer: int | None = None,
) -> Injected:
    """As `inject_kv_metal`, in plain MLX.

    Args:
        context: `[1, rows, layers * 2 * kv_heads * head_dim]`, the projected context rows; None: there are none.
        block: `[1, rows, 2 * kv_heads * head_dim]`, the projected block rows of `layer`; None: there are none.
        norms: `[layers, head_dim]`, each layer's k_norm weight, of the rows' dtype or float32.
        frequencies: float32 `[head_dim / 2]`.
        eps: of k_norm.
        position: int32 `[1]`, of the first context row.
        count: int32 `[1]`, how many context rows are kept; the block starts at `position` + `count`.
        capacities: int32 `[layers]`, rows of each layer's buffer. A full layer needs room for `position` + rows, those that
            are not kept included. In a sliding layer's ring, which must have room for the rows, position p stands in row
            p modulo the capacity.
        layer: the only layer to make rows of; None: all, from the context.
    """
    layers = range(len(norms)) if layer is None else [layer]
    width = 2 * kv_heads * norms.shape[1]
    parts = [[] if context is None else [context[0, :, i * width : (i + 1) * width]] for i in layers]
    projected = mx.stack([mx.concatenate([*part, *([] if block is None else [block[0]])]) for part in parts])
    rows, context_rows = projected.shape[1], 0 if context is None else context.shape[1]
    j, kept = mx.arange(rows), mx.clip(count, 0, context_rows)
    live = j < kept + rows - context_rows
    projected = projected[:, mx.where(live, mx.where(j < kept, j, j - kept + context_rows), 0)]
    projected = mx.where(live[:, None], projected, 0).reshape(len(layers), rows, 2, kv_heads, -1).transpose(2, 0, 3, 1, 4)
    keys = mx.fast.rms_norm(projected[0], None, eps) * norms[list(layers)][:, None, None]
    keys = mx.fast.rope(
        keys.astype(projected.dtype), keys.shape[-1], traditional=False, base=None, scale=1.0, offset=position, freqs=frequencies
    )
    capacity = capacities[list(layers)][:, None, None]
    slots = mx.arange(kv_heads)[:, None] * capacity + (position + j) % capacity
    return Injected(keys, projected[1], slots.reshape(len(layers), -1).astype(mx.int32))


def inject_kv_metal(
    context: mx.array | None,
    block: mx.array | None,
    norms: mx.array,
    frequencies: mx.array,
    eps: float,
    position: mx.array,
    count: mx.array,
    capacities: mx.array,
    kv_heads: int,
    layer: int | None = None,
) -> Injected:
    """One dispatch; every projected row that is kept is read once. For the arguments see `inject_kv_reference`."""
    given = [rows for rows in (context, block) if rows is not None]
    rows, dtype, head_dim = sum(part.shape[1] for part in given), given[0].dtype, norms.shape[1]
    layers = len(norms) if layer is None else 1
    kernel = metal_kernel("inject_kv", INPUTS, OUTPUTS)
    shape = (layers, kv_heads, rows, head_dim)
    return Injected(
        *kernel(
            inputs=[
                given[0],
                given[-1],
                norms,
                frequencies,
                mx.array([eps], mx.float32),
                position,
                count,
                capacities,
                mx.array([layer or 0], mx.int32),
            ],
            template=[
                ("T", dtype),
                ("HEADS", kv_heads),
                ("D", head_dim),
                ("CONTEXT", context is not None),
                ("BLOCK", block is not None),
            ],
            grid=(32, SIMDGROUPS, layers * -(-rows // TILE)),
            threadgroup=(32, SIMDGROUPS, 1),
            output_shapes=[shape, shape, (layers, kv_heads * rows)],
            output_dtypes=[dtype, dtype, mx.int32],
        )
    )


def put(buffer: mx.array, rows: mx.array, slots: mx.array) -> mx.array:
    """A layer's buffer `[1, kv_heads, capacity, head_dim]` with `rows` `[kv_heads, rows, head_dim]` at their `slots`.

    One dispatch, in place where nobody else holds the buffer. On Metal `slice_update` takes two (one computes the offset), an
    index that stands behind slices six (they become index arrays).
    """
    flat = buffer.reshape(-1, buffer.shape[-1])
    flat[slots] = rows.reshape(-1, buffer.shape[-1])
    return flat.reshape(buffer.shape)


def covers(dtype: mx.Dtype, head_dim: int) -> bool:
    """Whether the kernel serves rows of this dtype and size; any number of layers, heads and rows is served."""
    return dtype in DTYPES and head_dim % 64 == 0 and head_dim <= 512
