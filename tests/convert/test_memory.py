"""A conversion holds one file of the result and one tensor of the source, however large the model is."""

import json
from pathlib import Path

import mlx.core as mx
import pytest

from dflash_mlx.convert import convert_target, weights

LAYERS, WIDTH = 8, 1024  # a layer a file


def write_checkpoint(folder: Path) -> int:
    """A Qwen3 of one layer a file. Gives its bytes."""
    folder.mkdir()
    shapes = {"q_proj": (WIDTH, WIDTH), "k_proj": (128, WIDTH), "v_proj": (128, WIDTH), "o_proj": (WIDTH, WIDTH)}
    shapes = {f"self_attn.{name}.weight": shape for name, shape in shapes.items()}
    shapes |= {"self_attn.q_norm.weight": (128,), "self_attn.k_norm.weight": (128,)}
    shapes |= {"input_layernorm.weight": (WIDTH,), "post_attention_layernorm.weight": (WIDTH,)}
    shapes |= {f"mlp.{name}_proj.weight": (4 * WIDTH, WIDTH) for name in ("gate", "up")} | {
        "mlp.down_proj.weight": (WIDTH, 4 * WIDTH)
    }
    size = 0
    for layer in range(LAYERS):
        tensors = {f"model.layers.{layer}.{name}": mx.ones(shape, mx.bfloat16) for name, shape in shapes.items()}
        if layer == 0:
            tensors |= {
                "model.embed_tokens.weight": mx.zeros((64, WIDTH), mx.bfloat16),
                "model.norm.weight": mx.ones(WIDTH, mx.bfloat16),
            }
        mx.save_safetensors(str(folder / f"model-{layer + 1:05d}-of-{LAYERS:05d}.safetensors"), tensors)
        size += sum(tensor.nbytes for tensor in tensors.values())
    config = {"model_type": "qwen3", "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "intermediate_size": 4 * WIDTH}
    config |= {"num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 128, "rms_norm_eps": 1e-6, "vocab_size": 64}
    config |= {"max_position_embeddings": 512, "tie_word_embeddings": True, "rope_theta": 1e4}
    (folder / "config.json").write_text(json.dumps(config))
    return size


def test_memory_is_that_of_a_file_and_a_tensor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "SHARD", 8 << 20)
    size = write_checkpoint(tmp_path / "source")
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    convert_target(tmp_path / "source", tmp_path / "result", check=False)
    assert size > 200 << 20 and len(list((tmp_path / "result").glob("model-*"))) > 5
    assert mx.get_peak_memory() - before < 40 << 20  # a file of 8 MiB, a tensor of 8 MiB, and what MLX needs to quantise it
