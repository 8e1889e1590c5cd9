"""The drafter's memory of one request: K and V of the context, and behind them those of the block being drafted.

Context row j stands at absolute position j. Rows of a block are written in place behind the context; where a draft
is rejected its rows stay until the next injection writes over them, and no mask lets anyone see them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels.buffers import KVBuffer
from dflash_mlx.kernels.inject_kv import put


class LayerContext(KVBuffer):
    """The context of a full layer."""

    window: int | None = None

    def put(self, keys: mx.array, values: mx.array, slots: mx.array) -> None:
        """Puts rows `[..., kv_heads, rows, head_dim]` where `slots` `[..., kv_heads * rows]` says; see `Injected`."""
        slots = slots.reshape(-1)
        self.keys, self.values = put(self.keys, keys, slots), put(self.values, values, slots)

    def visible(self, position: mx.array, rows: int, causal: bool) -> mx.array:
        """Which rows of the buffer a block of `rows` rows at `position` sees once it is written: bool `[rows, capacity]`.

        Row s of the buffer holds the newest written position that is s modulo the capacity.
        """
        query = (position + mx.arange(rows))[:, None]
        newest = position + rows - 1
        key = newest - (newest - mx.arange(self.capacity)) % self.capacity
        mask = mx.broadcast_to(key >= 0, (rows, self.capacity))
        if causal:
            mask = mask & (key <= query)
        if self.window is not None:
            mask = mask & (query - key < self.window) & (key - query < self.window)
        return mask


class SlidingContext(LayerContext):
    """The context of a sliding layer: a ring that holds position p in row p modulo its capacity.

    With room for the window and two blocks, a rejected block has written over nothing that a later one may see.
    """

    def __init__(self, kv_heads: int, head_dim: int, dtype: mx.Dtype, window: int, block_size: int) -> None:
        super().__init__(kv_heads, head_dim, dtype, window + 2 * block_size)
        self.window = window

    def reserve(self, positions: int) -> None:
        """Nothing to do: a ring never runs out of room."""

    def write(self, keys: mx.array, values: mx.array, position: mx.array) -> None:
        rows = keys.shape[2]
        first = max(0, rows - self.capacity)
        slots = (position + mx.arange(first, rows)) % self.capacity
        self.keys[:, :, slots] = keys[:, :, first:]
        self.values[:, :, slots] = values[:, :, first:]


class Waiting(NamedTuple):
    """Context rows that are not in the buffers yet: the next block is written together with them.

    projected: `[1, rows, layers * 2 * kv_heads * head_dim]`, K and V of each layer in turn.
    position: int32 `[1]`, of the first row. Only rows before the block are kept.
    """

    projected: mx.array
    position: mx.array


class Context:
    """The context cache of all layers of a drafter, for one request."""

    def __init__(self, layers: list[LayerContext], waiting: Waiting | None = None) -> None:
        self.layers, self.waiting = layers, waiting

    def reserve(self, positions: int) -> None:
        """Makes room for positions 0 to `positions` - 1 in every layer."""
        for layer in self.layers:
            layer.reserve(positions)

    @property
    def arrays(self) -> list[mx.array]:
        """Every buffer, keys and values of each layer in turn."""
        return [array for layer in self.layers for array in layer.arrays]

    @arrays.setter
    def arrays(self, arrays: list[mx.array]) -> None:
        for layer, keys, values in zip(self.layers, arrays[::2], arrays[1::2]):
            layer.keys, layer.values = keys, values

    @property
    def rings(self) -> dict[int, list[mx.array]]:
        """The buffers in which newer positions stand in the place of older ones, keys and values by layer: with them, the
        context can be set back to where it is now. Whoever holds them makes the next write a copy."""
        rings = {i: layer for i, layer in enumerate(self.layers) if isinstance(layer, SlidingContext)}
        return {i: [mx.array(array) for array in ring.arrays] for i, ring in rings.items()}  # not those that a write changes

    @rings.setter
    def rings(self, rings: Mapping[int, Sequence[mx.array]]) -> None:
        for i, ring in rings.items():
            self.layers[i].keys, self.layers[i].values = (mx.array(array) for array in ring)
