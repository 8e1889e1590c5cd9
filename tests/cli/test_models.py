"""`dflash-mlx models`: the known pairs as a table and as JSON lines."""

import json
from pathlib import Path

import mlx.core as mx
import pytest
from huggingface_hub import constants

import dflash_mlx
from dflash_mlx.cli import main
from dflash_mlx.loading import known_pairs as module
from dflash_mlx.loading import memory
from dflash_mlx.loading.known_pairs import CONTEXT, known_pairs


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Pretends a machine with so many GB for models, with Metal or without, and an empty Hub cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))

    def machine(gigabytes: int, metal: bool = True) -> Path:
        for place in (module, memory):
            monkeypatch.setattr(place, "available", lambda: gigabytes * 10**9)
        monkeypatch.setattr(mx.metal, "is_available", lambda: metal)
        return tmp_path

    return machine


def cache(folder: Path, name: str) -> None:
    """Puts a complete snapshot into a Hub cache."""
    repository, _, revision = name.partition("@")
    revision = revision or "0" * 40
    snapshot = folder / f"models--{repository.replace('/', '--')}" / "snapshots" / revision
    snapshot.mkdir(parents=True)
    for file in ("config.json", "model.safetensors"):
        (snapshot / file).write_text("{}")
    if "@" not in name:
        (snapshot.parent.parent / "refs").mkdir()
        (snapshot.parent.parent / "refs" / "main").write_text(revision)


def lines(out: str) -> dict[str, str]:
    """The table's rows by their first word."""
    return {line.split()[0]: line for line in out.splitlines() if line.startswith("Qwen")}


def test_every_known_pair_has_a_row_with_its_numbers(run, machine):
    machine(48)
    code, out, _ = run("models")
    assert code == 0 and lines(out).keys() == {pair.family for pair in known_pairs()}
    for pair in known_pairs():
        assert f"{pair.download / 1e9:.1f}" in lines(out)[pair.family]
        assert f"{pair.need().total / 1e9:.1f}" in lines(out)[pair.family]


@pytest.mark.parametrize("columns", ["40", "80"])
def test_table_keeps_to_the_width_of_the_terminal(run, machine, monkeypatch, columns):
    machine(48)
    monkeypatch.setenv("COLUMNS", columns)
    out = run("models").out
    assert max(map(len, out.splitlines())) <= int(columns)
    assert "Qwen3.6-35B-A3B" in out and "…" not in out


def test_what_fits_and_the_default_depend_on_the_memory(run, machine):
    machine(12)
    _, out, err = run("models")
    assert "yes" in lines(out)["Qwen3.5-9B"] and "yes" not in lines(out)["Qwen3.8-27B"]
    assert [name for name, line in lines(out).items() if " * " in line] == ["Qwen3.5-9B"]
    assert "offers 12.0" in err and f"{CONTEXT} tokens" in err


def test_without_metal_no_row_is_the_default_and_it_is_said(run, machine):
    machine(48, metal=False)
    _, out, err = run("models")
    assert "*" not in out and "the default model here: demo" in err


def test_cache_is_told_apart_into_all_part_and_nothing(run, machine):
    folder = machine(48)
    first, second, third = known_pairs()[:3]
    for name in (first.target, first.drafter, second.drafter):
        cache(folder, name)
    rows = [json.loads(line) for line in run("models", "--json").out.splitlines()]
    assert [(row["target_cached"], row["drafter_cached"]) for row in rows[:3]] == [(True, True), (False, True), (False, False)]
    out = lines(run("models").out)
    assert [out[pair.family].split()[-1] for pair in (first, second, third)] == ["yes", "part", "no"]


def test_one_pair_is_told_in_full(run, machine):
    machine(12)
    code, out, err = run("models", "qwen3.5-9b")
    pair = next(pair for pair in known_pairs() if pair.family == "Qwen3.5-9B")
    assert (code, err) == (0, "") and "(the default here)" in out and "does not fit" not in out
    for text in (pair.target, pair.drafter, pair.note, pair.source, f"about {pair.download / 1e9:.1f} GB", "--model Qwen3.5-9B"):
        assert text in out
    assert run("models", pair.target).out == out
    [row] = map(json.loads, run("models", "Qwen3.5-9B", "--json").out.splitlines())
    assert row["model"] == "Qwen3.5-9B"


def test_a_name_that_is_not_known_hears_of_the_nearest(run, machine):
    machine(12)
    code, out, err = run("models", "Qwen3.5-9")
    assert (code, out) == (2, "") and "no known pair is called Qwen3.5-9." in err and "Did you mean Qwen3.5-9B?" in err


def test_json_is_one_object_a_line_and_nothing_else(run, machine):
    machine(12)
    code, out, err = run("models", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "") and [row["model"] for row in rows] == [pair.family for pair in known_pairs()]
    assert [row["model"] for row in rows if row["default"]] == ["Qwen3.5-9B"]
    for row, pair in zip(rows, known_pairs()):
        assert (row["target"], row["drafter"], row["context"]) == (pair.target, pair.drafter, CONTEXT)
        assert (row["download_bytes"], row["memory_bytes"]) == (pair.download, pair.need().total)
        assert row["fits"] == (pair.need().total <= 12 * 10**9)


@pytest.fixture
def loaded(monkeypatch, capfd):
    """Runs `generate` without a model as far as loading: what it would load, and what it said on stderr before."""

    def loaded(*arguments: str) -> tuple[str, str]:
        names = []

        def load(model, progress, **options):
            names.append(model)
            progress(f"download of {model}", 0, 16_050_000_000)
            raise KeyboardInterrupt

        monkeypatch.setattr(dflash_mlx, "load", load)
        with pytest.raises(SystemExit):
            main(["generate", "hello", *arguments])
        [name] = names
        return name, capfd.readouterr().err

    return loaded


def test_generate_takes_the_default_model_and_says_so_in_one_line(loaded, machine):
    machine(24)
    name, err = loaded()
    assert name == "mlx-community/Qwen3.8-27B-4bit"
    assert err.splitlines()[0] == (
        f"model: {name} (the best known pair that fits this machine). Another: --model NAME; dflash-mlx models lists them."
    )


def test_generate_does_not_repeat_it_once_the_model_is_downloaded(loaded, machine):
    folder = machine(24)
    cache(folder, known_pairs()[0].target)
    name, err = loaded()
    assert name == known_pairs()[0].target and "model: " not in err


def test_generate_without_metal_takes_the_demo_pair_and_says_so(loaded, machine):
    machine(24, metal=False)
    name, err = loaded()
    assert name == "demo" and err.startswith("model: demo (no Metal")


def test_generate_states_the_size_of_a_download(loaded, machine):
    machine(24)
    assert loaded()[1].splitlines()[1:] == ["download of mlx-community/Qwen3.8-27B-4bit: 16.1 GB"]


def test_generate_says_nothing_of_it_when_quiet(loaded, machine):
    machine(24)
    assert loaded("--quiet") == ("mlx-community/Qwen3.8-27B-4bit", "")


def test_a_named_model_is_taken_without_a_word(loaded, machine):
    machine(24)
    assert loaded("--model", "owner/model")[0] == "owner/model"
    assert "best known" not in loaded("--model", "owner/model")[1]
