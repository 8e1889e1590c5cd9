"""The known pairs: each fits as published, each target finds its own, and the best that fits is chosen."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3, qwen3_5, qwen3_5_moe, qwen3_moe, qwen3_next

from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.loading import known_pairs as module
from dflash_mlx.loading.fit import check_fit
from dflash_mlx.loading.known_pairs import KnownPair, best, default, find, known_pairs, named, without_drafter
from dflash_mlx.targets import TargetConfig

FULL, SLIDING = "full_attention", "sliding_attention"
BOTH = {"num_attention_heads": 32, "head_dim": 128, "rms_norm_eps": 1e-6, "version": 1, "is_causal": None, "block_size": 16}
QWEN3 = {"vocab_size": 151936, "mask_token_id": 151669, "rope_theta": 1e6, "max_position_embeddings": 40960}
QWEN35 = {"vocab_size": 248320, "mask_token_id": 248070, "rope_theta": 1e7, "max_position_embeddings": 262144}

CODER = {"vocab_size": 151936, "mask_token_id": 151669, "rope_theta": 1e7, "max_position_embeddings": 262144}


def drafter(
    hidden: int, intermediate: int, layers: int, kv_heads: int, taps: tuple[int, ...], target_layers: int, **other: Any
) -> dict[str, Any]:
    """What a drafter's publication says, in DrafterConfig's words."""
    return {
        **BOTH,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_key_value_heads": kv_heads,
        "target_layer_ids": taps,
        "num_target_layers": target_layers,
        "layer_types": (FULL,) * layers,
        "sliding_window": None,
        **other,
    }


PUBLISHED = {
    "Qwen3.8-27B": drafter(5120, 17408, 5, 8, (5, 19, 33, 47, 61), 64, **QWEN35)
    | {"version": 2, "is_causal": False, "block_size": 8, "layer_types": (SLIDING,) * 5, "sliding_window": 2048}
    | {"conv_group_size": 16, "conv_kernel_size": 2, "selector_rank": 256, "selector_top_k": 16},
    "Qwen3.6-27B": drafter(5120, 17408, 5, 8, (1, 16, 31, 46, 61), 64, **QWEN35)
    | {"layer_types": (SLIDING,) * 4 + (FULL,), "sliding_window": 2048},
    "Qwen3.5-27B": drafter(5120, 17408, 5, 8, (1, 16, 31, 46, 61), 64, **QWEN35),
    "Qwen3.6-35B-A3B": drafter(2048, 6144, 6, 8, (1, 6, 11, 16, 22, 27, 32, 37), 40, **QWEN35)
    | {"mask_token_id": 248077, "layer_types": (SLIDING,) * 5 + (FULL,), "sliding_window": 4096},
    "Qwen3.5-35B-A3B": drafter(2048, 6144, 8, 4, (1, 10, 19, 28, 37), 40, **QWEN35),
    "Qwen3.5-122B-A10B": drafter(3072, 9216, 6, 8, (1, 7, 14, 20, 26, 32, 39, 45), 48, **QWEN35)
    | {"mask_token_id": 248077, "layer_types": (SLIDING,) * 5 + (FULL,), "sliding_window": 4096},
    "Qwen3-Coder-Next": drafter(2048, 6144, 8, 4, (1, 12, 23, 34, 45), 48, **CODER),
    "Qwen3-Coder-30B-A3B": drafter(2048, 6144, 8, 4, (1, 12, 23, 34, 45), 48, **CODER),
    "Qwen3.5-9B": drafter(4096, 12288, 5, 8, (1, 8, 15, 22, 29), 32, **QWEN35),
    "Qwen3-8B": drafter(4096, 12288, 5, 8, (1, 9, 17, 25, 33), 36, **QWEN3),
    "Qwen3.5-4B": drafter(2560, 9728, 5, 8, (1, 8, 15, 22, 29), 32, **QWEN35),
    "Qwen3-4B": drafter(2560, 9728, 5, 8, (1, 9, 17, 25, 33), 36, **QWEN3),
}
# As people counted them in the files; a GiB with two digits is as exact as they said it.
PUBLISHED_BYTES = {
    "Qwen3.8-27B": 3_848_808_960,
    "Qwen3.6-27B": 2 * 1_730_213_120,
    "Qwen3.5-27B": 3.5e9,
    "Qwen3.6-35B-A3B": 2 * 385_906_176,
    "Qwen3.5-35B-A3B": 0.88 * 2**30,
    "Qwen3.5-122B-A10B": 1.5e9,
    "Qwen3-Coder-Next": 0.95e9,  # counted, as nobody published it
    "Qwen3-Coder-30B-A3B": 0.95e9,
    "Qwen3.5-9B": 1.95 * 2**30,
    "Qwen3-8B": 1.95 * 2**30,
    "Qwen3.5-4B": 1.00 * 2**30,
    "Qwen3-4B": 1.00 * 2**30,
}

every_pair = pytest.mark.parametrize("pair", known_pairs(), ids=lambda pair: pair.family)


def parameters(config: DrafterConfig) -> int:
    """How many numbers a drafter of this shape holds: projections, MLP, norms; for DFlash 2 convolutions and selector."""
    hidden, heads = config.hidden_size, config.head_dim
    projections = (2 * config.num_attention_heads + 2 * config.num_key_value_heads) * heads * hidden
    layer = projections + 3 * hidden * config.intermediate_size + 2 * hidden + 2 * heads
    rest = len(config.target_layer_ids) * hidden * hidden + 2 * hidden
    if config.version == 2:
        bases = 2 * config.conv_kernel_size * hidden
        layer += 2 * (bases + bases // config.conv_group_size * hidden)
        rest += config.selector_rank * (hidden + 2 * (config.vocab_size or 0))
    return config.num_hidden_layers * layer + rest


@every_pair
def test_drafter_config_reads_as_it_is_published(pair: KnownPair):
    read = vars(DrafterConfig.from_dict(pair.drafter_config))
    published = PUBLISHED[pair.family]
    assert {name: read[name] for name in published} == published


@every_pair
def test_drafter_fits_its_target(pair: KnownPair):
    config = pair.target_config
    fields = [name for name in TargetConfig.__annotations__ if name != "attention_layers"]
    target = TargetConfig(attention_layers=1, **{name: config[name] for name in fields})
    check_fit(SimpleNamespace(config=target), SimpleNamespace(config=DrafterConfig.from_dict(pair.drafter_config)))


@every_pair
def test_drafter_size_follows_from_its_config_and_is_the_published_one(pair: KnownPair):
    assert pair.drafter_download == 2 * parameters(DrafterConfig.from_dict(pair.drafter_config))
    assert pair.drafter_download == pytest.approx(PUBLISHED_BYTES[pair.family], rel=0.012 if "@" in pair.drafter else 0.04)


@every_pair
def test_target_weights_are_those_of_mlx_lm_at_4_bits(pair: KnownPair):
    libraries = {"qwen3": qwen3, "qwen3_moe": qwen3_moe, "qwen3_next": qwen3_next, "qwen3_5_text": qwen3_5}
    library = (libraries | {"qwen3_5_moe_text": qwen3_5_moe})[pair.target_config["model_type"]]
    model = library.Model(library.ModelArgs.from_dict(dict(pair.target_config)))  # lazily: no weight is computed
    model.set_dtype(mx.bfloat16)
    mixed = getattr(model, "quant_predicate", None) or (lambda path, layer: True)
    nn.quantize(model, 64, 4, class_predicate=lambda path, layer: hasattr(layer, "to_quantized") and mixed(path, layer))
    assert pair.target_weights == sum(array.nbytes for _, array in tree_flatten(model.parameters()))
    assert pair.target_weights < pair.target_download < 1.35 * pair.target_weights  # there are vision weights too


@every_pair
def test_drafter_is_pinned_to_a_commit_or_said_not_to_be(pair: KnownPair):
    assert re.fullmatch(r"[\w-]+/[\w.-]+(@[0-9a-f]{40})?", pair.drafter)
    assert ("@" in pair.drafter) != ("not pinned" in pair.note)


@every_pair
def test_drafter_weights_are_those_of_its_projections_at_4_bits(pair: KnownPair):
    config = DrafterConfig.from_dict(pair.drafter_config)
    hidden, layers = config.hidden_size, config.num_hidden_layers
    kept = layers * (2 * hidden + 2 * config.head_dim) + 2 * hidden
    if config.version == 2:
        kept += layers * 4 * config.conv_kernel_size * hidden + 2 * config.selector_rank * (config.vocab_size or 0)
    projections = parameters(config) - kept
    assert pair.drafter_weights == kept * 2 + projections * 4.5 / 8  # 64 weights share a scale and an offset of 16 bits


@every_pair
def test_recommended_target_finds_its_own_pair(pair: KnownPair):
    assert find(pair.target) == pair


@pytest.mark.parametrize(
    ("target", "family"),
    [
        ("mlx-community/Qwen3.8-27B-4bit", "Qwen3.8-27B"),
        ("lmstudio-community/Qwen3.8-27B-MLX-8bit", "Qwen3.8-27B"),
        ("Qwen/Qwen3.8-27B", "Qwen3.8-27B"),
        ("somebody/qwen3.8-27b-mxfp8@main", "Qwen3.8-27B"),
        ("mlx-community/Qwen3.6-35B-A3B-4bit-DWQ", "Qwen3.6-35B-A3B"),
        ("mlx-community/Qwen3.5-9B-MLX-mixed_4_6", "Qwen3.5-9B"),
        ("mlx-community/Qwen3-4B-bf16", "Qwen3-4B"),
        ("mlx-community/Qwen3.5-4B-5bit-g32", "Qwen3.5-4B"),
    ],
)
def test_uploader_and_quantisation_do_not_matter(target, family):
    assert find(target).family == family


@pytest.mark.parametrize(
    "target",
    [
        "somebody/Qwen3.5-40B-4bit",
        "somebody/Qwen3.5-4B2",
        "Qwen/Qwen3-4B-Instruct-2507",
        "somebody/Qwen3.8-27B-Uncensored-MLX-4bit",
        "somebody/NotQwen3.8-27B",
        "Qwen/Qwen3.8",
        "Qwen3.8-27B/other-model",
        "z-lab/Qwen3.5-4B-DFlash",
    ],
)
def test_another_model_is_not_taken_for_a_known_one(target):
    assert find(target) is None


@pytest.mark.parametrize(
    "folder", ["models/Qwen3.5-9B-MLX-4bit", "hub/models--mlx-community--Qwen3.5-9B-4bit/snapshots/0123456789abcdef"]
)
def test_a_folder_goes_by_its_name(tmp_path: Path, folder, monkeypatch):
    (tmp_path / folder).mkdir(parents=True)
    assert find(tmp_path / folder).family == "Qwen3.5-9B"
    monkeypatch.chdir(tmp_path / folder)
    assert find(".").family == "Qwen3.5-9B"


def test_a_target_like_no_other_hears_that_no_drafter_is_known():
    said = without_drafter("openai/whisper", {"model_type": "whisper", "hidden_size": 4096})
    assert said == "no drafter is known for whisper; if one was made for it, name it"


@pytest.mark.parametrize("nested", [False, True])
def test_a_fine_tune_hears_which_drafter_fits_its_base(nested):
    pair = find("Qwen3.5-9B")
    config = pair.target_config | {"model_type": "qwen3_5_text"}
    config = {"model_type": "qwen3_5", "text_config": config} if nested else config
    said = without_drafter("somebody/Pirate-9B-4bit", config)
    assert said.startswith("no drafter is known for Pirate-9B-4bit, which has the sizes of a known model")
    assert said.endswith("if it was made from Qwen3.5-9B try the drafter z-lab/Qwen3.5-9B-DFlash")
    text = config["text_config"] if nested else config
    other = text | {"num_hidden_layers": 24}
    assert "z-lab" not in without_drafter("Pirate", config | {"text_config": other} if nested else other)


@every_pair
def test_pairs_go_by_the_names_that_are_listed(pair: KnownPair):
    assert named(pair.family) == named(pair.family.lower()) == pair
    assert named(f"{pair.family}-4bit") is None


@pytest.mark.parametrize(
    ("gigabytes", "family"),
    [(3, None), (5, "Qwen3.5-4B"), (12, "Qwen3.5-9B"), (16, "Qwen3.5-9B"), (19, "Qwen3.8-27B"), (96, "Qwen3.8-27B")],
)
def test_best_pair_is_the_largest_that_fits(gigabytes, family):
    pair = best(gigabytes * 10**9)
    assert (pair and pair.family) == family


@every_pair
def test_memory_grows_with_the_context(pair: KnownPair):
    assert pair.target_weights + pair.drafter_weights < pair.need(1024).total < pair.need(32768).total


@pytest.mark.parametrize(("metal", "family"), [(True, "Qwen3.8-27B"), (False, None)], ids=["metal", "no metal"])
def test_default_is_the_best_pair_only_where_there_is_metal(monkeypatch, metal, family):
    monkeypatch.setattr(module, "available", lambda: 36 * 10**9)
    monkeypatch.setattr(mx.metal, "is_available", lambda: metal)
    pair = default()
    assert (pair and pair.family) == family
