"""What a drafter is quantised to while it is loaded, and that it is never held in both forms."""

import json
import shutil
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, DEMO, WEAK_DRAFTER

import dflash_mlx as dm
from dflash_mlx.drafters import DrafterConfig, bits_at_load, load_drafter, new_drafter
from dflash_mlx.loading import known_pairs
from dflash_mlx.training import save_drafter

DRAFTER = CHECKPOINTS / "dflash2_full"
FOUR_BITS = CHECKPOINTS / "target_qwen3_5_4bit"
FLOATS = CHECKPOINTS / "target_qwen3_5"


def layer_bits(pair: dm.Pair) -> int | None:
    assert pair.drafter
    return getattr(pair.drafter.fc, "bits", None)


@pytest.mark.parametrize(
    "target, asked, found",
    [
        (FOUR_BITS, "auto", 4),
        (FLOATS, "auto", None),
        (FOUR_BITS, None, None),
        (FLOATS, 4, 4),
        (FOUR_BITS, 8, 8),
    ],
)
def test_drafter_is_quantised_as_asked_or_as_its_target_is(target: Path, asked: dm.loader.Bits, found: int | None) -> None:
    assert layer_bits(dm.load(target, drafter=DRAFTER, drafter_bits=asked)) == found


def test_the_default_is_auto() -> None:
    assert layer_bits(dm.load(FOUR_BITS, drafter=DRAFTER)) == 4


def test_a_quantised_drafter_stays_as_it_is() -> None:
    config, target = (json.loads((folder / "config.json").read_text()) for folder in (WEAK_DRAFTER, DEMO / "target"))
    assert bits_at_load("auto", config, target) is bits_at_load(8, config, target) is None


def test_quantised_are_projections_and_nothing_else() -> None:
    pair = dm.load(FOUR_BITS, drafter=DRAFTER)
    published = mx.load(str(DRAFTER / "model.safetensors"))
    assert pair.drafter
    for name in ("norm.weight", "candidate_selector.predecessor_codebook", "layers.0.attention_conv.base_kernel"):
        kept = pair.drafter
        for part in name.split("."):
            kept = kept[int(part)] if part.isdigit() else getattr(kept, part)
        assert np.array_equal(np.array(kept), np.array(published[name])), name
    fc = pair.drafter.fc
    packed, scales, biases = mx.quantize(published["fc.weight"], 64, 4)
    assert np.array_equal(np.array(fc.weight), np.array(packed)) and np.array_equal(np.array(fc.scales), np.array(scales))


def test_a_drafter_is_never_held_in_both_forms(tmp_path: Path) -> None:
    config = json.loads((DRAFTER / "config.json").read_text()) | {
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_hidden_layers": 6,
    }
    config["layer_types"] = ["full_attention"] * 6
    save_drafter(new_drafter(DrafterConfig.from_dict(config)), config, tmp_path / "drafter")
    published = sum(file.stat().st_size for file in (tmp_path / "drafter").glob("*.safetensors"))
    mx.synchronize()
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    drafter = load_drafter(tmp_path / "drafter", bits=4)
    kept, peak = mx.get_active_memory() - before, mx.get_peak_memory() - before
    assert drafter.fc.bits == 4 and kept < 0.4 * published
    assert peak < kept + 0.25 * published, "one layer's floats at a time"


def test_a_target_without_a_known_drafter_decodes_plainly_and_says_what_fits(tmp_path: Path, monkeypatch) -> None:
    shutil.copytree(FOUR_BITS, tmp_path / "Pirate")
    pair = dm.load(tmp_path / "Pirate")
    result = pair.generate([1, 2, 3], max_tokens=4)
    assert pair.drafter is None and result.statistics.mode == "plain"
    assert result.statistics.mode_reason == "no drafter is known for Pirate; if one was made for it, name it"
    sizes = json.loads((FOUR_BITS / "config.json").read_text())
    known = known_pairs.known_pairs()[0]
    config = sizes.get("text_config", sizes) | {"model_type": sizes["model_type"]}
    base = known.__class__(**(vars(known) | {"target_config": config}))
    monkeypatch.setattr(known_pairs, "known_pairs", lambda: [base])
    reason = dm.load(tmp_path / "Pirate").generate([1, 2, 3], max_tokens=4).statistics.mode_reason
    assert reason == (
        f"no drafter is known for Pirate, which has the sizes of a known model: if it was made from {base.family} "
        f"try the drafter {base.drafter.partition('@')[0]}"
    )
    plain = dm.load(tmp_path / "Pirate", drafter=None).generate([1], max_tokens=2)
    assert plain.statistics.mode_reason == "no drafter was loaded"
