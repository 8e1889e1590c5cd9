"""Attention of a block over a long context: the answer, its bits, what is never read, and the bytes."""

from typing import NamedTuple

import metal_on_cpu
import mlx.core as mx
import numpy as np
import pytest
from tree_shapes import SHAPES, parents_of

from dflash_mlx import kernels
from dflash_mlx.kernels.verify_attention import CHUNK, covers, verify_attention_metal, verify_attention_reference
from dflash_mlx.targets.tree import Tree

F32, BF16, F16 = mx.float32, mx.bfloat16, mx.float16
UNIT = {F32: 2.0**-24, BF16: 2.0**-8, F16: 2.0**-11}
SUMS = 8e-6  # what float32 loses in scores of up to 10 and sums of values of 1


class Case(NamedTuple):
    dtype: mx.Dtype
    heads: int
    kv_heads: int
    head_dim: int
    rows: int
    capacity: int
    position: int


# a kv head has 6 heads of 256 in Qwen3.8-27B, 8 of 256 in Qwen3.6-35B-A3B, 4 of 128 in Qwen3-4B
CASES = [
    Case(BF16, 12, 2, 256, 4, 512, 300),
    Case(BF16, 6, 1, 256, 8, 1024, 1016),
    Case(BF16, 6, 1, 256, 1, 256, 255),
    Case(BF16, 8, 1, 256, 8, 512, 250),
    Case(BF16, 8, 2, 128, 2, 768, 511),
    Case(BF16, 8, 2, 128, 5, 512, 0),
    Case(BF16, 4, 1, 128, 16, 512, 244),
    Case(BF16, 6, 1, 256, 10, 256, 200),
    Case(F32, 6, 1, 256, 8, 512, 254),
    Case(F32, 12, 2, 256, 3, 300, 280),
    Case(F32, 4, 1, 128, 8, 1000, 700),
    Case(F32, 3, 3, 128, 7, 40, 33),
    Case(F32, 5, 1, 128, 1, 256, 0),
    Case(F32, 7, 1, 128, 6, 512, 256),
    Case(F16, 6, 1, 256, 6, 512, 31),
    Case(F16, 8, 2, 128, 4, 1536, 1500),
    Case(F16, 1, 1, 128, 1, 256, 100),
]


def inputs_of(case: Case) -> tuple[mx.array, mx.array, mx.array, mx.array]:
    """Rows that nobody may see are NaN."""
    dtype, heads, kv_heads, head_dim, rows, capacity, position = case
    keys = mx.random.split(mx.random.key(3), 3)
    queries = 2 * mx.random.normal((1, heads, rows, head_dim), key=keys[0])
    k, v = (mx.random.normal((1, kv_heads, capacity, head_dim), key=key) for key in keys[1:])
    seen = (mx.arange(capacity) < position + rows)[:, None]
    return (*(x.astype(dtype) for x in (queries, mx.where(seen, k, mx.nan), mx.where(seen, v, mx.nan))), mx.array([position]))


