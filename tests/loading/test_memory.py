"""The memory estimate against what MLX reports as its peak, and against figures worked out from published sizes."""

import gc
import json
import shutil
from pathlib import Path

import mlx.core as mx
import pytest
from drafters.test_config import DFLASH2_27B
from fixture_data import CHECKPOINTS
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3_5

import dflash_mlx as dm
from dflash_mlx.drafters import DFlash2, DrafterConfig
from dflash_mlx.loading import memory
from dflash_mlx.loading.memory import estimate

PAIRS = [(f"target_qwen3_5{suffix}", f"dflash2_{kind}") for suffix in ("", "_4bit") for kind in ("full", "swa")]
PAIRS += [("target_qwen3", "dflash1_full"), ("target_qwen3_4bit", "dflash1_swa")]
REQUESTS = [(*pair, *request) for pair in PAIRS for request in ((64, 8), (600, 4))]
REQUESTS += [(f"target_{family}", None, 600, 1) for family in ("qwen3", "qwen3_moe", "qwen3_5_tied", "qwen3_5_moe_4bit")]

HYBRID = {
    "num_key_value_heads": 2,
    "head_dim": 64,
    "linear_num_value_heads": 8,
    "linear_num_key_heads": 4,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 4,
    "vocab_size": 4096,
    "max_position_embeddings": 4096,
}
QWEN_27B = {
    "text_config": {
        "hidden_size": 5120,
        "intermediate_size": 17408,
        "num_hidden_layers": 64,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "linear_num_value_heads": 48,
        "linear_num_key_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "full_attention_interval": 4,
        "vocab_size": 248320,
    }
}


@pytest.mark.parametrize(("target", "drafter", "prompt_tokens", "block_size"), REQUESTS)
def test_the_estimate_is_near_the_measured_peak_of_tiny_pairs(
    target: str, drafter: str | None, prompt_tokens: int, block_size: int
) -> None:
    gc.collect()
    mx.clear_cache()
    before = mx.get_active_memory()
    pair = dm.load(CHECKPOINTS / target, drafter=CHECKPOINTS / drafter if drafter else None)
    gc.collect()
    mx.reset_peak_memory()
    result = pair.generate([5] * prompt_tokens, max_tokens=40, block_size=block_size)
    need = pair._need(prompt_tokens + 40, block_size, prompt_tokens)
    # how long temporary arrays linger is up to MLX's threads: some 100 kB, which only these tiny models notice
    assert need.total == pytest.approx(result.statistics.peak_memory_bytes - before, rel=0.05, abs=500_000)


@pytest.fixture(scope="module")
def larger_pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target of 60 MB and a drafter of 40 MB, random."""
    target, drafter = tmp_path_factory.mktemp("target"), tmp_path_factory.mktemp("drafter")
    sizes = HYBRID | {"hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 4, "num_attention_heads": 8}
    config = {"model_type": "qwen3_5", "text_config": sizes, "torch_dtype": "float32"}
    small = DFLASH2_27B | {"hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 2, "num_attention_heads": 8}
    small |= {
        "num_key_value_heads": 4,
        "head_dim": 64,
        "vocab_size": 4096,
        "num_target_layers": 4,
        "layer_types": ["full_attention"] * 2,
    }
    small["dflash_config"] = DFLASH2_27B["dflash_config"] | {"mask_token_id": 4000, "target_layer_ids": [0, 1, 3]}
    mx.random.seed(0)
    for folder, content, model in (
        (target, config, qwen3_5.Model(qwen3_5.ModelArgs.from_dict(config))),
        (drafter, small, DFlash2(DrafterConfig.from_dict(small))),
    ):
        mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())))
        (folder / "config.json").write_text(json.dumps(content))
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(CHECKPOINTS / "target_qwen3_5" / name, target)
    return target, drafter


@pytest.mark.parametrize(("drafted", "prompt_tokens", "block_size"), [(False, 100, 1), (True, 10, 8), (True, 100, 4)])
def test_the_estimate_is_within_5_percent_where_weights_weigh(
    drafted: bool, prompt_tokens: int, block_size: int, larger_pair: tuple[Path, Path]
) -> None:
    target, drafter = larger_pair
    gc.collect()
    before = mx.get_active_memory()
    pair = dm.load(target, drafter=drafter if drafted else None)
    mx.reset_peak_memory()
    result = pair.generate([5] * prompt_tokens, max_tokens=10, block_size=block_size)
    need = pair._need(prompt_tokens + 10, block_size, prompt_tokens)
    assert need.target + need.drafter > (90_000_000 if drafted else 55_000_000)
    assert need.total == pytest.approx(result.statistics.peak_memory_bytes - before, rel=0.05)


@pytest.mark.parametrize("positions", [2048, 8192, 32768])
@pytest.mark.parametrize("block_size", [4, 8])
def test_a_4_bit_drafter_takes_at_most_1_6_gb_on_the_27b_target(
    positions: int, block_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mx.metal, "is_available", lambda: True)  # in plain MLX, a block keeps a state a row
    projections = 5 * (2 * 4096 * 5120 + 2 * 1024 * 5120 + 3 * 17408 * 5120 + 2 * 1280 * 5120) + 5120 * 25600 + 256 * 5120
    drafter_bytes = projections * 9 // 16 + 2 * 248320 * 256 * 2  # 4 bits and half a bit of scales; codebooks in bfloat16
    speculative = estimate(QWEN_27B, 16_050_000_000, DFLASH2_27B, drafter_bytes, positions, block_size)
    plain = estimate(QWEN_27B, 16_050_000_000, None, 0, positions, 1)
    assert drafter_bytes <= speculative.total - plain.total <= 1_600_000_000


def test_rows_computed_one_by_one_hold_a_state_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mx.metal, "is_available", lambda: True)
    fast, exact = (estimate(QWEN_27B, 0, DFLASH2_27B, 0, 4096, 8, 1, exact).working for exact in (False, True))
    assert exact - fast == 7 * 48 * 48 * 128 * 128 * 4


def test_the_27b_targets_context_is_what_its_geometry_says() -> None:
    context = estimate(QWEN_27B, 0, None, 0, 32768).context
    keys_and_values, recurrent, conv = 16 * 2 * 4 * 256 * 32768 * 2, 48 * 48 * 128 * 128 * 4, 48 * 3 * 10240 * 2
    assert context == keys_and_values + recurrent + conv


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 3_000_000)


@pytest.mark.usefixtures("small_machine")
def test_a_pair_that_does_not_fit_is_refused_with_the_numbers_before_it_is_read() -> None:
    before = mx.get_active_memory()
    with pytest.raises(dm.MemoryBudgetError, match=r"needs [\d.]+ GB .*target .*drafter .*offers 0\.0 GB") as caught:
        dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
    assert "force=True" in caught.value.hint and mx.get_active_memory() == before


@pytest.mark.usefixtures("small_machine")
def test_force_loads_and_answers_all_the_same() -> None:
    pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full", force=True)
    assert len(pair.generate([5, 6], max_tokens=3).token_ids) == 3


def test_a_request_that_does_not_fit_is_refused_before_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
    monkeypatch.setattr(memory, "available", lambda: 20_000_000)
    pair.stream([5, 6], max_tokens=50)
    with pytest.raises(dm.MemoryBudgetError):
        pair.stream([5] * 3000, max_tokens=50)
