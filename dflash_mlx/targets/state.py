"""What a target remembers of one request: plain arrays of static shape, a layer each.

Where does a rejected row go? In attention layers it stays beyond the committed position, where no mask lets anyone
see it, until it is written over. In recurrent layers nothing is committed before the count is known: the state before
the block is kept, and what gives the state after any of its rows.
"""

from collections.abc import Callable, Sequence

import mlx.core as mx

from dflash_mlx.buffers import KVBuffer


class AttentionState(KVBuffer):
    """K and V of one attention layer."""

    def committed(self, count: int) -> "AttentionState":
        """Itself: what lies beyond the committed position is masked."""
        return self


class RecurrentState:
    """The state of one Gated DeltaNet layer.

    conv: `[1, kernel - 1, conv_dim]`, the newest rows before the short convolution.
    recurrent: float32 `[1, value_heads, value_dim, key_dim]`.
    """

    def __init__(self, conv: mx.array, recurrent: mx.array) -> None:
        self.conv, self.recurrent = conv, recurrent
        self._block: tuple[mx.array, Callable[[int], mx.array]] | None = None

    def keep(self, conv_rows: mx.array, after: Callable[[int], mx.array]) -> None:
        """Holds a block until the count is known.

        Args:
            conv_rows: the block's rows before the convolution, with the `kernel - 1` before them in front.
            after: gives the recurrent state after the first so many rows.
        """
        self._block = conv_rows, after

    def advance(self, conv: mx.array, recurrent: mx.array) -> None:
        """Makes rows permanent at once; a block that was never committed is forgotten."""
        self.conv, self.recurrent, self._block = conv, recurrent, None

    def committed(self, count: int) -> "RecurrentState":
        """The state with the first `count` kept rows made permanent and the others forgotten."""
        if self._block is None or count == 0:
            return RecurrentState(self.conv, self.recurrent)
        conv_rows, after = self._block
        return RecurrentState(conv_rows[:, count : count + self.conv.shape[1]], after(count))

    def reserve(self, positions: int) -> None:
        """Nothing to do: the size does not depend on the number of positions."""

    @property
    def arrays(self) -> list[mx.array]:
        return [self.conv, self.recurrent]


class State:
    """The states of all layers of a target."""

    def __init__(self, layers: Sequence[AttentionState | RecurrentState]) -> None:
        self.layers = layers

    def reserve(self, positions: int) -> None:
        """Makes room for positions 0 to `positions` - 1. The host calls this: MLX checks no device-side start."""
        for layer in self.layers:
            layer.reserve(positions)

    def commit(self, count: int) -> None:
        """Makes the first `count` rows of the last forward permanent and forgets the others: in all layers, or in none."""
        self.layers = [layer.committed(count) for layer in self.layers]

    def visible(self, position: mx.array, rows: int) -> mx.array:
        """What `rows` rows at `position` see of the attention buffers: bool `[rows, capacity]`, causal."""
        capacity = max((layer.capacity for layer in self.layers if isinstance(layer, AttentionState)), default=0)
        return mx.arange(capacity) <= (position + mx.arange(rows))[:, None]

    @property
    def arrays(self) -> list[mx.array]:
        """Every array that is kept when a block is forgotten, for `mx.eval`."""
        return [array for layer in self.layers for array in layer.arrays]
