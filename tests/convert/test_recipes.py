"""The named mixtures: what they ask for, and that what comes of each loads and runs."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from fixture_data import CHECKPOINTS, DEMO, FIXTURES
from mlx_lm.utils import load_model

import dflash_mlx as dm
from dflash_mlx.convert import TooFarError, conversion, convert_drafter, convert_pair, convert_target
from dflash_mlx.convert.plan import new_plan
from dflash_mlx.convert.recipes import MODES, RECIPES, Storage, read_recipe
from dflash_mlx.drafters import load_drafter
from dflash_mlx.training import save_drafter

TARGET, DRAFTER = CHECKPOINTS / "target_qwen3_5", CHECKPOINTS / "dflash2_swa"
HOW: list[dict[str, Any]] = [{"recipe": name} for name in RECIPES] + [{"mode": mode} for mode in MODES if mode != "affine"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"bits": 7}, "no bits 7.* Use 2, 3, 4, 5, 6 or 8"),
        ({"bits": 8, "mode": "mxfp4"}, "no bits 8.* Use 4"),
        ({"group_size": 48}, "no group size 48.* Use 32, 64 or 128"),
        ({"mode": "int4"}, "no mode 'int4'.* Use one of affine"),
        ({"name": "tiny"}, "no recipe 'tiny'.* Use one of 4bit"),
        ({"name": "quality", "bits": 4}, "bits or a recipe, not both"),
        ({"name": "quality", "mode": "mxfp4"}, "contradicts mode mxfp4"),
        ({"name": "4bit", "mode": "mxfp8"}, "contradicts mode mxfp8"),
        ({"name": ["4bit"]}, "no recipe"),
        ({"mode": []}, r"no mode \[\]"),
        ({"name": "float", "group_size": 64}, "no groups"),
    ],
)
def test_senseless_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(dm.RequestError, match=problem):
        read_recipe(**options)


@pytest.mark.parametrize(
    ("convert", "options", "problem"),
    [
        *(
            (convert_target, {"max_kl": most}, "max_kl must be 0 or more")
            for most in (float("nan"), float("inf"), -0.1, "0.1", True)
        ),
        (convert_target, {"group_sise": 32}, "no option 'group_sise'"),
        (convert_target, {"dtype": "int8"}, "no dtype 'int8'"),
        (convert_target, {"upload_repo": "a/b/c"}, "can be named 'a/b/c'"),
        (convert_target, {"upload_repo": "no owner"}, "can be named"),
        (convert_drafter, {"max_kl": 1.0}, "a drafter alone"),
        (convert_drafter, {"dtype": "float16"}, "overflow"),
        (convert_pair, {"dtype": "float16"}, "overflow"),
    ],
)
def test_options_are_looked_at_before_the_source(
    convert: Callable[..., Any], options: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(dm.RequestError, match=problem):
        convert(tmp_path / "not downloaded yet", tmp_path / "result", **options)


def test_callbacks_may_be_none(tmp_path: Path) -> None:
    assert convert_target(DEMO / "target", tmp_path / "result", check=False, progress=None, notice=None).folder.is_dir()


def test_a_mixture_decides_by_the_last_part_of_a_layers_name() -> None:
    recipe = read_recipe("4bit-head8", group_size=32)
    assert recipe.storage("language_model.lm_head") == Storage(8, 32, "affine")
    assert recipe.storage("model.layers.3.mlp.up_proj") == Storage(4, 32, "affine")
    assert read_recipe("4bit-gates").storage("model.layers.0.linear_attn.in_proj_a") is None
    assert read_recipe("float").storage("lm_head") is None


@pytest.mark.parametrize("how", HOW, ids=lambda how: str(*how.values()))
def test_each_makes_a_pair_that_runs_and_a_card_that_says_how_near_it_is(how: dict[str, Any], tmp_path: Path) -> None:
    made = convert_pair(TARGET, tmp_path / "pair", DRAFTER, **how)
    pair = dm.load(tmp_path / "pair")
    assert pair.generate("anchor", max_tokens=8, sampling=dm.Sampling(), block_size=4).statistics.mode == "speculative"
    load_model(tmp_path / "pair" / "target")  # as mlx-lm loads it
    for part, source in zip(made, (TARGET, DRAFTER)):
        assert part.report
        card = (part.folder / "README.md").read_text()
        assert part.report.table().strip() in card and part.recipe in card
        record = json.loads((part.folder / "conversion.json").read_text())
        assert record["check"] == json.loads(json.dumps(part.report.to_dict())) and record["recipe"] == part.recipe
        assert sum(row["bytes"] for row in record["tensors"]) == part.size
        tensors = mx.load(str(part.folder / "model.safetensors"))
        assert sum(tensor.nbytes for tensor in tensors.values()) == part.size
        weights = sum(tensor.size for tensor in mx.load(str(source / "model.safetensors")).values())
        assert record["bits_per_weight"] == part.bits_per_weight == pytest.approx(8 * part.size / weights)
        assert f"{part.bits_per_weight:.2f} bits per weight" in card
        for line in (part.folder / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split("  ")
            assert hashlib.sha256((part.folder / name).read_bytes()).hexdigest() == digest
    assert made.drafter.report and made.drafter.report.acceptance_after


def test_a_dry_run_tells_the_sizes_and_writes_nothing(tmp_path: Path) -> None:
    planned = convert_target(DEMO / "target", tmp_path / "result", recipe="quality", dry_run=True)
    assert list(tmp_path.iterdir()) == []
    made = convert_target(DEMO / "target", tmp_path / "result", recipe="quality", check=False)
    assert planned.rows == made.rows and planned.report is None


def test_a_drafters_projections_are_quantised_and_all_else_is_kept(tmp_path: Path) -> None:
    source = CHECKPOINTS / "dflash2_swa"
    result = convert_drafter(source, tmp_path / "result").folder
    before, after = (mx.load(str(folder / "model.safetensors")) for folder in (source, result))
    quantised = {name.removesuffix(".scales") for name in after if name.endswith(".scales")}
    assert {name.rpartition(".")[2] for name in quantised} == {
        *("fc", "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
        *("kernel_projection", "hidden_projection"),
    }
    kept = [name for name in before if name.removesuffix(".weight") not in quantised]
    assert all(mx.array_equal(before[name], after[name]) for name in kept)


def test_a_drafter_is_converted_to_what_training_saves_in_4_bits(tmp_path: Path) -> None:
    source = CHECKPOINTS / "dflash2_swa"
    config = json.loads((source / "config.json").read_text())
    save_drafter(load_drafter(source), config, tmp_path / "saved", bits=4)
    result = convert_drafter(source, tmp_path / "result", check=False).folder
    saved, made = (mx.load(str(folder / "model.safetensors")) for folder in (tmp_path / "saved", result))
    assert saved.keys() == made.keys() and all(mx.array_equal(saved[name], made[name]) for name in saved)


def test_a_result_too_far_from_its_source_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(TooFarError, match="KL divergence .* is not kept"):
        convert_target(DEMO / "target", tmp_path / "result", bits=2, max_kl=1e-6)
    assert list(tmp_path.iterdir()) == []
    assert convert_target(DEMO / "target", tmp_path / "result", bits=8, max_kl=0.1).folder.is_dir()
    with pytest.raises(dm.RequestError, match="needs the comparison"):
        convert_target(DEMO / "target", tmp_path / "other", max_kl=1.0, check=False)


def without_tokenizer(folder: Path) -> Path:
    return shutil.copytree(TARGET, folder, ignore=shutil.ignore_patterns("tokenizer*"))


def test_a_pair_without_tokenizer_is_converted_with_notes_that_name_the_goal(tmp_path: Path) -> None:
    made = convert_pair(without_tokenizer(tmp_path / "source"), tmp_path / "pair", DRAFTER)
    for part, what in zip(made, ("Logits were not compared", "Acceptance was not measured")):
        assert part.report
        assert part.report.notes == (f"{what}: {tmp_path / 'pair' / 'target'} has no tokenizer.json.",)


def test_a_gate_that_cannot_be_judged_says_why(tmp_path: Path) -> None:
    with pytest.raises(TooFarError, match=f"cannot be limited.*{tmp_path / 'result'} has no tokenizer"):
        convert_target(without_tokenizer(tmp_path / "source"), tmp_path / "result", max_kl=1.0)


def test_errors_name_the_goal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "write_weights", lambda *_: None)
    with pytest.raises(dm.DFlashError) as caught:
        convert_target(TARGET, tmp_path / "result")
    assert str(tmp_path / "result") in caught.value.message


@pytest.mark.parametrize(("how", "kind"), [({"bits": 8}, "mlp"), ({"recipe": "float"}, "mlp"), ({"mode": "mxfp8"}, "recurrent")])
def test_a_ruined_result_is_noticed(how: dict[str, Any], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, notices, named = conversion.write_weights, list[str](), {"mlp": "mlp.up_proj", "recurrent": "in_proj_qkv"}[kind]

    def ruin(folder: Path, *rest: Any) -> None:
        write(folder, *rest)
        file, part = folder / "model.safetensors", "weight" if "recipe" in how else "scales"
        tensors = {
            name: w * 0 if f"{named}.{part}" in name else w + 0 if mx.issubdtype(w.dtype, mx.floating) else w
            for name, w in mx.load(str(file)).items()
        }
        mx.eval(tensors)
        mx.save_safetensors(str(file), tensors, {"format": "mlx"})

    convert_target(TARGET, tmp_path / "well", **how, notice=notices.append)
    assert not any("error of" in notice for notice in notices)
    notices.clear()
    monkeypatch.setattr(conversion, "write_weights", ruin)
    made = convert_target(TARGET, tmp_path / "result", **how, notice=notices.append)
    assert any(f"may be ruined: the error of {kind}" in notice for notice in notices)
    assert made.report and set(notices) <= set(made.report.notes) and notices[0] in (made.folder / "README.md").read_text()


@pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
def test_routers_keep_their_bits_in_groups_that_divide_their_rows(mode: str, tmp_path: Path) -> None:
    made = convert_target(FIXTURES / "published" / "qwen3_moe", tmp_path / "result", mode=mode)  # rows of 32
    config = json.loads((made.folder / "config.json").read_text())
    assert config["quantization"]["model.layers.0.mlp.gate"] == Storage(8, 32, "affine")._asdict()
    model, _ = load_model(made.folder)
    assert mx.isfinite(model(mx.array([[1, 2, 3]]))).all().item()


def test_a_router_whose_rows_nothing_divides_is_named() -> None:
    model = nn.Module()
    model.gate = nn.Linear(48, 4)
    with pytest.raises(dm.RequestError, match="gate has rows of 48 weights, which no groups divide"):
        new_plan(model, {}, read_recipe(mode="nvfp4"), None, lambda path, layer: Storage(8, 64, "affine"))


@pytest.mark.parametrize("options", [{"check": False}, {"dry_run": True}, {}])
def test_a_pair_that_does_not_fit_is_not_written(options: dict[str, Any], tmp_path: Path) -> None:
    other = CHECKPOINTS / "target_qwen3"
    with pytest.raises(dm.PairMismatchError, match="not made for each other"):
        convert_pair(other, tmp_path / "result", DRAFTER, **options, progress=never)
    with pytest.raises(dm.PairMismatchError, match="not made for each other"):
        convert_drafter(DRAFTER, tmp_path / "result", other, **options, progress=never)
    assert list(tmp_path.iterdir()) == []


def never(stage: str, done: int, total: int) -> None:
    raise AssertionError(f"{stage} began")


def test_the_card_names_the_repository_and_revision_of_a_snapshot(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--Qwen--Tiny" / "snapshots" / "0123abcd"
    shutil.copytree(TARGET, snapshot)
    result = convert_target(snapshot, tmp_path / "result", check=False).folder
    card = (result / "README.md").read_text()
    assert "base_model: Qwen/Tiny\n" in card and "at revision `0123abcd`" in card and "# Tiny, 4bit" in card
    assert json.loads((result / "conversion.json").read_text())["revision"] == "0123abcd"
