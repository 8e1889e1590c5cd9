"""What kernels have to do in a pair's passes: its own shapes and dtypes, beside what MLX's ops would do there.

The weights are the model's own, layer after layer; activations are random.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.drafters import DFlash
from dflash_mlx.kernels import MAX_ROWS, Kernels, verify_attention
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.kernels.verify_matmul import kernel_for, project, verify_linear
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.case_inputs import COPIES, Found, after, name_of, random_arrays
from dflash_mlx.tuning.drafter_cases import of_candidates, of_injection
from dflash_mlx.tuning.judge import Case
from dflash_mlx.tuning.recurrence_cases import of_recurrence

ROWS = (1, 2, 4, 6, 8, 12, MAX_ROWS)  # at which kernels are timed, beside the widest; those between follow the nearest

_by_mlx = partial(project, kernels=Kernels())


def cases_of(target: TransformerTarget, drafter: DFlash | None) -> Iterator[Found]:
    """Every kernel at every shape that the pair has for it, at every number of rows: a kernel may be another one at each."""
    widest = min(drafter.config.block_size, MAX_ROWS) if drafter else 1
    for rows in range(1, widest + 1):
        for name, found in _cases_at(target, drafter, rows):
            timed = rows in (*ROWS, widest)
            yield name, found if timed or isinstance(found, str) else replace(found, timed=False)


def _cases_at(target: TransformerTarget, drafter: DFlash | None, rows: int) -> Iterator[Found]:
    if rows > 1:  # one row is MLX's own
        of_target = [(layer, target.dtype) for layer in target.linear_layers]
        of_drafter = [(layer, drafter.dtype) for layer in (*drafter.linear_layers, target.head)] if drafter else []
        yield from _matmuls("verify_matmul", of_target, rows)
        yield from _matmuls("verify_matmul_fast", of_target + of_drafter, rows)
        yield from _attention(target, rows)
    yield from of_recurrence(target, rows)
    if drafter:
        yield from of_injection(drafter, rows)
        yield from of_candidates(drafter, rows - 1)


def _matmuls(name: str, layers: Sequence[tuple[nn.Module, mx.Dtype]], rows: int) -> Iterator[Found]:
    """Of linear layers, each with the dtype of its rows."""
    exact = name == "verify_matmul"
    kinds: dict[tuple[Any, ...], list[nn.Module]] = {}
    for layer, dtype in layers:
        quantisation = (getattr(layer, what, None) for what in ("bits", "group_size", "mode"))
        kinds.setdefault((layer["weight"].shape, *quantisation, dtype), []).append(layer)
    for (shape, bits, group_size, mode, dtype), alike in kinds.items():
        outputs, inputs = shape[0], shape[1] * 32 // bits if bits else shape[1]
        how = f"{bits} bits {mode}, groups of {group_size}" if bits else "not quantised"
        what = f"{inputs} -> {outputs}, {how}, {name_of(dtype)}"
        if kernel_for(alike[0], rows, dtype, exact) is None:
            yield name, what
            continue
        case = Case(
            kernel=name,
            what=what,
            rows=rows,
            count=len(alike),
            inputs=partial(_rows_for, alike[:COPIES], (1, rows, inputs), dtype),
            ours=partial(verify_linear, exact=exact),
            # exact verification does without the kernel what plain decoding does, row after row
            mlx=_one_by_one if exact else _by_mlx,
            link=lambda arguments, y: (arguments[0], after(arguments[1], y)),
            reference=_by_mlx,
            bits=_one_by_one if exact else None,
        )
        yield name, case


def _attention(target: TransformerTarget, rows: int) -> Iterator[Found]:
    """Over the shortest buffers that the kernel is used for: see `verify_attention.FROM`."""
    config = target.config
    if not config.attention_layers:
        return
    heads, kv_heads, head_dim = config.num_attention_heads, config.num_key_value_heads, config.head_dim
    what = f"{heads} heads of {head_dim}, {kv_heads} with keys, {name_of(target.dtype)}"
    if not verify_attention.covers(target.dtype, heads, kv_heads, head_dim, rows):
        some = verify_attention.covers(target.dtype, heads, kv_heads, head_dim, 1)
        yield "verify_attention", f"{what}, more than {verify_attention.QUERIES * kv_heads // heads} rows" if some else what
        return
    capacity = verify_attention.FROM
    position = mx.array([capacity - GROWTH], mx.int32)
    mask = mx.arange(capacity) <= (position + mx.arange(rows))[:, None]
    shapes = (1, heads, rows, head_dim), *[(1, kv_heads, capacity, head_dim)] * 2
    yield (
        "verify_attention",
        Case(
            kernel="verify_attention",
            what=f"{what}, {capacity} positions",
            rows=rows,
            count=config.attention_layers,
            inputs=partial(random_arrays, min(COPIES, config.attention_layers), target.dtype, shapes),
            ours=lambda queries, keys, values: verify_attention.verify_attention_metal(queries, keys, values, position),
            mlx=partial(mx.fast.scaled_dot_product_attention, scale=head_dim**-0.5, mask=mask),
            link=lambda arguments, y: (after(arguments[0], y), *arguments[1:]),
        ),
    )


def _rows_for(layers: list[nn.Module], shape: tuple[int, ...], dtype: mx.Dtype) -> list[tuple[nn.Module, mx.array]]:
    return [(layer, x) for layer, (x,) in zip(layers, random_arrays(len(layers), dtype, [shape]))]


def _one_by_one(layer: nn.Module, x: mx.array) -> mx.array:
    return mx.concatenate([_by_mlx(layer, row) for row in mx.split(x, x.shape[1], axis=1)], axis=1)
