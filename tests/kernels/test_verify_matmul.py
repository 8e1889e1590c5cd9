"""Quantised matmul for the rows of a block: against float64, and its exact form against MLX's own one-row kernel, to the bit.

The kernels run on the CPU under `metal_on_cpu`, and on an Apple GPU where there is one.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import metal_on_cpu
import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest

from dflash_mlx import kernels
from dflash_mlx.kernels.verify_matmul import (
    INPUTS,
    MAX_ROWS,
    covers,
    kernel_for,
    verify_linear,
    verify_matmul_metal,
    verify_matmul_reference,
)

BF16, F16, F32 = mx.bfloat16, mx.float16, mx.float32
UNIT = {BF16: 2**-8, F16: 2**-11, F32: 2**-24}  # half the distance between neighbours at 1
WEIGHTS = ("w", "scales", "biases")


class Case(NamedTuple):
    """rows of x, N, K, and how w is quantised."""

    rows: int
    outputs: int
    inputs: int
    bits: int
    group_size: int
    dtype: mx.Dtype


# Every dtype with all bits and groups, every number of rows. Of the 27B target's geometry at a tenth: hidden 512, q + gate +
# k + v 1424, gate + up 3480 of an MLP, down 1536 -> 512, the recurrent layer's qkv + z + b + a 1648; else small and odd.
CASES = [
    Case(1, 512, 512, 4, 64, BF16),
    Case(2, 1424, 512, 4, 64, BF16),
    Case(3, 1648, 512, 4, 64, BF16),
    Case(4, 3480, 512, 4, 64, BF16),
    Case(5, 512, 1536, 4, 64, BF16),
    Case(8, 512, 1536, 8, 64, BF16),
    Case(6, 8, 512, 4, 32, BF16),
    Case(7, 40, 1024, 8, 32, BF16),
    Case(16, 72, 1024, 4, 128, BF16),
    Case(9, 48, 512, 8, 128, BF16),
    Case(10, 56, 512, 4, 32, F16),
    Case(11, 24, 1024, 4, 64, F16),
    Case(12, 88, 1536, 4, 128, F16),
    Case(13, 32, 1024, 8, 32, F16),
    Case(3, 64, 2560, 8, 64, F16),
    Case(4, 16, 512, 8, 128, F16),
    Case(14, 48, 1024, 4, 32, F32),
    Case(15, 104, 512, 4, 64, F32),
    Case(16, 32, 2048, 4, 128, F32),
    Case(2, 64, 1024, 8, 32, F32),
    Case(8, 72, 1536, 8, 64, F32),
    Case(5, 8, 512, 8, 128, F32),
]
# What only the fast form serves: any number of outputs, any number of groups.
ODD_CASES = [
    Case(1, 1, 128, 4, 128, BF16),
    Case(5, 33, 64, 4, 32, BF16),
    Case(16, 7, 160, 8, 32, F16),
    Case(8, 31, 192, 4, 64, F32),
    Case(9, 65, 384, 8, 128, F32),
]


def on_gpu() -> bool:
    return mx.default_device() == mx.gpu


def operands(case: Case) -> list[mx.array]:
    """x, w, scales and biases."""
    mx.random.seed(0)
    w, scales, biases = mx.quantize(mx.random.normal((case.outputs, case.inputs)), case.group_size, case.bits)
    x = mx.random.normal((case.rows, case.inputs))
    return [x.astype(case.dtype), w, scales.astype(case.dtype), biases.astype(case.dtype)]


def check(y: mx.array, case: Case, x: mx.array, w: mx.array, scales: mx.array, biases: mx.array) -> None:
    """Holds y against float64: as near as float32 additions and the rounding of the result allow."""
    scale, bias, rows = (np.array(a.astype(F32), np.float64) for a in (scales, biases, x))
    step = np.arange(case.inputs) // case.group_size
    shifts = np.arange(32 // case.bits, dtype=np.uint32) * case.bits
    q = (np.array(w)[..., None] >> shifts & (2**case.bits - 1)).reshape(case.outputs, case.inputs)
    expected = rows @ (scale[:, step] * q + bias[:, step]).T
    size = np.abs(rows) @ (np.abs(scale[:, step]) * q + np.abs(bias[:, step])).T
    assert y.dtype == case.dtype and y.shape == expected.shape
    error = np.abs(np.array(y.astype(F32), np.float64) - expected)
    assert (error <= UNIT[case.dtype] * np.abs(expected) + 2**-22 * size).all()


def check_traffic(run: metal_on_cpu.Run, y: mx.array) -> None:
    """Every weight, scale and bias is read once, every result written once."""
    assert all(run.buffers[name].read <= 1.02 * run.buffers[name].size for name in WEIGHTS)
    assert run.buffers["y"].written == y.nbytes


@cache
def stock_source() -> str:
    """MLX's own one-row kernel, out of the headers in its wheel, without the later kernels that need more of them."""
    text = (Path(mx.__file__).parent / "include/mlx/backend/metal/kernels/quantized.h").read_text(encoding="utf-8")
    return text.partition("template <typename T, int group_size, int bits>\nMETAL_FUNC void qmv_impl(")[0]


