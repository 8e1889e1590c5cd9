"""DFlash: a block-diffusion drafter that reads the target's hidden states and guesses a whole block in one pass.

Method: the published DFlash checkpoints and their configuration contract. The target's hidden states after
`target_layer_ids` become K and V of every drafter layer ("KV injection"); the block [anchor, mask, mask, ...] is
embedded by the target, attends to those and to itself, and the target's own head reads the result.
"""

from functools import partial
from typing import NamedTuple, Protocol

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.drafters.context import Context, LayerContext, SlidingContext, Waiting
from dflash_mlx.drafters.injection import Injection
from dflash_mlx.drafters.layers import Layer
from dflash_mlx.drafters.tree import grow, log_probabilities
from dflash_mlx.kernels import Kernels
from dflash_mlx.kernels.projections import FeedForward
from dflash_mlx.kernels.verify_matmul import project

CANDIDATES = 16  # for each place of a tree


class Head(Protocol):
    """What a drafter borrows from its target."""

    def embed(self, ids: mx.array) -> mx.array: ...

    def lm_head(self, hidden: mx.array) -> mx.array: ...


class Draft(NamedTuple):
    """What a drafter proposes.

    ids: int32 `[drafts]`, the drafted tokens.
    q: float32 `[drafts, vocab]`, what each was drawn from, given those before it; None: nothing was drawn, all of it
        is on `ids`.
    parents: int32 `[drafts]`, of a tree: whom each follows, 0 for the anchor, else 1 + the place of a draft before it; None:
        they are a chain.
    """

    ids: mx.array
    q: mx.array | None = None
    parents: mx.array | None = None


class Chooser(Protocol):
    """How a drafter chooses among scores, which are logarithms of unnormed probabilities at temperature 1."""

    @property
    def temperature(self) -> float:
        """0 takes the best: nothing is drawn."""
        ...

    def luck(self, positions: mx.array) -> mx.array:
        """Random numbers to draw with at each position, int32 `[n]`, for each token: float32 `[n, vocab]`, uniform in [0, 1)."""
        ...

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, mx.array | None]:
        """Chooses one of n.

        Args:
            scores: `[..., n]`.
            filtered: whether top-k, top-p and min-p apply: the scores are of the whole vocabulary.
            luck: float32 `[..., n]`, what to draw with; None: the best is taken.

        Returns:
            index: int32 `[...]`.
            q: float32 `[..., n]`, exactly what it was drawn from; None: the best was taken.
        """
        ...


class Greedy:
    """A `Chooser` that takes the best."""

    temperature = 0.0

    def luck(self, positions: mx.array) -> mx.array:
        raise NotImplementedError("nothing is drawn")

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, None]:
        return mx.argmax(scores, axis=-1).astype(mx.int32), None


GREEDY = Greedy()


