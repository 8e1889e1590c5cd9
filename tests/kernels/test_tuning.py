"""What is noted of a kernel, how it is compared, and what the notes survive."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from dflash_mlx.kernels import NAMES, tuning
from dflash_mlx.kernels.tuning import Case, Entry, Record, check, has_bits, judge, source_of

FASTER = Entry("abc", "passed", rows=(2, 4), microseconds={"2": {"kernel": 1.0, "mlx": 2.0}}, confirmed=True)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def case(ours: Any, theirs: Any, **more: Any) -> Case:
    inputs = [(mx.array([1.0, -8.0, 3.0]),)]
    return Case("gated_delta", "3 numbers", 2, 5, lambda: inputs, ours, theirs, lambda arguments, y: (arguments[0] + y,), **more)


def double(x: mx.array) -> mx.array:
    return x * 2


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        (double, None),
        (lambda x: x * 2.00001, None),
        (lambda x: x * 2.01, "off by"),
        (lambda x: x * mx.nan, "off by nan"),
        (lambda x: mx.concatenate([x, x]), "not mlx.core.float32"),
        (lambda x: (x * 2).astype(mx.float16), "float16"),
        (lambda x: 1 / 0, "ZeroDivisionError"),
        (lambda x: [x * 2, x], "does not run"),
    ],
)
def test_a_result_is_right_but_for_rounding(ours: Any, told: str | None) -> None:
    wrong = check(case(ours, double))
    assert wrong is None if told is None else wrong is not None and told in wrong and "3 numbers, 2 rows" in wrong


def test_where_bits_are_claimed_they_are_compared() -> None:
    assert has_bits(case(double, double, bits=double))
    assert not has_bits(case(double, double, bits=lambda x: x * 2.00001)) and not has_bits(case(double, double))
    assert [judge("gated_delta", [case(double, double, bits=bits)], timed=False).exact for bits in (double, None)] == [
        True,
        False,
    ]


def test_whole_numbers_are_compared_as_they_are() -> None:
    assert "differs" in (check(case(lambda x: mx.array([7, 8]), lambda x: mx.array([7, 9]))) or "")


def test_times_are_those_of_all_calls_in_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "microseconds", lambda case: (10.0, 12.0) if case.rows == 2 else (12.0, 12.0))
    cases = [replace(case(double, double), rows=rows, count=count) for rows, count in ((2, 5), (2, 1), (4, 3))]
    entry = judge("gated_delta", cases, timed=True)
    assert entry.microseconds == {"2": {"kernel": 60.0, "mlx": 72.0}, "4": {"kernel": 36.0, "mlx": 36.0}}
    assert (entry.result, entry.rows) == ("passed", (2,))
    assert judge("gated_delta", cases[2:], timed=True).result == "slower"
    assert judge("gated_delta", cases, timed=False) == Entry(source_of("gated_delta"), "passed")


def test_a_chain_can_only_be_run_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "CALLS", 3)
    chained = tuning._chain(case(double, double), double, [(mx.array(1),), (mx.array(10),)])
    assert [y.item() for y in chained] == [2, 24, 50], "2 * 1, 2 * (10 + 2), 2 * (1 + 24)"


def test_every_kernel_has_a_source_of_its_own_to_be_known_by() -> None:
    assert len({source_of(name) for name in NAMES}) == len(NAMES) - 1, "the two forms of verify_matmul share a module"


def test_what_is_noted_is_found_again_with_the_same_source_only() -> None:
    Record("qwen3", "small").put(gated_delta=FASTER)
    assert Record("qwen3", "small").known("gated_delta", "abc") == FASTER
    assert Record("qwen3", "small").known("gated_delta", "abd") is None
    assert Record("qwen3", "large").known("gated_delta", "abc") is None


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "[" * 99_999, '{"kernels": 1}', '{"kernels": {"gated_delta": 1}}', '{"kernels": {"gated_delta": {}}}'],
)
def test_a_damaged_file_says_nothing_and_is_replaced(content: str) -> None:
    record = Record("qwen3", "small")
    record.put(gated_delta=FASTER)
    record.file.write_text(content)
    record = Record("qwen3", "small")
    assert record.known("gated_delta", "abc") is None and record.row_invariant is None
    record.put(gated_delta=FASTER)
    assert Record("qwen3", "small").known("gated_delta", "abc") == FASTER
    assert [file.name for file in record.file.parent.iterdir()] == [record.file.name]


@pytest.mark.parametrize(
    "damage",
    [
        {"source": 1},
        {"result": "fine"},
        {"rows": [2, "4"]},
        {"rows": 2},
        {"rows": [-2]},
        {"microseconds": {"2": {"kernel": 1.0}}},
        {"microseconds": {"two": {"kernel": 1.0, "mlx": 2.0}}},
        {"microseconds": [1]},
        {"confirmed": "yes"},
        {"more": 1},
    ],
)
def test_a_damaged_entry_says_nothing_and_leaves_the_others(damage: dict[str, Any]) -> None:
    record = Record("qwen3", "small")
    record.put(gated_delta=FASTER, candidates=FASTER)
    content = json.loads(record.file.read_text())
    content["kernels"]["gated_delta"] |= damage
    record.file.write_text(json.dumps(content))
    record = Record("qwen3", "small")
    assert record.known("gated_delta", "abc") is None and record.known("candidates", "abc") == FASTER


def mark(process: int) -> None:
    Record("qwen3", "small").put(gated_delta=Entry("abc", "checking", process=process))


def test_a_mark_of_a_process_that_is_no_more_means_stalled_with_any_model() -> None:
    mark(process=2**22 + 1)
    for model in ("small", "large"):
        entry = Record("qwen3", model).known("gated_delta", "abc")
        assert entry is not None and entry.result == "stalled"
    assert Record("qwen3", "small").known("gated_delta", "new source") is None


def test_a_mark_of_a_process_at_work_says_nothing() -> None:
    mark(process=os.getppid())
    assert Record("qwen3", "small").known("gated_delta", "abc") is None


def test_a_mark_is_on_disk_while_a_kernel_runs_and_an_exception_takes_it_away() -> None:
    record = Record("qwen3", "small")
    with record.attempt("gated_delta", "abc"):
        assert json.loads(record.file.read_text())["kernels"]["gated_delta"]["result"] == "checking"
        record.put(gated_delta=FASTER)
    assert Record("qwen3", "small").known("gated_delta", "abc") == FASTER
    with pytest.raises(KeyboardInterrupt), record.attempt("gated_delta", "abd"):
        raise KeyboardInterrupt
    assert Record("qwen3", "small").known("gated_delta", "abc") == FASTER


def test_where_nothing_can_be_written_it_is_known_in_memory(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "a file"))
    record = Record("qwen3", "small")
    record.put(gated_delta=FASTER)
    assert record.known("gated_delta", "abc") == FASTER and Record("qwen3", "small").known("gated_delta", "abc") is None
