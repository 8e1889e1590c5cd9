"""A pass over rows that are a tree, each following its parent, which need not be the row before it; and what is kept of one."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels import MAX_ROWS


class Tree(NamedTuple):
    """Who follows whom among the rows of a pass.

    parents: int32 `[rows]`, each row's parent, which stands before it; -1 for the first, which follows the committed text.
    ancestors: bool `[rows, rows]`, whether row r (first axis) follows row c, however far behind it, or is it.
    depths: int32 `[rows]`, how many rows are before each on its path.
    """

    parents: mx.array
    ancestors: mx.array
    depths: mx.array

    @classmethod
    def of(cls, parents: mx.array) -> "Tree":
        """The tree of these parents, int32 `[rows]`."""
        return cls(parents, *_compiled_reach(parents))


class Branch:
    """Rows of a pass that are committed, one after the other; of a chain the first ones.

    Attributes:
        rows: their places in the pass.
    """

    def __init__(self, rows: Sequence[int]) -> None:
        self.rows = list(rows)

    @property
    def is_chain(self) -> bool:
        return self.rows == list(range(len(self.rows)))

    @cached_property
    def array(self) -> mx.array:
        """For a kernel: int32, how many there are, then the rows, then zeros, so that most paths have one size."""
        return mx.array([len(self.rows), *self.rows] + [0] * (MAX_ROWS - len(self.rows)), mx.int32)

    def newest(self, width: int) -> list[int]:
        """With `width` committed rows before the pass's own, the places of the newest `width`."""
        return [*range(width), *(width + row for row in self.rows)][-width:]

    def take(self, x: mx.array) -> mx.array:
        """The rows of `[1, rows, ...]`."""
        return rows_at(x, self.rows)


def depth_of(parents: Sequence[int]) -> int:
    """The depth of the deepest row."""
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return max(depths)


def first_choices(parents: Sequence[int], path: Sequence[int]) -> tuple[int, int]:
    """How long the path is on which each row is its parent's first child, and how far another path goes with it, after row 0."""
    chain = [0]
    while chain[-1] in parents:
        chain.append(parents.index(chain[-1]))
    together = next((i for i, (a, b) in enumerate(zip(chain, path)) if a != b), min(len(chain), len(path)))
    return len(chain) - 1, together - 1


def rows_at(x: mx.array, places: Sequence[int]) -> mx.array:
    """Rows of `[1, rows, ...]`, as a view where they stand side by side."""
    first, count = places[0], len(places)
    if list(places) == list(range(first, first + count)):
        return x[:, first : first + count]
    return mx.take(x, mx.array(list(places), mx.int32), axis=1)


def _reach(parents: mx.array) -> tuple[mx.array, mx.array]:
    rows = parents.size
    column = mx.arange(rows)
    reach = mx.logical_or(column == parents[:, None], column == column[:, None]).astype(mx.float32)
    for _ in range((rows - 1).bit_length()):  # twice as far each time
        reach = mx.minimum(reach @ reach, 1)
    ancestors = reach > 0
    return ancestors, ancestors.sum(axis=1).astype(mx.int32) - 1


_compiled_reach = mx.compile(_reach)
