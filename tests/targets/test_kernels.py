"""Targets that compute through the Metal kernels, under the harness or on a GPU, against the same in MLX's ops."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from metal_on_cpu import Run

from dflash_mlx.bench.roofline.synthetic import Geometry, write_pair
from dflash_mlx.kernels import MAX_ROWS, NAMES, Kernels, verify_attention
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.targets import State, Target, load_target

# sizes that every kernel covers
GEOMETRY = Geometry(512, 4, 512, 4, 1, 128, 16, 32, 264, drafter_layers=2, taps=3, positions=1024)
PROMPT = list(range(3, 23))
BLOCKS = ([5, 6, 7, 8], [9], [10, 11], [12, 13, 14, 15, 16, 17, 18, 19])
RECURRENT = ("gated_delta", "recurrent_inputs")
EXACT = (*RECURRENT, "verify_matmul")
TARGETS = NAMES[:5]  # the kernels of targets


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention's kernel is used over the shortest buffers there are."""
    monkeypatch.setattr(verify_attention, "FROM", GROWTH)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pair(tmp_path_factory.mktemp("pair"), GEOMETRY, bits=4)


@pytest.fixture
def target(folder: Path) -> Target:
    return load_target(folder)


def using(*names: str, rows: Any = range(1, MAX_ROWS + 1)) -> Kernels:
    return Kernels({name: frozenset(rows) for name in names})


def read(target: Target) -> State:
    state = target.new_state(256)
    target.forward(mx.array([PROMPT]), state, mx.array([0]), commit=True)
    return state


def in_blocks(target: Target, counts: list[int], exact: bool = False) -> list[mx.array]:
    """Logits and features of each block, so many rows of which are committed."""
    state, position, outputs = read(target), len(PROMPT), []
    for block, count in zip(BLOCKS, counts, strict=True):
        hidden, features = target.forward(mx.array([block]), state, mx.array([position]), (1, 3), exact=exact)
        assert features is not None
        outputs += [target.lm_head(hidden, exact=exact), features]
        state.commit(count)
        position += count
    return outputs


def close(ours: list[mx.array], theirs: list[mx.array]) -> bool:
    return all(mx.allclose(a, b, rtol=1e-3, atol=1e-4 * mx.abs(b).max().item()) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    "names, counts",
    [
        *((RECURRENT, counts) for counts in ([4, 1, 2, 8], [1, 0, 1, 3], [0, 1, 2, 0])),
        *(((name,), [3, 1, 2, 5]) for name in TARGETS),
        (TARGETS, [4, 1, 1, 8]),
    ],
    ids=str,
)
def test_blocks_give_what_mlx_gives(target: Target, names: tuple[str, ...], counts: list[int], runs: list[Run]) -> None:
    plain = in_blocks(target, counts)
    target.use_kernels(using(*names))
    assert close(in_blocks(target, counts, exact=names == ("verify_matmul",)), plain)
    if runs:  # not on a GPU
        ran = {run.name.removeprefix("dflash_").removesuffix("_combine") for run in runs}
        assert ran == set(names) - ({"verify_matmul"} if len(names) > 2 else set())


def test_attention_over_short_buffers_is_mlx_s(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_attention, "FROM", GROWTH + 1)
    plain = in_blocks(target, [3, 1, 2, 5])
    target.use_kernels(using("verify_attention"))
    assert all(mx.array_equal(a, b) for a, b in zip(in_blocks(target, [3, 1, 2, 5]), plain, strict=True))


@pytest.mark.parametrize("rows", ([4], [1], [2, 8], [1, 4]), ids=str)
def test_a_state_serves_kernels_and_mlx_in_turn(target: Target, rows: list[int], runs: list[Run]) -> None:
    counts = [3, 1, 2, 5]
    plain = in_blocks(target, counts)
    target.use_kernels(using(*RECURRENT, rows=rows))
    assert close(in_blocks(target, counts), plain)


def test_a_prompt_goes_on_behind_rows_that_are_due(target: Target, runs: list[Run]) -> None:
    def outputs() -> list[mx.array]:
        state, start = read(target), len(PROMPT)
        target.forward(mx.array(BLOCKS[:1]), state, mx.array([start]))
        state.commit(2)
        target.forward(mx.array(BLOCKS[3:]), state, mx.array([start + 2]))  # never committed
        hidden, _ = target.forward(mx.array(BLOCKS[3:]), state, mx.array([start + 2]), commit=True)
        after, _ = target.forward(mx.array(BLOCKS[1:2]), state, mx.array([start + 10]))
        return [hidden, after]

    plain = outputs()
    target.use_kernels(using(*RECURRENT))
    assert close(outputs(), plain)


def test_the_bits_of_a_row_do_not_depend_on_the_rows_beside_it(target: Target, runs: list[Run]) -> None:
    """Of 2 to 8 rows; one alone has MLX's matmul, whose bits are the kernel's on Metal only (`test_verify_matmul.py`)."""
    target.use_kernels(Kernels(using(*EXACT).rows, frozenset(("norm", "rope", "elementwise"))))

    def rows(sizes: list[int]) -> mx.array:
        state, position, ids, outputs = read(target), len(PROMPT), list(BLOCKS[3]), []
        for size in sizes:
            hidden, features = target.forward(mx.array([ids[:size]]), state, mx.array([position]), (0, 2, 3), exact=True)
            assert features is not None
            outputs.append(mx.concatenate([hidden, features, target.lm_head(hidden, exact=True)], axis=-1))
            state.commit(size)
            position, ids = position + size, ids[size:]
        return mx.concatenate(outputs, axis=1)

    together = rows([8])
    for sizes in ([2, 2, 2, 2], [3, 5], [4, 2, 2]):
        assert mx.array_equal(rows(sizes), together)
    assert not runs or {"dflash_verify_matmul", "dflash_gated_delta"} <= {run.name for run in runs}
