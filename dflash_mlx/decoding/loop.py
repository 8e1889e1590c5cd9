"""The cycle: draft, verify, accept, commit.

Why does the device never wait? Because it always has work that needs nothing from the host: the target's first layers
are submitted while Python builds its last ones (`Target.forward`), and the next draft, which needs the verdict but not
on the host, is submitted before the verdict is read. The read is the only one of the cycle.

Where does a rejected token go? It stays beyond the committed position, and nothing reads there.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import mlx.core as mx

from dflash_mlx.decoding.sampling import Sampler
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import Draft


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


class BlockSizes(Protocol):
    """What chooses block sizes; see `dflash_mlx.decoding.block_size`."""

    def next(self, position: int) -> int:
        """Rows of the next cycle, 1 to the drafter's trained size, without a drafter 1.

        It is asked while the cycle before is running, which began at `position`, and nothing is recorded of it yet.
        """
        ...

    def record(self, block_size: int, accepted: int, seconds: float, position: int) -> None: ...


def run(
    sequence: TokenSequence,
    anchor: mx.array,
    sampler: Sampler,
    block_sizes: BlockSizes,
    max_tokens: int,
    take: Callable[[list[int]], int],
) -> Iterator[Cycle]:
    """Cycles until `max_tokens` tokens are committed or the caller stops.

    After every cycle the sequence holds all tokens that were taken but the last, which is the next anchor: it is
    never ahead of what was handed out, wherever a stop falls.

    Args:
        sequence: holds everything before the anchor.
        anchor: int32 `[1]`, the newest token, already handed out.
        sampler: knows the text up to the anchor.
        block_sizes: gives the rows of each cycle, the anchor's included, and is told how it went.
        max_tokens: how many tokens to commit at most.
        take: is given the tokens a cycle could commit, and returns how many of them, from the first, it takes
            (at least one).
    """
    start = time.perf_counter()
    if max_tokens > 0:
        draft = sequence.draft(anchor, min(block_sizes.next(sequence.position), max_tokens), sampler)
    while max_tokens > 0:
        position = sequence.position
        rows = min(draft.ids.size + 1, max_tokens, sequence.widest)
        draft = _first(draft, rows - 1)
        sequence.reserve(rows)
        hidden = sequence.forward(mx.concatenate([anchor, draft.ids]))
        verdict = sampler.accept(draft, sequence.logits(hidden))
        answer = mx.concatenate([verdict.accepted, verdict.tokens, draft.ids])
        mx.async_eval(answer)
        width = min(block_sizes.next(position), max_tokens - 1) if max_tokens > 1 else 1
        ahead = sequence.draft_ahead(verdict, width, sampler)
        mx.async_eval(ahead)
        [accepted], tokens, drafted = sequence.read(answer, 1, rows, rows - 1)
        count = take(tokens[: accepted + 1])
        sequence.commit(count)
        sampler.add(tokens[:count])
        end = time.perf_counter()
        block_sizes.record(rows, accepted, end - start, position)
        max_tokens -= count
        yield Cycle(tokens[:count], drafted, min(accepted, count))
        start = time.perf_counter()
        anchor = mx.array(tokens[count - 1 : count], mx.int32)
        draft = ahead if count == accepted + 1 else sequence.draft(anchor, width, sampler)


def _first(draft: Draft, count: int) -> Draft:
    """The first `count` tokens of a draft."""
    return draft if count == draft.ids.size else Draft(draft.ids[:count], None if draft.q is None else draft.q[:count])
