"""What a target remembers of one request: plain arrays of static shape, a layer each.

Where does a rejected row go? In attention layers it stays beyond the committed position, where no mask lets anyone
see it, until it is written over. In recurrent layers nothing is committed before the count is known: the state before
the block is kept, and what gives the state after any of its rows, or what the next pass writes into it.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels.buffers import KVBuffer
from dflash_mlx.kernels.gated_delta import Writes
from dflash_mlx.targets.tree import Branch, Tree, rows_at


class AttentionState(KVBuffer):
    """K and V of one attention layer.

    tree: keys and values of the last block's rows, `[1, kv_heads, rows, head_dim]` each, where it was a tree. Read from the
        buffers they would keep MLX from writing there in place.
    """

    tree: tuple[mx.array, mx.array] | None = None

    def committed(self, path: Branch, position: int) -> "AttentionState":
        """Rows of a block that stands at `position` brought together there: what lies beyond the committed ones is masked."""
        if path.is_chain or self.tree is None:
            return self
        moved, rows = copy(self), mx.array(path.rows, mx.int32)
        keys, values = (mx.take(part, rows, axis=2) for part in self.tree)
        moved.tree = None
        moved.write(keys, values, mx.array([position], mx.int32))
        return moved


class Due(NamedTuple):
    """Rows of a block that are committed and not yet written into a recurrent state.

    conv_rows: `[1, kernel - 1 + rows, conv_dim]`, before the short convolution, those before the block in front.
    writes: of all the block's rows.
    path: which of them.
    """

    conv_rows: mx.array
    writes: Writes
    path: Branch


class RecurrentState:
    """The state of one Gated DeltaNet layer.

    conv: `[1, kernel - 1, conv_dim]`, the newest rows before the short convolution.
    recurrent: float32 `[1, value_heads, value_dim, key_dim]`.
    due: rows that both do not know of yet. The Metal kernel writes them in its next pass over the state, so that the state
        is read once and written once a cycle; everyone else writes them first (`gated_delta.settle`).
    """

    def __init__(self, conv: mx.array, recurrent: mx.array, due: Due | None = None) -> None:
        self.conv, self.recurrent, self.due = conv, recurrent, due
        self._block: Callable[[Branch], RecurrentState] | None = None

    def keep(self, conv_rows: mx.array, after: Callable[[Branch], mx.array]) -> None:
        """Holds a block until it is known what of it is committed.

        Args:
            conv_rows: the block's rows before the convolution, with the `kernel - 1` before them in front.
            after: gives the recurrent state after some of the rows, one after the other.
        """
        width = self.conv.shape[1]
        self._block = lambda path: RecurrentState(rows_at(conv_rows, path.newest(width)), after(path))

    def keep_due(self, conv_rows: mx.array, writes: Writes, before: mx.array) -> None:
        """Holds a block, `before` being the recurrent state it started from: what was due is written there."""
        self._block = lambda path: RecurrentState(self.conv, before, Due(conv_rows, writes, path))

    def advance(self, conv: mx.array, recurrent: mx.array) -> None:
        """Makes rows permanent at once, those due among them; a block that was never committed is forgotten."""
        self.conv, self.recurrent, self.due, self._block = conv, recurrent, None, None

    def committed(self, path: Branch, position: int) -> "RecurrentState":
        """The state with some of the kept rows made permanent, one after the other, and the others forgotten."""
        if self._block is None or not path.rows:
            return RecurrentState(self.conv, self.recurrent, self.due)
        return self._block(path)

    def reserve(self, positions: int) -> None:
        """Nothing to do: the size does not depend on the number of positions."""

    def copy(self) -> "RecurrentState":
        """The same, without a block that was never committed: arrays are not changed in place."""
        return RecurrentState(self.conv, self.recurrent, self.due)

    @property
    def arrays(self) -> list[mx.array]:
        return [self.conv, self.recurrent, *((self.due.conv_rows, *self.due.writes) if self.due else ())]


class State:
    """The states of all layers of a target."""

    def __init__(self, layers: Sequence[AttentionState | RecurrentState]) -> None:
        self.layers = layers

    def reserve(self, positions: int) -> None:
        """Makes room for positions 0 to `positions` - 1. The host calls this: MLX checks no device-side start."""
        for layer in self.layers:
            layer.reserve(positions)

    def commit(self, count: int, path: Sequence[int] | None = None, position: int = 0) -> None:
        """Makes rows of the last forward permanent and forgets the others: in all layers, or in none.

        Args:
            count: how many, from the first.
            path: of a tree, the rows that follow each other; the first `count` of them become permanent.
            position: where a tree's first row stands.
        """
        committed = Branch(range(count) if path is None else path[:count])
        self.layers = [layer.committed(committed, position) for layer in self.layers]

    @property
    def recurrent(self) -> dict[int, RecurrentState]:
        """Copies of what does not stand in buffers, by layer: with it, the state can be set back to where it is now."""
        return {i: layer.copy() for i, layer in enumerate(self.layers) if isinstance(layer, RecurrentState)}

    @recurrent.setter
    def recurrent(self, layers: Mapping[int, RecurrentState]) -> None:
        self.layers = [layers[i].copy() if i in layers else layer for i, layer in enumerate(self.layers)]

    def visible(self, position: mx.array, rows: int, tree: Tree | None = None) -> mx.array:
        """What `rows` rows at `position` see of the attention buffers: bool `[rows, capacity]`, causal."""
        capacity = max((layer.capacity for layer in self.layers if isinstance(layer, AttentionState)), default=0)
        if tree and capacity:
            before = mx.broadcast_to(mx.arange(capacity) < position, (rows, capacity))
            return mx.slice_update(before, tree.ancestors, position, axes=(1,))
        return mx.arange(capacity) <= (position + mx.arange(rows))[:, None]

    @property
    def arrays(self) -> list[mx.array]:
        """Every array that is kept when a block is forgotten, for `mx.eval`."""
        return [array for layer in self.layers for array in layer.arrays]
