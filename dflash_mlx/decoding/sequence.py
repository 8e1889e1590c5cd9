"""A target and its drafter at work on one sequence of tokens: what each remembers of it, kept in step."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.decoding.acceptance import Verdict
from dflash_mlx.decoding.draft_head import DraftHead
from dflash_mlx.drafters import DFlash, Draft
from dflash_mlx.drafters.context import Context
from dflash_mlx.drafters.dflash import Chooser
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.targets import State, Target
from dflash_mlx.targets.state import RecurrentState
from dflash_mlx.targets.tree import Tree, rows_at

NO_DRAFT = Draft(mx.array([], mx.int32))
# rows of context features that wait while the drafter rests, before they are injected: memory against dispatches
QUEUE = 512


class Offer(NamedTuple):
    """What the drafter is to propose for a cycle: so many rows, the anchor's included, as a chain or a tree."""

    rows: int
    tree: bool = False


class Checkpoint(NamedTuple):
    """A place that a sequence can go back to: what of it the buffers, which stay as they are, will not hold any more.

    position: how many rows are committed there.
    recurrent: of the target's recurrent layers, by layer.
    rings: of the drafter's sliding layers, keys and values, by layer.
    """

    position: int
    recurrent: Mapping[int, RecurrentState]
    rings: Mapping[int, Sequence[mx.array]]

    @property
    def arrays(self) -> list[mx.array]:
        states = [array for state in self.recurrent.values() for array in state.arrays]
        return states + [array for ring in self.rings.values() for array in ring]


