"""Which of MLX's ops are row-invariant on this device at a target's own shapes: tried out, where the table knows nothing."""

from collections.abc import Callable, Iterator

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.activations import swiglu
from mlx_lm.models.gated_delta import compute_g, normalize_qk

from dflash_mlx.kernels import MAX_ROWS
from dflash_mlx.targets.attention import AttentionLayer
from dflash_mlx.targets.gated_delta import RecurrentLayer
from dflash_mlx.targets.row_invariance import Op
from dflash_mlx.targets.transformer import TransformerTarget

# Makes the results of `count` rows from row `start` on: `[1, count, ...]`.
Trial = Callable[[int, int], mx.array]


def row_invariant_ops(target: TransformerTarget) -> frozenset[Op]:
    """The ops whose rows have the same bits alone and among 2 to `MAX_ROWS`, at every shape that the target has for them.

    Of norm, rope, elementwise ops as its layers compile them, and the recurrent layers' convolution.
    """
    outcomes: dict[Op, list[bool]] = {}
    for op, trial in _trials(target):
        outcomes.setdefault(op, []).append(_same_bits(trial))
    return frozenset(op for op, outcome in outcomes.items() if all(outcome))


def _same_bits(trial: Trial) -> bool:
    alone = mx.concatenate([trial(row, 1) for row in range(MAX_ROWS)], axis=1)
    together = [mx.array_equal(trial(0, rows), alone[:, :rows]) for rows in range(2, MAX_ROWS + 1)]
    return bool(mx.stack(together).all().item())


def _trials(target: TransformerTarget) -> Iterator[tuple[Op, Trial]]:
    hidden, dtype = target.config.hidden_size, target.dtype
    yield "norm", _of_rows(target.module.model.norm, dtype, hidden)
    # how an elementwise op is cut into threads depends on its size alone
    yield "elementwise", _of_rows(mx.compile(swiglu), dtype, 4 * hidden, arguments=2)
    yield "elementwise", _of_rows(mx.compile(mx.add), dtype, hidden, arguments=2)
    attention = next((layer for layer in target.layers if isinstance(layer, AttentionLayer)), None)
    if attention:
        yield from _of_attention(attention, dtype)
    recurrent = next((layer for layer in target.layers if isinstance(layer, RecurrentLayer)), None)
    if recurrent:
        yield from _of_recurrence(recurrent.layer.linear_attn, dtype)


def _of_attention(layer: AttentionLayer, dtype: mx.Dtype) -> Iterator[tuple[Op, Trial]]:
    module, head_dim = layer.layer.self_attn, layer.head_dim
    for norm, heads in ((module.q_norm, layer.heads), (module.k_norm, layer.kv_heads)):
        yield "norm", _of_rows(norm, dtype, heads, head_dim)
        yield "rope", _of_positions(module.rope, dtype, heads, head_dim)
    yield "elementwise", _of_rows(mx.compile(_gated), dtype, layer.heads * head_dim, arguments=2)


def _of_recurrence(net: nn.Module, dtype: mx.Dtype) -> Iterator[tuple[Op, Trial]]:
    yield "norm", _of_rows(net.norm, dtype, net.num_v_heads, net.head_v_dim, arguments=2)
    normed = mx.compile(lambda q: normalize_qk(q, q, inv_scale=net.head_k_dim**-0.5, eps=1e-6)[0])
    yield "norm", _of_rows(normed, dtype, net.num_k_heads, net.head_k_dim)
    yield "elementwise", _of_rows(lambda a: compute_g(net.A_log, a, net.dt_bias), dtype, net.num_v_heads)
    yield "elementwise", _of_rows(mx.compile(mx.sigmoid), dtype, net.num_v_heads)
    yield "elementwise", _of_rows(mx.compile(nn.silu), dtype, net.conv_dim)
    yield "convolution", _of_windows(net.conv1d, dtype, net.conv_kernel_size, net.conv_dim)


def _gated(y: mx.array, gate: mx.array) -> mx.array:
    return y * mx.sigmoid(gate)


def _of_rows(function: Callable[..., mx.array], dtype: mx.Dtype, *shape: int, arguments: int = 1) -> Trial:
    xs = [mx.random.normal((1, MAX_ROWS, *shape), dtype, key=mx.random.key(i)) for i in range(arguments)]
    return lambda start, count: function(*(x[:, start : start + count] for x in xs))


def _of_positions(rope: Callable[..., mx.array], dtype: mx.Dtype, heads: int, head_dim: int) -> Trial:
    x = mx.random.normal((1, MAX_ROWS, heads, head_dim), dtype, key=mx.random.key(0))
    return lambda start, count: rope(
        x[:, start : start + count].transpose(0, 2, 1, 3), offset=mx.array([1000 + start], mx.int32)
    ).transpose(0, 2, 1, 3)


def _of_windows(convolution: Callable[..., mx.array], dtype: mx.Dtype, taps: int, channels: int) -> Trial:
    x = mx.random.normal((1, MAX_ROWS + taps - 1, channels), dtype, key=mx.random.key(0))
    return lambda start, count: convolution(x[:, start : start + count + taps - 1])
