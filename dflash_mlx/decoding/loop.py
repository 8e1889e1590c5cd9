"""The cycle: draft, verify, accept, commit.

Where does a rejected token go? It stays beyond the committed position, and nothing reads there.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.decoding.acceptance import accept_greedy
from dflash_mlx.decoding.sequence import TokenSequence


class Cycle(NamedTuple):
    """What one cycle added.

    token_ids: the committed tokens; the first `accepted` were drafted, the others are the target's own.
    drafted: what the drafter had proposed, before verification.
    accepted: how many of them were kept.
    """

    token_ids: list[int]
    drafted: list[int]
    accepted: int

    @property
    def block_size(self) -> int:
        """Rows that the target checked: the anchor and the drafts."""
        return len(self.drafted) + 1


def run(
    sequence: TokenSequence, anchor: mx.array, block_size: int, max_tokens: int, take: Callable[[list[int]], int]
) -> Iterator[Cycle]:
    """Cycles until `max_tokens` tokens are committed or the caller stops.

    After every cycle the sequence holds all tokens that were taken but the last, which is the next anchor: it is
    never ahead of what was handed out, wherever a stop falls.

    Args:
        sequence: holds everything before the anchor.
        anchor: int32 `[1]`, the newest token, already handed out.
        block_size: rows a cycle, the anchor's included; 1 is plain decoding.
        max_tokens: how many tokens to commit at most, at least one.
        take: is given the tokens a cycle could commit, and returns how many of them, from the first, it takes
            (at least one).
    """
    while max_tokens > 0:
        width = min(block_size, max_tokens)
        sequence.reserve(width)
        drafts = sequence.draft(anchor, width)
        hidden, features = sequence.forward(mx.concatenate([anchor, drafts]))
        verdict = accept_greedy(drafts, sequence.target.lm_head(hidden)[0])
        tokens, [accepted], drafted = sequence.read(verdict.tokens, verdict.accepted, drafts)
        count = take(tokens[: accepted + 1])
        sequence.commit(count, features)
        anchor = verdict.tokens[count - 1 : count]
        max_tokens -= count
        yield Cycle(tokens[:count], drafted, min(accepted, count))
