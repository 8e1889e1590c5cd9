"""The best tokens of each row and the walk through them: which, in which order, and from what they are drawn."""

from typing import NamedTuple

import metal_on_cpu
import mlx.core as mx
import numpy as np
import pytest

from dflash_mlx import kernels
from dflash_mlx.kernels.candidates import SLICE, Walk, candidates_metal, candidates_reference, covers

F32, BF16, F16 = mx.float32, mx.bfloat16, mx.float16


class Case(NamedTuple):
    dtype: mx.Dtype
    rows: int
    vocab: int
    top_k: int
    rank: int
    temperature: float = 0.0


# Qwen3.8-27B: 248320 tokens, 16 candidates, codes of 256
CASES = [
    Case(BF16, 3, 248_320, 16, 32, 0.7),
    Case(BF16, 7, 4 * SLICE, 16, 256),
    Case(BF16, 15, 3000, 16, 64),
    Case(BF16, 1, 5000, 16, 32, 1.0),
    Case(BF16, 3, 64, 4, 16, 0.6),
    Case(F32, 7, 9000, 16, 64),
    Case(F32, 7, 9000, 16, 64, 0.8),
    Case(F32, 16, 700, 7, 40, 1.5),
    Case(F32, 1, 17, 16, 33),
    Case(F32, 2, 32, 32, 8, 1e-3),
    Case(F32, 3, SLICE + 1, 2, 100),
    Case(F16, 4, 2 * SLICE - 1, 16, 128, 0.9),
    Case(F16, 5, 1000, 32, 256),
]


def inputs_of(case: Case) -> dict[str, mx.array | int | float | None]:
    keys = mx.random.split(mx.random.key(11), 5)
    codes = (mx.random.normal((case.vocab, case.rank), key=key).astype(case.dtype) for key in keys[:2])
    return dict(
        logits=(4 * mx.random.normal((1, case.rows, case.vocab), key=keys[2])).astype(case.dtype),
        projected=(case.rank**-0.5 * mx.random.normal((1, case.rows, case.rank), key=keys[3])).astype(case.dtype),
        **dict(zip(("predecessors", "successors"), codes)),
        anchor=mx.array([case.vocab - 1], mx.int32),
        top_k=case.top_k,
        temperature=case.temperature,
        luck=mx.random.uniform(shape=(case.rows, case.vocab), key=keys[4]) if case.temperature else None,
    )


