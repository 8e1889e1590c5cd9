"""What the cases of kernels have in common: random activations, and how one call is made to wait for another."""

from collections.abc import Sequence

import mlx.core as mx

from dflash_mlx.tuning.judge import Case

COPIES = 6  # of weights and buffers, at most

# A kernel's name, and a case or what is not covered.
Found = tuple[str, Case | str]


def name_of(dtype: mx.Dtype) -> str:
    return str(dtype).removeprefix("mlx.core.")


def random_arrays(copies: int, dtype: mx.Dtype, shapes: Sequence[tuple[int, ...]]) -> list[tuple[mx.array, ...]]:
    keys = iter(mx.random.split(mx.random.key(0), copies * len(shapes)))
    return [tuple(mx.random.normal(shape, dtype, key=next(keys)) for shape in shapes) for _ in range(copies)]


def after(x: mx.array, y: mx.array) -> mx.array:
    """x, by an op that has to wait for y."""
    return mx.minimum(x, y[(slice(1),) * y.ndim].reshape(1).astype(x.dtype))
