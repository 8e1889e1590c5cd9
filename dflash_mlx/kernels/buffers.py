"""K and V of one attention layer in buffers of static shape: grown by the host, written at a device-side position."""

import mlx.core as mx

GROWTH = 256  # positions a buffer grows by


def capacity_for(positions: int) -> int:
    """Rows of a buffer that has room for so many positions."""
    return -(-positions // GROWTH) * GROWTH


class KVBuffer:
    """`keys` and `values`, `[1, kv_heads, capacity, head_dim]`; position p stands in row p.

    Nobody else may hold the arrays: MLX then writes rows in place.
    """

    def __init__(self, kv_heads: int, head_dim: int, dtype: mx.Dtype, capacity: int = 0) -> None:
        self.keys = mx.zeros((1, kv_heads, capacity, head_dim), dtype)
        self.values = mx.zeros((1, kv_heads, capacity, head_dim), dtype)

    @property
    def capacity(self) -> int:
        return self.keys.shape[2]

    @property
    def arrays(self) -> list[mx.array]:
        return [self.keys, self.values]

    def reserve(self, positions: int) -> None:
        """Makes room for positions 0 to `positions` - 1. The host must ask: MLX checks no device-side start."""
        missing = capacity_for(positions) - self.capacity
        if missing > 0:
            padding = [(0, 0), (0, 0), (0, missing), (0, 0)]
            self.keys, self.values = mx.pad(self.keys, padding), mx.pad(self.values, padding)

    def write(self, keys: mx.array, values: mx.array, position: mx.array) -> None:
        """Puts rows `[1, kv_heads, rows, head_dim]` at `position` (int32 `[1]`) and after."""
        self.keys = mx.slice_update(self.keys, keys, position, axes=(2,))
        self.values = mx.slice_update(self.values, values, position, axes=(2,))
