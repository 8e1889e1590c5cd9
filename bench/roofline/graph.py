"""What a lazy graph costs on Metal, told without Metal: how many dispatches it submits. Nothing is evaluated.

MLX's Metal backend makes one dispatch of most primitives, none of views, several of a few (`FREE`, `SEVERAL`, read from
mlx/backend/metal and mlx/backend/gpu of 0.32), and copies what a kernel wants in rows and gets as a view with gaps.

A graph tells all of it but for two things. `mx.export_to_dot` knows what `mx.compile` fused, and no shapes; so the copies are
counted by `mx.export_function` in the same graph built with `mx.disable_compile`. And where MLX has a Metal kernel of its own,
the CPU backend builds the graph of its fallback; so such functions are replaced (`on_metal`) by stand-ins: the primitive
`Depends`, which nothing else here uses.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from io import StringIO
from math import ceil, log2
from typing import Any
from unittest.mock import patch

import mlx.core as mx
import numpy as np

from dflash_mlx.kernels import metal_kernel
from dflash_mlx.targets import gated_delta, row_invariance

STAND_IN = "Depends"
# they share their input's buffer; reshapes too, unless `copies` finds that they cannot
RESHAPES = {"Reshape", "Flatten", "Unflatten", "Squeeze", "ExpandDims"}
FREE = RESHAPES | {"AsStrided", "Broadcast", "BroadcastAxes", "Copy", "Slice", "Split", "StopGradient", "Transpose"}
SORTED = 2048  # values that a threadgroup of MLX's sort takes
# primitive -> dispatches, from its inputs and the number of values that a partition sorts
SEVERAL: dict[str, Callable[[int, int], int]] = {
    "Concatenate": lambda inputs, width: inputs,  # a copy each
    "DynamicSlice": lambda inputs, width: 2,  # the offset, a copy
    "DynamicSliceUpdate": lambda inputs, width: 2,  # the same, in place
    "Pad": lambda inputs, width: 2,  # fill, copy
    # a full sort: blocks; partition and merge for each doubling; a copy
    "ArgPartition": lambda inputs, width: 1 if width <= SORTED else 2 + 2 * ceil(log2(ceil(width / SORTED))),
}
# their kernels walk over rows; all others take strides as they are
WANT_ROWS = {STAND_IN, "QuantizedMatmul", "Convolution"}
# a node, then its inputs; what mx.compile made has one number wherever it stands again
NODE = re.compile(r'^\{ \d+ \[label ="(\w+)", shape=rectangle\]; \}\n((?:"\w+" -> \d+\n)*)', re.MULTILINE)


def dispatches(arrays: Sequence[mx.array], width: int) -> Counter[str]:
    """Dispatches of what `arrays` are computed by, by primitive, without `copies`; what `mx.compile` joined is one.

    Args:
        width: how many values a partition sorts: the graph does not say.
    """
    found: Counter[str] = Counter()
    for name, inputs in _nodes(arrays):
        if name not in FREE:
            found[name] += SEVERAL[name](inputs.count("\n"), width) if name in SEVERAL else 1
    return found


def primitives(arrays: Sequence[mx.array]) -> int:
    """Primitives of what `arrays` are computed by, views among them; what `mx.compile` joined is one."""
    return len(_nodes(arrays))


def _nodes(arrays: Sequence[mx.array]) -> list[tuple[str, str]]:
    """The name of each primitive, and its inputs, a line each."""
    text = StringIO()
    mx.export_to_dot(text, *arrays)
    return NODE.findall(text.getvalue())


def copies(arrays: Sequence[mx.array]) -> Counter[str]:
    """Copies that MLX makes because a view has gaps, by who wants them; `arrays` were built with `mx.disable_compile`.

    An approximation: what is computed counts as being in rows, where MLX lets some ops keep a transposed input's order.
    """
    layouts: dict[str, np.ndarray[Any, Any]] = {}
    first: dict[str, str] = {}  # the exporter tells of what is also an output twice
    seen: dict[str, list[str]] = {}
    found: Counter[str] = Counter()
    rows = cache(_rows)

    def take(node: dict[str, Any]) -> None:
        if node["type"] != "primitive":
            return
        name, outputs = node["name"], node["outputs"]
        sources = [first.get(key, key) for key, _, _ in node["inputs"]]
        keys = [key for key, _, _ in outputs]
        known = seen.setdefault(f"{name} {node['arguments']} {sources} {outputs[0][1:]}", keys)
        if known is not keys:
            first.update(zip(keys, known))
            return
        inputs = [layouts[key] if key in layouts else rows(shape) for key, (_, shape, _) in zip(sources, node["inputs"])]
        views = _views(name, inputs, node["arguments"], outputs[0][1])
        layouts.update(zip(keys, views))
        if name in RESHAPES and views[0].size and not np.may_share_memory(inputs[0], views[0]):
            found[name] += 1
        if name in WANT_ROWS:
            given = inputs[len(outputs) :] if name == STAND_IN else inputs  # see `stand_in`
            found[name] += sum(not array.flags.c_contiguous for array in given)

    mx.export_function(take, lambda: list(arrays))
    return found


def _rows(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array in rows. It takes addresses, and memory only if it is written to, which is never done."""
    return np.empty(shape, np.int8)


