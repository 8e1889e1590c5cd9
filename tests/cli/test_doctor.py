"""`dflash-mlx doctor`: the checks of this machine and installation, and the comparison of blocks with plain decoding."""

import json
import math
import platform
import re
import shutil
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import mlx.core as mx
import pytest
import tokenizers
from fixture_data import CHECKPOINTS
from huggingface_hub import constants

import dflash_mlx
from dflash_mlx import Pair
from dflash_mlx.bench.roofline import bandwidth
from dflash_mlx.bench.roofline.synthetic import Geometry, write_pair
from dflash_mlx.cli import pair_report
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.errors import CheckpointError
from dflash_mlx.kernels import Kernels
from dflash_mlx.loading import memory
from dflash_mlx.loading.known_pairs import find as find_pair
from dflash_mlx.targets import row_invariance
from dflash_mlx.text import Tokenizer
from dflash_mlx.tuning.kernel_choice import Choice
from dflash_mlx.tuning.parity import Parity
from dflash_mlx.tuning.record import Entry, marks_of

from .conftest import load

GB = 10**9
MACHINE = ["dflash-mlx", "mlx", "mlx-lm", "Python", "system", "device", "Metal", "Metal harness", "memory", "memory bandwidth"]
MACHINE += ["exact verification", "Hub cache", "measurements"]
PAIR = ["kernels", "cost of a cycle, fast", "cost of a cycle, exact", "parity, fast", "parity, exact", "advice"]
NAMES = [*MACHINE, "demo pair", *PAIR]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A disk with so much room, behind a Hub cache that nothing was ever put into; of a pair little is compared."""
    machine = SimpleNamespace(cache=tmp_path / "not" / "there yet", free=100 * GB, asked=None)

    def disk_usage(place: Path) -> SimpleNamespace:
        machine.asked = place
        return SimpleNamespace(free=machine.free)

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(machine.cache))
    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    monkeypatch.setattr(bandwidth, "BYTES", 2**24)
    monkeypatch.setattr(pair_report, "PROMPTS", ("Matter is", "def fibonacci(n):", "Question:"))
    monkeypatch.setattr(pair_report, "TOKENS", 8)
    return machine


def lines(out: str) -> dict[str, str]:
    """The lines, mark and value, by the name of what was checked."""
    found = [re.fullmatch(r"(ok|!!) ([\w, -]+): (.+)", line) for line in out.splitlines()]
    assert all(found)
    return {line[2]: f"{line[1]} {line[3]}" for line in found if line}


def test_every_check_has_a_line_and_where_all_is_well_the_command_succeeds(run):
    code, out, _ = run("doctor")
    assert code == 0 and list(lines(out)) == NAMES
    assert run("doctor").err == "", "what passes cost is measured once"
    assert all(value.startswith("ok ") for value in lines(out).values())
    assert lines(out)["Metal"] in ("ok available", "ok only Macs have it; the CPU computes, by MLX's own ops")
    for package in ("dflash-mlx", "mlx", "mlx-lm"):
        assert lines(out)[package] == f"ok {version(package)}"


def test_json_is_one_object_a_line_with_the_same_content(run):
    code, out, _ = run("doctor", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and all(row.keys() == {"name", "value", "ok", "figures"} for row in rows)
    figures, told = {row["name"]: row["figures"] for row in rows}, {row["name"]: f"ok {row['value']}" for row in rows}
    again = lines(run("doctor").out)
    assert told.keys() == again.keys() and all(told[name] == again[name] for name in told if name != "memory bandwidth")
    assert figures["memory bandwidth"]["gb_per_second"] > 0 and figures["memory"]["total_bytes"] > GB
    assert figures["parity, exact"]["largest_difference"] == 0.0 and figures["cost of a cycle, fast"]["1"] > 0


def test_demo_pair_is_really_asked(run, demo):
    answer = demo.generate("What is the anchor?", max_tokens=16, block_size=4)
    told = lines(run("doctor").out)["demo pair"]
    assert repr(answer.text) in told and f"{answer.statistics.acceptance_length:.1f} tokens a pass" in told


@pytest.mark.parametrize("error", [CheckpointError("a tensor is cut off.", "Install again."), RuntimeError("no kernel")])
def test_a_demo_pair_that_fails_is_told_with_the_reason_and_fails_the_command(run, monkeypatch, error):
    def load(name: str, **_: object) -> None:
        raise error

    monkeypatch.setattr(dflash_mlx, "load", load)
    code, out, _ = run("doctor")
    assert code == 1 and [name for name, value in lines(out).items() if value.startswith("!!")] == ["demo pair"]
    assert str(error) in lines(out)["demo pair"]


def test_a_drafter_that_is_hardly_ever_right_fails_the_command(run, monkeypatch):
    answer = SimpleNamespace(text="The", statistics=SimpleNamespace(acceptance_length=1.1))  # no look at its kernels then
    monkeypatch.setattr(dflash_mlx, "load", lambda name, **_: SimpleNamespace(generate=lambda *_, **__: answer))
    code, out, _ = run("doctor")
    assert code == 1 and lines(out)["demo pair"].startswith("!! ") and "hardly ever right" in out


def test_disk_is_that_of_the_hub_cache_even_before_there_is_one(run, machine, tmp_path):
    told = lines(run("doctor").out)["Hub cache"]
    assert machine.asked == tmp_path and str(machine.cache) in told and "100.0 GB free" in told


def test_a_disk_too_full_for_any_known_pair_fails_the_command(run, machine):
    machine.free = 2 * GB
    code, out, _ = run("doctor")
    assert code == 1 and lines(out)["Hub cache"].startswith("!! ") and "the smallest known pair" in out


def test_hub_that_is_switched_off_is_told(run, monkeypatch):
    for offline in (True, False):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        assert ("switched off (HF_HUB_OFFLINE)" in run("doctor").out) == offline


def test_a_mac_without_metal_or_with_an_intel_python_fails_the_command(run, monkeypatch):
    monkeypatch.setattr(mx.metal, "is_available", lambda: False)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("26.6", ("", "", ""), ""))
    monkeypatch.setattr(row_invariance, "backend", lambda: "unknown")  # which asks for the system once, for good
    for machine, wrong in (("arm64", ["Metal"]), ("x86_64", ["system", "Metal"])):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        code, out, _ = run("doctor")
        assert code == 1 and [name for name, value in lines(out).items() if value.startswith("!!")] == wrong
        assert f"macOS 26.6, {machine}" in out and lines(out)["Metal"].startswith("!! not available")


def test_memory_names_what_a_model_may_take(run, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 36 * GB)
    assert "a model may take 36.0 GB" in lines(run("doctor").out)["memory"]


@pytest.mark.parametrize(
    ("backend", "told"),
    [("reference", "no slower than fast"), ("other", "in matmul, attention, gather"), ("metal", "no faster than plain")],
)
def test_cost_of_exact_verification_follows_the_table(run, monkeypatch, backend, told):
    monkeypatch.setattr(row_invariance, "backend", lambda: backend)
    assert told in lines(run("doctor").out)["exact verification"]


@pytest.fixture
def short(monkeypatch):
    """Compares 16 tokens a text."""
    monkeypatch.setattr(import_module("dflash_mlx.cli.doctor"), "TOKENS", 16)


def numbers(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()[1:]]


def test_parity_compares_three_block_sizes_on_the_demo_pair(run):
    code, out, err = run("doctor", "--parity")
    assert code == 0 and [row[:3] for row in numbers(out)] == [[how, size, "192"] for how in ("fast", "exact") for size in "248"]
    assert err.startswith("demo: 3 texts, 64 tokens each.")


def test_parity_of_a_target_that_sees_the_other_rows_is_told(run, monkeypatch, demo, short):
    forward = demo.target.forward

    def leaking(ids, *arguments, **settings):
        hidden, features = forward(ids, *arguments, **settings)
        return hidden + 0.7 * (hidden.mean(axis=1, keepdims=True) - hidden), features

    pair = SimpleNamespace(target=demo.target, tokenizer=demo.tokenizer)
    monkeypatch.setattr(dflash_mlx, "load", lambda name, **_: pair)
    monkeypatch.setattr(demo.target, "forward", leaking)
    for (_, _, _, differing, gap, logits), line in zip(numbers(run("doctor", "--parity").out), run_json(run)):
        assert int(differing) == line["differing"] > 0
        assert float(gap) == pytest.approx(line["largest_gap"], rel=0.1)
        assert float(logits) == pytest.approx(line["largest_difference"], rel=0.1)


def run_json(run) -> list[dict[str, float]]:
    return [json.loads(line) for line in run("doctor", "--parity", "--json").out.splitlines()]


def test_parity_json_is_one_object_a_block_size(run, short):
    code, out, err = run("doctor", "--parity", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "") and [row["block_size"] for row in rows] == [2, 4, 8, 2, 4, 8]
    assert all(row.keys() == {"verify", "block_size", "rows", "differing", "largest_gap", "largest_difference"} for row in rows)


def test_a_target_without_a_known_drafter_is_looked_at_alone(run, short):
    folder = str(CHECKPOINTS / "target_qwen3_5_4bit")
    code, _, err = run("doctor", "--parity", "--model", folder)
    assert code == 0 and err.startswith(f"{folder}: ")
    code, out, _ = run("doctor", "--model", folder)
    told = lines(out)
    costs = [f"cost of a cycle, {verify}" for verify in ("fast", "exact")]  # of copies too
    assert code == 0 and list(told) == [*MACHINE, "pair", "kernels", *costs, "parity, fast", "parity, exact", "advice"]
    assert "no drafter is known" in told["pair"] and "No drafter is known" in told["advice"]


def test_a_known_drafter_that_cannot_be_had_is_told_and_fails_the_command(run, monkeypatch, tmp_path):
    folder = tmp_path / "Qwen3.5-27B-4bit"  # a folder goes by its name
    shutil.copytree(CHECKPOINTS / "target_qwen3_5_4bit", folder)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    code, out, _ = run("doctor", "--model", str(folder))
    told = lines(out)
    assert code == 1 and list(told) == [*MACHINE, "pair"] and told["pair"].startswith(f"!! {folder}: ")
    assert find_pair(folder).drafter in told["pair"] and "Hub" in told["pair"]
    code, out, err = run("doctor", "--parity", "--model", str(folder))
    assert (code, out) == (2, "") and find_pair(folder).drafter in err


def test_texts_that_are_no_tokens_are_left_out(run, monkeypatch, short):
    encode = Tokenizer.encode
    monkeypatch.setattr(Tokenizer, "encode", lambda self, text, **how: [] if "def " in text else encode(self, text, **how))
    code, out, err = run("doctor", "--parity")
    assert code == 0 and [row[2] for row in numbers(out)] == ["32"] * 6 and err.startswith("demo: 2 texts")


def test_a_tokenizer_that_makes_no_tokens_of_any_text_is_told(run, tmp_path):
    folder = write_pair(tmp_path / "pair", Geometry(64, 4, 96, 2, 1, 32, 2, 32, 264, drafter_layers=1, positions=1024))
    tokenizers.Tokenizer(tokenizers.models.BPE()).save(str(folder / "tokenizer.json"))
    code, out, _ = run("doctor", "--model", str(folder))
    assert code == 1 and lines(out)["parity"] == f"!! {pair_report.NO_PROMPTS}" and "advice" in lines(out)
    code, out, err = run("doctor", "--parity", "--model", str(folder))
    assert (code, out) == (2, "") and "makes no tokens" in err


def test_what_is_no_number_is_null_in_json(run, monkeypatch):
    nothing = [Parity("exact", 4, 72, 0, math.nan, math.inf)]
    monkeypatch.setattr(pair_report, "compare", lambda *_: nothing)
    monkeypatch.setattr(import_module("dflash_mlx.cli.doctor"), "compare", lambda *_: nothing)

    def no_number(constant: str) -> None:
        raise AssertionError(constant)

    for arguments in (("doctor", "--json"), ("doctor", "--parity", "--json")):
        rows = [json.loads(line, parse_constant=no_number) for line in run(*arguments).out.splitlines()]
        figures = [row.get("figures", row) or {} for row in rows]
        assert [row["largest_difference"] for row in figures if "largest_difference" in row] == [None]


def test_a_pair_that_is_named_is_looked_at_instead_of_the_embedded_one(run):
    code, out, _ = run("doctor", "--model", "demo")
    assert code == 0 and list(lines(out)) == [*MACHINE, "pair", *PAIR]
    assert lines(out)["pair"] == "ok demo: qwen3_5, drafter with blocks of 8"


def test_a_drafter_can_be_named_or_left_out(run):
    told = lines(run("doctor", "--drafter", "none").out)
    assert told["pair"] == "ok demo: qwen3_5, no drafter" and told["advice"] == "ok Without a drafter, decoding is plain."
    folder, drafter = str(CHECKPOINTS / "target_qwen3_5"), str(CHECKPOINTS / "dflash2_swa")
    told = lines(run("doctor", "--model", folder, "--drafter", drafter).out)
    assert told["pair"] == f"ok {folder}: qwen3_5_text, drafter with blocks of 8" and "cost of a cycle, fast" in told
    for arguments in ((), ("--parity",)):
        code, _, err = run("doctor", "--drafter", "nowhere", *arguments)
        assert code == 2 and err.startswith("error: there is no folder nowhere.")


def test_advice_follows_what_was_measured(run, monkeypatch):
    def advice(fast: float, exact: float) -> str:
        costs = [Costs([(1, 0, 0.01), (8, 0, seconds)]) for seconds in (fast, exact)]
        monkeypatch.setattr(Pair, "calibrate", lambda pair, verify, progress: costs[verify == "exact"])
        return lines(run("doctor").out)["advice"]

    assert advice(0.011, 0.011).startswith("ok Speculation pays here. Exact verification costs no more than fast")
    assert "can still pay" in advice(0.011, 0.014)
    assert "use --verify fast" in advice(0.011, 0.08)
    assert advice(0.08, 0.08).startswith("ok Speculation hardly pays here (a cycle of ") and "xact" not in advice(0.08, 0.08)


def test_exact_verification_that_is_not_exact_fails_the_command(run, monkeypatch):
    def parity(*_):
        return [Parity("exact", 4, 72, 0, 0.0, 1e-6)]

    monkeypatch.setattr(pair_report, "compare", parity)
    code, out, _ = run("doctor")
    assert code == 1 and lines(out)["parity, exact"].startswith("!! ") and "please report this" in lines(out)["advice"]


def test_every_kernel_tells_whether_it_is_used_and_why_not(run, monkeypatch, demo):
    times = {"2": {"kernel": 1200.0, "mlx": 1500.0}}
    entries = {
        "gated_delta": Entry("a", "passed", exact=True, rows=(1, 2), microseconds=times, confirmed=True),
        "recurrent_inputs": Entry("a", "passed", rows=(1, 2), microseconds=times, confirmed=True),
        "verify_matmul": Entry("a", "failed", "does not run: RuntimeError: program_source:7:\n error: no 'simd_summ'"),
        "verify_matmul_fast": Entry("a", "slower", microseconds={"2": {"kernel": 1600.0, "mlx": 1500.0}}),
        "inject_kv": Entry("a", "slower", "whole cycles of 4 rows are slower: 9.00 ms, not 8.00 ms", microseconds=times),
        "candidates": Entry("a", "stalled", "it took its process down: see FILE"),
    }
    rows = {"gated_delta": frozenset({1, 2, 3, 6}), "recurrent_inputs": frozenset({2})}
    not_covered = {"verify_attention": ["3 heads of 64, 1 with keys, float32, 2 rows"]}
    choice = Choice(Kernels(rows, exact=frozenset({"gated_delta"})), entries, not_covered, Path("kernels.json"))
    monkeypatch.setattr(load("demo", kernels="auto"), "kernels", choice)
    code, out, _ = run("doctor")
    told = lines(out)
    assert code == 1 and [name for name, value in told.items() if value.startswith("!!")] == [
        "kernel verify_matmul",
        "kernel candidates",
    ]
    assert told["kernel gated_delta"] == "ok passed, used at 1-3, 6 rows (a pass: 2 rows 1.20 ms, MLX 1.50 ms)"
    assert told["kernel recurrent_inputs"].endswith("not in exact verification: other bits than MLX's op")
    assert "RuntimeError: program_source:7: error: no 'simd_summ'" in told["kernel verify_matmul"]
    assert told["kernel verify_matmul_fast"] == "ok passed, not used: slower than MLX's op (2 rows 1.60 ms, MLX 1.50 ms)"
    assert "whole cycles of 4 rows are slower" in told["kernel inject_kv"]
    assert (
        told["kernel verify_attention"]
        == f"ok does not apply to this pair's shapes; not covered: {not_covered['verify_attention'][0]}"
    )
    assert "stalled, MLX's own operation is used instead" in told["kernel candidates"] and "delete kernels.json" in told["advice"]
    assert str(marks_of("candidates", "a")) in told["advice"]


@pytest.mark.parametrize("wanted", ["gated_gamma", "gated_delta"])
@pytest.mark.parametrize("command", [("generate", "hello"), ("doctor",), ("doctor", "--parity")])
def test_kernels_that_cannot_be_had_are_wrong_usage(run, monkeypatch, command, wanted):
    code, out, err = run(*command, "--kernels", wanted)
    assert code == 2 and wanted in err and ("The kernels are " in err or "needs Metal" in err)


@pytest.mark.parametrize("columns", ["40", "80"])
def test_table_keeps_to_the_width_of_the_terminal(run, monkeypatch, columns, short):
    monkeypatch.setenv("COLUMNS", columns)
    out = run("doctor", "--parity").out
    assert max(map(len, out.splitlines())) <= int(columns) and "…" not in out


@pytest.mark.parametrize("name", ["no/such-model", "/no/such/folder", str(CHECKPOINTS / "dflash1_full")])
def test_a_bad_model_gives_the_same_sentences_as_elsewhere(run, name):
    elsewhere = run("generate", "hello", "--model", name, "--drafter", "none")
    assert run("doctor", "--parity", "--model", name) == (2, "", elsewhere.err)
    code, _, err = run("doctor", "--model", name)
    assert (code, err) == (2, elsewhere.err)
