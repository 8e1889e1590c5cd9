"""DFlash: a block-diffusion drafter that reads the target's hidden states and guesses a whole block in one pass.

Method: the published DFlash checkpoints and their configuration contract. The target's hidden states after
`target_layer_ids` become K and V of every drafter layer ("KV injection"); the block [anchor, mask, mask, ...] is
embedded by the target, attends to those and to itself, and the target's own head reads the result.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.qwen3 import MLP
from mlx_lm.models.rope_utils import initialize_rope

from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.drafters.context import Context, LayerContext, SlidingContext


class Head(Protocol):
    """What a drafter borrows from its target."""

    def embed(self, ids: mx.array) -> mx.array: ...

    def lm_head(self, hidden: mx.array) -> mx.array: ...


class Draft(NamedTuple):
    """What a drafter proposes.

    ids: int32 `[drafts]`, the drafted tokens.
    q: float32 `[drafts, vocab]`, what each was drawn from, given those before it; None: nothing was drawn, all of it
        is on `ids`.
    """

    ids: mx.array
    q: mx.array | None


class Draw(Protocol):
    """How a drafter chooses among scores, which are logarithms of unnormed probabilities at temperature 1.

    Args:
        scores: `[..., n]`.
        filtered: whether top-k, top-p and min-p apply: the scores are of the whole vocabulary.

    Returns:
        index: int32 `[...]`.
        q: float32 `[..., n]`, exactly what it was drawn from; None: the best was taken.
    """

    def __call__(self, scores: mx.array, filtered: bool) -> tuple[mx.array, mx.array | None]: ...


def greedy(scores: mx.array, filtered: bool) -> tuple[mx.array, None]:
    """A `Draw` that takes the best."""
    return mx.argmax(scores, axis=-1).astype(mx.int32), None


class Attention(nn.Module):
    """Attention of a block's rows over the context and the block."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        hidden, self.heads, self.kv_heads = config.hidden_size, config.num_attention_heads, config.num_key_value_heads
        self.head_dim = config.head_dim
        self.q_proj = nn.Linear(hidden, self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, hidden, bias=False)
        self.q_norm = nn.RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = nn.RMSNorm(self.head_dim, config.rms_norm_eps)
        self.rope = initialize_rope(self.head_dim, config.rope_theta, False, config.rope_scaling, config.max_position_embeddings)

    def queries(self, x: mx.array, position: mx.array | int) -> mx.array:
        """Normed, rotated queries of rows `[B, rows, hidden]` at `position` and after: `[B, heads, rows, head_dim]`.

        `position` is an int, int32 `[1]`, or `[B]` for one start a batch entry.
        """
        B, rows, _ = x.shape
        queries = self.q_norm(self.q_proj(x).reshape(B, rows, self.heads, self.head_dim))
        return self.rope(queries.transpose(0, 2, 1, 3), offset=position)

    def keys_values(self, x: mx.array, position: mx.array | int) -> tuple[mx.array, mx.array]:
        """K and V of rows `[B, rows, hidden]`, in cache layout `[B, kv_heads, rows, head_dim]`."""
        return self.layout(self.k_proj(x), self.v_proj(x), position)

    def layout(self, keys: mx.array, values: mx.array, position: mx.array | int) -> tuple[mx.array, mx.array]:
        """Projected `[B, rows, kv_heads * head_dim]` -> normed, rotated K and plain V in cache layout."""
        B, rows, _ = keys.shape
        keys = self.k_norm(keys.reshape(B, rows, self.kv_heads, self.head_dim)).transpose(0, 2, 1, 3)
        values = values.reshape(B, rows, self.kv_heads, self.head_dim).transpose(0, 2, 1, 3)
        return self.rope(keys, offset=position), values

    def attend(self, queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array) -> mx.array:
        """`[B, heads, rows, head_dim]` over `[B, kv_heads, length, head_dim]` -> `[B, rows, hidden]`."""
        B, _, rows, _ = queries.shape
        y = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=self.head_dim**-0.5, mask=mask)
        return self.o_proj(y.transpose(0, 2, 1, 3).reshape(B, rows, -1))

    def __call__(self, x: mx.array, context: LayerContext, position: mx.array, mask: mx.array) -> mx.array:
        """Writes the block's K and V behind the context and attends to both. x: `[1, rows, hidden]`."""
        context.write(*self.keys_values(x, position), position)
        return self.attend(self.queries(x, position), context.keys, context.values, mask)


