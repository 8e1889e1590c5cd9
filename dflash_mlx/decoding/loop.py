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
from dflash_mlx.decoding.sequence import NO_DRAFT, Offer, TokenSequence
from dflash_mlx.drafters import Draft
from dflash_mlx.targets.tree import Tree, depth_of, first_choices


class Cycle(NamedTuple):
    """What one cycle added.

    token_ids: the committed tokens; the first `accepted` were drafted, the others are the target's own.
    drafted: what had been proposed, before verification.
    accepted: how many of them were kept.
    tree_depth: how many could have been kept, where they were a tree.
    """

    token_ids: list[int]
    drafted: list[int]
    accepted: int
    tree_depth: int = 0

    @property
    def deepest(self) -> int:
        """How many of the drafts could have been kept."""
        return self.tree_depth or len(self.drafted)

    @property
    def block_size(self) -> int:
        """Rows that the target checked: the anchor and the drafts."""
        return len(self.drafted) + 1


class BlockSizes(Protocol):
    """What chooses what is drafted; see `dflash_mlx.decoding.block_size`."""

    def next(self, position: int) -> Offer:
        """What the drafter is to propose for the next cycle; without a drafter, 1 row.

        It is asked while the cycle before is running, which began at `position`, and nothing is recorded of it yet.
        """
        ...

    def copy(self, rate: float) -> int:
        """Rows of the cycle that comes if its drafts are copied, each right with probability `rate`; 1: they are not to be."""
        ...

    def record(
        self, block_size: int, accepted: int, seconds: float, position: int, copied: bool, chain: tuple[int, int] | None
    ) -> None:
        """How a cycle went. chain: of a tree, how long the path of its first choices was, and how much of that was kept."""
        ...


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
        block_sizes: says what is drafted, and is told how it went.
        max_tokens: how many tokens to commit at most.
        take: is given the tokens a cycle could commit, and returns how many of them, from the first, it takes
            (at least one).
        copies: the text up to the anchor, to copy drafts from.
    """
    start = time.perf_counter()
    if max_tokens > 0:
        offer = _at_most(block_sizes.next(sequence.position), max_tokens)
        copy = _copy(copies, block_sizes)
        draft = copy or sequence.draft(anchor, offer, sampler)
    while max_tokens > 0:
        position = sequence.position
        rows = min(draft.ids.size + 1, max_tokens, sequence.widest)
        draft = _first(draft, rows - 1)
        tree = None if draft.parents is None else Tree.of(mx.concatenate([mx.array([-1], mx.int32), draft.parents]))
        sequence.reserve(rows)
        hidden = sequence.forward(mx.concatenate([anchor, draft.ids]), tree=tree)
        verdict = sampler.accept(draft, sequence.logits(hidden), tree)
        shape = [tree.parents, verdict.path] if tree and verdict.path is not None else []
        answer = mx.concatenate([verdict.accepted, verdict.tokens, draft.ids, *shape])
        mx.async_eval(answer)
        offer = _at_most(block_sizes.next(position), max_tokens - 1)
        copied = copy is not None
        ahead = NO_DRAFT if copied else sequence.draft_ahead(verdict, offer, sampler)  # a copy often goes on
        mx.async_eval(ahead)
        [accepted], tokens, drafted, *read = sequence.read(answer, 1, rows, rows - 1, *(part.size for part in shape))
        parents, path = read or (None, None)
        count = take(tokens[: accepted + 1])
        sequence.commit(count, path)
        sampler.add(tokens[:count])
        sequence.head.add(tokens[:count])
        if copies:
            copies.add(tokens[:count])
        end = time.perf_counter()
        depth, chain = (depth_of(parents), first_choices(parents, path[: accepted + 1])) if parents and path else (0, None)
        block_sizes.record(rows, accepted, end - start, position, copied, chain)
        max_tokens -= count
        yield Cycle(tokens[:count], drafted, min(accepted, count), depth)
        start = time.perf_counter()
        anchor = mx.array(tokens[count - 1 : count], mx.int32)
        copy = _copy(copies, block_sizes)
        known = count == accepted + 1 and not copied
        draft = copy or (ahead if known else sequence.draft(anchor, offer, sampler))


def _at_most(offer: Offer, rows: int) -> Offer:
    return offer._replace(rows=max(1, min(offer.rows, rows)))


def _copy(copies: Copies | None, block_sizes: BlockSizes) -> Draft | None:
    """What follows the end of the text where it occurred before, if that is worth its rows."""
    rows = block_sizes.copy(copies.rate) if copies and copies.match else 1
    return Draft(mx.array(copies.tokens(rows - 1), mx.int32)) if copies and rows > 1 else None


def _first(draft: Draft, count: int) -> Draft:
    """The first `count` tokens of a draft; of a tree, they are one."""
    if count == draft.ids.size:
        return draft
    q, parents = (None if part is None else part[:count] for part in draft[1:])
    return Draft(draft.ids[:count], q, parents)
