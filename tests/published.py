"""Tiny checkpoints of each family as transformers itself writes them, and the logits that it computes from them.

Those in fixtures/published were recorded with `python tests/published.py tests/fixtures/published`, which needs torch.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

IDS = [[3, 41, 7, 7, 58, 19, 2, 30, 11, 63, 5, 44, 29, 8, 1, 52]]

COMMON = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "max_position_embeddings": 512,
    "bos_token_id": None,
    "eos_token_id": 0,
    "pad_token_id": None,
    "initializer_range": 0.2,
}
DENSE = {"intermediate_size": 64}
EXPERTS = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "norm_topk_prob": True}
SHARED = {**EXPERTS, "shared_expert_intermediate_size": 32}
HYBRID = {
    "num_hidden_layers": 2,
    "layer_types": ["linear_attention", "full_attention"],
    "full_attention_interval": 2,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
}
VISION = {"depth": 1, "hidden_size": 8, "intermediate_size": 8, "num_heads": 1, "out_hidden_size": 32, "patch_size": 2}
VISION |= {"num_position_embeddings": 4}

# The name of a checkpoint: transformers' class of model and configuration, and what is set in the latter.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**COMMON, **DENSE, "num_hidden_layers": 2, "tie_word_embeddings": True}),
    "qwen3_moe": ("Qwen3MoeForCausalLM", "Qwen3MoeConfig", {**COMMON, **DENSE, **EXPERTS, "num_hidden_layers": 2}),
    "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3NextConfig", {**COMMON, **DENSE, **SHARED, **HYBRID}),
    "qwen3_5_text": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", {**COMMON, **DENSE, **HYBRID}),
    "qwen3_5": (
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5Config",
        {
            "text_config": {**COMMON, **DENSE, **HYBRID, "tie_word_embeddings": True},
            "vision_config": VISION,
            "tie_word_embeddings": True,
        },
    ),
    "qwen3_5_moe": (
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen3_5MoeConfig",
        {"text_config": {**COMMON, **SHARED, **HYBRID}, "vision_config": VISION},
    ),
}


def publish(name: str, folder: Path) -> np.ndarray:
    """Writes a checkpoint with random float32 weights. Gives its logits for `IDS`, float32 `[1, ids, vocab]`."""
    import torch
    import transformers

    model_class, config_class, settings = MODELS[name]
    torch.manual_seed(7)
    model = getattr(transformers, model_class)(getattr(transformers, config_class)(**settings)).float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:  # norms begin as zeros or ones, which would hide one taken for the other
                parameter += 0.2 * torch.randn_like(parameter)
            parameter.copy_(parameter.bfloat16())  # as bfloat16 holds them, to compare files of both types
        model.save_pretrained(folder, max_shard_size="100KB")
        logits: np.ndarray = model(input_ids=torch.tensor(IDS), use_cache=False).logits.numpy()
    return logits


if __name__ == "__main__":
    for checkpoint in MODELS:
        place = Path(sys.argv[1]) / checkpoint
        np.savez_compressed(place / "logits.npz", logits=publish(checkpoint, place))
