"""The Gated DeltaNet recurrence of the hybrid families, able to stop after any row of a verified block.

Ours, over mlx-lm's weights and equations (`mlx_lm.models.qwen3_5`, `gated_delta`), because verification must be able
to go back to any row.
"""

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.gated_delta import gated_delta_update, normalize_qk

from dflash_mlx.targets.state import RecurrentState


def gated_delta_net(
    net: nn.Module, qkv: mx.array, z: mx.array, a: mx.array, b: mx.array, state: RecurrentState, commit: bool
) -> mx.array:
    """A Gated DeltaNet layer after its input projections, from the committed state.

    Args:
        net: mlx-lm's layer.
        qkv: `[1, rows, conv_dim]`, queries, keys and values side by side.
        z: `[1, rows, value_heads, value_dim]`, the output gate.
        a, b: `[1, rows, value_heads]`, what decay and write strength are made from.

    Returns:
        `[1, rows, hidden]`.
    """
    B, rows, _ = qkv.shape
    conv_rows = mx.concatenate([state.conv, qkv], axis=1)  # [1, kernel - 1 + rows, conv_dim]
    q, k, v = mx.split(nn.silu(net.conv1d(conv_rows)), [net.key_dim, 2 * net.key_dim], axis=-1)
    q, k = normalize_qk(
        q.reshape(B, rows, net.num_k_heads, net.head_k_dim),
        k.reshape(B, rows, net.num_k_heads, net.head_k_dim),
        inv_scale=net.head_k_dim**-0.5,
        eps=1e-6,
    )
    v = v.reshape(B, rows, net.num_v_heads, net.head_v_dim)

    def recur(count: int, recurrent: mx.array) -> tuple[mx.array, mx.array]:
        inputs = [t[:, :count] for t in (q, k, v, a, b)]
        return gated_delta_update(*inputs, net.A_log, net.dt_bias, recurrent)

    out, last = recur(rows, state.recurrent)
    if commit:
        state.advance(mx.contiguous(conv_rows[:, rows:]), last)  # a view would keep all of the chunk's rows alive
    else:
        before = state.recurrent
        state.keep(conv_rows, last, lambda count: recur(count, before)[1])
    return net.out_proj(net.norm(out, z).reshape(B, rows, -1))
