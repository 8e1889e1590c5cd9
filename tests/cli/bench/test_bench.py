"""`dflash-mlx bench`, on the demo pair."""

import json
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from command import ENDLESS, Result

import dflash_mlx
from dflash_mlx.bench.run import conditions
from dflash_mlx.bench.run.measure import Answer, Run, Way
from dflash_mlx.cli.bench import output as bench_output
from dflash_mlx.cli.bench.output import Lines

Command = Callable[..., Result]
DOCS = (Path(__file__).parents[3] / "docs" / "bench.md").read_text(encoding="utf-8")
QUESTIONS = ["What is the anchor?", "What is 17 + 25?", "What is a drafter?"]


@pytest.fixture(autouse=True)
def nothing_else_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "_load", lambda: [])


@pytest.fixture
def prompts(tmp_path: Path) -> str:
    """A file of two categories, short enough to be quick."""
    file = tmp_path / "mine.jsonl"
    lines = [{"prompt": question, "category": "sums" if "+" in question else "words"} for question in QUESTIONS]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.fixture
def bench(run: Command, prompts: str) -> Command:
    """The command with blocks of 4 and short answers, if the test does not say otherwise."""

    def bench(*arguments: str) -> Result:
        defaults = {"--model": "demo", "--prompts": prompts, "--block-sizes": "4", "--max-tokens": "5"}
        given = [word for name, value in defaults.items() if name not in arguments for word in (name, value)]
        return run("bench", *given, *arguments)

    return bench


