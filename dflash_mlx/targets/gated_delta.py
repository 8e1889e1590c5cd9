"""The Gated DeltaNet recurrence of the hybrid families, with the state after every row kept until the count is known.

Ours, over mlx-lm's weights and equations (`mlx_lm.models.qwen3_5`, `gated_delta`), because verification must be able
to go back to any row of a block.
"""

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.gated_delta import gated_delta_update, normalize_qk

from dflash_mlx.targets.state import RecurrentState


def gated_delta_net(
    net: nn.Module, qkv: mx.array, z: mx.array, a: mx.array, b: mx.array, state: RecurrentState, commit: bool
) -> mx.array:
    """A Gated DeltaNet layer after its input projections, from the committed state.

    Without `commit` the recurrence runs row by row, so that each row's state is there to be picked, and each row is
    computed just as plain decoding computes it.

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

    def recur(start: int, stop: int, recurrent: mx.array) -> tuple[mx.array, mx.array]:
        inputs = [t[:, start:stop] for t in (q, k, v, a, b)]
        return gated_delta_update(*inputs, net.A_log, net.dt_bias, recurrent)

    if commit:
        out, state.recurrent = recur(0, rows, state.recurrent)
        state.conv = conv_rows[:, rows:]
    else:
        outs, states = [], [state.recurrent]
        for row in range(rows):
            out, recurrent = recur(row, row + 1, states[-1])
            outs.append(out)
            states.append(recurrent)
        out = mx.concatenate(outs, axis=1)
        state.keep(conv_rows, states[1:])
    return net.out_proj(net.norm(out, z).reshape(B, rows, -1))
