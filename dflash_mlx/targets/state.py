"""What a target remembers of one request: plain arrays of static shape, a layer each.

Where does a rejected row go? In attention layers it stays beyond the committed position, where no mask lets anyone
see it, until it is written over. In recurrent layers nothing is committed before the count is known: the state
before the block is kept beside those after each of its rows, and `commit` picks one.
"""

import mlx.core as mx

from dflash_mlx.buffers import KVBuffer


class AttentionState(KVBuffer):
    """K and V of one attention layer."""

    def commit(self, count: int) -> None:
        """Nothing to do: what lies beyond the committed position is masked."""

    def at(self, position: mx.array) -> "AttentionCache":
        """The state at a position, as mlx-lm's attention layers want it."""
        return AttentionCache(self, position)


class AttentionCache:
    """What mlx-lm's attention layers ask of a cache, answered from static buffers and a device-side position."""

    def __init__(self, state: AttentionState, position: mx.array) -> None:
        self.state, self.offset = state, position

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Writes rows `[1, kv_heads, rows, head_dim]` at the position; returns the whole buffers."""
        self.state.write(keys, values, self.offset)
        return self.state.keys, self.state.values


class RecurrentState:
    """The state of one Gated DeltaNet layer.

    conv: `[1, kernel - 1, conv_dim]`, the newest rows before the short convolution.
    recurrent: float32 `[1, value_heads, value_dim, key_dim]`.
    """

    def __init__(self, conv: mx.array, recurrent: mx.array) -> None:
        self.conv, self.recurrent = conv, recurrent
        self._rows: tuple[mx.array, list[mx.array]] | None = None

    def keep(self, conv_rows: mx.array, states: list[mx.array]) -> None:
        """Holds a block's rows until the count is known: conv rows with the `kernel - 1` before them in front, and
        the recurrent state after each row."""
        self._rows = conv_rows, states

    def commit(self, count: int) -> None:
        """Makes the first `count` kept rows permanent and forgets the others."""
        if self._rows is not None and count > 0:
            conv_rows, states = self._rows
            self.conv = conv_rows[:, count : count + self.conv.shape[1]]
            self.recurrent = states[count - 1]
        self._rows = None

    def reserve(self, positions: int) -> None:
        """Nothing to do: the size does not depend on the number of positions."""

    @property
    def arrays(self) -> list[mx.array]:
        return [self.conv, self.recurrent]


class State:
    """The states of all layers of a target."""

    def __init__(self, layers: list[AttentionState | RecurrentState]) -> None:
        self.layers = layers

    def reserve(self, positions: int) -> None:
        """Makes room for positions 0 to `positions` - 1. The host calls this: MLX checks no device-side start."""
        for layer in self.layers:
            layer.reserve(positions)

    def commit(self, count: int) -> None:
        """Makes the first `count` rows of the last forward permanent and forgets the others."""
        for layer in self.layers:
            layer.commit(count)

    def visible(self, position: mx.array, rows: int) -> mx.array:
        """What `rows` rows at `position` see of the attention buffers: bool `[rows, capacity]`, causal."""
        capacity = max((layer.capacity for layer in self.layers if isinstance(layer, AttentionState)), default=0)
        return mx.arange(capacity) <= (position + mx.arange(rows))[:, None]

    @property
    def arrays(self) -> list[mx.array]:
        """Every committed array, for `mx.eval`."""
        return [array for layer in self.layers for array in layer.arrays]
