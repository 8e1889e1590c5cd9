"""Every "yes" of the table of row-invariant ops, held against MLX as it is installed. `-rs` tells of the others."""

import ctypes.util
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import get_args

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.gated_delta import gated_delta_update
from mlx_lm.models.switch_layers import SwitchGLU

from dflash_mlx.targets import row_invariance
from dflash_mlx.targets.row_invariance import TABLE, Backend, Op, backend, entry, rows_apart

ROWS, COUNTS = 16, (2, 3, 4, 5, 8, 12, 16)
OPENBLAS = ctypes.util.find_library("openblas")

Rows = Callable[[int, int], mx.array]  # (first, count): the results of so many rows computed together, [count, ...]
Cases = Iterator[tuple[str, Rows]]

DTYPES = (mx.float32, mx.bfloat16, mx.float16)
FORMATS = [("affine", bits, 64) for bits in (2, 3, 4, 5, 6, 8)] + [("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)]


def normal(*shape: int, dtype: mx.Dtype = mx.float32) -> mx.array:
    return mx.random.normal(shape).astype(dtype)


def bits(x: mx.array) -> mx.array:
    return mx.contiguous(x).view(mx.uint32 if x.itemsize == 4 else mx.uint16)


def row_invariant(rows: Rows) -> bool:
    """Whether each of up to 16 rows has the bits it has alone."""
    alone = [bits(rows(i, 1)) for i in range(ROWS)]
    return all(mx.array_equal(bits(rows(0, count)), mx.concatenate(alone[:count])) for count in COUNTS)


def each_row(f: Callable[[mx.array], mx.array], x: mx.array) -> Rows:
    """The rows of a function of `[1, rows, columns]`; a single one as an array of its own, as plain decoding has it."""
    return lambda first, count: f(mx.contiguous(x[:, first : first + count]))[0]


def matmul() -> Cases:
    for (columns, outputs), dtype in product([(64, 48), (100, 33), (512, 512), (1024, 1), (4096, 256), (9216, 64)], DTYPES):
        w = normal(outputs, columns, dtype=dtype)
        yield f"{columns} to {outputs} {dtype}", each_row(lambda x, w=w: x @ w.T, normal(1, ROWS, columns, dtype=dtype))


def quantised_matmul() -> Cases:
    for (mode, width, group), columns, dtype in product(FORMATS, (128, 4096), DTYPES):
        layer = nn.Linear(columns, 32, bias=False)
        layer.set_dtype(dtype)
        layer = layer.to_quantized(group, width, mode)
        yield f"{mode} {width} bits {columns} {dtype}", each_row(layer, normal(1, ROWS, columns, dtype=dtype))


def attention() -> Cases:
    position = 200
    sizes = [(dim, heads, kv_heads, 256) for dim in (64, 128, 256) for heads, kv_heads in ((8, 8), (24, 4))]
    for (dim, heads, kv_heads, capacity), dtype in product([*sizes, (128, 24, 4, 1280)], DTYPES):
        queries = normal(1, heads, ROWS, dim, dtype=dtype)
        keys, values = (normal(1, kv_heads, capacity, dim, dtype=dtype) for _ in range(2))
        stale_keys, stale_values = (normal(1, kv_heads, capacity, dim, dtype=dtype) for _ in range(2))

        def rows(first: int, count: int, arrays=(queries, keys, values, stale_keys, stale_values)) -> mx.array:
            q, k, v, stale_k, stale_v = arrays
            places, last = mx.arange(k.shape[2]), position + first + count
            written = (places < last)[:, None]  # what comes after is left from other blocks
            mask = places <= (position + first + mx.arange(count))[:, None]
            k, v = mx.where(written, k, stale_k), mx.where(written, v, stale_v)
            y = mx.fast.scaled_dot_product_attention(q[:, :, first : first + count], k, v, scale=0.1, mask=mask)
            return y[0].transpose(1, 0, 2)

        yield f"{heads}/{kv_heads} heads of {dim} over {capacity} {dtype}", rows


def convolution() -> Cases:
    for channels, dtype in product((24, 100, 1024), DTYPES):
        conv = nn.Conv1d(channels, channels, 4, groups=channels, bias=False)
        conv.set_dtype(dtype)
        x = normal(1, ROWS + 3, channels, dtype=dtype)
        yield f"{channels} {dtype}", lambda first, count, conv=conv, x=x: conv(x[:, first : first + count + 3])[0]


def norm() -> Cases:
    for columns, dtype in product((100, 128, 5120), DTYPES):
        w, x = normal(columns, dtype=dtype), normal(1, ROWS, columns, dtype=dtype)
        yield f"{columns} {dtype}", each_row(lambda x, w=w: mx.fast.rms_norm(x, w, 1e-6), x)
        yield f"{columns} {dtype} without weight", each_row(lambda x: mx.fast.rms_norm(x, None, 1e-6), x)


def rope() -> Cases:
    for dim, dims, position, dtype in product((64, 256), (16, 64), (0, 30000), DTYPES):
        x = normal(1, 3, ROWS, dim, dtype=dtype)

        def rows(first: int, count: int, x=x, dims=dims, position=position) -> mx.array:
            offset = mx.array([position + first], mx.int32)
            y = mx.fast.rope(x[:, :, first : first + count], dims, traditional=False, base=1e7, scale=1.0, offset=offset)
            return y[0].transpose(1, 0, 2)

        yield f"{dims} of {dim} at {position} {dtype}", rows


def recurrence() -> Cases:
    for (key_heads, heads, key_dim, dim), dtype in product([(1, 3, 24, 20), (2, 4, 32, 16), (4, 8, 128, 128)], DTYPES):
        q, k = (normal(1, ROWS, key_heads, key_dim, dtype=dtype) * key_dim**-0.5 for _ in range(2))
        v, a, b = (
            normal(1, ROWS, heads, dim, dtype=dtype),
            normal(1, ROWS, heads, dtype=dtype),
            normal(1, ROWS, heads, dtype=dtype),
        )
        decay, bias, state = normal(heads), normal(heads, dtype=dtype), normal(1, heads, dim, key_dim)

        def rows(first: int, count: int, inputs=(q, k, v, a, b), weights=(decay, bias), state=state) -> mx.array:
            for i in range(first):  # one after the other up to there, as plain decoding comes
                _, state = gated_delta_update(*(t[:, i : i + 1] for t in inputs), *weights, state)
            y, state = gated_delta_update(*(t[:, first : first + count] for t in inputs), *weights, state)
            return y[0]

        yield f"{key_heads}/{heads} heads of {key_dim} and {dim} {dtype}", rows


def router() -> Cases:
    for experts, chosen, dtype in product((8, 60, 256), (2, 8), DTYPES):
        x, y = normal(1, ROWS, experts, dtype=dtype), normal(1, ROWS, chosen, 40, dtype=dtype)

        def rows(first: int, count: int, x=x, y=y) -> mx.array:
            gates = mx.softmax(x[:, first : first + count], axis=-1, precise=True)
            indices = mx.argpartition(gates, kth=-y.shape[2], axis=-1)[..., -y.shape[2] :]
            scores = mx.take_along_axis(gates, indices, axis=-1)
            scores = scores / scores.sum(axis=-1, keepdims=True)
            mixed = (y[:, first : first + count] * scores[..., None]).sum(axis=-2)
            return mx.concatenate([indices.astype(x.dtype), mixed], axis=-1)[0]

        yield f"{chosen} of {experts} {dtype}", rows


def experts(columns: int, number: int, chosen: int, dtype: mx.Dtype, quantisation: tuple[str, int, int] | None) -> Rows:
    glu = SwitchGLU(columns, 64, number)
    glu.set_dtype(dtype)
    if quantisation:
        mode, width, group = quantisation
        nn.quantize(glu, group, width, mode=mode)
    indices = mx.stack([mx.random.permutation(number)[:chosen] for _ in range(ROWS)])[None]
    x = normal(1, ROWS, columns, dtype=dtype)
    return lambda first, count: glu(x[:, first : first + count], indices[:, first : first + count])[0]


def gather() -> Cases:
    for columns, number, chosen in ((64, 8, 2), (512, 16, 8), (2048, 64, 8)):  # 8 chosen: sorted from 8 rows on
        yield f"{chosen} of {number} experts, {columns}", experts(columns, number, chosen, mx.float32, None)


def quantised_gather() -> Cases:
    formats = [(quantisation, mx.bfloat16) for quantisation in FORMATS] + [(FORMATS[2], mx.float32), (FORMATS[2], mx.float16)]
    for (quantisation, dtype), (columns, number, chosen) in product(formats, ((64, 8, 2), (256, 16, 8))):
        case = f"{quantisation} {chosen} of {number} experts, {columns} {dtype}"
        yield case, experts(columns, number, chosen, dtype, quantisation)


def elementwise() -> Cases:
    functions: list[Callable[[mx.array, mx.array], mx.array]] = [
        lambda x, y: nn.silu(x) * y,
        lambda x, y: mx.sigmoid(x) * y,
        lambda x, y: mx.exp(-mx.exp(y.astype(mx.float32)) * nn.softplus(x)),
    ]
    for (number, f), columns, dtype in product(enumerate(functions), (1, 3, 24, 100, 1024), DTYPES):
        x = normal(1, ROWS, 2 * columns, dtype=dtype)
        halves = lambda x, f=f: f(*mx.split(x, 2, axis=-1))  # noqa: E731
        yield f"{number} {columns} {dtype}", each_row(halves, x)
        yield f"{number} {columns} {dtype} compiled", each_row(mx.compile(halves), x)


OPS: dict[Op, Callable[[], Cases]] = {
    "matmul": matmul,
    "quantised matmul": quantised_matmul,
    "attention": attention,
    "convolution": convolution,
    "norm": norm,
    "rope": rope,
    "recurrence": recurrence,
    "router": router,
    "gather": gather,
    "quantised gather": quantised_gather,
    "elementwise": elementwise,
}


def check(op: Op) -> None:
    """Holds a "yes" against MLX; tells what is to be seen where the table claims nothing."""
    mx.random.seed(4)
    found = {name: row_invariant(rows) for name, rows in OPS[op]()}
    differing = [name for name, same in found.items() if not same]
    if not entry(op).invariant:
        pytest.skip(f"{op}: nothing is claimed on {backend()}; differs in {len(differing)} of {len(found)} cases")
    assert differing == []


@pytest.mark.parametrize("op", get_args(Op))
def test_rows_have_the_bits_they_have_alone_where_the_table_says_so(op: Op) -> None:
    check(op)


@pytest.mark.metal
@pytest.mark.parametrize("op", get_args(Op))
def test_rows_have_the_bits_they_have_alone_on_metal_where_the_table_says_so(op: Op) -> None:
    check(op)


@pytest.mark.skipif(OPENBLAS is None or platform.system() != "Linux", reason="no OpenBLAS to preload")
def test_table_holds_with_openblas_in_place_of_the_reference() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "where_the_table_says_so", __file__]
    run = subprocess.run(command, env={**os.environ, "LD_PRELOAD": str(OPENBLAS)}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.skipif(OPENBLAS is None or platform.system() != "Linux", reason="no OpenBLAS to preload")
@pytest.mark.parametrize("processor", ["Haswell", "Sandybridge", "Prescott"])
def test_openblas_is_told_from_the_reference_whatever_kernel_it_picks(processor: str) -> None:
    program = "import mlx.core as mx; mx.set_default_device(mx.cpu); from dflash_mlx.targets.row_invariance import *; "
    program += "print(backend(), rows_apart('matmul'), rows_apart('quantised matmul', 'recurrence'))"
    environment = {**os.environ, "LD_PRELOAD": str(OPENBLAS), "OPENBLAS_CORETYPE": processor}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    expected = "other True False" if platform.machine() == "x86_64" else "unknown True True"
    assert run.stdout.strip() == expected, run.stderr


def test_a_function_that_mixes_rows_is_found_out() -> None:
    x = normal(1, ROWS, 8)
    assert not row_invariant(each_row(lambda x: x + 1e-7 * x.mean(axis=1, keepdims=True), x))
    assert row_invariant(each_row(lambda x: x + 1, x))


def test_table_knows_every_op_of_every_backend() -> None:
    assert set(TABLE) == set(get_args(Backend)) - {"unknown"}
    assert all(set(entries) == set(get_args(Op)) and all(known.seen for known in entries.values()) for entries in TABLE.values())


def test_one_op_that_is_not_row_invariant_sets_rows_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_invariance, "backend", lambda: "other")
    assert rows_apart("matmul", "norm") and rows_apart("norm", "attention")
    assert not rows_apart("quantised matmul", "norm")


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64"), ("Darwin", "x86_64")])
def test_nothing_is_claimed_of_a_cpu_that_was_not_measured(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(row_invariance, "_cpu", row_invariance._cpu.__wrapped__)
    assert backend() == "unknown"
    assert all(rows_apart(op) for op in get_args(Op))


def test_probe_leaves_the_random_numbers_of_the_caller_alone() -> None:
    mx.random.seed(1)
    expected = mx.random.normal((4,))
    mx.random.seed(1)
    row_invariance._cpu.__wrapped__()
    assert mx.array_equal(mx.random.normal((4,)), expected)
