"""What a Gated DeltaNet layer does between its input projections and its recurrence, in one dispatch.

The rows before the convolution that the last block's accepted rows end with, then the new ones, go through the short
depthwise convolution and SiLU and fall into queries, keys and values; queries and keys are normalised; decay and write
strength are made from a and b (`mlx_lm.models.qwen3_5.GatedDeltaNet`, `gated_delta.normalize_qk`, `gated_delta.compute_g`):

    q, k, v = split(silu(conv1d(rows)))
    q = q / sqrt(sum(q²) + 1e-6) / sqrt(key_dim)    k = k / sqrt(sum(k²) + 1e-6)
    g = exp(-exp(A_log) softplus(a + dt_bias))      beta = sigmoid(b)

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

INPUTS = ("conv_rows", "count", "qkv", "a", "b", "conv_weight", "A_log", "dt_bias")
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
    count: mx.array,
    qkv: mx.array | Columns,
    a: mx.array | Columns,
    b: mx.array | Columns,
    weights: Weights,
    key_heads: int,
    key_dim: int,
) -> RecurrentInputs:
    """As `recurrent_inputs_metal`, in plain MLX."""
    qkv, a, b = (columns_of(part).view for part in (qkv, a, b))
    rows, value_heads, (conv_dim, kernel, _) = qkv.shape[1], weights.A_log.size, weights.conv.shape
    before = conv_rows if conv_rows.shape[1] == kernel - 1 else mx.take(conv_rows, count + mx.arange(kernel - 1), axis=1)
    conv_rows = mx.concatenate([before, qkv], axis=1)
    x = nn.silu(mx.conv1d(conv_rows, weights.conv, groups=conv_dim))
    q, k, v = mx.split(x, [key_heads * key_dim, 2 * key_heads * key_dim], axis=-1)
    q, k = (part.reshape(1, rows, key_heads, key_dim) for part in (q, k))
    q, k = normalize_qk(q, k, inv_scale=key_dim**-0.5, eps=1e-6)
    v = v.reshape(1, rows, value_heads, -1)
    return RecurrentInputs(q, Writes(k, v, compute_g(weights.A_log, a, weights.dt_bias), mx.sigmoid(b)), conv_rows)


def recurrent_inputs_metal(
    conv_rows: mx.array,
    count: mx.array,
    qkv: mx.array | Columns,
    a: mx.array | Columns,
    b: mx.array | Columns,
    weights: Weights,
    key_heads: int,
    key_dim: int,
) -> RecurrentInputs:
    """The recurrence's inputs for new rows.

    Args:
        conv_rows: `[1, kernel - 1 + previous, conv_dim]`, as the last block's call returned them; zeros for a fresh state.
        count: int32 `[1]`, how many of the last block's rows were accepted; later ones are not looked at.
        qkv: `[1, rows, conv_dim]`, queries, keys and values side by side, projected.
        a, b: `[1, rows, value_heads]`, projected; all three may be columns of wider rows.
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
        inputs=[conv_rows, count, *activations, *weights],
        template=[("T", dtype), ("D", rate), *starts, *sizes],
        grid=(32, rows, 2 * key_heads + value_heads),
        threadgroup=(32, 1, 1),
        output_shapes=[keys, keys, values, heads, heads, (1, kernel - 1 + rows, conv_dim)],
        output_dtypes=[dtype, dtype, dtype, mx.float32, dtype, dtype],
    )
    return RecurrentInputs(q, Writes(k, v, g, beta), kept)
