"""DFlash 2: DFlash with a short convolution around each sub-layer and a selector that walks through candidates.

Method: the published DFlash 2 checkpoints and their configuration contract (`DFlash2DraftModel`).
"""

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.drafters.dflash import Chooser, DFlash, Draft
from dflash_mlx.drafters.layers import Layer, SubLayer
from dflash_mlx.drafters.tree import grow, log_probabilities
from dflash_mlx.kernels.candidates import candidates_metal, covers
from dflash_mlx.kernels.projections import Project, as_module


class BlockConvolution(nn.Module):
    """A convolution over the rows of a block before a sub-layer and another after it.

    Tap t of a row reads the row t before it, zero before the block's start. A tap's coefficient is `base_kernel`
    `[2, taps, hidden]` (before | after, tap, channel) plus, for each group of channels, one predicted from the
    sub-layer's input: both convolutions' from the same prediction.
    """

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.taps, self.group = config.conv_kernel_size, config.conv_group_size
        groups = config.hidden_size // self.group
        self.base_kernel = mx.zeros((2, self.taps, config.hidden_size))
        self.base_kernel[:, 0] = 1.0  # untrained: each row passes as it is
        self.kernel_projection = nn.Linear(config.hidden_size, 2 * self.taps * groups, bias=False)

    def __call__(self, x: mx.array, sublayer: SubLayer, project: Project) -> mx.array:
        """x: `[..., rows, hidden]`, the rows of one block each, as is what `sublayer` gets and returns."""
        coefficients = project(self.kernel_projection, x).reshape(*x.shape[:-1], 2 * self.taps, -1, 1)
        coefficients = coefficients + self.base_kernel.reshape(2 * self.taps, -1, self.group)
        kernels = list(mx.split(coefficients.reshape(*x.shape[:-1], 2 * self.taps, -1), 2 * self.taps, axis=-2))
        y = sublayer(self._convolve(x, kernels[: self.taps]))
        return self._convolve(y, kernels[self.taps :])

    def _convolve(self, x: mx.array, kernels: list[mx.array]) -> mx.array:
        """x with one coefficient a tap and channel, each `[..., rows, 1, hidden]`."""
        *lead, rows, hidden = x.shape
        padded = mx.pad(x, [(0, 0)] * len(lead) + [(self.taps - 1, 0), (0, 0)]).reshape(*lead, -1, 1, hidden)
        start = self.taps - 1  # of the rows themselves
        y = padded[..., start:, :, :] * kernels[0]
        for tap, kernel in enumerate(kernels[1:], 1):
            y = y + padded[..., start - tap : start - tap + rows, :, :] * kernel
        return y.reshape(x.shape)


