"""How much of a draft is kept."""

from typing import NamedTuple

import mlx.core as mx


class Verdict(NamedTuple):
    """The outcome of a verification, on the device.

    tokens: int32 `[rows]`; the first `accepted` + 1 are committed: the accepted drafts and the target's own next token.
    accepted: int32 `[1]`, how many drafts are kept.
    """

    tokens: mx.array
    accepted: mx.array


def accept_greedy(drafts: mx.array, logits: mx.array) -> Verdict:
    """Keeps the longest prefix of `drafts` with which the target's argmax agrees.

    Args:
        drafts: int32 `[rows - 1]`, may be empty.
        logits: `[rows, vocab]` of the anchor and the drafts.
    """
    tokens = mx.argmax(logits, axis=-1).astype(mx.int32)
    agreed = mx.cumprod((drafts == tokens[:-1]).astype(mx.int32))
    return Verdict(tokens, agreed.sum(keepdims=True).astype(mx.int32))