class Layer(nn.Module):
    """A drafter layer: pre-norm attention and MLP."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = MLP(config.hidden_size, config.intermediate_size)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)

    def __call__(self, x: mx.array, context: LayerContext, position: mx.array, mask: mx.array) -> mx.array:
        return self.around(x, lambda rows: self.self_attn(rows, context, position, mask))

    def around(self, x: mx.array, attention: Callable[[mx.array], mx.array]) -> mx.array:
        """The layer with `attention` given: `[..., rows, hidden]`, the rows of one block each."""
        x = x + attention(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class DFlash(nn.Module):
    """The drafter's weights, and the two things it does: `inject` and `draft`.

    It holds nothing of a request: that is in the `Context` it is given.
    """

    layer_class: type[Layer] = Layer

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.config = config
        self.fc = nn.Linear(len(config.target_layer_ids) * config.hidden_size, config.hidden_size, bias=False)
        self.hidden_norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.layers = [self.layer_class(config) for _ in range(config.num_hidden_layers)]
        self.norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)

    @property
    def dtype(self) -> mx.Dtype:
        """The dtype of activations and of the context cache."""
        return self.norm.weight.dtype

    def fuse(self) -> None:
        """Makes the K and V projections of all layers one matrix, so that injection is one matmul.

        The layers' own projections become views of it: nothing is held twice. Where a checkpoint quantises some of them
        otherwise (as mixtures of bits do), there is one matrix a kind. Call it once, after loading: what a block and its
        injection compute is compiled with the weights as they then are.
        """
        parts = [part for layer in self.layers for part in (layer.self_attn.k_proj, layer.self_attn.v_proj)]
        kinds: dict[tuple[Any, ...], list[int]] = {}
        for place, part in enumerate(parts):
            kind = type(part), *(getattr(part, name, None) for name in ("bits", "group_size", "mode"))
            kinds.setdefault(kind, []).append(place)
        self._context_projections = [(_concatenate([parts[i] for i in places]), places) for places in kinds.values()]
        self._compiled_block, self._compiled_inject = mx.compile(self._block), mx.compile(self._inject)

    def new_context(self, capacity: int = 0) -> Context:
        """An empty context with room for `capacity` positions."""
        context = Context([self._new_layer_context(i) for i in range(self.config.num_hidden_layers)])
        context.reserve(capacity)
        return context

    def _new_layer_context(self, layer: int) -> LayerContext:
        config, window = self.config, self.config.window(layer)
        sizes = config.num_key_value_heads, config.head_dim, self.dtype
        return LayerContext(*sizes) if window is None else SlidingContext(*sizes, window, config.block_size)

    def inject(self, features: mx.array, context: Context, position: mx.array) -> None:
        """Writes context features into the K and V of every layer.

        Args:
            features: `[1, rows, taps * hidden]`, the target's hidden states of `rows` committed positions.
            context: written in place; must have room for `position` + `rows`.
            position: int32 `[1]`, the position of the first row.
        """
        # chunks of a prompt come in too many sizes to compile for
        inject = self._compiled_inject if features.shape[1] <= self.config.block_size else self._inject
        context.arrays = inject(features, context.arrays, position)

    def _inject(self, features: mx.array, buffers: list[mx.array], position: mx.array) -> list[mx.array]:
        context = self._context_of(buffers)
        x = self.hidden_norm(self.fc(features.astype(self.dtype)))
        projected = [x] * (2 * len(self.layers))  # K and V of each layer in turn
        for fused, places in self._context_projections:
            for place, rows in zip(places, mx.split(fused(x), len(places), axis=-1)):
                projected[place] = rows
        for layer, cache, keys, values in zip(self.layers, context.layers, projected[::2], projected[1::2]):
            cache.write(*layer.self_attn.layout(keys, values, position), position)
        return context.arrays

    def hidden(self, anchor: mx.array, context: Context, position: mx.array, block_size: int, target: Head) -> mx.array:
        """Normed hidden states of a block's rows, the anchor's included: `[1, block_size, hidden]`."""
        masks = mx.full((block_size - 1,), self.config.mask_token_id, mx.int32)
        x = self.embed(mx.concatenate([anchor, masks])[None], target)
        x, context.arrays = self._compiled_block(x, context.arrays, position)
        return x

    def _block(self, x: mx.array, buffers: list[mx.array], position: mx.array) -> tuple[mx.array, list[mx.array]]:
        context, rows = self._context_of(buffers), x.shape[1]
        visible: dict[tuple[int | None, bool], mx.array] = {}
        for i, (layer, cache) in enumerate(zip(self.layers, context.layers)):
            kind = (self.config.window(i), self.config.causal(i))
            if kind not in visible:
                visible[kind] = cache.visible(position, rows, kind[1])
            x = layer(x, cache, position, visible[kind])
        return self.norm(x), context.arrays

    def _context_of(self, buffers: list[mx.array]) -> Context:
        context = self.new_context()
        context.arrays = buffers
        return context

    def draft(
        self, anchor: mx.array, context: Context, position: mx.array, block_size: int, target: Head, draw: Draw = greedy
    ) -> Draft:
        """Guesses the `block_size` - 1 tokens after the anchor.

        Args:
            anchor: int32 `[1]`, the newest committed token.
            context: the context injected so far; must have room for `position` + `block_size`.
            position: int32 `[1]`, the anchor's position: the number of context rows.
            block_size: anchor + drafts, 2 or more.
            target: embeds the block and reads the logits.
            draw: chooses each token.
        """
        hidden = self.hidden(anchor, context, position, block_size, target)[:, 1:]
        return self.choose(hidden, self.logits(hidden, target), anchor, draw)

    def embed(self, ids: mx.array, target: Head) -> mx.array:
        """The target's embeddings, in the drafter's dtype, scaled as the checkpoint wants them."""
        return target.embed(ids).astype(self.dtype) * self.config.input_embedding_scale

    def logits(self, hidden: mx.array, target: Head) -> mx.array:
        """The target's head over the drafter's hidden states, scaled and bent as the checkpoint wants it."""
        logits = target.lm_head(hidden) * self.config.output_multiplier
        cap = self.config.final_logit_softcapping
        return mx.tanh(logits / cap) * cap if cap else logits

    def choose(self, hidden: mx.array, logits: mx.array, anchor: mx.array, draw: Draw) -> Draft:
        """The draft after an anchor `[1]`, from `hidden` `[1, drafts, hidden]` and `logits` `[1, drafts, vocab]`."""
        return Draft(*draw(logits[0], filtered=True))


def _concatenate(parts: list[nn.Module]) -> nn.Module:
    """One projection that gives the outputs of all parts side by side; theirs become views of its weights."""
    fused = copy.copy(parts[0])
    for name in fused.parameters():
        fused[name] = mx.concatenate([part[name] for part in parts])
        for part, view in zip(parts, mx.split(fused[name], len(parts))):
            part[name] = view
    return fused
