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

from dflash_mlx.decoding.copies import Copies
from dflash_mlx.decoding.sampling import Sampler
from dflash_mlx.decoding.sequence import NO_DRAFT, TokenSequence
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

    def copy(self, rate: float) -> int:
        """Rows of the cycle that comes if its drafts are copied, each right with probability `rate`; 1: they are not to be."""
        ...

    def record(self, block_size: int, accepted: int, seconds: float, position: int, copied: bool) -> None: ...


def run(
    sequence: TokenSequence,
    anchor: mx.array,
    sampler: Sampler,
    block_sizes: BlockSizes,
    max_tokens: int,
    take: Callable[[list[int]], int],
    copies: Copies | None = None,
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
        copies: the text up to the anchor, to copy drafts from.
    """
    start = time.perf_counter()
    if max_tokens > 0:
        width = min(block_sizes.next(sequence.position), max_tokens)
        copy = _copy(copies, block_sizes)
        draft = copy or sequence.draft(anchor, width, sampler)
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
        copied = copy is not None
        ahead = NO_DRAFT if copied else sequence.draft_ahead(verdict, width, sampler)  # a copy often goes on
        mx.async_eval(ahead)
        [accepted], tokens, drafted = sequence.read(answer, 1, rows, rows - 1)
        count = take(tokens[: accepted + 1])
        sequence.commit(count)
        sampler.add(tokens[:count])
        if copies:
            copies.add(tokens[:count])
        end = time.perf_counter()
        block_sizes.record(rows, accepted, end - start, position, copied)
        max_tokens -= count
        yield Cycle(tokens[:count], drafted, min(accepted, count))
        start = time.perf_counter()
        anchor = mx.array(tokens[count - 1 : count], mx.int32)
        copy = _copy(copies, block_sizes)
        known = count == accepted + 1 and not copied
        draft = copy or (ahead if known else sequence.draft(anchor, width, sampler))


def _copy(copies: Copies | None, block_sizes: BlockSizes) -> Draft | None:
    """What follows the end of the text where it occurred before, if that is worth its rows."""
    rows = block_sizes.copy(copies.rate) if copies and copies.match else 1
    return Draft(mx.array(copies.tokens(rows - 1), mx.int32), None) if copies and rows > 1 else None


def _first(draft: Draft, count: int) -> Draft:
    """The first `count` tokens of a draft."""
    return draft if count == draft.ids.size else Draft(draft.ids[:count], None if draft.q is None else draft.q[:count])
