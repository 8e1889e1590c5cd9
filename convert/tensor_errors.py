"""How far the tensors of a result are from those of its source, by kind, read and dropped one after the other."""

import gc
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx.utils import tree_flatten

from dflash_mlx.errors import CheckpointError

Load = Callable[[], nn.Module]  # gives a model none of whose weights has been read yet, a new one each time
ELEMENTS = 2**22  # of a tensor, that are compared at a time
KINDS = {  # of tensors, each by what its names contain; the first that fits counts
    "norms": r"norm\.",
    "embeddings": r"embed_tokens",
    "lm_head": r"lm_head",
    "attention q/k/v": r"self_attn\.[qkv]_proj",
    "attention output": r"self_attn\.o_proj",
    "recurrent": r"linear_attn",
    "router": r"mlp\.gate\.|shared_expert_gate",
    "experts": r"switch_mlp|shared_expert",
    "mlp": r"mlp\.",
    "convolutions": r"_conv\.",
    "selector": r"candidate_selector",
    "context projection": r"\bfc\.",
    "other": "",
}


class Stored(NamedTuple):
    """A tensor as a checkpoint holds it, not read yet.

    parts: the weight; if it is quantised, its scales and, in affine mode, its biases.
    how: `group_size`, `bits` and `mode`, if it is quantised.
    """

    parts: list[mx.array]
    how: dict[str, Any]

    def dense(self, start: int, end: int) -> mx.array:
        """Rows of it as float32."""
        parts = [part[start:end] for part in self.parts]
        if self.how:
            return mx.dequantize(*parts, **self.how, dtype=mx.float32)  # type: ignore[misc, arg-type]
        return parts[0].astype(mx.float32)


def relative_error(difference: float, of: float) -> float:
    """The root of a sum of squared differences over that of the squares they are differences of; 1 where those are all 0."""
    return float((difference / (of or difference or 1.0)) ** 0.5)


def tensor_errors(source: Load, result: Load, progress: Callable[[int, int], None]) -> dict[str, float]:
    """`relative_error` over all tensors of a kind, by kind, in the order of `KINDS`; quantised ones count as what they stand for.

    Args:
        progress: called with bytes of the source compared and in all.

    Raises:
        CheckpointError: the two have other tensors or shapes, or hold NaN or infinity.
    """
    before, after = _stored(source), _stored(result)
    if different := sorted(before.keys() ^ after.keys()):
        raise _not_of_one_model(f"only one of them has {different[0]}")
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    total, done = sum(part.nbytes for tensor in before.values() for part in tensor.parts), 0
    for name in sorted(before):
        progress(done, total)
        tensor = before.pop(name)
        done += sum(part.nbytes for part in tensor.parts)
        difference, of = _squares(name, tensor, after.pop(name))
        of_kind = sums[_kind(name)]
        of_kind[0] += difference
        of_kind[1] += of
        del tensor
        mx.clear_cache()
    progress(total, total)
    return {kind: relative_error(*sums[kind]) for kind in KINDS if kind in sums}


def _stored(load: Load) -> dict[str, Stored]:
    """The tensors of a model by their names in mlx-lm's layout. Nothing else holds them."""
    model = load()
    parameters: dict[str, mx.array] = dict(tree_flatten(model.parameters()))
    modules = dict(model.named_modules())
    tensors = {name: Stored([parameter], {}) for name, parameter in parameters.items()}
    for path in [name.removesuffix(".scales") for name in parameters if name.endswith(".scales")]:
        names = [f"{path}.{part}" for part in ("weight", "scales", "biases") if f"{path}.{part}" in parameters]
        how = {setting: getattr(modules[path], setting) for setting in ("group_size", "bits", "mode")}
        tensors[names[0]] = Stored([tensors.pop(name).parts[0] for name in names], how)
    del model, modules, parameters
    gc.collect()  # a layer and its compiled functions hold each other, and joint projections
    return tensors


def _kind(name: str) -> str:
    """The kind of a tensor, one of `KINDS`."""
    return next(kind for kind, pattern in KINDS.items() if re.search(pattern, name))


def _squares(name: str, source: Stored, result: Stored) -> tuple[float, float]:
    """The sum of squares of the difference of two tensors, and that of the source."""
    rows = source.parts[0].shape[0]
    a_time = max(1, ELEMENTS * rows // source.parts[0].size)
    difference = of = 0.0
    for start in range(0, rows, a_time):
        before, after = source.dense(start, start + a_time), result.dense(start, start + a_time)
        if before.shape != after.shape:
            raise _not_of_one_model(f"{name} has shapes {before.shape} and {after.shape}")
        squares = [np.array(mx.square(rows).sum(axis=-1), np.float64).sum() for rows in (after - before, before)]
        if not np.isfinite(squares).all():
            raise CheckpointError(
                f"{name} holds NaN or infinity, in the source or in what was made of it.", "Get the model's files again."
            )
        difference, of = difference + float(squares[0]), of + float(squares[1])
    return difference, of


def _not_of_one_model(what: str) -> CheckpointError:
    return CheckpointError(f"source and result are not of the same model: {what}.", "Convert the source again.")
