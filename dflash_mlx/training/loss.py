"""The drafter's loss: cross-entropy of every row, and for DFlash 2 of the selector's choice among the candidates."""

from typing import NamedTuple

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.drafters import DFlash, DFlash2
from dflash_mlx.drafters.dflash import Head
from dflash_mlx.drafters.dflash2 import CandidateSelector
from dflash_mlx.training.blocks import hidden_of_blocks
from dflash_mlx.training.corpus import Batch


class Losses(NamedTuple):
    """Weighted means over rows; selector is 0 for a drafter without one."""

    unary: mx.array
    selector: mx.array


def losses(drafter: DFlash, target: Head, batch: Batch) -> Losses:
    """Both losses of a batch. The target's embedding and head are used as they are."""
    hidden = hidden_of_blocks(drafter, target, batch)[:, :, 1:]
    logits = drafter.logits(hidden.reshape(1, -1, hidden.shape[-1]), target).reshape(*hidden.shape[:-1], -1).astype(mx.float32)
    weights = batch.weights / batch.weights.sum()
    unary = (weights * nn.losses.cross_entropy(logits, batch.tokens[..., 1:])).sum()
    if not isinstance(drafter, DFlash2):
        return Losses(unary, mx.array(0.0))
    return Losses(unary, selector_loss(drafter.candidate_selector, hidden, logits, batch.tokens, weights))


def selector_loss(
    selector: CandidateSelector, hidden: mx.array, logits: mx.array, tokens: mx.array, weights: mx.array
) -> mx.array:
    """Cross-entropy over the candidates, given the true predecessor, where the true token is among them.

    Args:
        hidden: `[..., rows, hidden]` of the rows after the anchor.
        logits: `[..., rows, vocab]`.
        tokens: int32 `[..., 1 + rows]`, the anchor's first.
        weights: `[..., rows]`.
    """
    ids, _ = selector.candidates(mx.stop_gradient(logits))  # which ones are candidates has no gradient
    scores = mx.take_along_axis(logits, ids, axis=-1) + selector.edges(
        tokens[..., :-1], selector.hidden_projection(hidden), selector.successor_codebook[ids]
    )
    is_true = ids == tokens[..., 1:, None]
    loss = mx.logsumexp(scores, axis=-1) - (scores * is_true).sum(axis=-1)
    return (weights * is_true.any(axis=-1) * loss).sum()
