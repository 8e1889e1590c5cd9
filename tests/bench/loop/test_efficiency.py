"""`make bench`: what its figures are made of."""

import ctypes.util
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from dflash_mlx.bench.loop.efficiency import efficiency, row
from dflash_mlx.bench.loop.workbench import Bench
from dflash_mlx.errors import RequestError


def run(seconds: float, cycles: int, tokens: int) -> dict[str, Any]:
    return {"seconds": seconds, "cycles": cycles, "tokens": list(range(tokens))}


def test_ratios_are_taken_within_a_round() -> None:
    plain = [run(1.0, 10, 11), run(2.0, 10, 11), run(4.0, 10, 11)]  # 0.1, 0.2, 0.4 s a step: the machine slows down
    blocks = [run(1.5, 10, 31), run(3.0, 10, 31), run(6.0, 10, 31)]  # 3 tokens a cycle of 0.15, 0.3, 0.6 s
    profiles = [{"bytes": 2 * 10**9, "parts_seconds": seconds, "host_seconds": 0.01} for seconds in (0.12, 0.24, 0.48)]
    found = row(4, blocks, plain, profiles, bandwidth=20e9)
    assert found["acceptance_length"] == 3
    assert found["over_plain"] == pytest.approx(2)  # in each round
    assert found["tokens_per_second"] == pytest.approx(10)
    assert found["memory_bound"] == pytest.approx(30)  # 2 GB at 20 GB/s: 0.1 s a cycle
    assert found["of_memory_bound"] == pytest.approx(1 / 3)
    assert found["parts_bound"] == pytest.approx(12.5)
    assert found["of_parts_bound"] == pytest.approx(0.8)
    assert (found["cycle_ms"], found["host_ms"]) == (pytest.approx(300), pytest.approx(10))


def test_without_openblas_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    monkeypatch.setattr(mx.metal, "is_available", lambda: False)
    with pytest.raises(RequestError) as caught:
        next(efficiency(Bench(tmp_path, 1)))
    assert "libopenblas0-pthread" in caught.value.hint and not list(tmp_path.iterdir())
