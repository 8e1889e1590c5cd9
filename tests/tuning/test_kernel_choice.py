"""Which kernels a pair uses, and why not others: on a Metal that is played, with a clock of its own."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import mlx.core as mx
import pytest
from fake_metal import TICK, FakeMetal

import dflash_mlx.tuning.judge as judging
from dflash_mlx.bench.roofline.synthetic import Geometry, write_pair
from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash, load_drafter
from dflash_mlx.errors import RequestError
from dflash_mlx.kernels import NAMES, Kernels, metal_kernel, source_of, verify_attention
from dflash_mlx.targets import Target, load_target
from dflash_mlx.tuning import kernel_cases, kernel_choice, user_cache, whole_cycles
from dflash_mlx.tuning.calibration import TimedBlockSize
from dflash_mlx.tuning.kernel_choice import Choice, choose
from dflash_mlx.tuning.record import Record, marks_of
from dflash_mlx.tuning.whole_cycles import Against, use_kernels

# sizes that every kernel covers
GEOMETRY = Geometry(512, 4, 512, 4, 1, 128, 8, 32, 264, drafter_layers=2, taps=3, positions=1024)
COMPARE_CYCLES, COMPARE_PASSES = kernel_choice.compare_cycles, kernel_choice.compare_passes
WIDE = {2, 3, 4, 5, 6, 7, 8}
DRAFTS = {1, 2, 3, 4, 5, 6, 7}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Target, DFlash]:
    folder = write_pair(tmp_path_factory.mktemp("pair"), GEOMETRY, bits=4)
    return load_target(folder), load_drafter(folder / "drafter")


@pytest.fixture(autouse=True)
def metal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeMetal]:
    """Less is measured than on a device, and whole cycles speak against nothing."""
    fake = FakeMetal()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(mx.fast, "metal_kernel", fake.metal_kernel)
    monkeypatch.setattr(time, "perf_counter", fake.perf_counter)
    monkeypatch.setattr(mx, "eval", lambda *_: None)  # what is only timed need not be computed, by this clock
    monkeypatch.setattr(kernel_choice, "has_metal", lambda: True)
    monkeypatch.setattr(judging, "CALLS", 3)
    monkeypatch.setattr(judging, "ROUNDS", 1)
    monkeypatch.setattr(verify_attention, "FROM", 512)
    monkeypatch.setattr(kernel_cases, "ROWS", (1, 2))  # and the widest, 8
    monkeypatch.setattr(kernel_choice, "compare_cycles", lambda *_, **__: None)
    monkeypatch.setattr(kernel_choice, "compare_passes", lambda *_: None)
    metal_kernel.cache_clear()
    mx.disable_compile()
    yield fake
    mx.enable_compile()
    metal_kernel.cache_clear()


@pytest.fixture
def cycles(monkeypatch: pytest.MonkeyPatch, metal: FakeMetal) -> None:
    """They are run, a few of them."""

    def cycling(compare: Callable[..., Against | None], *given: object, **more: object) -> Against | None:
        metal.cycling = True
        against = compare(*given, **more)
        metal.cycling = False
        return against

    monkeypatch.setattr(kernel_choice, "compare_cycles", partial(cycling, COMPARE_CYCLES))
    monkeypatch.setattr(kernel_choice, "compare_passes", partial(cycling, COMPARE_PASSES))
    monkeypatch.setattr(whole_cycles, "PROMPT_TOKENS", 8)
    monkeypatch.setattr(whole_cycles, "CYCLES", 2)
    monkeypatch.setattr(whole_cycles, "ROUNDS", 1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Looks at these kernels only."""

    def only(*names: str) -> None:
        monkeypatch.setattr(kernel_choice, "NAMES", names)
        cases = kernel_choice.cases_of
        monkeypatch.setattr(kernel_choice, "cases_of", lambda *pair: (found for found in cases(*pair) if found[0] in names))

    return only


def raising(error: BaseException):  # type: ignore[no-untyped-def]
    def fault(_: list[mx.array]) -> list[mx.array]:
        raise error

    return fault


def wrong(outputs: list[mx.array]) -> list[mx.array]:
    return [outputs[0] + 1, *outputs[1:]]


