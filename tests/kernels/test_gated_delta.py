"""Lazy commit and verification in one pass over the state: the answer, its bits, and the bytes it costs."""

import random

import metal_on_cpu
import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models import gated_delta as mlx_lm
from tree_shapes import SHAPES, parents_of, path_to

from dflash_mlx.kernels import gated_delta, source
from dflash_mlx.kernels.gated_delta import (
    Writes,
    covers,
    gated_delta_metal,
    gated_delta_reference,
    state_after,
    whole_block,
)
from dflash_mlx.targets.tree import Tree

Runs = list[metal_on_cpu.Run]
ROUNDING = {mx.float32: 2.0**-24, mx.bfloat16: 2.0**-8, mx.float16: 2.0**-11}
# key heads, key dim, value heads, value dim, rows, previous rows, count. Qwen3.8-27B: 16, 128, 48, 128.
CASES = [
    (2, 128, 6, 128, 4, 4, 2),
    (2, 128, 6, 32, 8, 8, 8),
    (1, 128, 3, 32, 4, 4, 0),
    (2, 128, 4, 16, 1, 1, 1),
    (1, 128, 1, 8, 1, 1, 0),
    (4, 128, 4, 24, 16, 16, 16),
    (2, 128, 14, 8, 3, 16, 9),
    (1, 128, 8, 8, 16, 1, 1),
    (2, 32, 6, 40, 5, 3, 2),
    (3, 32, 3, 16, 2, 7, 7),
    (2, 64, 10, 64, 4, 4, 3),
    (5, 64, 5, 8, 7, 2, 0),
    (2, 96, 6, 40, 6, 5, 4),
    (2, 192, 8, 16, 4, 6, 1),
    (1, 256, 2, 8, 2, 2, 2),
]


def rows_of(case: tuple[int, ...], rows: int, dtype: mx.Dtype, seed: int) -> tuple[mx.array, Writes]:
    """Queries and writes as a layer makes them."""
    key_heads, key_dim, value_heads, value_dim = case[:4]
    keys = [mx.random.key(5 * seed + i) for i in range(5)]
    q, k = (mx.random.normal((1, rows, key_heads, key_dim), key=key) for key in keys[:2])
    q, k = (x / mx.linalg.norm(x, axis=-1, keepdims=True) for x in (q * key_dim**0.5, k))
    v = mx.random.normal((1, rows, value_heads, value_dim), key=keys[2])
    g, beta = (mx.sigmoid(mx.random.normal((1, rows, value_heads), key=key)) for key in keys[3:])
    return (q / key_dim).astype(dtype), Writes(k.astype(dtype), v.astype(dtype), g, beta.astype(dtype))


def inputs_of(case: tuple[int, ...], dtype: mx.Dtype) -> tuple[mx.array, Writes, mx.array, mx.array, Writes]:
    _, key_dim, value_heads, value_dim, rows, previous, count = case
    state = mx.random.normal((1, value_heads, value_dim, key_dim), key=mx.random.key(1))
    return state, rows_of(case, previous, dtype, 2)[1], path_of(count), *rows_of(case, rows, dtype, 3)


def path_of(count: int) -> mx.array:
    """The first so many rows."""
    return mx.array([count, *range(count)], mx.int32)


def count(path: mx.array) -> int:
    return path.tolist()[0]


def part(writes: Writes, start: int, stop: int) -> Writes:
    return Writes(*(rows[:, start:stop] for rows in writes))


def joined(first: Writes, second: Writes) -> Writes:
    return Writes(*(mx.concatenate(parts, axis=1) for parts in zip(first, second)))