class DFlash(nn.Module):
    """The drafter's weights, and the two things it does: `inject` and `draft`.

    It holds nothing of a request: that is in the `Context` it is given.

    Attributes:
        kernels: the kernels it computes with.
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
        """Joins the projections that read the same rows, without holding any twice, and makes it ready to draft.

        Call it once, after loading: what a block and its injection compute is compiled with the weights as they then are.
        """
        self._injection = Injection([layer.self_attn for layer in self.layers], self.config.block_size)
        self._mlps = [FeedForward(layer.mlp) for layer in self.layers]
        self.use_kernels(Kernels())

    def use_kernels(self, kernels: Kernels) -> None:
        """Computes with these kernels from now on, wherever their contracts cover the shapes; at first with none."""
        self.kernels = kernels
        self._project = partial(project, kernels=kernels)
        self._injection.use_kernels(kernels)
        self._compiled_features, self._compiled_write = mx.compile(self._project_features), mx.compile(self._write)
        self._compiled_block, self._compiled_grow = mx.compile(self._block), mx.compile(self.grow)

    @property
    def linear_layers(self) -> list[nn.Module]:
        """The linear layers that its passes call, joint ones as such."""
        layers = [self.fc, *self._injection.layers]
        for layer, mlp in zip(self.layers, self._mlps):
            layers += [layer.self_attn.q_proj, layer.self_attn.o_proj, *mlp.layers]
        return layers

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
            context: written in place; must have room for `position` + `rows`. By the kernel, rows may wait there for a block.
            position: int32 `[1]`, the position of the first row.
        """
        rows = features.shape[1]
        # chunks of a prompt come in too many sizes to compile for
        compiled = rows <= self.config.block_size
        projected = (self._compiled_features if compiled else self._project_features)(features)
        self.settle(context)
        if self._injection.by_kernel(rows, self.dtype):
            context.waiting = Waiting(projected, position)
        else:
            context.arrays = (self._compiled_write if compiled else self._write)(projected, context.arrays, position)

    def _project_features(self, features: mx.array) -> mx.array:
        return self._injection.project(self.hidden_norm(self._project(self.fc, features.astype(self.dtype))))

    def _write(self, projected: mx.array, buffers: list[mx.array], position: mx.array) -> list[mx.array]:
        context = self._context_of(buffers)
        self._injection.write(projected, context, position)
        return context.arrays

    def settle(self, context: Context) -> None:
        """Writes the context rows that wait for a block."""
        if context.waiting:
            context.arrays = self._compiled_write(context.waiting.projected, context.arrays, context.waiting.position)
            context.waiting = None

    def hidden(self, anchor: mx.array, context: Context, position: mx.array, block_size: int, target: Head) -> mx.array:
        """Normed hidden states of a block's rows, the anchor's included: `[1, block_size, hidden]`."""
        masks = mx.full((block_size - 1,), self.config.mask_token_id, mx.int32)
        x = self.embed(mx.concatenate([anchor, masks])[None], target)
        if not self._injection.by_kernel(block_size, self.dtype):
            self.settle(context)
        waiting, context.waiting = context.waiting or (), None
        x, context.arrays = self._compiled_block(x, context.arrays, position, *waiting)
        return x

    def _block(
        self, x: mx.array, buffers: list[mx.array], position: mx.array, *waiting: mx.array
    ) -> tuple[mx.array, list[mx.array]]:
        context, rows = self._context_of(buffers), x.shape[1]
        context.waiting = Waiting(*waiting) if waiting else None
        visible: dict[tuple[int | None, bool], mx.array] = {}
        for i, layer in enumerate(self.layers):
            kind = (self.config.window(i), self.config.causal(i))
            if kind not in visible:
                visible[kind] = context.layers[i].visible(position, rows, kind[1])
            attention = partial(self._attention, i, context, position, visible[kind])
            x = layer(x, attention, partial(self._mlps[i], project=self._project), self._project)
        return self.norm(x), context.arrays

    def _attention(self, layer: int, context: Context, position: mx.array, mask: mx.array, x: mx.array) -> mx.array:
        """Writes the block's K and V behind the context and attends to both. x: `[1, rows, hidden]`."""
        attention, cache = self.layers[layer].self_attn, context.layers[layer]
        self._injection.write_block(x, layer, context, position)
        return attention.attend(attention.queries(x, position, self._project), cache.keys, cache.values, mask, self._project)

    def _context_of(self, buffers: list[mx.array]) -> Context:
        context = self.new_context()
        context.arrays = buffers
        return context

    def draft(
        self,
        anchor: mx.array,
        context: Context,
        position: mx.array,
        block_size: int,
        target: Head,
        chooser: Chooser = GREEDY,
        nodes: int = 0,
    ) -> Draft:
        """Guesses the `block_size` - 1 tokens after the anchor.

        Args:
            anchor: int32 `[1]`, the newest committed token.
            context: the context injected so far; must have room for all injected rows and `block_size` more.
            position: int32 `[1]`, the anchor's position: the number of context rows.
            block_size: anchor + drafts, 2 or more.
            target: embeds the block and reads the logits.
            chooser: chooses each token.
            nodes: of a tree, instead of a chain: the tokens that are most likely among those that can follow each other.
        """
        hidden = self.hidden(anchor, context, position, block_size, target)[:, 1:]
        luck = chooser.luck(position + 1 + mx.arange(block_size - 1)) if chooser.temperature else None
        if nodes:
            ids, parents = self._compiled_grow(hidden, self.logits(hidden, target), anchor, luck, chooser.temperature, nodes)
            return Draft(ids, None, parents)
        return self.choose(hidden, self.logits(hidden, target), anchor, chooser, luck)

    def embed(self, ids: mx.array, target: Head) -> mx.array:
        """The target's embeddings, in the drafter's dtype, scaled as the checkpoint wants them."""
        return _times(target.embed(ids).astype(self.dtype), self.config.input_embedding_scale)

    def logits(self, hidden: mx.array, target: Head) -> mx.array:
        """The target's head over the drafter's hidden states, scaled and bent as the checkpoint wants it."""
        logits = _times(target.lm_head(hidden), self.config.output_multiplier)
        cap = self.config.final_logit_softcapping
        return mx.tanh(logits / cap) * cap if cap else logits

    def choose(self, hidden: mx.array, logits: mx.array, anchor: mx.array, chooser: Chooser, luck: mx.array | None) -> Draft:
        """The draft after an anchor `[1]`, from `hidden` `[1, drafts, hidden]` and `logits` `[1, drafts, vocab]`.

        luck: `[drafts, vocab]`, to draw with.
        """
        return Draft(*chooser.draw(logits.squeeze(0), filtered=True, luck=luck))

    def grow(
        self, hidden: mx.array, logits: mx.array, anchor: mx.array, luck: mx.array | None, temperature: float, nodes: int
    ) -> tuple[mx.array, mx.array]:
        """Tokens and parents of a tree of so many nodes, int32 `[nodes]`; the arrays as for `choose`."""
        logits = logits.squeeze(0)
        everywhere, count = log_probabilities(logits, temperature, luck), min(CANDIDATES, logits.shape[-1])
        candidates = mx.argpartition(-everywhere, count - 1, axis=-1)[:, :count]
        likely = mx.take_along_axis(everywhere, candidates, axis=-1)
        return grow(candidates, lambda level, before: mx.repeat(likely[level][None], before.size, axis=0), anchor, nodes)


def _times(x: mx.array, factor: float) -> mx.array:
    """x * factor; by 1, as in most checkpoints, a pass over the vocabulary for nothing."""
    return x if factor == 1 else x * factor
