"""Trains the demo drafters on the target's own answers: a good one, and one stopped early for tests of rollback."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm.models.qwen3_5 import Model

from dflash_mlx.targets.qwen3_5 import Qwen35
from dflash_mlx.training import DrafterConfig, Example, Progress, TrainingOptions, new_drafter, save_drafter, train

from .tokenizer import MASK_ID

SEED = 5
TAPS = (3, 8, 13, 18, 23)  # spread over the target's layers, the last one among them
CONFIG: dict[str, Any] = {
    "model_type": "qwen3",
    "architectures": ["DFlash2DraftModel"],
    "hidden_size": 128,
    "intermediate_size": 384,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "vocab_size": 1024,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "max_position_embeddings": 4096,
    "num_target_layers": 24,
    "tie_word_embeddings": False,
    "is_causal": False,
    "layer_types": ["full_attention"],
    "dflash_config": {
        "block_size": 8,
        "mask_token_id": MASK_ID,
        "target_layer_ids": list(TAPS),
        "conv_kernel_size": 2,
        "conv_group_size": 16,
        "selector_rank": 64,
        "selector_top_k": 8,
    },
}


def make_drafter(model: Model, examples: Sequence[Example], folder: Path, steps: int, progress: Callable[[str], None]) -> None:
    """Trains a drafter for so many steps and saves it in 4 bits."""

    def report(now: Progress) -> None:
        if now.step % 50 == 0 or now.step == steps:
            progress(f"drafter step {now.step} of {steps}, loss {now.unary_loss:.4f} + selector {now.selector_loss:.4f}")

    mx.random.seed(SEED)
    drafter = new_drafter(DrafterConfig.from_dict(CONFIG))
    train(drafter, Qwen35(model.language_model), examples, TrainingOptions(steps=steps, seed=SEED), report)
    save_drafter(drafter, CONFIG, folder, bits=4)