class TokenSequence:
    """The target's state and the drafter's context for one sequence.

    The context is behind while the drafter rests: features of committed rows wait, and are injected in one piece before
    the next draft, or when `QUEUE` of them have come together.

    Attributes:
        exact: whether the target's result for a row must not depend on the rows beside it.
        position: how many rows are committed.
        head: of the target, as the drafter sees it.
        device_reads: how often the loop has waited for the device to tell it something.
    """

    def __init__(self, target: Target, drafter: DFlash | None, exact: bool = False) -> None:
        self.target, self.drafter, self.exact = target, drafter, exact
        self.state: State = target.new_state(0)
        self.context: Context | None = drafter.new_context() if drafter else None
        self.head = DraftHead(target)
        self.position = 0
        self.device_reads = 0
        self._injected = 0  # committed rows whose features are in the context
        self._waiting: list[mx.array] = []  # features of the committed rows after those
        self._features: mx.array | None = None  # of the last forward's rows, not committed yet
        self._ahead = False  # whether these are in the context all the same

    @property
    def anywhere(self) -> bool:
        """Whether it can go back to any position: all that it remembers stands in buffers, a row a position."""
        return not self.state.recurrent and not (self.context and self.context.rings)

    @property
    def widest(self) -> int:
        """The most rows that one forward may have: in exact mode, all must see buffers of the size plain decoding has."""
        return GROWTH - self.position % GROWTH if self.exact else GROWTH

    def reserve(self, rows: int) -> None:
        """Makes room in the target's state for `rows` more rows."""
        self.state.reserve(self.position + rows)

    def forward(self, ids: mx.array, commit: bool = False, tree: Tree | None = None) -> mx.array:
        """The target over int32 `[rows]` at the current position: normed hidden states `[1, rows, hidden]`.

        The rows become permanent with `commit`, but with `commit=True` the target's state already holds them.
        tree: who follows whom, if they are not a chain.
        """
        taps = self.drafter.config.target_layer_ids if self.drafter else ()
        hidden, self._features = self.target.forward(
            ids[None], self.state, _at(self.position), taps, commit=commit, exact=self.exact, tree=tree
        )
        self._ahead = False
        return hidden

    def logits(self, hidden: mx.array) -> mx.array:
        """The target's logits, `[rows, vocab]`."""
        return self.target.lm_head(hidden, exact=self.exact).squeeze(0)

    def commit(self, count: int, path: Sequence[int] | None = None) -> None:
        """Makes the first `count` rows of the last forward permanent; of a tree, those of the `path`."""
        start = self.position
        self.position += count  # first: whoever finds it wrong after an interrupt knows that there was one
        self.state.commit(count, path, start)
        if self._ahead:
            self._injected = self.position
        elif self._features is not None:
            self._waiting.append(rows_at(self._features, range(count) if path is None else path[:count]))
            if self.position - self._injected >= QUEUE:
                self._inject()
                mx.async_eval(self.arrays)  # nobody else asks for it while the drafter rests: the features would stay
        self._features, self._ahead = None, False

    def checkpoint(self) -> Checkpoint:
        """This place, with the context of all committed rows."""
        self.settle()
        checkpoint = Checkpoint(self.position, self.state.recurrent, self.context.rings if self.context else {})
        mx.eval(self.arrays, checkpoint.arrays)
        return checkpoint

    def go_back(self, checkpoint: Checkpoint) -> None:
        """Forgets all that came after a checkpoint of this sequence; whatever was under way is dropped."""
        self.settle()
        self.position = self._injected = checkpoint.position
        self.state.recurrent = checkpoint.recurrent
        if self.context:
            self.context.rings, self.context.waiting = checkpoint.rings, None
        self._waiting, self._features, self._ahead = [], None, False

    def settle(self) -> None:
        """Puts the features of all committed rows into the context's buffers."""
        if self.drafter and self.context:
            self._inject()
            self.drafter.settle(self.context)

    def draft(self, anchor: mx.array, offer: Offer, chooser: Chooser) -> Draft:
        """The drafter's guess at what comes after the anchor (int32 `[1]`), which is the newest token."""
        if offer.rows == 1:
            return NO_DRAFT
        self._inject()
        return self._draft(anchor, _at(self.position), self.position, offer, chooser)

    def draft_ahead(self, verdict: Verdict, offer: Offer, chooser: Chooser) -> Draft:
        """The same for the next cycle, while the host does not know the verdict on the last forward's rows yet."""
        if offer.rows == 1 or self._features is None:
            return NO_DRAFT
        # rows that the verdict drops are injected too: the next block is written over them, or no mask shows them
        self._inject(self._features if verdict.path is None else mx.take(self._features, verdict.path, axis=1))
        self._ahead = True
        anchor = mx.take(verdict.tokens, verdict.accepted)
        at_most = self.position + verdict.tokens.size
        return self._draft(anchor, self.position + 1 + verdict.accepted, at_most, offer, chooser)

    def _draft(self, anchor: mx.array, position: mx.array, at_most: int, offer: Offer, chooser: Chooser) -> Draft:
        assert self.drafter and self.context
        block_size = self.drafter.config.block_size if offer.tree else offer.rows
        self.context.reserve(at_most + block_size)
        nodes = {"nodes": offer.rows - 1} if offer.tree else {}
        return self.drafter.draft(anchor, self.context, position, block_size, self.head, chooser, **nodes)

    def _inject(self, *uncommitted: mx.array) -> None:
        """Injects the features that wait, and those of uncommitted rows behind them, in one piece."""
        assert self.drafter and self.context
        if pieces := [*self._waiting, *uncommitted]:
            features = mx.concatenate(pieces, axis=1) if len(pieces) > 1 else pieces[0]
            self.context.reserve(self._injected + features.shape[1])
            self.drafter.inject(features, self.context, _at(self._injected))
            self._injected, self._waiting = self.position, []

    def read(self, array: mx.array, *sizes: int) -> list[list[int]]:
        """An int32 array `[n]` from the device, cut into lists of these sizes."""
        self.device_reads += 1
        values: list[int] = array.tolist()  # type: ignore[assignment]
        ends = list(accumulate(sizes))
        return [values[end - size : end] for size, end in zip(sizes, ends)]

    @property
    def arrays(self) -> list[mx.array]:
        """Every array that is remembered, for `mx.eval`."""
        return [*self.state.arrays, *(self.context.arrays if self.context else []), *self._waiting]


def _at(position: int) -> mx.array:
    """A position as int32 `[1]`."""
    return mx.array([position], mx.int32)
