"""From a recurrent layer's projections to its recurrence in one dispatch: the answer, its bits, and what is kept."""

import random

import metal_on_cpu
import mlx.core as mx
import numpy as np
import pytest
from tree_shapes import SHAPES, parents_of, path_to

from dflash_mlx.kernels import source
from dflash_mlx.kernels.columns import Columns
from dflash_mlx.kernels.recurrent_inputs import (
    RecurrentInputs,
    Weights,
    covers,
    recurrent_inputs_metal,
    recurrent_inputs_reference,
)

ROUNDING = {mx.float32: 2.0**-24, mx.bfloat16: 2.0**-8, mx.float16: 2.0**-11}
# key heads, key dim, value heads, value dim, rows, previous rows, count. Qwen3.8-27B: 16, 128, 48, 128.
CASES = [
    (2, 128, 6, 128, 4, 4, 2),
    (2, 128, 6, 128, 8, 8, 8),
    (1, 128, 3, 128, 4, 4, 0),
    (2, 128, 4, 128, 1, 1, 1),
    (1, 128, 1, 128, 1, 0, 0),
    (4, 128, 4, 128, 16, 16, 16),
    (2, 128, 14, 128, 3, 16, 9),
    (1, 128, 8, 128, 16, 1, 1),
    (2, 32, 6, 40, 5, 3, 2),
    (3, 32, 3, 40, 2, 7, 7),
    (2, 64, 10, 64, 4, 4, 3),
    (5, 64, 5, 8, 7, 0, 0),
    (2, 96, 6, 40, 6, 5, 4),
    (2, 192, 8, 128, 4, 6, 1),
    (1, 30, 3, 7, 2, 2, 2),
]
Runs = list[metal_on_cpu.Run]
Inputs = tuple[mx.array, mx.array, mx.array, mx.array, mx.array, Weights, int, int]


def inputs_of(case: tuple[int, ...], dtype: mx.Dtype, dt_bias: mx.Dtype | None = None, taps: int = 4) -> Inputs:
    key_heads, key_dim, value_heads, value_dim, rows, previous, count = case
    channels = 2 * key_heads * key_dim + value_heads * value_dim
    keys = iter(mx.random.split(mx.random.key(7), 8))

    def normal(*shape: int) -> mx.array:
        return mx.random.normal(shape, key=next(keys))

    conv_rows, qkv = normal(1, taps - 1 + previous, channels), normal(1, rows, channels)
    a, b = normal(1, rows, value_heads), 2 * normal(1, rows, value_heads)
    conv, a_log, bias = normal(channels, taps, 1) / 2, normal(value_heads), normal(value_heads)
    weights = Weights(conv.astype(dtype), a_log, bias.astype(dt_bias or dtype))
    activations = (x.astype(dtype) for x in (qkv, a, b))
    return conv_rows.astype(dtype), mx.arange(count, count + taps - 1), *activations, weights, key_heads, key_dim


def by_hand(
    conv_rows: mx.array, before: mx.array, qkv: mx.array, a: mx.array, b: mx.array, weights: Weights, key_heads: int, key_dim: int
) -> list[np.ndarray]:
    """q, k, v, g, beta in float64, and the rows that are kept."""

    def wide(x: mx.array) -> np.ndarray:
        return np.array(x.astype(mx.float32), np.float64)

    conv, a_log, bias = (wide(x) for x in weights)
    taps, rows = conv.shape[1], qkv.shape[1]
    kept = np.concatenate([wide(conv_rows)[0, before.tolist()], wide(qkv)[0]])
    x = sum(kept[tap : tap + rows] * conv[:, tap, 0] for tap in range(taps))
    x = x / (1 + np.exp(-x))
    q, k, v = np.split(x, [key_heads * key_dim, 2 * key_heads * key_dim], axis=-1)
    q, k, v = (part.reshape(1, rows, heads, -1) for part, heads in ((q, key_heads), (k, key_heads), (v, a_log.size)))
    q, k = (part / np.sqrt((part**2).sum(axis=-1, keepdims=True) + 1e-6) for part in (q, k))
    g = np.exp(-np.exp(a_log) * np.log1p(np.exp(wide(a) + bias)))
    return [q / np.sqrt(key_dim), k, v, g, 1 / (1 + np.exp(-wide(b))), kept[None]]


def flat(inputs: RecurrentInputs) -> list[mx.array]:
    return [inputs.q, *inputs.writes, inputs.conv_rows]