def by_hand(
    state: mx.array, last: Writes, path: mx.array, q: mx.array, new: Writes, parents: mx.array | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """In float64, with matrices and vectors."""

    def wide(x: mx.array) -> np.ndarray:
        return np.array(x.astype(mx.float32), np.float64)[0]

    now, queries = wide(state), wide(q)
    group = now.shape[0] // queries.shape[1]

    def write(writes: Writes, row: int) -> None:
        k, v, g, beta = (wide(x)[row] for x in writes)
        for head in range(now.shape[0]):
            decayed, key = now[head] * g[head], k[head // group]
            now[head] = decayed + np.outer(v[head] - decayed @ key, key) * beta[head]

    for row in path.tolist()[1 : 1 + count(path)]:
        write(last, row)
    committed, y, after = now.copy(), [], {}
    for row, parent in enumerate(range(-1, len(queries) - 1) if parents is None else parents.tolist()):
        now[:] = after.get(parent, committed)
        write(new, row)
        after[row] = now.copy()
        y.append([now[head] @ queries[row, head // group] for head in range(now.shape[0])])
    return np.array(y)[None], committed[None]


def check(got: tuple[mx.array, mx.array], wanted: tuple[np.ndarray, np.ndarray], dtype: mx.Dtype) -> None:
    """Within float32's rounding, where sums are made, and once the activations', where y is stored."""
    y, committed = (np.array(x.astype(mx.float32), np.float64) for x in got)
    assert got[0].dtype == dtype and got[1].dtype == mx.float32
    assert np.abs(committed - wanted[1]).max() <= 1e-6 * np.abs(wanted[1]).max()
    smallest = 2.0**-25  # half of float16's spacing around zero
    assert (np.abs(y - wanted[0]) <= ROUNDING[dtype] * np.abs(wanted[0]) + 1e-6 * np.abs(wanted[0]).max() + smallest).all()


def bits(*arrays: mx.array) -> list[list[int]]:
    return [np.array(array).view(np.uint32).ravel().tolist() for array in arrays]


@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_computes_the_recurrence(case: tuple[int, ...], dtype: mx.Dtype, runs: Runs) -> None:
    assert covers(*case[:4], dtype)
    inputs = inputs_of(case, dtype)
    wanted = by_hand(*inputs)
    check(gated_delta_metal(*inputs), wanted, dtype)
    check(gated_delta_reference(*inputs), wanted, dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_of_a_tree_starts_from_its_parents_state(case: tuple[int, ...], shape: str, runs: Runs) -> None:
    state, last, path, q, new = inputs_of(case, mx.float32)
    rows, previous = case[4], case[5]
    taken = sorted(random.Random(rows).sample(range(previous), count(path)))  # of a tree, too
    path = mx.array([len(taken), *taken, *([99] * 3)], mx.int32)
    parents = mx.array(parents_of(shape, rows), mx.int32)
    inputs = (state, last, path, q, new, parents)
    wanted = by_hand(*inputs)
    got = gated_delta_metal(*inputs)
    check(got, wanted, mx.float32)
    check(gated_delta_reference(*inputs), wanted, mx.float32)
    if runs:
        buffers = runs[0].buffers
        assert (buffers["state"].read, buffers["committed"].written) == (buffers["state"].size, buffers["committed"].size)
    for row in range(rows):  # with the bits of the chain to it
        branch = mx.array(path_to(parents.tolist(), row))
        chain = Writes(*(mx.take(x, branch, axis=1) for x in new))
        alone, _ = gated_delta_metal(state, last, path, mx.take(q, branch, axis=1), chain)
        assert bits(alone[:, -1:]) == bits(got[0][:, row : row + 1])


@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
def test_the_reference_agrees_with_mlx_lm(dtype: mx.Dtype) -> None:
    state, last, _, q, new = inputs_of(CASES[0], dtype)
    for count in range(5):
        accepted, before = part(last, 0, count), state
        if count:
            _, before = mlx_lm.gated_delta_ops(accepted.k, *accepted, state)
        y, _ = mlx_lm.gated_delta_ops(q, *new, before)
        ours, committed = gated_delta_reference(state, last, path_of(count), q, new)
        assert mx.allclose(committed, before, rtol=0, atol=1e-6).item()
        assert mx.allclose(ours, y, rtol=2 * ROUNDING[dtype], atol=1e-6).item()


@pytest.mark.parametrize("contract", [False, True], ids=["apart", "contracted"])
@pytest.mark.parametrize("case", [CASES[0], CASES[12]], ids=str)
def test_a_block_has_the_bits_of_one_row_at_a_time(case: tuple[int, ...], contract: bool, runs: Runs) -> None:
    with metal_on_cpu.options(contract=contract):
        state, last, path, q, new = inputs_of(case, mx.float32)
        y, committed = gated_delta_metal(state, last, path, q, new)
        before = None
        for row in range(case[4]):  # every row alone, the one before it replayed
            alone, state = gated_delta_metal(state, last, path, q[:, row : row + 1], part(new, row, row + 1))
            assert bits(alone) == bits(y[:, row : row + 1])
            if before is not None:  # the state after `row` rows is that of a replay of so many out of the whole block
                _, replayed = gated_delta_metal(committed, new, path_of(row), q, new)
                assert bits(state) == bits(replayed)
            last, path, before = part(new, row, row + 1), path_of(1), state


def test_every_count_leaves_the_state_of_plain_decoding(runs: Runs) -> None:
    state, last, _, q, new = inputs_of(CASES[6], mx.float32)
    decoded = state
    for count in range(last.v.shape[1] + 1):
        _, committed = gated_delta_metal(state, last, path_of(count), q, new)
        assert bits(committed) == bits(decoded)
        if count < last.v.shape[1]:
            _, decoded = gated_delta_metal(decoded, part(last, count, count + 1), path_of(1), q, new)


@pytest.mark.parametrize("contract", [False, True], ids=["apart", "contracted"])
@pytest.mark.parametrize("lanes", [8, 16, 32])
def test_the_layout_does_not_change_the_bits(lanes: int, contract: bool, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    with metal_on_cpu.options(contract=contract):
        inputs = inputs_of(CASES[0], mx.float32)
        usual = bits(*gated_delta_metal(*inputs))
        monkeypatch.setattr(gated_delta, "LANES", lanes)
        assert bits(*gated_delta_metal(*inputs)) == usual


@pytest.mark.parametrize("contract", [False, True], ids=["apart", "contracted"])
@pytest.mark.parametrize("case", [CASES[0], CASES[8], CASES[10], CASES[13]], ids=str)
def test_the_bits_are_those_of_mlx_lms_kernels(
    case: tuple[int, ...], contract: bool, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mx.default_device() != mx.gpu:  # theirs too under the harness
        monkeypatch.setattr(mx.fast, "metal_kernel", metal_on_cpu.metal_kernel)
        monkeypatch.setattr(mx.metal, "is_available", lambda: True)
        monkeypatch.setattr(mlx_lm, "_gated_delta_kernel", mlx_lm._make_gated_delta_kernel())
        monkeypatch.setattr(mlx_lm, "_gated_delta_kernel_packed", mlx_lm._make_gated_delta_packed_kernel())
    with metal_on_cpu.options(contract=contract):
        state, last, path, q, new = inputs_of(case, mx.float32)
        accepted = part(last, 0, count(path))
        _, committed = mlx_lm.gated_delta_kernel(accepted.k, *accepted, state)
        y, after = mlx_lm.gated_delta_kernel(q, *new, committed)
        assert bits(*gated_delta_metal(state, last, path, q, new)) == bits(y, committed)
        everything, all_rows = joined(accepted, new), path_of(count(path) + case[4])
        assert bits(gated_delta_metal(state, everything, all_rows, q, new)[1]) == bits(after)


def test_rejected_rows_leave_no_trace(runs: Runs) -> None:
    state, last, path, q, new = inputs_of(CASES[0], mx.float32)
    clean = gated_delta_metal(state, last, path, q, new)
    for poison in (mx.inf, -mx.inf, mx.nan):
        stale = Writes(*(mx.full(rows.shape, poison, rows.dtype) for rows in last))
        poisoned = joined(part(last, 0, count(path)), part(stale, count(path), last.v.shape[1]))
        assert bits(*gated_delta_metal(state, poisoned, path, q, new)) == bits(*clean)
        assert bits(*gated_delta_reference(state, poisoned, path, q, new)) == bits(
            *gated_delta_reference(state, last, path, q, new)
        )


def test_nothing_accepted_changes_nothing_not_even_the_sign_of_zero(runs: Runs) -> None:
    state, last, _, q, new = inputs_of(CASES[2], mx.float32)
    state = mx.where(mx.arange(state.size).reshape(state.shape) % 3 == 0, -0.0, state)
    nothing = path_of(0)
    assert bits(gated_delta_metal(state, last, nothing, q, new)[1]) == bits(state)
    assert bits(gated_delta_reference(state, last, nothing, q, new)[1]) == bits(state)


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16], ids=str)
@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[6], CASES[13]], ids=str)
def test_the_state_is_read_once_and_written_once(case: tuple[int, ...], dtype: mx.Dtype, runs: Runs) -> None:
    gated_delta_metal(*inputs_of(case, dtype))
    buffers = runs[0].buffers
    state, committed, y = buffers["state"], buffers["committed"], buffers["y"]
    assert (state.read, state.written) == (state.size, 0)
    assert (committed.read, committed.written) == (0, committed.size)
    assert (y.read, y.written) == (0, y.size)
    for name in ("last_k", "last_v", "last_g", "last_beta"):  # of the last block, the accepted rows
        assert buffers[name].unique * case[5] == buffers[name].size * case[6]


def test_there_are_no_barriers_to_forget() -> None:
    """Lanes talk by shuffles alone, and each reads and writes a part of the state of its own."""
    assert metal_on_cpu.count_barriers("".join(source("gated_delta"))) == 0
    assert "threadgroup" not in "".join(source("gated_delta"))


def test_other_shapes_are_not_covered() -> None:
    assert covers(16, 128, 48, 128, mx.bfloat16)
    assert not covers(16, 48, 48, 128, mx.bfloat16)
    assert not covers(16, 128, 48, 100, mx.bfloat16)
    assert not covers(16, 128, 40, 128, mx.bfloat16)
    assert not covers(16, 512, 48, 128, mx.bfloat16)
    assert not covers(16, 128, 48, 128, mx.int32)


@pytest.mark.parametrize("decays", ["usual", "0 and 1"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [2, 5, 16])
def test_a_whole_tree_at_once_is_the_rule_along_each_path(rows: int, shape: str, decays: str) -> None:
    q, writes = rows_of((2, 32, 6, 24), rows, mx.float32, seed=rows)
    state = mx.random.normal((1, 6, 24, 32), key=mx.random.key(9))
    if decays != "usual":
        writes = writes._replace(g=mx.array(np.resize([0.0, 1.0], writes.g.shape), mx.float32))
    parents = parents_of(shape, rows)
    y, block = whole_block(q, writes, state, Tree.of(mx.array(parents, mx.int32)).ancestors)
    wanted, _ = by_hand(state, writes, path_of(0), q, writes, mx.array(parents))
    assert np.abs(np.array(y) - wanted).max() < 2e-5
    for row in range(rows):
        path = path_to(parents, row)
        _, after = by_hand(state, writes, mx.array([len(path), *path]), q[:, :1], part(writes, 0, 1))
        assert np.abs(np.array(state_after(mx.array([row], mx.int32), block, state)) - after).max() < 2e-5


@pytest.mark.parametrize("decays", ["usual", "0 and 1", "underflowing"])
@pytest.mark.parametrize("rows", [2, 3, 4, 5, 8, 16])
def test_a_whole_block_at_once_is_the_rule_row_by_row(rows: int, decays: str) -> None:
    case = (2, 32, 6, 24)
    q, writes = rows_of(case, rows, mx.float32, seed=rows)
    state = mx.random.normal((1, 6, 24, 32), key=mx.random.key(9))
    if decays != "usual":
        edge = [0.0, 1.0] if decays == "0 and 1" else [1e-30, 1e-38]
        writes = writes._replace(g=mx.array(np.resize(edge, writes.g.shape), mx.float32))
    y, block = whole_block(q, writes, state)
    none = part(writes, 0, 1)
    expected, _ = by_hand(state, none, path_of(0), q, writes)
    assert np.abs(np.array(y) - expected).max() < 2e-5
    for row in range(rows):
        _, after = by_hand(state, writes, path_of(row + 1), q[:, :1], none)
        assert np.abs(np.array(state_after(mx.array([row], mx.int32), block, state)) - after).max() < 2e-5


def test_a_whole_block_of_equal_keys_stays_accurate() -> None:
    """The system to solve is worst where every row overwrites the one before."""
    q, writes = rows_of((1, 32, 2, 16), 16, mx.float32, seed=4)
    writes = writes._replace(k=mx.repeat(writes.k[:, :1], 16, axis=1), beta=mx.ones_like(writes.beta), g=mx.ones_like(writes.g))
    state = mx.random.normal((1, 2, 16, 32), key=mx.random.key(5))
    y, _ = whole_block(q, writes, state)
    expected, _ = by_hand(state, part(writes, 0, 1), path_of(0), q, writes)
    assert np.abs(np.array(y) - expected).max() < 1e-3