class DFlash2Layer(Layer):
    """A DFlash layer whose sub-layers stand between convolutions."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__(config)
        self.attention_conv = BlockConvolution(config)
        self.mlp_conv = BlockConvolution(config)

    def __call__(self, x: mx.array, attention: SubLayer, mlp: SubLayer, project: Project = as_module) -> mx.array:
        x = x + self.attention_conv(self.input_layernorm(x), attention, project)
        return x + self.mlp_conv(self.post_attention_layernorm(x), mlp, project)


class CandidateSelector(nn.Module):
    """Walks one path through the best candidates of each row, scoring every pair of neighbours.

    score(candidate) = logit + <predecessor_codebook[previous] * hidden_projection(hidden), successor_codebook[candidate]>
    """

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        assert config.vocab_size is not None
        self.top_k = config.selector_top_k
        self.predecessor_codebook = mx.random.normal((config.vocab_size, config.selector_rank)) * config.selector_rank**-0.5
        self.successor_codebook = mx.random.normal((config.vocab_size, config.selector_rank)) * config.selector_rank**-0.5
        self.hidden_projection = nn.Linear(config.hidden_size, config.selector_rank, bias=False)

    def candidates(self, logits: mx.array) -> tuple[mx.array, mx.array]:
        """Ids and logits of the best `selector_top_k` tokens: `[..., vocab]` -> two of `[..., top_k]`, the best first."""
        ids = mx.argpartition(-logits, self.top_k - 1, axis=-1)[..., : self.top_k]
        unary = mx.take_along_axis(logits, ids, axis=-1)
        order = mx.argsort(-unary, axis=-1)
        return mx.take_along_axis(ids, order, axis=-1).astype(mx.int32), mx.take_along_axis(unary, order, axis=-1)

    def edges(self, previous: mx.array, projected: mx.array, successors: mx.array) -> mx.array:
        """What each candidate gains from following `previous` `[...]`.

        From `projected` `[..., rank]`, the row's hidden state, and `successors` `[..., top_k, rank]`, the candidates' codes.
        """
        return (successors @ (self.predecessor_codebook[previous] * projected)[..., None])[..., 0]

    def walk(
        self, projected: mx.array, logits: mx.array, anchor: mx.array, chooser: Chooser, luck: mx.array | None = None
    ) -> Draft:
        """One path, each token chosen given the one before it: drawn with `luck`, or the best.

        From `[..., rows, rank]`, the rows' hidden states after `hidden_projection`, `[..., rows, vocab]` and anchors `[...]`:
        ids `[..., rows]` and q `[..., rows, vocab]`.
        """
        candidates, unary = self.candidates(logits)
        successors = self.successor_codebook[candidates]
        luck = None if luck is None else mx.take_along_axis(luck.reshape(logits.shape), candidates, axis=-1)
        path, chances, previous = [], [], anchor
        for row in range(logits.shape[-2]):
            ids = candidates[..., row, :]
            scores = unary[..., row, :] + self.edges(previous, projected[..., row, :], successors[..., row, :, :])
            index, q = chooser.draw(scores, filtered=False, luck=None if luck is None else luck[..., row, :])
            previous = mx.take_along_axis(ids, index[..., None], axis=-1)[..., 0]
            path.append(previous)
            if q is not None:
                chances.append(q)
        return Draft(mx.stack(path, axis=-1), spread(mx.stack(chances, axis=-2), candidates, logits.shape) if chances else None)

    def walk_by_kernel(
        self, projected: mx.array, logits: mx.array, anchor: mx.array, chooser: Chooser, luck: mx.array | None = None
    ) -> Draft:
        """The same path by the kernel `candidates`, for one block: `[1, rows, ...]` and `[1]` give ids `[1, rows]`."""
        codes = self.predecessor_codebook, self.successor_codebook
        path, candidates, q = candidates_metal(logits, projected, *codes, anchor, self.top_k, chooser.temperature, luck)
        return Draft(path[None], spread(q[None], candidates[None], logits.shape) if luck is not None else None)


def spread(q: mx.array, candidates: mx.array, shape: tuple[int, ...]) -> mx.array:
    """Probabilities `[..., top_k]` of candidates as those of the whole vocabulary, of this shape."""
    return mx.put_along_axis(mx.zeros(shape), candidates, q, axis=-1)


class DFlash2(DFlash):
    """A DFlash 2 drafter."""

    layer_class = DFlash2Layer

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__(config)
        self.candidate_selector = CandidateSelector(config)

    @property
    def linear_layers(self) -> list[nn.Module]:
        convolutions = [part for layer in self.layers for part in (layer.attention_conv, layer.mlp_conv)]
        own = [*(part.kernel_projection for part in convolutions), self.candidate_selector.hidden_projection]
        return super().linear_layers + own

    def choose(self, hidden: mx.array, logits: mx.array, anchor: mx.array, chooser: Chooser, luck: mx.array | None) -> Draft:
        selector, (_, rows, vocab) = self.candidate_selector, logits.shape
        projected = self._project(selector.hidden_projection, hidden)
        served = self.kernels.use("candidates", rows) and covers(logits.dtype, rows, vocab, selector.top_k)
        ids, q, _ = (selector.walk_by_kernel if served else selector.walk)(projected, logits, anchor, chooser, luck)
        return Draft(ids.squeeze(0), None if q is None else q.squeeze(0))  # as an index, 0 would be a dispatch

    def grow(
        self, hidden: mx.array, logits: mx.array, anchor: mx.array, luck: mx.array | None, temperature: float, nodes: int
    ) -> tuple[mx.array, mx.array]:
        selector, logits = self.candidate_selector, logits.squeeze(0)
        projected = self._project(selector.hidden_projection, hidden).squeeze(0)
        candidates, unary = selector.candidates(logits)
        successors = selector.successor_codebook[candidates]
        luck = None if luck is None else mx.take_along_axis(luck, candidates, axis=-1)

        def scores(level: int, before: mx.array) -> mx.array:
            edges = selector.edges(before, projected[level], successors[level])
            return log_probabilities(unary[level] + edges, temperature, None if luck is None else luck[level])

        return grow(candidates, scores, anchor, nodes)