def records(out: str) -> dict[str, list[dict[str, Any]]]:
    """The lines of JSON, by their type."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in out.splitlines():
        record = json.loads(line)
        found.setdefault(record["type"], []).append(record)
    return found


def test_people_get_tables_in_80_columns_and_what_their_columns_mean(bench: Command) -> None:
    code, out, err = bench("--block-sizes", "2,4")
    lines = out.splitlines()
    assert code == 0 and max(map(len, lines)) <= 80
    for category in ("words", "sums", "all"):
        assert sum(line.startswith(f"{category} ") for line in lines) == 3 * 2
    assert [line.split()[-1] for line in lines[1:7]] == ["2/2", "2/2", "1/1", "1/1", "3/3", "3/3"]
    assert "ratio: times plain's speed" in err


def test_programs_get_a_header_the_runs_summaries_and_an_end(bench: Command) -> None:
    result = bench("--json", "--limit", "1", "--rounds", "2", "--temperatures", "0,0.7", "--context", "60")
    found = records(result.out)
    assert (result.code, result.err) == (0, "")
    [header], [end] = found["bench"], found["end"]
    assert header["planned"] == end["planned"] == end["answers"] == len(found["run"]) == 2 * 2 * 2 * 2
    assert end["complete"] and header["settings"]["contexts"] == [60]
    assert len(found["summary"]) == 3 * 2
    greedy = [run for run in found["run"] if run["temperature"] == 0]
    assert all(run["same_as_plain"] for run in greedy if run["block_size"] == 4)
    assert {len(run["token_ids"]) for run in found["run"]} == {5}
    assert all(55 < run["prompt_tokens"] <= 60 for run in found["run"])


def test_answers_are_those_of_generate(bench: Command, demo: dflash_mlx.Pair) -> None:
    found = records(bench("--json").out)
    for run in found["run"]:
        question = ([QUESTIONS[1]] if run["category"] == "sums" else [QUESTIONS[0], QUESTIONS[2]])[run["prompt"]]
        assert run["token_ids"] == list(demo.generate(question, max_tokens=5, block_size=1).token_ids)


def test_every_field_is_documented_and_every_documented_field_is_there(bench: Command, run: Command) -> None:
    out = bench("--json").out + run("bench", "profile", "--model", "demo", "--context", "40", "--json").out
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^#|\Z)", DOCS, re.MULTILINE | re.DOTALL)
    cells = {kind: re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for kind, text in sections}
    documented = {kind: sorted(name for cell in found for name in re.findall(r"`(\w+)`", cell)) for kind, found in cells.items()}
    assert documented == {kind: sorted(found[0]) for kind, found in records(out).items()}
    [header] = records(out)["bench"]
    for name in [*header["versions"], *header["machine"], *header["settings"]]:
        assert f"`{name}`" in DOCS


def test_markdown_is_ready_for_an_issue(bench: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["somewhere/dflash-mlx", "bench", "--prompts", "my file.jsonl"])
    code, out, err = bench("--markdown")
    assert (code, err) == (0, "")
    assert out.startswith("### `dflash-mlx bench --prompts 'my file.jsonl'`\n")
    assert f"mlx-lm {version('mlx-lm')}" in out and "| words | 4 |" in out


def test_the_automatic_block_size_is_one_of_the_ways(bench: Command) -> None:
    found = records(bench("--block-sizes", "auto,1", "--json").out)
    assert {run["block_size"] for run in found["run"]} == {"auto", 1}
    assert {(s["block_size"], s["ratio"]["median"]) for s in found["summary"] if s["block_size"] == 1} == {(1, 1.0)}


def test_the_saved_file_has_the_lines_of_json(bench: Command, tmp_path: Path) -> None:
    file = tmp_path / "result.jsonl"
    result = bench("--json", "--save", str(file))
    assert result.code == 0 and file.read_text() == result.out


def test_a_file_that_is_there_is_not_overwritten(bench: Command, tmp_path: Path) -> None:
    file = tmp_path / "result.jsonl"
    file.write_text("an hour's work")
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    for there in (file, link):
        code, out, err = bench("--save", str(there))
        assert (code, out) == (2, "") and "already exists" in err
    assert file.read_text() == "an hour's work"


def test_the_plot_is_drawn(bench: Command, demo: dflash_mlx.Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dflash_mlx.bench.roofline import bandwidth

    pytest.importorskip("matplotlib")
    monkeypatch.setattr(bandwidth, "BYTES", 2**24)
    monkeypatch.setitem(vars(demo), "context_capacity", 80)  # for the answers, not for a cycle's measurement behind the prompts
    assert bench("--plot", str(tmp_path / "plot.svg"), "--drafter", "auto").code == 0
    drawn = (tmp_path / "plot.svg").read_text()
    assert drawn.startswith("<?xml") and len(drawn) > 10_000


def test_prompts_that_are_too_long_are_left_out_and_counted(bench: Command, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in ("word " * 5000, "What is the anchor?")))
    result = bench("--prompts", str(file), "--json")
    assert "do not fit with 5 tokens of answer: 1" in result.err
    assert {run["prompt"] for run in records(result.out)["run"]} == {1}


def test_a_context_that_memory_has_no_room_for_is_named_with_one_that_fits(
    bench: Command, demo: dflash_mlx.Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(demo), "context_capacity", 1000)
    code, out, err = bench("--context", "100,2k", "--drafter", "auto")
    assert (code, out) == (2, "")
    assert "a context of 2048 tokens with an answer of 5 does not fit" in err and "has room for 1000" in err
    assert "Use at most --context 995." in err and "--force" in err


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--context", "4k"), "a context of 4096 tokens with an answer of 5 is more than the 4096"),
        (("--context", "1.5k"), "--context 1.5k is not a list of numbers of tokens"),
        (("--block-sizes", "2,9"), "--block-size 9 is more than the 8 this drafter was trained for"),
        (("--block-sizes", "2,,4"), "--block-sizes 2,,4 is not a list of sizes"),
        (("--temperatures", "-1"), "--temperatures -1 is not a list of numbers from 0 to a million"),
        (("--temperatures", "nan"), "--temperatures nan is not a list of numbers from 0 to a million"),
        (("--limit", "0"), "--limit 0 is not a number from 1 up"),
        (("--rounds", "x"), "--rounds x is not a number from 1 up"),
        (("--temperatures", "0,1e300"), "--temperatures 0,1e300 is not a list of numbers from 0 to a million"),
        (("--cool-down", "-1"), "--cool-down -1 is not a number from 0 to a million"),
        (("--cool-down", "1e300"), "--cool-down 1e300 is not a number from 0 to a million"),
        (("--drafter", "none"), "--drafter none leaves nothing to compare"),
        (("--json", "--markdown"), "--json and --markdown exclude each other"),
        (("--plot", "plot.pdf"), "is neither PNG nor SVG"),
        (("--plot", "plot.svg", "--save", "./plot.svg"), "--plot and --save both name plot.svg"),
        (("--save", "nowhere/result.jsonl"), "nowhere/result.jsonl cannot be created"),
        (("--prompts", "poems"), "there are no prompts called 'poems'"),
        (("--max-tokens", "5000"), "no prompt with 5000 tokens of answer fits"),
        (("profile",), "--model has no effect before profile"),
    ],
)
def test_what_cannot_be_measured_is_said_before_anything_is(bench: Command, arguments: tuple[str, ...], why: str) -> None:
    code, out, err = bench(*arguments)
    assert (code, out) == (2, "") and why in err


def test_what_speaks_against_measuring_is_said_and_noted(bench: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "warnings_now", lambda idle=True: ["busy."] if idle else ["hot."])
    result = bench("--json")
    assert result.err == "warning: busy.\n"
    assert records(result.out)["end"][0]["warnings"] == ["busy.", "hot."]


def run_of(size: int, round: int = 0, tokens: tuple[int, ...] = (1, 2)) -> Run:
    answer = Answer(tokens, 1, 1.0, (), (), 0.1, 50.0, 100, None, None)
    return Run("chat", Way(size, 0.0, None), 0, round, 5, answer)


def test_a_run_waits_for_plain_decoding_of_the_same_and_no_longer(tmp_path: Path) -> None:
    file = tmp_path / "result.jsonl"
    lines = Lines(False, file)
    written = []
    for run in [run_of(1), run_of(4), run_of(4, 1), run_of(1, 1, (1, 3)), run_of(2, 1, (1, 3)), run_of(4, 2)]:
        lines.run(run)
        written.append(len(file.read_text().splitlines()))
    assert written == [1, 2, 2, 4, 5, 5]
    lines.rest()  # as an interruption does
    same = [json.loads(line)["same_as_plain"] for line in file.read_text().splitlines()]
    assert same == [None, True, False, None, True, None]


def test_what_is_interrupted_while_it_is_written_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, shown = tmp_path / "result.jsonl", list[str]()

    def write(line: str) -> None:
        shown.append(line)
        if len(shown) == 2:  # its reader was slow
            raise KeyboardInterrupt

    monkeypatch.setattr(bench_output, "write", write)
    lines = Lines(True, file)
    lines.run(run_of(4))
    lines.run(run_of(2))
    with pytest.raises(KeyboardInterrupt):
        lines.run(run_of(1))
    lines.rest()
    assert [json.loads(line)["block_size"] for line in shown] == [4, 2, 1]
    assert file.read_text() == "".join(shown)


def test_a_full_disk_ends_the_file_behind_a_whole_line_and_not_the_measurement(bench: Command, tmp_path: Path) -> None:
    file, limit = tmp_path / "result.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limit[1]))
    try:
        code, out, err = bench("--save", str(file))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert code == 1 and "cannot be written" in err and out.startswith("category")
    assert file.read_text().endswith("\n") and all(json.loads(line) for line in file.read_text().splitlines())


def test_ctrl_c_keeps_what_was_measured_and_marks_it(prompts: str, tmp_path: Path) -> None:
    file = tmp_path / "result.jsonl"
    arguments = ["--model", "demo", "--prompts", prompts, "--block-sizes", "4", "--rounds", "1000", "--save", str(file)]
    command = [sys.executable, "-c", ENDLESS, "bench", *arguments, "--markdown", "--max-tokens", "8"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (file.exists() and file.read_bytes().count(b"\n") > 3):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out = process.communicate()[0].decode()
    assert process.returncode == 130 and "**interrupted: " in out
    found = records(file.read_text())
    assert found["end"][0]["complete"] is False
    assert found["end"][0]["answers"] == len(found["run"]) < found["bench"][0]["planned"]
    assert found["summary"]
