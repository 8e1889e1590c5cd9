"""The drafter's forward over many blocks of many texts at once: what `DFlash.hidden` computes, block by block.

All blocks of a text share its context's K and V. Block row i stands at the anchor's position + i; it sees the
context strictly before the anchor, and its own block, as if the other blocks were not there.
"""

from functools import partial

import mlx.core as mx

from dflash_mlx.drafters import DFlash
from dflash_mlx.drafters.dflash import Head
from dflash_mlx.drafters.layers import Attention
from dflash_mlx.training.corpus import Batch


def hidden_of_blocks(drafter: DFlash, target: Head, batch: Batch) -> mx.array:
    """Normed hidden states of every block's rows, the anchor's included: `[B, blocks, block_size, hidden]`."""
    config = drafter.config
    B, blocks, rows = batch.tokens.shape
    context = drafter.hidden_norm(drafter.fc(batch.features.astype(drafter.dtype)))
    masks = mx.full((B, blocks, rows - 1), config.mask_token_id, mx.int32)
    ids = mx.concatenate([batch.tokens[..., :1], masks], axis=-1)
    x = drafter.embed(ids.reshape(1, -1), target).reshape(B, blocks, rows, -1)
    visible: dict[tuple[int | None, bool], mx.array] = {}
    for i, layer in enumerate(drafter.layers):
        kind = (config.window(i), config.causal(i))
        if kind not in visible:
            visible[kind] = _visible(batch, *kind)
        x = layer(x, partial(_attention, layer.self_attn, context, batch.positions, visible[kind]), layer.mlp)
    return drafter.norm(x)


def _attention(attention: Attention, context: mx.array, positions: mx.array, mask: mx.array, x: mx.array) -> mx.array:
    """x: `[B, blocks, rows, hidden]`; context: `[B, length, hidden]`; mask: `[B, 1, blocks * rows, length + blocks * rows]`."""
    B, blocks, rows, hidden = x.shape

    def side_by_side(y: mx.array) -> mx.array:  # [B * blocks, heads, rows, head_dim] -> [B, heads, blocks * rows, head_dim]
        return y.reshape(B, blocks, -1, rows, y.shape[-1]).transpose(0, 2, 1, 3, 4).reshape(B, -1, blocks * rows, y.shape[-1])

    alone, anchors = x.reshape(B * blocks, rows, hidden), positions.reshape(-1)
    of_context = attention.layout(attention.k_proj(context), attention.v_proj(context), 0)
    of_blocks = [side_by_side(y) for y in attention.layout(attention.k_proj(alone), attention.v_proj(alone), anchors)]
    keys, values = (mx.concatenate([*pair], axis=2) for pair in zip(of_context, of_blocks))
    return attention.attend(side_by_side(attention.queries(alone, anchors)), keys, values, mask).reshape(x.shape)


def _visible(batch: Batch, window: int | None, causal: bool) -> mx.array:
    """Which keys every row sees: bool `[B, 1, blocks * rows, length + blocks * rows]`."""
    B, blocks, rows = batch.tokens.shape
    anchors = mx.repeat(batch.positions, rows, axis=1)[..., None]  # [B, blocks * rows, 1]
    block, row = mx.repeat(mx.arange(blocks), rows), mx.tile(mx.arange(rows), blocks)
    place = mx.arange(batch.features.shape[1])
    in_context = place < anchors
    in_block = block[:, None] == block
    if causal:
        in_block = in_block & (row[:, None] >= row)
    if window is not None:
        in_context = in_context & (anchors + row[:, None] - place < window)
        in_block = in_block & (mx.abs(row[:, None] - row) < window)
    own = mx.broadcast_to(in_block, (B, *in_block.shape))
    return mx.concatenate([in_context, own], axis=-1)[:, None]
