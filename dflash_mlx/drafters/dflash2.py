"""DFlash 2: DFlash with a short convolution around each sub-layer and a selector that walks through candidates.

Method: the published DFlash 2 checkpoints and their configuration contract (`DFlash2DraftModel`).
"""

from collections.abc import Callable

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.drafters.dflash import DFlash, Draft, Draw, Layer


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

    def __call__(self, x: mx.array, sublayer: Callable[[mx.array], mx.array]) -> mx.array:
        """x: `[..., rows, hidden]`, the rows of one block each, as is what `sublayer` gets and returns."""
        coefficients = self.kernel_projection(x).reshape(*x.shape[:-1], 2 * self.taps, -1, 1)
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

    def around(self, x: mx.array, attention: Callable[[mx.array], mx.array]) -> mx.array:
        x = x + self.attention_conv(self.input_layernorm(x), attention)
        return x + self.mlp_conv(self.post_attention_layernorm(x), self.mlp)


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
        """Ids and logits of the best `selector_top_k` tokens: `[..., vocab]` -> two of `[..., top_k]`, in no order."""
        ids = mx.argpartition(logits, -self.top_k, axis=-1)[..., -self.top_k :]
        return ids.astype(mx.int32), mx.take_along_axis(logits, ids, axis=-1)

    def edges(self, previous: mx.array, projected: mx.array, successors: mx.array) -> mx.array:
        """What each candidate gains from following `previous` `[...]`.

        From `projected` `[..., rank]`, the row's hidden state, and `successors` `[..., top_k, rank]`, the candidates' codes.
        """
        return (successors @ (self.predecessor_codebook[previous] * projected)[..., None])[..., 0]

    def walk(self, hidden: mx.array, logits: mx.array, anchor: mx.array, draw: Draw) -> Draft:
        """One path, each token drawn given the one before it.

        From `[..., rows, hidden]`, `[..., rows, vocab]` and anchors `[...]`: ids `[..., rows]` and q `[..., rows, vocab]`.
        """
        candidates, unary = self.candidates(logits)
        projected, successors = self.hidden_projection(hidden), self.successor_codebook[candidates]
        path, chances, previous = [], [], anchor
        for row in range(hidden.shape[-2]):
            ids = candidates[..., row, :]
            scores = unary[..., row, :] + self.edges(previous, projected[..., row, :], successors[..., row, :, :])
            index, q = draw(scores, filtered=False)
            previous = mx.take_along_axis(ids, index[..., None], axis=-1)[..., 0]
            path.append(previous)
            if q is not None:
                chances.append(mx.put_along_axis(mx.zeros(logits[..., row, :].shape), ids, q, axis=-1))
        return Draft(mx.stack(path, axis=-1), mx.stack(chances, axis=-2) if chances else None)


class DFlash2(DFlash):
    """A DFlash 2 drafter."""

    layer_class = DFlash2Layer

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__(config)
        self.candidate_selector = CandidateSelector(config)

    def choose(self, hidden: mx.array, logits: mx.array, anchor: mx.array, draw: Draw) -> Draft:
        ids, q = self.candidate_selector.walk(hidden, logits, anchor, draw)
        return Draft(ids[0], None if q is None else q[0])