def by_hand(inputs: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Path, candidates and q in float64."""

    def wide(name: str) -> np.ndarray:
        return np.array(inputs[name].astype(F32), np.float64)

    logits, projected = wide("logits")[0], wide("projected")[0]
    predecessors, successors = wide("predecessors"), wide("successors")
    vocab, previous = np.arange(logits.shape[1]), inputs["anchor"].item()
    path, candidates, chances = [], [], []
    for row, unary in enumerate(logits):
        ids = np.lexsort((vocab, -unary))[: inputs["top_k"]]
        scores = unary[ids] + successors[ids] @ (predecessors[previous] * projected[row])
        choice = scores.argmax()
        q = (np.arange(len(ids)) == choice).astype(np.float64)
        if inputs["temperature"]:
            q = np.exp((scores - scores.max()) / inputs["temperature"])
            q /= q.sum()
            choice = (q / -np.log1p(-np.array(inputs["luck"], np.float64)[row, ids])).argmax()
        previous = ids[choice]
        path.append(previous)
        candidates.append(ids)
        chances.append(q)
    return np.array(path), np.array(candidates), np.array(chances)


def check(got: Walk, wanted: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    assert got.path.dtype == got.candidates.dtype == mx.int32 and got.q.dtype == F32
    assert np.array(got.candidates).tolist() == wanted[1].tolist()
    assert np.array(got.path).tolist() == wanted[0].tolist()
    assert np.allclose(np.array(got.q), wanted[2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernel_and_reference_walk_through_the_best(case: Case, runs: list[metal_on_cpu.Run]) -> None:
    assert covers(case.dtype, case.rows, case.vocab, case.top_k)
    inputs = inputs_of(case)
    wanted = by_hand(inputs)
    check(candidates_metal(**inputs), wanted)
    check(candidates_reference(**inputs), wanted)
    if runs:
        assert len(runs) == 2
        assert runs[0].buffers["logits"].read == inputs["logits"].nbytes  # each once


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_of_equal_logits_the_lower_ids_come_first(temperature: float, runs: list[metal_on_cpu.Run]) -> None:
    inputs = inputs_of(Case(F32, 3, 2 * SLICE, 16, 32, temperature))
    logits = mx.zeros((1, 3, 2 * SLICE))
    logits[0, 0, 5000:5005] = 1.0
    logits[0, 1] = -0.0  # equals 0
    logits[0, 1, ::2] = 0.0
    inputs["logits"] = logits
    wanted = by_hand(inputs)
    assert wanted[1][0].tolist() == [*range(5000, 5005), *range(11)] and wanted[1][1].tolist() == list(range(16))
    check(candidates_metal(**inputs), wanted)
    check(candidates_reference(**inputs), wanted)


def test_of_equal_scores_the_first_candidate_is_taken(runs: list[metal_on_cpu.Run]) -> None:
    inputs = inputs_of(Case(F32, 2, 300, 4, 8)) | {"projected": mx.zeros((1, 2, 8)), "logits": mx.zeros((1, 2, 300))}
    assert candidates_metal(**inputs).path.tolist() == candidates_reference(**inputs).path.tolist() == [0, 0]


def test_ruled_out_and_broken_logits_are_last(runs: list[metal_on_cpu.Run]) -> None:
    logits = mx.full((1, 2, 300), mx.nan)
    logits[0, 0, 50:60] = -mx.inf
    logits[0, 0, 70:72] = mx.array([-1e30, mx.inf])
    inputs = inputs_of(Case(F32, 2, 300, 16, 8)) | {"logits": logits}
    walk = candidates_metal(**inputs)
    assert walk.candidates.tolist() == [[71, 70, *range(50, 60), *range(4)], list(range(16))]
    assert set(walk.path.tolist()) <= set(range(300))


def test_luck_draws_by_q(runs: list[metal_on_cpu.Run]) -> None:
    inputs, drawn = inputs_of(Case(F32, 16, 40, 4, 8, 2.0)), []
    inputs |= {"projected": mx.zeros((1, 16, 8)), "logits": mx.repeat(inputs["logits"][:, :1], 16, axis=1)}  # all rows alike
    q = candidates_reference(**inputs).q[0]
    for seed in range(40):
        walk = candidates_metal(**inputs | {"luck": mx.random.uniform(shape=(16, 40), key=mx.random.key(seed))})
        drawn += mx.argmax(walk.candidates == walk.path[:, None], axis=-1).tolist()
    rates = np.bincount(drawn, minlength=4) / len(drawn)
    assert np.abs(rates - np.array(q)).max() < 0.08  # four standard deviations of the widest


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
@pytest.mark.parametrize("name, barriers", [("candidates", 1), ("candidates_walk", 2)])
def test_each_barrier_is_missed(name: str, barriers: int, runs: list[metal_on_cpu.Run], monkeypatch: pytest.MonkeyPatch) -> None:
    source, inputs = kernels.source, inputs_of(CASES[5])
    assert metal_on_cpu.count_barriers(source(name)[1]) == barriers
    for barrier in range(barriers):

        def without(kernel: str, barrier: int = barrier) -> tuple[str, str]:
            header, body = source(kernel)
            return header, metal_on_cpu.without_barrier(body, barrier) if kernel == name else body

        monkeypatch.setattr(kernels, "source", without)
        kernels.metal_kernel.cache_clear()
        candidates_metal(**inputs)
        assert any(run.findings for run in runs)
        runs.clear()


def test_what_the_kernel_does_not_cover() -> None:
    assert not covers(F32, 17, 1000, 16) and not covers(F32, 3, 10, 16) and not covers(F32, 3, 1000, 64)