def stock_one_row(case: Case, x: mx.array, w: mx.array, scales: mx.array, biases: mx.array) -> mx.array:
    """What MLX's `qmv_fast` makes of each row: the row alone on a GPU; under metal_on_cpu, one threadgroup a row."""
    if on_gpu():
        rows = [verify_matmul_reference(row, w, scales, biases, case.bits, case.group_size) for row in mx.split(x, case.rows)]
        return mx.concatenate(rows)
    source = """
        const int K = x_shape[1], N = w_shape[0];
        qmv_fast_impl<T, GROUP, BITS>(w, scales, biases, x, y, K, N, threadgroup_position_in_grid,
            simdgroup_index_in_threadgroup, thread_index_in_simdgroup);
    """
    (y,) = mx.fast.metal_kernel("stock", list(INPUTS), ["y"], source, stock_source())(
        inputs=[x, w, scales, biases],
        template=[("T", x.dtype), ("BITS", case.bits), ("GROUP", case.group_size)],
        grid=(32 * case.rows, case.outputs // 4, 1),
        threadgroup=(32, 2, 1),
        output_shapes=[(case.rows, case.outputs)],
        output_dtypes=[x.dtype],
    )
    return y


@pytest.mark.parametrize("case", [case for case in CASES + ODD_CASES if case.dtype == F32])
def test_reference(case: Case) -> None:
    """In float32: in half precision MLX's CPU backend adds up in half precision too."""
    inputs = operands(case)
    check(verify_matmul_reference(*inputs, case.bits, case.group_size), case, *inputs)


@pytest.mark.parametrize("case", CASES)
def test_exact_form_is_right_and_reads_weights_once(case: Case, runs: list[metal_on_cpu.Run]) -> None:
    inputs = operands(case)
    y = verify_matmul_metal(*inputs, case.bits, case.group_size, exact=True)
    check(y, case, *inputs)
    for run in runs:
        check_traffic(run, y)
    assert mx.array_equal(y, stock_one_row(case, *inputs))


@pytest.mark.parametrize("case", CASES + ODD_CASES)
def test_fast_form_is_right_and_reads_weights_once(case: Case, runs: list[metal_on_cpu.Run]) -> None:
    inputs = operands(case)
    y = verify_matmul_metal(*inputs, case.bits, case.group_size)
    check(y, case, *inputs)
    for run in runs:
        check_traffic(run, y)


@pytest.mark.parametrize("contract", [False, True], ids=["apart", "contracted"])
@pytest.mark.parametrize("bits", [4, 8])
def test_exact_rows_have_the_bits_of_one_row_whatever_their_number(
    bits: int, contract: bool, runs: list[metal_on_cpu.Run]
) -> None:
    """In float32, where another order of additions would show in most results. The four share the numbers: each one compiles."""
    case, first = Case(MAX_ROWS, 24, 1024, bits, 64, F32), 1 + (bits == 8) + 2 * contract
    x, *weights = operands(case)
    with metal_on_cpu.options(contract=contract):
        alone = stock_one_row(case, x, *weights)
        fast = verify_matmul_metal(x, *weights, bits, 64)
        assert mx.mean(fast == alone).item() < 0.6  # so equality says something
        for rows in range(first, MAX_ROWS + 1, 4):
            y = verify_matmul_metal(x[-rows:], *weights, bits, 64, exact=True)
            assert mx.array_equal(y, alone[-rows:]), f"{rows} rows"


@pytest.mark.parametrize("exact", [False, True])
def test_a_row_of_infinities_leaves_the_others_alone(exact: bool, runs: list[metal_on_cpu.Run]) -> None:
    case = Case(5, 40, 512, 4, 64, BF16)
    x, *weights = operands(case)
    clean = verify_matmul_metal(x, *weights, 4, 64, exact=exact)
    x[2] = mx.inf
    y = verify_matmul_metal(x, *weights, 4, 64, exact=exact)
    kept = mx.array([0, 1, 3, 4])
    assert mx.array_equal(y[kept], clean[kept])


def test_float32_rows_go_with_half_precision_scales(runs: list[metal_on_cpu.Run]) -> None:
    case = Case(4, 40, 512, 4, 64, F32)
    x, w, scales, biases = operands(case)
    inputs = [x, w, scales.astype(BF16), biases.astype(BF16)]
    for exact in (False, True):
        check(verify_matmul_metal(*inputs, 4, 64, exact=exact), case, *inputs)


@pytest.mark.parametrize("exact", [False, True])
def test_leading_axes_stay(exact: bool, runs: list[metal_on_cpu.Run]) -> None:
    case = Case(4, 40, 512, 4, 64, F32)
    x, *weights = operands(case)
    y = verify_matmul_metal(x[None], *weights, 4, 64, exact=exact)
    assert mx.array_equal(y[0], verify_matmul_metal(x, *weights, 4, 64, exact=exact))


def test_the_fast_form_needs_its_barrier_and_the_exact_one_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert metal_on_cpu.count_barriers("".join(kernels.source("verify_matmul"))) == 0
    header, body = kernels.source("verify_matmul_fast")
    assert metal_on_cpu.count_barriers(body) == 1
    mutant = metal_on_cpu.metal_kernel("mutant", list(INPUTS), ["y"], metal_on_cpu.without_barrier(body, 0), header)
    monkeypatch.setattr("dflash_mlx.kernels.verify_matmul.metal_kernel", lambda *_: mutant)
    verify_matmul_metal(*operands(Case(4, 40, 512, 4, 64, F32)), 4, 64)
    assert metal_on_cpu.last_run().findings != []


def test_covers() -> None:
    assert covers(4, 5120, 17408, 4, 64, BF16, BF16)
    assert covers(16, 5120, 17408, 8, 32, BF16, BF16, exact=True)
    assert covers(4, 5120, 17408, 4, 64, F32, BF16)
    assert covers(4, 1, 640, 4, 128, BF16, BF16)
    assert not covers(4, 1, 1024, 4, 128, BF16, BF16, exact=True)  # MLX's choice of kernel for one row differs by version
    assert not covers(4, 8, 768, 4, 128, BF16, BF16, exact=True)
    assert not covers(17, 5120, 17408, 4, 64, BF16, BF16)
    assert not covers(4, 5120, 17408, 5, 64, BF16, BF16)
    assert not covers(4, 5120, 17408, 4, 16, BF16, BF16)
    assert not covers(4, 5120, 17408, 4, 64, BF16, F32)
    assert not covers(4, 5120, 17408, 4, 64, BF16, F16)


@pytest.mark.parametrize("exact", [False, True])
def test_layers_are_served_with_their_bias_and_as_heads(exact: bool, runs: list[metal_on_cpu.Run]) -> None:
    x = mx.random.normal((1, 3, 512))
    linear, embedding = nn.Linear(512, 40).to_quantized(64, 4), nn.Embedding(40, 512).to_quantized(64, 8)
    assert mx.allclose(verify_linear(linear, x, exact), linear(x), atol=1e-5)
    assert mx.allclose(verify_linear(embedding, x, exact), embedding.as_linear(x), atol=1e-5)


def test_the_kernel_of_a_layer() -> None:
    def layer(outputs: int, **quantisation: Any) -> nn.Module:
        return nn.Linear(512, outputs).to_quantized(**quantisation)

    assert kernel_for(layer(40), 4, F32, exact=True) == "verify_matmul"
    assert kernel_for(layer(40), 4, F32) == kernel_for(layer(1), 4, F32) == "verify_matmul_fast"
    assert kernel_for(layer(1), 4, F32, exact=True) is None
    assert kernel_for(layer(40, bits=6), 4, F32) is None
    assert kernel_for(layer(40, mode="mxfp8", bits=8, group_size=32), 4, F32) is None
    assert kernel_for(nn.Linear(512, 40), 4, F32) is None
