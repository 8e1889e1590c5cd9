"""The check after conversion against numpy and mlx-lm's own models: what it finds, and what it holds while it looks."""

import gc
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, DEMO, WEAK_DRAFTER
from mlx.utils import tree_flatten
from mlx_lm.utils import load_model, quantize_model

import dflash_mlx as dm
from dflash_mlx.bench.roofline.synthetic import GEOMETRIES, write_pair
from dflash_mlx.checkpoint import read_config
from dflash_mlx.convert import check
from dflash_mlx.convert.check import Report, calibration_ids, check_drafter, check_target
from dflash_mlx.convert.recipes import Recipe, read_recipe
from dflash_mlx.drafters import load_drafter
from dflash_mlx.training import save_drafter

FAMILIES = ["qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_tied", "qwen3_5_moe"]

Weights = dict[str, mx.array]


def quantised(source: Path, folder: Path, bits: int, mode: str = "affine", group_size: int = 32) -> Path:
    """A target quantised by mlx-lm."""
    model, config = load_model(source)
    model, config = quantize_model(model, config, group_size, bits, mode=mode)
    shutil.copytree(source, folder)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())))
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def changed(source: Path, folder: Path, change: Callable[[Weights], Weights]) -> Path:
    """A copy with other weights."""
    shutil.copytree(source, folder)
    weights = change(mx.load(str(source / "model.safetensors")))
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    return folder


def log_probabilities(folder: Path, texts: list[list[int]]) -> np.ndarray:
    """Of mlx-lm's own model, in float64 from its logits."""
    model, _ = load_model(folder)
    logits = np.concatenate([np.array(model(mx.array([ids]))[0].astype(mx.float32), np.float64) for ids in texts])
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def unpacked(weights: Weights, name: str, bits: int) -> np.ndarray:
    """A tensor in float64; one in MLX's affine layout is multiplied out: 32-bit words, the first number in the lowest bits."""
    if f"{name}.scales" not in weights:
        return np.array(weights[f"{name}.weight"], np.float64)
    words, scales, biases = (np.array(weights[f"{name}.{part}"]) for part in ("weight", "scales", "biases"))
    numbers = (words[..., None] >> np.arange(0, 32, bits, dtype=np.uint32)) & (2**bits - 1)
    groups = numbers.reshape(*scales.shape, -1).astype(np.float64)
    return (groups * scales[..., None] + biases[..., None]).reshape(*words.shape[:-1], -1)


@pytest.mark.parametrize("family", FAMILIES)
def test_top1_and_kl_are_those_of_mlx_lms_logits_in_float64(family: str) -> None:
    source, result = CHECKPOINTS / f"target_{family}", CHECKPOINTS / f"target_{family}_4bit"
    report = check_target(source, result)
    texts = calibration_ids(result, 256)
    p, q = log_probabilities(source, texts), log_probabilities(result, texts)
    assert report.top1 == pytest.approx((p.argmax(axis=-1) == q.argmax(axis=-1)).mean(), abs=2 / len(p))
    assert report.kl == pytest.approx((np.exp(p) * (p - q)).sum(axis=-1).mean(), rel=1e-4)
    assert len(report.hidden_errors) == read_config(source).get("text_config", read_config(source))["num_hidden_layers"]


def test_errors_are_those_of_numpy() -> None:
    source, result = CHECKPOINTS / "target_qwen3", CHECKPOINTS / "target_qwen3_4bit"
    before, after = (mx.load(str(folder / "model.safetensors")) for folder in (source, result))
    layers = range(4)
    of = {
        "embeddings": ["model.embed_tokens"],
        "lm_head": ["lm_head"],
        "attention q/k/v": [f"model.layers.{i}.self_attn.{part}_proj" for i in layers for part in "qkv"],
        "attention output": [f"model.layers.{i}.self_attn.o_proj" for i in layers],
        "mlp": [f"model.layers.{i}.mlp.{part}_proj" for i in layers for part in ("gate", "up", "down")],
    }
    wanted = {"norms": 0.0}
    for kind, names in of.items():
        pairs = [(unpacked(before, name, 4), unpacked(after, name, 4)) for name in names]
        difference = sum(((one - other) ** 2).sum() for one, other in pairs)
        wanted[kind] = (difference / sum((one**2).sum() for one, _ in pairs)) ** 0.5
    assert check_target(source, result).errors == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("family", ["qwen3_moe", "qwen3_5_tied"])