def check(got: RecurrentInputs, wanted: list[np.ndarray], dtype: mx.Dtype) -> None:
    """Every op between rounds once; the rows that are kept are what came in."""
    for name, ours, theirs in zip(("q", "k", "v", "g", "beta"), flat(got), wanted):
        assert ours.shape == theirs.shape and ours.dtype == (mx.float32 if name == "g" else dtype)
        ours = np.array(ours.astype(mx.float32), np.float64)
        unit = ROUNDING[dtype]
        bound = 8 * unit * np.abs(theirs) + 1e-6 * np.abs(theirs).max() + (4 * unit if name == "g" else 0)
        assert (np.abs(ours - theirs) <= bound).all(), name
    assert got.conv_rows.dtype == dtype
    assert np.array_equal(np.array(got.conv_rows.astype(mx.float32)), wanted[-1])


def bits(*arrays: mx.array) -> list[list[int]]:
    return [np.array(array).view(np.uint32).ravel().tolist() for array in arrays]


@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_computes_what_the_recurrence_takes(case: tuple[int, ...], dtype: mx.Dtype, runs: Runs) -> None:
    assert covers(*case[:4], dtype, dtype)
    inputs = inputs_of(case, dtype)
    wanted = by_hand(*inputs)
    check(recurrent_inputs_metal(*inputs), wanted, dtype)
    check(recurrent_inputs_reference(*inputs), wanted, dtype)


@pytest.mark.parametrize("taps", [4, *(pytest.param(taps, marks=pytest.mark.long) for taps in (1, 2))])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_of_a_tree_has_the_bits_of_the_chain_to_it(case: tuple[int, ...], shape: str, taps: int, runs: Runs) -> None:
    conv_rows, before, *parts, weights, key_heads, key_dim = inputs_of(case, mx.float32, taps=taps)
    parents, rest = parents_of(shape, case[4]), (weights, key_heads, key_dim)
    places = random.Random(taps).sample(range(conv_rows.shape[1]), taps - 1)
    before = mx.array(places, mx.int32) if places else mx.zeros((0,), mx.int32)
    tree = [
        compute(conv_rows, before, *parts, *rest, mx.array(parents, mx.int32))
        for compute in (recurrent_inputs_metal, recurrent_inputs_reference)
    ]
    for row in range(case[4]):
        path = mx.array(path_to(parents, row))
        chain = [mx.take(part, path, axis=1) for part in parts]
        wanted = by_hand(conv_rows, before, *chain, *rest)
        alone = flat(recurrent_inputs_metal(conv_rows, before, *chain, *rest))
        for got in tree:
            for ours, theirs in zip(flat(got)[:5], wanted):
                assert np.abs(np.array(ours[:, row]) - theirs[:, -1]).max() <= 2e-6 * max(1, np.abs(theirs).max())
        assert bits(*(x[:, row : row + 1] for x in flat(tree[0])[:5])) == bits(*(x[:, -1:] for x in alone[:5]))
    kept = np.concatenate([np.array(conv_rows)[:, places], np.array(parts[0])], axis=1)
    assert all(np.array_equal(np.array(got.conv_rows), kept) for got in tree)


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16], ids=str)
def test_the_bias_of_the_decay_may_be_wider_than_the_activations(dtype: mx.Dtype, runs: Runs) -> None:
    assert covers(*CASES[0][:4], dtype, mx.float32)
    inputs = inputs_of(CASES[0], dtype, mx.float32)
    wanted, g = by_hand(*inputs), recurrent_inputs_metal(*inputs).writes.g
    assert np.abs(np.array(g) - wanted[3]).max() <= 1e-6
    assert mx.allclose(g, recurrent_inputs_reference(*inputs).writes.g, rtol=0, atol=1e-6).item()


@pytest.mark.parametrize("taps", [1, 2, 5])
def test_the_convolution_may_have_any_length(taps: int, runs: Runs) -> None:
    inputs = inputs_of(CASES[8], mx.float32, taps=taps)
    check(recurrent_inputs_metal(*inputs), by_hand(*inputs), mx.float32)
    check(recurrent_inputs_reference(*inputs), by_hand(*inputs), mx.float32)


@pytest.mark.parametrize("contract", [False, True], ids=["apart", "contracted"])
@pytest.mark.parametrize("case", [CASES[0], CASES[12]], ids=str)
def test_a_block_has_the_bits_of_one_row_at_a_time(case: tuple[int, ...], contract: bool, runs: Runs) -> None:
    with metal_on_cpu.options(contract=contract):
        conv_rows, before, qkv, a, b, *rest = inputs_of(case, mx.float32)
        *block, kept = flat(recurrent_inputs_metal(conv_rows, before, qkv, a, b, *rest))
        for row in range(case[4]):
            alone = (x[:, row : row + 1] for x in (qkv, a, b))
            *outputs, conv_rows = flat(recurrent_inputs_metal(conv_rows, before, *alone, *rest))
            assert bits(*outputs) == bits(*(x[:, row : row + 1] for x in block))
            assert bits(conv_rows) == bits(kept[:, row : row + 4])
            before = mx.arange(1, 4)