def used(choice: Choice) -> set[str]:
    return {name for name, rows in choice.kernels.rows.items() if rows}


def content(choice: Choice) -> dict:  # type: ignore[type-arg]
    assert choice.file
    return json.loads(choice.file.read_text())  # type: ignore[no-any-return]


@pytest.mark.usefixtures("cycles")
def test_kernels_that_are_right_and_faster_are_used(pair: tuple[Target, DFlash]) -> None:
    choice = choose(*pair)
    assert used(choice) == set(NAMES) and choice.reason is None and not choice.news
    for name, rows in choice.kernels.rows.items():
        assert rows == (DRAFTS if name == "candidates" else WIDE if name.startswith("verify") else WIDE | {1})
    assert choice.kernels.row_invariant == {"norm", "rope", "elementwise", "convolution"}
    assert pair[0].kernels.rows == pair[1].kernels.rows == {}, "who asks applies the choice"


def test_the_second_time_nothing_runs(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    steps: list[tuple[int, int]] = []
    first = choose(*pair, progress=lambda *step: steps.append(step))
    assert steps == [(i, 8) for i in range(8)] and metal.ran
    metal.ran, steps[:] = [], []
    second = choose(*pair, progress=lambda *step: steps.append(step))
    assert (metal.ran, steps) == ([], [])
    assert second.kernels == first.kernels and second.entries == first.entries


def test_mlx_and_a_machine_without_metal_run_no_kernel(
    pair: tuple[Target, DFlash], metal: FakeMetal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose(*pair, "mlx") == Choice()
    monkeypatch.setattr(kernel_choice, "has_metal", lambda: False)
    assert choose(*pair) == Choice() and not metal.ran
    with pytest.raises(RequestError, match=r"gated_delta needs Metal.*none here"):
        choose(*pair, ["gated_delta"])


@pytest.mark.parametrize("wanted", [["gated_delta", "gated_gamma"], "gated_gamma", [], 7])
def test_an_unknown_name_is_told_with_the_known_ones(pair: tuple[Target, DFlash], wanted: object) -> None:
    with pytest.raises(RequestError, match=", ".join(NAMES)):
        choose(*pair, wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["verify_matmul", "gated_delta", "candidates_walk", "inject_kv", "recurrent_inputs"])
def test_wrong_numbers_are_never_used(pair: tuple[Target, DFlash], metal: FakeMetal, name: str) -> None:
    metal.faults[name] = wrong
    choice, name = choose(*pair), name.removesuffix("_walk")
    assert used(choice) == set(NAMES) - {name}
    assert choice.entries[name].result == "failed" and "wrong numbers" in choice.news[name]
    assert choice.reason is not None and f"{name} failed" in choice.reason
    assert not choose(*pair).news, "told once"
    assert used(choose(*pair, [name])) == set()


def test_other_bits_than_one_row_has_alone_are_wrong_where_the_same_are_promised(
    pair: tuple[Target, DFlash], metal: FakeMetal
) -> None:
    def nearly(outputs: list[mx.array]) -> list[mx.array]:
        return [outputs[0] * (1 + 1e-6), *outputs[1:]]

    metal.faults |= {"verify_matmul": nearly, "verify_matmul_fast": nearly}
    choice = choose(*pair)
    assert used(choice) == set(NAMES) - {"verify_matmul"} and "not the bits" in choice.news["verify_matmul"]


def test_other_bits_than_mlx_gives_keep_a_kernel_out_of_plain_decoding_and_exact_verification(
    pair: tuple[Target, DFlash], metal: FakeMetal
) -> None:
    metal.faults["gated_delta"] = lambda outputs: [outputs[0] * (1 + 1e-6), *outputs[1:]]
    choice = choose(*pair)
    assert choice.kernels.rows["gated_delta"] == WIDE and choice.kernels.rows["recurrent_inputs"] == WIDE | {1}
    assert choice.kernels.use("gated_delta", 2) and not choice.kernels.use("gated_delta", 2, exact=True)
    assert choice.kernels.use("recurrent_inputs", 2, exact=True)


def test_not_a_number_is_wrong(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    metal.faults["verify_attention_combine"] = lambda outputs: [outputs[0] * mx.nan]
    assert "verify_attention" not in used(choose(*pair))


def test_what_a_compiler_says_is_told(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    metal.faults["inject_kv"] = raising(RuntimeError("Unable to build metal library: program_source:7: error: no 'simd_summ'"))
    choice = choose(*pair)
    assert used(choice) == set(NAMES) - {"inject_kv"}
    assert "no 'simd_summ'" in choice.news["inject_kv"] and "no 'simd_summ'" in content(choice)["kernels"]["inject_kv"]["error"]


def test_a_kernel_that_is_slower_is_used_only_by_name(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    metal.seconds["gated_delta"] = TICK / 100
    choice = choose(*pair)
    assert used(choice) == set(NAMES) - {"gated_delta"} and choice.reason is None
    figures = choice.entries["gated_delta"].microseconds
    assert figures.keys() == {"1", "2", "8"} and all(row["kernel"] > row["mlx"] > 0 for row in figures.values())
    named = choose(*pair, ["gated_delta", "candidates"])
    assert named.kernels.rows == {"gated_delta": WIDE | {1}, "candidates": DRAFTS}


def test_named_kernels_are_checked_and_not_timed(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    choice = choose(*pair, ["verify_attention"])
    assert choice.kernels.rows == {"verify_attention": WIDE} and set(metal.ran) == {
        "verify_attention",
        "verify_attention_combine",
    }
    assert choice.entries["verify_attention"].microseconds == {}
    assert used(choose(*pair)) == set(NAMES), "timed once speed is asked for"


def test_a_kernel_is_used_at_the_rows_where_it_is_faster_and_those_nearest(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    class ByRows(dict):  # type: ignore[type-arg]
        def get(self, name: str, default: float) -> float:
            return TICK / 100 if name == "gated_delta" and metal.rows < 4 else default

    metal.seconds = ByRows()
    assert choose(*pair).kernels.rows["gated_delta"] == WIDE - {2, 3, 4, 5}


@pytest.mark.usefixtures("cycles")
@pytest.mark.parametrize(("name", "told"), [("inject_kv", "whole cycles"), ("verify_attention", "behind 512 positions")])
def test_slower_whole_cycles_drop_a_kernel_that_was_faster_alone(
    pair: tuple[Target, DFlash], metal: FakeMetal, few: Callable[..., None], name: str, told: str
) -> None:
    few("recurrent_inputs", name)
    metal.in_cycles[name] = TICK
    choice = choose(*pair)
    assert used(choice) == {"recurrent_inputs"}
    entry = choice.entries[name]
    assert entry.result == "slower" and told in (entry.error or "") and entry.microseconds
    metal.ran = []
    assert used(choose(*pair)) == used(choice) and not metal.ran


@pytest.mark.usefixtures("cycles")
@pytest.mark.parametrize(("name", "of"), [("gated_delta", "gated_delta"), ("verify_attention", "verify_attention_combine")])
def test_other_tokens_in_whole_cycles_drop_a_kernel(
    pair: tuple[Target, DFlash], metal: FakeMetal, few: Callable[..., None], name: str, of: str
) -> None:
    few("recurrent_inputs", name)
    metal.faults[of] = lambda outputs: [-outputs[0], *outputs[1:]] if metal.cycling else outputs
    choice = choose(*pair)
    assert used(choice) == {"recurrent_inputs"}
    assert choice.entries[name].result == "failed" and "other tokens" in choice.news[name]


def test_every_form_of_a_kernel_that_answers_use_was_compared(
    pair: tuple[Target, DFlash], metal: FakeMetal, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = choose(*pair)
    compared, metal.forms = metal.forms, set()
    monkeypatch.setattr(verify_attention, "FROM", 256)  # of answers as short as these
    use_kernels(*pair, choice.kernels)
    target, drafter = pair
    for width in (1, 2, 5, 8):
        for temperature in (0.0, 0.8):
            sampler = Sampler(Sampling(temperature=temperature, seed=1), target.config.vocab_size)
            sequence = TokenSequence(target, drafter)
            anchor = prefill(sequence, list(range(2 * width)), sampler)
            list(islice(run(sequence, anchor, sampler, TimedBlockSize(width), 20, lambda tokens: 1), 3))
    use_kernels(*pair, Kernels())
    assert {name for name, _ in metal.forms} > {"inject_kv", "candidates_walk", "verify_attention"} and metal.forms <= compared


@pytest.mark.parametrize(
    ("rows", "widths"),
    [
        ({"gated_delta": {2, 3}}, [2]),
        ({"gated_delta": {1, 2, 3, 4, 8}, "recurrent_inputs": {6}}, [1, 4, 6, 8]),
        ({"candidates": {2}}, [3]),
        ({"candidates": {3, 7}, "verify_matmul_fast": {5, 6}}, [4, 5, 8]),
    ],
)
def test_whole_cycles_are_those_in_which_a_new_kernel_is_used(
    pair: tuple[Target, DFlash], monkeypatch: pytest.MonkeyPatch, rows: dict[str, set[int]], widths: list[int]
) -> None:
    ran: list[int] = []
    monkeypatch.setattr(whole_cycles, "_cycles", lambda target, drafter, width, exact: (ran.append(width) or [1], [1.0]))
    monkeypatch.setattr(whole_cycles, "ROUNDS", 1)
    before = Kernels({"inject_kv": frozenset(WIDE)})
    new = Kernels(before.rows | {name: frozenset(numbers) for name, numbers in rows.items()})
    assert COMPARE_CYCLES(*pair, before, new) is None  # type: ignore[arg-type]
    assert ran[::2] == widths


def test_a_kernel_that_is_faster_only_where_it_may_not_be_used_is_not_confirmed(
    pair: tuple[Target, DFlash], metal: FakeMetal
) -> None:
    class ByRows(dict):  # type: ignore[type-arg]
        def get(self, name: str, default: float) -> float:
            return TICK / 100 if name == "gated_delta" and metal.rows > 1 else default

    metal.seconds = ByRows()
    metal.faults["gated_delta"] = lambda outputs: [outputs[0] * (1 + 1e-6), *outputs[1:]]  # plain decoding keeps MLX's bits
    choice = choose(*pair)
    assert used(choice) == set(NAMES) - {"gated_delta"} and not choice.entries["gated_delta"].confirmed


def test_tokens_that_part_at_a_near_tie_are_no_difference(pair: tuple[Target, DFlash]) -> None:
    text, other = [3, 4, 5], [3, 9, 5]
    for same in (text, text[:2], [*text, 6]):  # cycles may accept more drafts or fewer
        assert whole_cycles._difference(pair[0], same, text, 0.0) is None  # type: ignore[arg-type]
    told = whole_cycles._difference(pair[0], other, text, 1e-6)  # type: ignore[arg-type]
    assert told is not None and told.startswith("token 1 is 9 and not 4")
    assert whole_cycles._difference(pair[0], other, text, 3.0) is None  # type: ignore[arg-type]


@pytest.mark.usefixtures("cycles")
def test_exact_verification_is_tried_in_whole_cycles_too(
    pair: tuple[Target, DFlash], few: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    few("gated_delta", "verify_matmul")
    ran: list[bool] = []
    cycles = whole_cycles._cycles
    monkeypatch.setattr(whole_cycles, "_cycles", lambda *given: (ran.append(given[-1]), cycles(*given))[1])
    monkeypatch.setattr(whole_cycles, "_difference", lambda target, ours, theirs, near_tie: None if near_tie else "token 7")
    choice = choose(*pair)
    assert ran == [False] * 6 + [True] * 2, "1, 4 and 8 rows; 4 rows; each with kernels and without"
    assert used(choice) == {"gated_delta"} and "token 7" in choice.news["verify_matmul"]


class Killed(BaseException):
    """The end of a process, as far as it can be played inside one."""


def died(name: str, source: str, times: int = 2) -> None:
    """Processes ended while they tried a kernel."""
    for number in range(times):
        marks_of(name, source).mkdir(parents=True, exist_ok=True)
        (marks_of(name, source) / f"{number}.json").touch()


def test_a_kernel_with_which_processes_ended_is_left_alone_until_its_source_changes(
    pair: tuple[Target, DFlash], metal: FakeMetal, monkeypatch: pytest.MonkeyPatch
) -> None:
    died("gated_delta", source_of("gated_delta"))
    choice = choose(*pair)
    assert used(choice) == set(NAMES) - {"gated_delta"} and "gated_delta" not in metal.ran
    assert choice.entries["gated_delta"].result == "stalled" and "gated_delta stalled" in (choice.reason or "")
    assert used(choose(*pair, ["gated_delta"])) == set(), "not even by name"
    other = choose(pair[0], None)
    assert other.file != choice.file and other.entries["gated_delta"].result == "stalled", "nor with another model"
    monkeypatch.setattr(kernel_choice, "source_of", lambda name: "new")
    monkeypatch.setattr(judging, "source_of", lambda name: "new")
    assert used(choose(*pair)) == set(NAMES)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Killed()])
def test_an_interrupted_check_leaves_no_mark(pair: tuple[Target, DFlash], metal: FakeMetal, error: BaseException) -> None:
    metal.faults["gated_delta"] = raising(error)
    with pytest.raises(type(error)):
        choose(*pair)
    metal.faults = {}
    assert used(choose(*pair)) == set(NAMES)


def test_together_in_one_process_that_died_means_one_by_one(
    pair: tuple[Target, DFlash], metal: FakeMetal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_choice, "source_of", lambda name: "s")
    monkeypatch.setattr(judging, "source_of", lambda name: "s")
    together = hashlib.sha256(b"s" * (len(NAMES) - 2)).hexdigest()[:16]  # all but exact verification's and attention's
    died("together", together)
    tried: list[str] = []
    attempt = Record.attempt
    monkeypatch.setattr(Record, "attempt", lambda record, name, source: (tried.append(name), attempt(record, name, source))[1])
    assert used(choose(*pair)) == set(NAMES)
    assert sorted(tried[len(NAMES) :]) == sorted(NAMES)


def test_a_damaged_entry_is_measured_anew(pair: tuple[Target, DFlash], metal: FakeMetal) -> None:
    choice = choose(*pair)
    assert choice.file
    whole = content(choice)
    whole["kernels"]["gated_delta"]["microseconds"]["8"] = {"kernel": "fast"}
    choice.file.write_text(json.dumps(whole))
    metal.ran = []
    assert used(choose(*pair)) == set(NAMES) and set(metal.ran) == {"gated_delta"}
    assert content(choice)["kernels"].keys() >= set(NAMES)


def test_a_cache_that_cannot_be_written_is_no_hindrance(
    pair: tuple[Target, DFlash], metal: FakeMetal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    for _ in range(2):
        metal.ran = []
        assert used(choose(*pair)) == set(NAMES) and metal.ran
    assert os.listdir(tmp_path) == ["a file"]


def test_the_file_can_be_read_by_people(pair: tuple[Target, DFlash]) -> None:
    choice = choose(*pair)
    known = content(choice)
    assert choice.file and choice.file.parent == user_cache.folder("kernels") and choice.file.name.startswith("qwen3_5")
    assert known.keys() == {"chip", "system", "mlx", "dflash-mlx", "model", "row_invariant", "kernels"}
    entry = known["kernels"]["gated_delta"]
    assert entry["result"] == "passed" and entry["confirmed"] and entry["rows"] == [1, 2, 8]
    assert entry["microseconds"]["8"].keys() == {"kernel", "mlx"}


def test_shapes_that_are_not_covered_are_named(tmp_path: Path, metal: FakeMetal) -> None:
    small = Geometry(96, 4, 128, 2, 1, 64, 2, 32, 264, drafter_layers=2, taps=3, positions=1024)
    folder = write_pair(tmp_path / "pair", small, bits=4)
    choice = choose(load_target(folder), load_drafter(folder / "drafter"))
    assert "verify_attention" not in choice.entries and "2 heads of 64" in choice.not_covered["verify_attention"][0]
    assert "verify_attention" not in metal.ran