def _views(
    name: str, inputs: list[np.ndarray[Any, Any]], arguments: list[Any], shape: tuple[int, ...]
) -> Sequence[np.ndarray[Any, Any]]:
    """What a primitive that makes views makes of these layouts; nothing for others."""
    if name in RESHAPES:
        return [inputs[0].reshape(shape)]
    if name == "Transpose":
        return [inputs[0].transpose(arguments[0])]
    if name == "Slice":
        return [inputs[0][tuple(slice(*bounds) for bounds in zip(*arguments))]]
    if name == "Split":
        return np.split(inputs[0], arguments[0], axis=arguments[1])
    if name.startswith("Broadcast"):
        return [np.broadcast_to(inputs[0], shape)]
    return []


def hollow(shape: Sequence[int], dtype: mx.Dtype) -> mx.array:
    """An array of zeros that takes no memory."""
    return mx.broadcast_to(mx.array(0, dtype), shape)


def stand_in(
    shapes: Sequence[Sequence[int]], dtypes: Sequence[mx.Dtype], inputs: Sequence[Any], strided: Sequence[Any] = ()
) -> list[mx.array]:
    """The outputs of a kernel that is one dispatch, wants `inputs` in rows and takes `strided` ones as they stand."""
    inputs, strided = ([array for array in given if isinstance(array, mx.array)] for given in (inputs, strided))
    # what `Depends` hands on and what it only waits for are told apart in its node: see `copies`
    return mx.depends([*(hollow(*output) for output in zip(shapes, dtypes)), *strided], inputs)[: len(shapes)]


@contextmanager
def on_metal() -> Iterator[None]:
    """Functions build the graphs that they build on Metal, and nothing is evaluated."""
    attention = mx.fast.scaled_dot_product_attention

    def rms_norm(x: mx.array, weight: mx.array | None, eps: float) -> mx.array:
        return stand_in([x.shape], [x.dtype], [x, weight])[0]

    def rope(x: mx.array, dims: int, **settings: Any) -> mx.array:
        if dims < x.shape[-1]:  # MLX copies all of it, then turns a part
            [x] = stand_in([x.shape], [x.dtype], [], [x])
        return stand_in([x.shape], [x.dtype], [settings["offset"]], [x])[0]

    def scaled_dot_product_attention(q: mx.array, k: mx.array, v: mx.array, *, scale: float, mask: Any = None) -> mx.array:
        (_, heads, rows, head_dim), (_, kv_heads, length, _) = q.shape, k.shape
        few = rows <= 8 and rows * heads // kv_heads <= 32 and head_dim in (64, 96, 128, 256)
        if not few and not (rows > 8 and head_dim in (64, 80, 128)):
            return attention(q, k, v, scale=scale, mask=mask)  # MLX's fallback, of several ops
        [y] = stand_in([q.shape], [q.dtype], [], [q, k, v, mask])
        if few and kv_heads < heads and length >= 4096:  # split over keys; on Max and Ultra from 1024 on
            [y] = stand_in([y.shape], [y.dtype], [y])
        return y

    def new_kernel(*_: Any, **__: Any) -> Callable[..., list[mx.array]]:
        return lambda *, inputs, output_shapes, output_dtypes, **_: stand_in(output_shapes, output_dtypes, inputs)

    def dequantize(w: mx.array, scales: mx.array, biases: mx.array | None, group_size: int, bits: int, **_: Any) -> mx.array:
        return stand_in([(*w.shape[:-1], w.shape[-1] * 32 // bits)], [scales.dtype], [w, scales, biases])[0]

    def recurrence(q: mx.array, k: mx.array, v: mx.array, g: mx.array, beta: mx.array, state: mx.array) -> list[mx.array]:
        return stand_in([v.shape, state.shape], [q.dtype, state.dtype], [q, k, v, g, beta, state])

    with ExitStack() as stack:
        for function in (rms_norm, rope, scaled_dot_product_attention):
            stack.enter_context(patch.object(mx.fast, function.__name__, function))
        stack.enter_context(patch.object(mx.fast, "metal_kernel", new_kernel))
        stack.enter_context(patch.object(mx, "dequantize", dequantize))
        stack.enter_context(patch.object(gated_delta, "gated_delta_kernel", recurrence))
        stack.enter_context(patch.object(gated_delta, "_has_kernel", lambda k: k.shape[-1] % 32 == 0))
        stack.enter_context(patch.object(row_invariance, "backend", lambda: "metal"))
        for name in ("eval", "async_eval"):
            stack.enter_context(patch.object(mx, name, lambda *arrays: None))
        stack.callback(metal_kernel.cache_clear)
        metal_kernel.cache_clear()  # those that were made before are real
        yield