def test_rejected_rows_leave_no_trace(runs: Runs) -> None:
    conv_rows, before, *rest = inputs_of(CASES[0], mx.float32)
    clean = flat(recurrent_inputs_metal(conv_rows, before, *rest))
    for poison in (mx.inf, mx.nan):
        stale = mx.where(mx.arange(conv_rows.shape[1])[:, None] <= before[-1], conv_rows, poison)
        assert bits(*flat(recurrent_inputs_metal(stale, before, *rest))) == bits(*clean)


def test_extremes_end_where_they_should(runs: Runs) -> None:
    """Decay and write strength saturate, and what is no number is not hidden."""
    conv_rows, before, qkv, a, b, *rest = inputs_of(CASES[10], mx.float32)
    extremes = mx.array([-mx.inf, mx.inf, -1e4, 1e4, mx.nan])
    a, b = mx.repeat(extremes, 8).reshape(1, 4, 10), mx.tile(extremes, 8).reshape(1, 4, 10)
    writes = recurrent_inputs_metal(conv_rows, before, qkv, a, b, *rest).writes
    assert np.array_equal(np.array(writes.g).ravel(), np.repeat([1, 0, 1, 0, np.nan], 8), equal_nan=True)
    assert np.allclose(np.array(writes.beta).ravel(), np.tile([0, 1, 0, 1, np.nan], 8), rtol=0, equal_nan=True)


@pytest.mark.parametrize("case", [CASES[0], CASES[3], CASES[11]], ids=str)
@pytest.mark.parametrize("layout", [["qkv z a b"], ["z b qkv z a"], ["z qkv", "a b"], ["qkv z", "z z a", "z b z"]], ids=str)
def test_parts_are_read_where_they_stand_in_joint_projections(layout: list[str], case: tuple[int, ...], runs: Runs) -> None:
    """z, which is nobody's business here, is NaN."""
    conv_rows, before, qkv, a, b, *rest = inputs_of(case, mx.bfloat16)
    parts = {"qkv": qkv, "a": a, "b": b, "z": mx.full((1, case[4], 5), mx.nan, mx.bfloat16)}
    columns = {}
    for joint in layout:
        names = joint.split()
        rows = mx.concatenate([parts[name] for name in names], axis=-1)
        for i, name in enumerate(names):
            start = sum(parts[before].shape[2] for before in names[:i])
            columns[name] = Columns(rows, start, parts[name].shape[2])
    for compute in (recurrent_inputs_reference, recurrent_inputs_metal):
        alone = flat(compute(conv_rows, before, qkv, a, b, *rest))
        together = flat(compute(conv_rows, before, columns["qkv"], columns["a"], columns["b"], *rest))
        assert all(mx.array_equal(ours, theirs).item() for ours, theirs in zip(together, alone))
    if runs:
        assert all(runs[-1].buffers[name].unique == parts[name].nbytes for name in ("qkv", "a", "b"))


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[6]], ids=str)
def test_memory_is_touched_no_more_than_needed(case: tuple[int, ...], runs: Runs) -> None:
    """A row of projections is read by the rows that convolve it, four at most; nothing is written twice."""
    recurrent_inputs_metal(*inputs_of(case, mx.bfloat16))
    buffers, rows = runs[0].buffers, case[4]
    for name in ("q", "k", "v", "g", "beta", "kept"):
        assert (buffers[name].read, buffers[name].written) == (0, buffers[name].size)
    row = buffers["qkv"].size // rows
    assert buffers["conv_rows"].unique == 3 * row
    assert buffers["qkv"].unique == buffers["qkv"].size
    assert buffers["conv_rows"].read + buffers["qkv"].read == 4 * rows * row
    assert buffers["conv_weight"].read == rows * buffers["conv_weight"].size


def test_there_are_no_barriers_to_forget() -> None:
    """Lanes meet in a sum alone, and each writes elements of its own."""
    assert metal_on_cpu.count_barriers("".join(source("recurrent_inputs"))) == 0
    assert "threadgroup" not in "".join(source("recurrent_inputs"))


def test_other_shapes_are_not_covered() -> None:
    assert covers(16, 128, 48, 128, mx.bfloat16, mx.bfloat16)
    assert covers(16, 128, 48, 128, mx.bfloat16, mx.float32)
    assert not covers(16, 128, 48, 128, mx.bfloat16, mx.float16)
    assert not covers(16, 128, 40, 128, mx.bfloat16, mx.bfloat16)
    assert not covers(16, 1024, 48, 128, mx.bfloat16, mx.bfloat16)
    assert not covers(16, 128, 48, 128, mx.int32, mx.int32)
