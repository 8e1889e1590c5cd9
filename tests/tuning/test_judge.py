"""What is noted of a kernel, how it is compared, and what the notes survive."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

import dflash_mlx.tuning.judge as judging
from dflash_mlx.kernels import NAMES, source_of
from dflash_mlx.tuning.judge import Case, check, has_bits, judge
from dflash_mlx.tuning.record import Entry, Record, marks_of

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
    monkeypatch.setattr(judging, "microseconds", lambda case: (10.0, 12.0) if case.rows == 2 else (12.0, 12.0))
    cases = [replace(case(double, double), rows=rows, count=count) for rows, count in ((2, 5), (2, 1), (4, 3))]
    entry = judge("gated_delta", cases, timed=True)
    assert entry.microseconds == {"2": {"kernel": 60.0, "mlx": 72.0}, "4": {"kernel": 36.0, "mlx": 36.0}}
    assert (entry.result, entry.rows) == ("passed", (2,))
    assert judge("gated_delta", cases[2:], timed=True).result == "slower"
    assert judge("gated_delta", cases, timed=False) == Entry(source_of("gated_delta"), "passed")
    assert judge("gated_delta", [cases[0], replace(cases[2], timed=False)], timed=True).microseconds.keys() == {"2"}


def test_cases_that_are_not_timed_are_compared() -> None:
    wrong = case(lambda x: x * 3, double, bits=double, timed=False)
    assert judge("gated_delta", [case(double, double), wrong], timed=True).result == "failed"
    nearly = case(lambda x: x * 2.00001, double, bits=double, timed=False)
    assert not judge("gated_delta", [case(double, double, bits=double), nearly], timed=False).exact


def test_a_chain_can_only_be_run_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "CALLS", 3)
    chained = judging._chain(case(double, double), double, [(mx.array(1),), (mx.array(10),)])
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


ATTEMPT = """
import os, signal, sys
from dflash_mlx.tuning.record import Record
with Record("qwen3", "small").attempt("gated_delta", "abc"):
    print("at it", flush=True)
    if sys.argv[1] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def attempt(what: str) -> subprocess.Popen[str]:
    """A process that tries a kernel: it "dies" meanwhile, or "works" on."""
    process = subprocess.Popen([sys.executable, "-c", ATTEMPT, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "at it\n"
    if what == "dies":
        process.communicate()
    return process


def known(model: str = "small") -> Entry | None:
    return Record("qwen3", model).known("gated_delta", "abc")


def test_processes_that_ended_mean_stalled_with_any_model_from_the_second_on(cache: Path) -> None:
    attempt("dies")
    assert known() is None, "somebody may have ended it"
    attempt("dies")
    for model in ("small", "large"):
        entry = known(model)
        assert entry is not None and entry.result == "stalled" and str(marks_of("gated_delta", "abc")) in (entry.error or "")
    assert Record("qwen3", "small").known("gated_delta", "new source") is None
    shutil.rmtree(marks_of("gated_delta", "abc"))
    assert known() is None, "it can be tried again"


def test_what_is_noted_meanwhile_does_not_hide_that_processes_ended() -> None:
    other = Record("qwen3", "small")
    for _ in range(2):
        attempt("dies")
        other.put(candidates=FASTER)
    other.put(gated_delta=FASTER)
    entry = known()
    assert entry is not None and entry.result == "stalled"


def test_a_process_at_work_is_none_that_ended() -> None:
    attempt("dies")
    process = attempt("works")
    assert known() is None
    process.kill()
    process.communicate()
    entry = known()
    assert entry is not None and entry.result == "stalled"


def test_models_loaded_by_several_threads_do_not_take_each_other_for_dead() -> None:
    with Record("qwen3", "small").attempt("gated_delta", "abc"), Record("qwen3", "large").attempt("gated_delta", "abc"):
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(known).result() is None and known() is None
    assert not list(marks_of("gated_delta", "abc").iterdir())


def test_success_forgives_what_ended_before() -> None:
    attempt("dies")
    with Record("qwen3", "large").attempt("gated_delta", "abc"):
        pass
    attempt("dies")
    assert known() is None


def test_an_exception_takes_the_mark_away() -> None:
    Record("qwen3", "small").put(gated_delta=FASTER)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), Record("qwen3", "small").attempt("gated_delta", "abc"):
            [mark] = marks_of("gated_delta", "abc").iterdir()
            assert json.loads(mark.read_text())["model"] == "small"
            raise KeyboardInterrupt
    assert known() == FASTER


def test_what_another_process_has_noted_stays() -> None:
    one, other = Record("qwen3", "small"), Record("qwen3", "small")
    one.row_invariant = ["norm"]
    one.put(gated_delta=FASTER)
    other.put(candidates=FASTER)
    record = Record("qwen3", "small")
    assert record.known("gated_delta", "abc") == record.known("candidates", "abc") == FASTER
    assert record.row_invariant == ["norm"]


def test_where_nothing_can_be_written_it_is_known_in_memory(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "a file"))
    record = Record("qwen3", "small")
    with record.attempt("gated_delta", "abc"):
        record.put(gated_delta=FASTER)
    assert record.known("gated_delta", "abc") == FASTER and Record("qwen3", "small").known("gated_delta", "abc") is None