def test_a_copy_is_its_source(family: str) -> None:
    folder = CHECKPOINTS / f"target_{family}"
    report = check_target(folder, folder)
    assert set(report.errors.values()) == set(report.hidden_errors) == {0.0}
    assert (report.top1, report.kl, report.notes) == (1.0, 0.0, ())


def test_a_quantised_source_is_what_it_stands_for() -> None:
    folder = CHECKPOINTS / "target_qwen3_5_moe_4bit"
    report = check_target(folder, folder)
    assert set(report.errors.values()) == {0.0} and report.top1 == 1
    assert max(report.hidden_errors) < 1e-5 and report.kl is not None and report.kl < 1e-6


def test_an_fp8_source_is_what_it_stands_for(tmp_path: Path) -> None:
    def packed(weights: Weights) -> Weights:
        for name in [name for name in weights if "_proj" in name]:
            weights[f"{name}_scale_inv"] = mx.full((1, 1), 0.01)
            weights[name] = mx.to_fp8(weights[name] / 0.01)
        return weights

    def unpacked(weights: Weights) -> Weights:
        return {
            name: (mx.from_fp8(w, mx.float32) * 0.01).astype(mx.bfloat16) if w.dtype == mx.uint8 else w
            for name, w in weights.items()
            if "scale" not in name
        }

    source = changed(CHECKPOINTS / "target_qwen3", tmp_path / "source", packed)
    result = changed(source, tmp_path / "result", unpacked)
    quantisation = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    (source / "config.json").write_text(json.dumps(read_config(source) | {"quantization_config": quantisation}))
    report = check_target(source, result)
    assert set(report.errors.values()) == {0.0} and report.kl == 0
    assert check_target(source, CHECKPOINTS / "target_qwen3").errors["mlp"] > 0.01


@pytest.mark.parametrize(
    ("tensor", "kind"),
    [
        ("layers.2.linear_attn.in_proj_z.weight", "recurrent"),
        ("layers.3.self_attn.k_proj.weight", "attention q/k/v"),
        ("layers.5.mlp.down_proj.weight", "mlp"),
    ],
)
def test_a_damaged_tensor_shows_in_its_kind_and_from_its_layer_on(tensor: str, kind: str, tmp_path: Path) -> None:
    source = CHECKPOINTS / "target_qwen3_5"
    name = f"language_model.model.{tensor}"
    result = changed(source, tmp_path / "result", lambda weights: weights | {name: mx.zeros_like(weights[name])})
    report, layer = check_target(source, result), int(tensor.split(".")[1])
    assert {kind for kind, error in report.errors.items() if error > 0} == {kind}
    assert [error > 0 for error in report.hidden_errors] == [i >= layer for i in range(8)]
    assert report.top1 is not None and report.kl is not None and report.top1 < 0.95 and report.kl > 0.001


def test_more_bits_are_nearer(tmp_path: Path) -> None:
    source = CHECKPOINTS / "target_qwen3_5_tied"
    reports = [check_target(source, quantised(source, tmp_path / str(bits), bits)) for bits in (2, 3, 4, 8)]
    for kind in ("embeddings", "attention q/k/v", "recurrent", "mlp"):
        errors = [report.errors[kind] for report in reports]
        assert errors == sorted(errors, reverse=True)
    divergences = [report.kl for report in reports]
    assert divergences == sorted(divergences, reverse=True) and divergences[-1] < 0.01 < divergences[0]