def by_hand(case: Case, queries: mx.array, k: mx.array, v: mx.array, ancestors: np.ndarray | None = None) -> np.ndarray:
    """In float64."""
    q, k, v = (np.array(x.astype(F32), np.float64)[0] for x in (queries, k, v))
    y = np.zeros(q.shape)
    for head in range(case.heads):
        for row in range(case.rows):
            seen = list(range(case.position + row + 1))
            if ancestors is not None:
                seen = [at for at in seen if at < case.position or ancestors[row, at - case.position]]
            keys, values = (x[head // (case.heads // case.kv_heads), seen] for x in (k, v))
            scores = keys @ q[head, row] * case.head_dim**-0.5
            weights = np.exp(scores - scores.max())
            y[head, row] = weights @ values / weights.sum()
    return y[None]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_attends_to_what_a_row_may_see(case: Case, runs: list[metal_on_cpu.Run]) -> None:
    assert covers(case.dtype, case.heads, case.kv_heads, case.head_dim, case.rows)
    queries, k, v, position = inputs_of(case)
    y = verify_attention_metal(queries, k, v, position)
    wanted = by_hand(case, queries, k, v)
    assert y.dtype == case.dtype and y.shape == queries.shape
    error = np.abs(np.array(y.astype(F32), np.float64) - wanted)
    assert (error <= UNIT[case.dtype] * np.abs(wanted) + SUMS).all()  # float32 sums, rounded once


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reference_attends_to_what_a_row_may_see(case: Case) -> None:
    queries, k, v, position = inputs_of(case)
    y = verify_attention_reference(queries, mx.nan_to_num(k), mx.nan_to_num(v), position)
    wanted = by_hand(case, queries, k, v)
    # MLX's CPU backend rounds scores and weights to the dtype
    assert np.abs(np.array(y.astype(F32), np.float64) - wanted).max() <= 16 * UNIT[case.dtype] * np.abs(wanted).max() + SUMS


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_of_a_tree_sees_its_ancestors_and_no_one_beside_it(case: Case, shape: str, runs: list[metal_on_cpu.Run]) -> None:
    queries, k, v, position = inputs_of(case)
    tree = Tree.of(mx.array(parents_of(shape, case.rows), mx.int32))
    wanted = by_hand(case, queries, k, v, np.array(tree.ancestors))
    y = np.array(verify_attention_metal(queries, k, v, position, tree.ancestors).astype(F32), np.float64)
    assert (np.abs(y - wanted) <= UNIT[case.dtype] * np.abs(wanted) + SUMS).all()
    y = verify_attention_reference(queries, mx.nan_to_num(k), mx.nan_to_num(v), position, tree.ancestors)
    assert np.abs(np.array(y.astype(F32), np.float64) - wanted).max() <= 16 * UNIT[case.dtype] * np.abs(wanted).max() + SUMS
    if runs:
        for name in ("keys", "values"):
            size = case.kv_heads * (case.position + case.rows) * case.head_dim * runs[0].buffers[name].size // k.size
            assert runs[0].buffers[name].read == size


@pytest.mark.parametrize("contract", [False, True], ids=["apart", "contracted"])
@pytest.mark.parametrize("case", [CASES[8], CASES[10]], ids=str)
def test_a_row_has_the_same_bits_alone(case: Case, contract: bool, runs: list[metal_on_cpu.Run]) -> None:
    queries, k, v, position = inputs_of(case)
    with metal_on_cpu.options(contract=contract):
        together = verify_attention_metal(queries, k, v, position)
        for first, rows in [(0, 1), (1, 1), (3, 1), (7, 1), (0, 2), (2, 4)]:
            some = verify_attention_metal(queries[:, :, first : first + rows], k, v, position + first)
            assert mx.array_equal(some, together[:, :, first : first + rows]).item()


def test_a_row_has_the_same_bits_whatever_the_capacity(runs: list[metal_on_cpu.Run]) -> None:
    queries, k, v, position = inputs_of(CASES[9])
    grown = [mx.pad(x, [(0, 0), (0, 0), (0, 500), (0, 0)], constant_values=mx.nan) for x in (k, v)]
    assert mx.array_equal(
        verify_attention_metal(queries, k, v, position), verify_attention_metal(queries, *grown, position)
    ).item()


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
@pytest.mark.parametrize("rows", [1, 2, 4, 8])
def test_keys_and_values_are_read_once_and_only_those_that_a_row_sees(rows: int, runs: list[metal_on_cpu.Run]) -> None:
    case = Case(BF16, 12, 2, 256, rows, 1024, 600)
    verify_attention_metal(*inputs_of(case))
    for name in ("keys", "values"):
        assert runs[0].buffers[name].read == case.kv_heads * (case.position + rows) * case.head_dim * 2
    chunks = -(-case.capacity // CHUNK)
    assert runs[0].buffers["sums"].written == case.heads * rows * chunks * case.head_dim * 4


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
@pytest.mark.parametrize("barrier", range(4))
def test_each_barrier_is_missed(barrier: int, runs: list[metal_on_cpu.Run], monkeypatch: pytest.MonkeyPatch) -> None:
    source = kernels.source
    assert metal_on_cpu.count_barriers(source("verify_attention")[1]) == 4

    def without(name: str) -> tuple[str, str]:
        header, body = source(name)
        return header, metal_on_cpu.without_barrier(body, barrier) if name == "verify_attention" else body

    monkeypatch.setattr(kernels, "source", without)
    verify_attention_metal(*inputs_of(CASES[10]))
    assert runs.pop(0).findings


def test_what_the_kernel_does_not_cover() -> None:
    assert not covers(F32, 24, 4, 64, 4) and not covers(BF16, 24, 4, 256, 16) and not covers(BF16, 5, 2, 128, 1)
