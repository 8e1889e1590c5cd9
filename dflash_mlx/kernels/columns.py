"""Columns of a wider matrix: what a joint projection gives one of its parts, for kernels that read it where it stands."""

from typing import NamedTuple

import mlx.core as mx


class Columns(NamedTuple):
    """Columns `start` to `start + size` of rows `[1, rows, width]`."""

    rows: mx.array
    start: int
    size: int

    @property
    def view(self) -> mx.array:
        """`[1, rows, size]`, strided: MLX copies it for a kernel that takes it as an input."""
        return self.rows[..., self.start : self.start + self.size]


def columns_of(x: mx.array | Columns) -> Columns:
    """All columns of an array."""
    return x if isinstance(x, Columns) else Columns(x, 0, x.shape[-1])
