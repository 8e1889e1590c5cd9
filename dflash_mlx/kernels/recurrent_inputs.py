"""What a Gated DeltaNet layer does between its input projections and its recurrence, in one dispatch.

The rows before the convolution that the last block's accepted rows end with, then the new ones, go through the short
depthwise convolution and SiLU and fall into queries, keys and values; queries and keys are normalised; decay and write
strength are made from a and b (`mlx_lm.models.qwen3_5.GatedDeltaNet`, `gated_delta.normalize_qk`, `gated_delta.compute_g`):

    q, k, v = split(silu(conv1d(rows)))
    q = q / sqrt(sum(q²) + 1e-6) / sqrt(key_dim)    k = k / sqrt(sum(k²) + 1e-6)
    g = exp(-exp(A_log) softplus(a + dt_bias))      beta = sigmoid(b)

New rows may be a tree: the convolution then reads the rows on the path to each.

The kernel rounds to the activations' dtype where MLX's ops do, and no result depends on the number of rows. It reads its
parts of a joint projection where they stand.
"""

from typing import NamedTuple

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.gated_delta import compute_g, normalize_qk

from dflash_mlx.kernels import metal_kernel
from dflash_mlx.kernels.columns import Columns, columns_of
from dflash_mlx.kernels.gated_delta import Writes

INPUTS = ("conv_rows", "before", "parents", "qkv", "a", "b", "conv_weight", "A_log", "dt_bias")
OUTPUTS = ("q", "k", "v", "g", "beta", "kept")


class Weights(NamedTuple):
    """The parameters of a layer, each an array of its own, not a view.

    conv: `[conv_dim, kernel, 1]`, depthwise, without bias; conv_dim is 2 * key_heads * key_dim + value_heads * value_dim.
    A_log, dt_bias: `[value_heads]`.
    """

    conv: mx.array
    A_log: mx.array
    dt_bias: mx.array


class RecurrentInputs(NamedTuple):
    """q: `[1, rows, key_heads, key_dim]`, normed and scaled; writes: the rest of what the recurrence takes.

    conv_rows: `[1, kernel - 1 + rows, conv_dim]`, the new rows before the convolution with those before them in front.
    """

    q: mx.array
    writes: Writes
    conv_rows: mx.array


def covers(key_heads: int, key_dim: int, value_heads: int, value_dim: int, dtype: mx.Dtype, dt_bias: mx.Dtype) -> bool:
    """Whether the Metal kernel serves these heads, with activations and the bias of the decay of these dtypes; any rows."""
    return (
        value_heads % key_heads == 0
        and max(key_dim, value_dim) <= 512  # what a lane has of it fits into registers
        and dtype in (mx.bfloat16, mx.float16, mx.float32)
        and dt_bias in (dtype, mx.float32)
    )


def recurrent_inputs_reference(
    conv_rows: mx.array,
    before: mx.array,
    qkv: mx.array | Columns,
    a: mx.array | Columns,
    b: mx.array | Columns,
    weights: Weights,
    key_heads: int,
    key_dim: int,
    parents: mx.array | None = None,
) -> RecurrentInputs:
    """As `recurrent_inputs_metal`, in plain MLX."""
    qkv, a, b = (columns_of(part).view for part in (qkv, a, b))
    rows, value_heads, (conv_dim, kernel, _) = qkv.shape[1], weights.A_log.size, weights.conv.shape
    if conv_rows.shape[1] > kernel - 1:
        conv_rows = mx.take(conv_rows, before, axis=1)
    conv_rows = mx.concatenate([conv_rows, qkv], axis=1)
    if parents is None:
        x = mx.conv1d(conv_rows, weights.conv, groups=conv_dim)
    else:
        read = conv_rows[0][_taps(parents, kernel)]  # [rows, kernel, conv_dim]
        x = mx.conv1d(read, weights.conv, groups=conv_dim).swapaxes(0, 1)
    q, k, v = mx.split(nn.silu(x), [key_heads * key_dim, 2 * key_heads * key_dim], axis=-1)
    q, k = (part.reshape(1, rows, key_heads, key_dim) for part in (q, k))
    q, k = normalize_qk(q, k, inv_scale=key_dim**-0.5, eps=1e-6)
    v = v.reshape(1, rows, value_heads, -1)
    return RecurrentInputs(q, Writes(k, v, compute_g(weights.A_log, a, weights.dt_bias), mx.sigmoid(b)), conv_rows)


def _taps(parents: mx.array, kernel: int) -> mx.array:
    """The places, `[rows, kernel]`, that each row's convolution reads: of the `kernel` - 1 rows before the block and its own."""
    start = kernel - 1  # of the block's own
    previous = mx.concatenate([mx.arange(start) - 1, start + parents])
    places = [start + mx.arange(parents.size)]
    for _ in range(kernel - 1):
        places.append(previous[places[-1]])
    return mx.stack(places[::-1], axis=1)


def recurrent_inputs_metal(
    conv_rows: mx.array,
    before: mx.array,
    qkv: mx.array | Columns,
    a: mx.array | Columns,
    b: mx.array | Columns,
    weights: Weights,
    key_heads: int,
    key_dim: int,
    parents: mx.array | None = None,
) -> RecurrentInputs:
    """The recurrence's inputs for new rows.

    Args:
        conv_rows: `[1, kernel - 1 + previous, conv_dim]`, as the last block's call returned them; zeros for a fresh state.
        before: int32 `[kernel - 1]`, the places in it of the newest accepted rows; others are not looked at.
        qkv: `[1, rows, conv_dim]`, queries, keys and values side by side, projected.
        a, b: `[1, rows, value_heads]`, projected; all three may be columns of wider rows.
        parents: int32 `[rows]`, whom each row follows, a row before it or -1, the accepted ones; None: the row before.
    """
    parts = [columns_of(part) for part in (qkv, a, b)]
    activations = [part.rows for part in parts]
    rows, dtype = activations[0].shape[1], activations[0].dtype
    value_heads, (conv_dim, kernel, _) = weights.A_log.size, weights.conv.shape
    value_dim = (conv_dim - 2 * key_heads * key_dim) // value_heads
    keys, values, heads = (1, rows, key_heads, key_dim), (1, rows, value_heads, value_dim), (1, rows, value_heads)
    rate = mx.float32 if mx.float32 in (activations[1].dtype, weights.dt_bias.dtype) else dtype
    starts = [(name, part.start) for name, part in zip(("QkvStart", "AStart", "BStart"), parts)]
    sizes = [("Hk", key_heads), ("Dk", key_dim), ("Parts", -(-max(key_dim, value_dim) // 128))]
    q, k, v, g, beta, kept = metal_kernel("recurrent_inputs", INPUTS, OUTPUTS)(
        inputs=[conv_rows, before, mx.array([0], mx.int32) if parents is None else parents, *activations, *weights],
        template=[("T", dtype), ("D", rate), ("IsTree", parents is not None), ("Taps", kernel), *starts, *sizes],
        grid=(32, rows, 2 * key_heads + value_heads),
        threadgroup=(32, 1, 1),
        output_shapes=[keys, keys, values, heads, heads, (1, kernel - 1 + rows, conv_dim)],
        output_dtypes=[dtype, dtype, dtype, mx.float32, dtype, dtype],
    )
    return RecurrentInputs(q, Writes(k, v, g, beta), kept)
