"""`dflash-mlx convert`: what it prints and how it ends; what it makes is tested with the library."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fixture_data import CHECKPOINTS, DEMO

from dflash_mlx.convert import check
from dflash_mlx.convert.recipes import MODES, RECIPES

TARGET, DRAFTER = str(CHECKPOINTS / "target_qwen3_5"), str(CHECKPOINTS / "dflash2_swa")

MODULES_OF_HELP = """
import sys
from dflash_mlx.cli import main
try:
    main(["convert", "target", "--help"])
except SystemExit:
    print(sorted({"mlx", "transformers", "mlx_lm", "torch"} & sys.modules.keys()))
"""


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Less text than for models that people use."""
    monkeypatch.setattr(check, "TOKENS", 24)
    monkeypatch.setattr(check, "ANSWER", 6)
    monkeypatch.setattr(check, "PROMPTS", check.PROMPTS[:1])


def test_help_names_recipes_and_modes_and_does_not_wait_for_mlx():
    shown = subprocess.run([sys.executable, "-c", MODULES_OF_HELP], capture_output=True, text=True, check=True).stdout
    assert all(name in shown for name in (*RECIPES, *MODES))
    assert shown.splitlines()[-1] == "[]"


def test_the_plan_is_printed_and_nothing_written(run, tmp_path):
    code, out, err = run("convert", "target", TARGET, "-o", str(tmp_path / "result"), "--recipe", "quality", "--dry-run")
    assert (code, err) == (0, "")
    assert "mlp.down_proj" in out and "6 bits" in out and "float32" in out and "all" in out
    assert list(tmp_path.iterdir()) == []


def test_a_target_is_converted_and_held_against_its_source(run, tmp_path):
    code, out, err = run("convert", "target", TARGET, "-o", str(tmp_path / "result"), "--bits", "8")
    assert "top-1 agreement (good: from 99%)" in out and "mean KL divergence, nats (good: up to 0.001)" in out
    assert re.match(r"target_qwen3_5, 8bit: \d\.\d\d bits per weight\n", out)
    assert code == 0 and re.search(r"is complete: 0\.[1-9]\d MB\.\n$", err)
    assert "The check is missed: " in err and "use smaller groups or the recipe float." in err  # small models lose more
    assert (tmp_path / "result" / "README.md").is_file()


def test_a_pair_is_converted_as_json_lines(run, tmp_path):
    options = ("--drafter", DRAFTER, "--mode", "mxfp8", "--no-check", "--json")
    code, out, _ = run("convert", "pair", TARGET, "-o", str(tmp_path / "pair"), *options)
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [Path(line["folder"]).name for line in lines] == ["target", "drafter"]
    assert all(line["recipe"] == "mxfp8" and line["bytes"] == sum(row["bytes"] for row in line["tensors"]) for line in lines)
    assert all(8 < line["bits_per_weight"] < 16 for line in lines)


def test_a_drafter_is_measured_with_its_target(run, tmp_path):
    code, out, _ = run("convert", "drafter", DRAFTER, "-o", str(tmp_path / "result"), "--target", TARGET)
    assert code == 0 and "acceptance length after" in out


MADE = ("target", "drafter", "pair/target", "pair/drafter")


@pytest.mark.parametrize("name", ["demo", str(DEMO)])
def test_a_pairs_name_serves_every_command(run, tmp_path, name):
    for command, *options in (("target",), ("drafter", "--target", name), ("pair", "--drafter", name)):
        assert run("convert", command, name, "-o", str(tmp_path / command), "--no-check", *options).code == 0
    made = [json.loads((tmp_path / folder / "config.json").read_text()) for folder in MADE]
    assert [config["architectures"] for config in made] == 2 * [["Qwen3_5ForCausalLM"], ["DFlash2DraftModel"]]


def test_a_pair_without_a_drafter_is_not_a_pair(run, tmp_path):
    code, out, err = run("convert", "pair", "demo", "-o", str(tmp_path / "pair"), "--drafter", "none")
    assert (code, out) == (2, "") and "--drafter none leaves no pair to convert" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((TARGET, "--bits", "7"), 2, "no bits 7"),
        ((TARGET, "--max-kl", "0.1", "--no-check"), 2, "needs the comparison"),
        ((TARGET, "--bits", "2", "--max-kl", "1e-9"), 1, "is not kept"),
        ((DRAFTER,), 2, "drafter"),
        (("no/such-model",), 2, "switched off"),
        (("nowhere",), 2, "no folder nowhere"),
    ],
)
def test_failures_say_what_to_do_and_leave_nothing(run, tmp_path, arguments, code, said):
    found, out, err = run("convert", "target", *arguments, "-o", str(tmp_path / "result"))
    assert (found, out) == (code, "") and said in err and len(err.strip().splitlines()) == 2
    assert list(tmp_path.iterdir()) == []


def test_an_existing_goal_needs_overwrite(run, tmp_path):
    goal = str(tmp_path / "result")
    assert run("convert", "target", TARGET, "-o", goal, "--no-check").code == 0
    code, _, err = run("convert", "target", TARGET, "-o", goal, "--no-check")
    assert code == 2 and "--overwrite" in err
    assert run("convert", "target", TARGET, "-o", goal, "--no-check", "--overwrite").code == 0


def test_a_quantised_source_is_warned_of(run, tmp_path):
    _, _, err = run("convert", "target", str(DEMO / "target"), "-o", str(tmp_path / "result"), "--dry-run")
    assert "already quantised" in err