@pytest.mark.parametrize(("mode", "bits", "group_size"), [("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)])
def test_other_modes_are_multiplied_out_too(mode: str, bits: int, group_size: int, tmp_path: Path) -> None:
    source = CHECKPOINTS / "target_qwen3"
    report = check_target(source, quantised(source, tmp_path / "result", bits, mode, group_size))
    assert 0.01 < report.errors["mlp"] < 0.15 and report.errors["norms"] == 0


def test_the_published_layout_is_compared_by_what_it_stands_for(tmp_path: Path) -> None:
    def published(weights: Weights) -> Weights:
        renamed = {}
        for name, weight in weights.items():
            if "conv1d" in name:
                weight = weight.moveaxis(1, 2)
            if name.endswith(("layernorm.weight", "q_norm.weight", "k_norm.weight", "model.norm.weight")):
                weight = weight - 1
            name = name.replace("language_model.model.", "model.language_model.").replace("language_model.lm_head", "lm_head")
            renamed[name] = weight
        return renamed | {"model.visual.patch_embed.proj.weight": mx.zeros((4, 4))}

    result = CHECKPOINTS / "target_qwen3_5"
    report = check_target(changed(result, tmp_path / "source", published), result)
    assert report.top1 == 1 and max(*report.errors.values(), *report.hidden_errors) < 1e-5


def test_neither_model_is_ever_whole_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "TOKENS", 8)  # activations are not what is looked at
    geometry = replace(GEOMETRIES["75m"], hidden=256, intermediate=1024, linear_heads=2, vocab=8192, drafter_layers=1)
    source, result = write_pair(tmp_path / "source", geometry), write_pair(tmp_path / "result", geometry, bits=4)
    for folder in (source, result):
        shutil.copy(CHECKPOINTS / "target_qwen3" / "tokenizer.json", folder)
    size = sum((folder / "model.safetensors").stat().st_size for folder in (source, result))
    gc.collect()
    mx.clear_cache()
    before = mx.get_active_memory()
    seen: list[int] = []
    mx.reset_peak_memory()
    gc.disable()  # nothing is left to chance
    try:
        check_target(source, result, lambda stage, done, total: seen.append(mx.get_active_memory() - before))
    finally:
        gc.enable()
    assert mx.get_peak_memory() - before < 0.4 * size
    assert max(seen[:-1]) < 0.05 * size  # between layers: the head comes last


def test_a_layer_that_does_not_fit_leaves_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "available", lambda: 100_000)
    report = check_target(CHECKPOINTS / "target_qwen3", CHECKPOINTS / "target_qwen3_4bit")
    assert report.errors["mlp"] > 0.01 and report.kl is report.top1 is None
    assert report.notes[0].startswith("Logits were not compared: its largest layer needs") and report.notes[0] in report.table()


def test_models_that_are_not_the_same_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(dm.CheckpointError, match="not of the same model: only one of them has lm_head.weight"):
        check_target(CHECKPOINTS / "target_qwen3", CHECKPOINTS / "target_qwen3_5_tied")

    def shorter(weights: Weights) -> Weights:
        return weights | {name: weights[name][:128] for name in ("lm_head.weight", "model.embed_tokens.weight")}

    result = changed(CHECKPOINTS / "target_qwen3", tmp_path / "result", shorter)
    config = read_config(result) | {"vocab_size": 128}
    (result / "config.json").write_text(json.dumps(config))
    with pytest.raises(dm.CheckpointError, match="shapes"):
        check_target(CHECKPOINTS / "target_qwen3", result)


@pytest.mark.parametrize(("wrong", "why"), [(True, "does not match the model's 256 tokens"), (False, "has no tokenizer.json")])
def test_without_a_tokenizer_of_its_own_a_target_has_no_logits_to_compare(wrong: bool, why: str, tmp_path: Path) -> None:
    source = CHECKPOINTS / "target_qwen3"
    result = shutil.copytree(source, tmp_path / "result")
    (result / "tokenizer.json").unlink()
    if wrong:
        shutil.copy(DEMO / "target" / "tokenizer.json", result)
    report = check_target(source, result)
    assert report.errors["mlp"] == 0 and report.kl is None and why in report.notes[0]


def test_numbers_that_are_none_are_an_error(tmp_path: Path) -> None:
    name = "model.layers.1.mlp.up_proj.weight"

    def broken(weights: Weights) -> Weights:
        return weights | {name: mx.where(mx.arange(64) == 3, mx.nan, weights[name])}

    result = changed(CHECKPOINTS / "target_qwen3", tmp_path / "result", broken)
    with pytest.raises(dm.CheckpointError, match=rf"{name} holds NaN"):
        check_target(CHECKPOINTS / "target_qwen3", result)


def test_a_drafters_acceptance_is_that_of_its_answers() -> None:
    def tokens_a_cycle(drafter: Path) -> float:
        pair = dm.load(DEMO / "target", drafter)
        chunks = [
            list(pair.stream(prompt, max_tokens=check.ANSWER, sampling=dm.Sampling(), block_size=pair.drafter.config.block_size))
            for prompt in check.PROMPTS
        ]
        cycles = [chunk for answer in chunks for chunk in answer[1:]]
        return sum(len(chunk.token_ids) for chunk in cycles) / len(cycles)

    report = check_drafter(DEMO / "drafter", WEAK_DRAFTER, DEMO / "target")
    assert report.acceptance_before == pytest.approx(tokens_a_cycle(DEMO / "drafter"))
    assert report.acceptance_after == pytest.approx(tokens_a_cycle(WEAK_DRAFTER))
    assert report.errors["convolutions"] > 0 and report.kl is None


def test_a_drafter_is_quantised_against_its_source(tmp_path: Path) -> None:
    source, target = CHECKPOINTS / "dflash2_full", CHECKPOINTS / "target_qwen3_5"
    reports = []
    for bits in (None, 8, 4):
        save_drafter(load_drafter(source), read_config(source), tmp_path / str(bits), bits)
        reports.append(check_drafter(source, tmp_path / str(bits), None if bits == 8 else target))
    copy, eight, four = reports
    assert set(copy.errors.values()) == {0.0} and copy.acceptance_before == copy.acceptance_after == four.acceptance_before
    for kind in ("attention q/k/v", "attention output", "mlp", "context projection"):
        assert 0 < eight.errors[kind] < 0.01 < four.errors[kind] < 0.15
    assert eight.errors["norms"] == four.errors["norms"] == 0


def test_without_a_target_a_drafter_has_only_its_tensors() -> None:
    report = check_drafter(CHECKPOINTS / "dflash2_full", CHECKPOINTS / "dflash2_full", None)
    assert set(report.errors.values()) == {0.0} and report.acceptance_before is None and "no target" in report.notes[0]


def test_a_target_that_does_not_fit_leaves_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dflash_mlx.loading.memory.available", lambda: 1000)
    report = check_drafter(CHECKPOINTS / "dflash2_full", CHECKPOINTS / "dflash2_full", CHECKPOINTS / "target_qwen3_5")
    assert report.errors and report.acceptance_before is report.acceptance_after is None
    assert "Acceptance was not measured" in report.table()


def test_a_drafter_made_for_another_target_is_an_error() -> None:
    with pytest.raises(dm.PairMismatchError):
        check_drafter(CHECKPOINTS / "dflash2_full", CHECKPOINTS / "dflash2_full", CHECKPOINTS / "target_qwen3")


def test_the_table_is_markdown_and_the_dict_is_json() -> None:
    report = Report({"mlp": 0.0906, "norms": 0.0}, (0.1, 0.25), 0.975, 0.0123, 4.31, 4.3, ("Not all was seen.",))
    assert report.table().splitlines() == [
        "| check                           |  result |",
        "| ------------------------------- | ------: |",
        "| error of mlp                    |   9.06% |",
        "| error of norms                  |   0.00% |",
        "| error of the last hidden states |  25.00% |",
        "| top-1 agreement                 |   97.5% |",
        "| mean KL divergence, nats        | 0.01230 |",
        "| acceptance length before        |    4.31 |",
        "| acceptance length after         |    4.30 |",
        "",
        "Not all was seen.",
    ]
    assert json.loads(json.dumps(report.to_dict()))["kl"] == 0.0123
    assert "KL" not in Report({"mlp": 0.0}).table()


# What MLX's affine mode costs Qwen3.6-27B, as github.com/asher/mlx-kld measured it on 2026-07-26: bits, top-1 agreement, nats.
PUBLISHED = [(3, 0.7966, 0.2154), (4, 0.8996, 0.0573), (5, 0.9457, 0.0218), (6, 0.9689, 0.0091)]


@pytest.mark.parametrize(("bits", "top1", "kl"), PUBLISHED)
def test_what_is_good_is_what_a_large_model_loses_at_as_many_bits(bits: int, top1: float, kl: float) -> None:
    good_top1, good_kl = check.good(read_recipe(bits=bits))
    assert good_top1 and good_top1 <= top1 < good_top1 + 0.01 and good_kl and kl <= good_kl < 1.1 * kl
    assert check.good(read_recipe(bits=bits, group_size=128)) == check.good(read_recipe(bits=bits))


def test_what_is_good_stands_beside_what_was_measured_and_is_not_made_up() -> None:
    assert check.good(read_recipe(bits=2)) == (None, None) and check.good(read_recipe("float")) == check.good(read_recipe(bits=8))
    lines = Report({}, (), 0.905, 0.0511, good_top1=0.9, good_kl=0.06).table().splitlines()
    assert lines[2:] == [
        "| top-1 agreement (good: from 90%)            |   90.5% |",
        "| mean KL divergence, nats (good: up to 0.06) | 0.05110 |",
    ]


@pytest.mark.parametrize(
    ("recipe", "top1", "kl", "said"),
    [
        (read_recipe(), 0.895, 0.0601, "the mean KL divergence is 0.06010 nats (good: up to 0.06); use more bits, "),
        (read_recipe("quality"), 0.885, 0.0599, "the top-1 agreement is 88.5% (good: from 89%); use more bits, "),
        (read_recipe(bits=8), 0.9, 0.01, "from 99%) and the mean KL divergence is 0.01000 nats (good: up to 0.001); "),
        (read_recipe(bits=8), 0.9, 0.0, "use smaller groups or the recipe float."),
        (read_recipe("float"), 0.9, 0.0, "keep the source's dtype."),
    ],
)
def test_a_missed_check_is_told_with_its_figures_and_a_remedy(recipe: Recipe, top1: float, kl: float, said: str) -> None:
    [sentence] = check.missed(Report({}, top1=top1, kl=kl), recipe)
    assert sentence.startswith("The check is missed: the ") and said in sentence


def test_nothing_is_missed_where_all_is_good_or_nothing_is_known() -> None:
    assert check.missed(Report({}, top1=0.89, kl=0.06), read_recipe()) == []
    assert check.missed(Report({}, top1=0.1, kl=9.0), read_recipe(bits=2)) == check.missed(Report({}), read_recipe()) == []


def test_progress_goes_from_nothing_to_all() -> None:
    seen: dict[str, list[tuple[int, int]]] = {}
    name = CHECKPOINTS / "target_qwen3"
    check_target(name, name, lambda stage, done, total: seen.setdefault(stage, []).append((done, total)))
    assert list(seen) == ["tensors", "layers"]
    for steps in seen.values():
        assert steps == sorted(steps) and steps[0][0] == 0 and steps[-1][0] == steps[-1][1]
    assert seen["tensors"][-1][1] == pytest.approx((name / "model.safetensors").stat().st_size, rel=0.02)


def test_each_calibration_text_has_its_tokens_in_any_vocabulary() -> None:
    assert [len(ids) for ids in calibration_ids(CHECKPOINTS / "target_qwen3", 256)] == [check.TOKENS] * 4
