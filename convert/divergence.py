"""A source and what was made of it, run side by side over the same texts, a layer at a time: neither is ever whole in memory."""

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from dflash_mlx.checkpoint import size_in_memory
from dflash_mlx.errors import CheckpointError
from dflash_mlx.targets import Target
from dflash_mlx.targets.transformer import TransformerTarget

from .tensor_errors import relative_error

Load = Callable[[], Target]  # gives a target none of whose weights has been read yet, a new one each time
ROWS = 64  # whose logits are held at a time


class Divergence(NamedTuple):
    """How far the result is from the source.

    hidden_errors: of the hidden states after each layer, as `relative_error`.
    top1: the share of rows whose most likely token is the same.
    kl: the mean over rows of KL(source || result) of the next token's distribution, in nats.
    """

    hidden_errors: tuple[float, ...]
    top1: float
    kl: float


def room_needed(load: Load) -> int:
    """Bytes of the largest part that `divergence` holds of a target: a layer, the embeddings or the head.

    Twice, because projections that read the same rows are joined from what is read.
    """
    target = _load(load)
    parts = [*target.module.model.layers, target.module.model.embed_tokens, target.head]
    return 2 * max(size_in_memory(part) for part in parts)


def divergence(source: Load, result: Load, texts: Sequence[Sequence[int]], progress: Callable[[int, int], None]) -> Divergence:
    """Compares two targets of the same sizes.

    Args:
        texts: token ids; each text is a sequence of its own.
        progress: called with layers done and in all, the head counted as one.

    Raises:
        CheckpointError: the logits of one of them are not finite numbers.
    """
    steps = source().config.num_hidden_layers + 1
    errors: list[float] = []
    progress(0, steps)
    for before, after in zip(_through_layers(source, texts), _through_layers(result, texts)):
        errors.append(_hidden_error(before, after))
        progress(len(errors), steps)
    heads = _load(source), _load(result)
    agreed = kl = 0.0
    for one, other in zip(before, after):
        for i in range(0, one.shape[1], ROWS):
            p, q = _log_probabilities(heads[0], one[:, i : i + ROWS]), _log_probabilities(heads[1], other[:, i : i + ROWS])
            agreed += _sum(mx.argmax(p, axis=-1) == mx.argmax(q, axis=-1))
            kl += _sum(mx.exp(p) * (p - q))
    progress(steps, steps)
    rows = sum(len(text) for text in texts)
    return Divergence(tuple(errors), agreed / rows, max(kl / rows, 0.0))  # rounding can bring it below 0


def _through_layers(load: Load, texts: Sequence[Sequence[int]]) -> Iterator[list[mx.array]]:
    """The hidden states of each text, `[1, rows, hidden]`, after each layer in turn; only that layer's weights are held."""
    target = _load(load)
    hidden = [target.embed(mx.array([text], mx.int32)) for text in texts]
    mx.eval(hidden)
    start, target = mx.array([0], mx.int32), _load(load)  # loaded again, or the embeddings would stay
    gc.collect()  # a target and its layers hold each other
    while target.layers:
        layer: Callable[..., mx.array] = target.layers[0]
        for i, x in enumerate(hidden):
            state = target.new_state(x.shape[1])
            hidden[i] = layer(x, state.layers[0], start, state.visible(start, x.shape[1]), commit=True)
            mx.eval(hidden[i])
        vars(layer).clear()  # a layer and its compiled functions hold each other, and the weights
        del target.layers[0], target.module.model.layers[0]
        mx.clear_cache()
        yield list(hidden)


def _log_probabilities(target: TransformerTarget, hidden: mx.array) -> mx.array:
    """Of the token after each row, float32 `[1, rows, vocab]`; `hidden` comes from the last layer."""
    logits = target.lm_head(target.module.model.norm(hidden)).astype(mx.float32)
    if not mx.isfinite(logits).all().item():
        raise CheckpointError("the logits are not finite numbers.", "Get the model's files again, or another conversion.")
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


def _hidden_error(source: list[mx.array], result: list[mx.array]) -> float:
    before, after = (mx.concatenate(hidden, axis=1).astype(mx.float32) for hidden in (source, result))
    return relative_error(_sum(mx.square(after - before)), _sum(mx.square(before)))


def _sum(values: mx.array) -> float:
    return float(np.array(values.sum(axis=-1), np.float64).sum())


def _load(load: Load) -> TransformerTarget:
    target = load()
    assert isinstance(target, TransformerTarget)
    return target
