"""How much of a draft is kept, and which token the target puts after it."""

from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.drafters import Draft
from dflash_mlx.targets.tree import Tree


class Verdict(NamedTuple):
    """The outcome of a verification, on the device.

    tokens: int32 `[rows]`; the first `accepted` + 1 are committed: the accepted drafts and the target's own next token.
    accepted: int32 `[1]`, how many drafts are kept.
    path: int32 `[rows]`, of a tree: its first `accepted` + 1 are the rows of the anchor and of the accepted drafts; None: of a
        chain they are the first ones.
    """

    tokens: mx.array
    accepted: mx.array
    path: mx.array | None = None


def accept_equal(drafts: mx.array, tokens: mx.array) -> Verdict:
    """Keeps the longest prefix of `drafts` that is what the target itself chose.

    Args:
        drafts: int32 `[rows - 1]`, may be empty.
        tokens: int32 `[rows]`, the target's choices after the anchor and after each draft.
    """
    return Verdict(tokens, _leading(drafts == tokens[:-1]))


def accept_in_tree(drafts: mx.array, tokens: mx.array, tree: Tree) -> Verdict:
    """Keeps the path of a tree along which each draft is what the target itself chose after its parent.

    Args:
        drafts: int32 `[rows - 1]`; no two with the same parent are equal.
        tokens: int32 `[rows]`, the target's choices after the anchor and after each draft.
    """
    rows = mx.arange(tokens.size)
    chosen = mx.concatenate([mx.array([True]), drafts == tokens[tree.parents[1:]]])
    kept = mx.logical_or(chosen, mx.logical_not(tree.ancestors)).all(axis=1)  # not `|`, which mx.vmap gets wrong
    path = mx.argsort(mx.where(kept, rows, rows + tokens.size)).astype(mx.int32)  # a parent stands before its children
    return Verdict(tokens[path], kept.sum(keepdims=True).astype(mx.int32) - 1, path)


def accept_sampled(draft: Draft, p: mx.array, key: mx.array) -> Verdict:
    """Rejection sampling: the committed tokens are distributed as if each had been drawn from `p`.

    A draft d stays with probability min(1, p(d) / q(d)). Where the first one falls, q has given each token min(p, q) of
    its probability p already, so the target's own token is drawn from what is missing: max(0, p - q), normed. After a
    draft that stays whole there is no q, and the token is drawn from p.

    Args:
        draft: int32 ids `[rows - 1]`, may be empty, and the q they were really drawn from.
        p: float32 `[rows, vocab]`, the target's distributions after the anchor and each draft.
        key: of `mx.random`; must not be used again.
    """
    ids, q, _ = draft
    if q is None:
        q = (ids[:, None] == mx.arange(p.shape[-1])).astype(mx.float32)
    accept_key, draw_key = mx.random.split(key)
    p_of_draft, q_of_draft = (mx.take_along_axis(rows, ids[:, None], axis=-1)[:, 0] for rows in (p[:-1], q))
    luck = mx.random.uniform(shape=ids.shape, key=accept_key)  # [0, 1): a p of 0 never passes, a p of q always
    accepted = _leading(luck * q_of_draft < p_of_draft)
    p_next = mx.take(p, accepted, axis=0)  # [1, vocab]
    q_next = mx.take(mx.pad(q, [(0, 1), (0, 0)]), accepted, axis=0)
    missing = mx.maximum(p_next - q_next, 0)
    missing = mx.where(missing.sum() > 0, missing, p_next)  # p and q differ by less than float32 can tell
    own = draw_by_weight(missing, draw_key)
    tokens = mx.where(mx.arange(p.shape[0]) == accepted, own, mx.pad(ids, (0, 1)))
    return Verdict(tokens, accepted)


def draw_by_weight(weights: mx.array, key: mx.array) -> mx.array:
    """Draws from each row of float32 weights `[..., n]`, which need not sum to 1: int32 `[...]`."""
    return race(weights, mx.random.uniform(shape=weights.shape, key=key))


def race(weights: mx.array, luck: mx.array) -> mx.array:
    """The same with random numbers given, `[..., n]`, uniform in [0, 1).

    An exponential race: token i finishes after a time of rate `weights[i]`, and the first one wins. It needs no
    logarithm of a weight, and a weight of 0 never wins.
    """
    # log1p, because uniform numbers are fine-grained near 0 only: it lets weights down to 2**-32 win at their true rate
    times = -mx.log1p(-luck)
    return mx.argmax(mx.where(weights > 0, weights / times, -1), axis=-1).astype(mx.int32)


def _leading(kept: mx.array) -> mx.array:
    """How many of bool `[n]` are true before the first that is not: int32 `[1]`."""
    return mx.cumprod(kept.astype(mx.int32)).sum(keepdims=True).astype(mx.int32)
