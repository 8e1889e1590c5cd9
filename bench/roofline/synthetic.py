"""Checkpoints of random weights: a Qwen3.5 hybrid of any size, in mlx-lm's layout, and a DFlash drafter for it.

    python -m dflash_mlx.bench.roofline.synthetic 75m build/75m [--bits 4]

What they say is noise; what they cost is what a trained pair of their size costs.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3_5
from mlx_lm.utils import quantize_model
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from dflash_mlx.drafters import DrafterConfig, new_drafter
from dflash_mlx.training import save_drafter

GROUP_SIZE = 64  # of weights that share a scale, in a quantised target


@dataclass(frozen=True)
class Geometry:
    """Sizes of a pair. Every fourth target layer is attention, the others are recurrent.

    Attributes:
        linear_heads, linear_dim: of the recurrent layers, keys and values alike.
        version: 1 for a DFlash drafter, 2 for DFlash 2.
    """

    hidden: int
    layers: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    linear_heads: int
    linear_dim: int
    vocab: int
    drafter_layers: int
    block_size: int = 8
    taps: int = 5
    version: int = 2
    positions: int = 16384

    @property
    def target_config(self) -> dict[str, Any]:
        """config.json of the target."""
        text = {
            "model_type": "qwen3_5_text",
            "dtype": "float32",
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "intermediate_size": self.intermediate,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "linear_num_key_heads": self.linear_heads,
            "linear_num_value_heads": self.linear_heads,
            "linear_key_head_dim": self.linear_dim,
            "linear_value_head_dim": self.linear_dim,
            "linear_conv_kernel_dim": 4,
            "full_attention_interval": 4,
            "vocab_size": self.vocab,
            "max_position_embeddings": self.positions,
            "rms_norm_eps": 1e-6,
            "tie_word_embeddings": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25},
        }
        return {"model_type": "qwen3_5", "tie_word_embeddings": False, "text_config": text}

    @property
    def drafter_config(self) -> dict[str, Any]:
        """config.json of the drafter. Its taps are spread over the target's layers, as published ones are."""
        last = self.layers - 2
        taps = [1 + round(i * (last - 1) / (self.taps - 1)) for i in range(self.taps)]
        dflash: dict[str, Any] = {"block_size": self.block_size, "mask_token_id": 0, "target_layer_ids": taps}
        if self.version == 2:
            dflash |= {"conv_kernel_size": 2, "conv_group_size": 16, "selector_rank": 64, "selector_top_k": 16}
        return {
            "architectures": ["DFlash2DraftModel" if self.version == 2 else "DFlashDraftModel"],
            "model_type": "qwen3",
            "dtype": "float32",
            "hidden_size": self.hidden,
            "num_hidden_layers": self.drafter_layers,
            "intermediate_size": self.intermediate,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "vocab_size": self.vocab,
            "rms_norm_eps": 1e-6,
            "max_position_embeddings": self.positions,
            "num_target_layers": self.layers,
            "layer_types": ["full_attention"] * self.drafter_layers,
            "is_causal": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
            "dflash_config": dflash,
        }

    @property
    def injection_multiply_adds(self) -> int:
        """Of a row's context features on their way into the drafter: `fc`, then K and V of every layer."""
        return self.taps * self.hidden**2 + self.drafter_layers * 2 * self.hidden * self.kv_heads * self.head_dim

    def target_multiply_adds(self, prompt_tokens: int) -> int:
        """Of a prompt's row on its way through the target, on average; the head is not asked for it."""
        queries, keys, linear = self.heads * self.head_dim, self.kv_heads * self.head_dim, self.linear_heads * self.linear_dim
        # queries come with a gate; half the prompt is before a row, on average
        attention = self.hidden * (3 * queries + 2 * keys) + queries * prompt_tokens
        # q, k, v, z and the way out; decay and beta; 4 taps; decay, read, write and read of the state
        recurrent = self.hidden * (5 * linear + 2 * self.linear_heads) + 4 * 3 * linear + 4 * linear * self.linear_dim
        mlp = 3 * self.hidden * self.intermediate
        return self.attention_layers * attention + (self.layers - self.attention_layers) * recurrent + self.layers * mlp

    @property
    def attention_layers(self) -> int:
        return self.layers // 4

    def bytes_per_position(self, drafter: bool) -> int:
        """Of K and V, in the target and, if it is at work, the drafter."""
        layers = self.attention_layers + (self.drafter_layers if drafter else 0)
        return layers * 2 * self.kv_heads * self.head_dim * 4


GEOMETRIES = {
    "tiny": Geometry(64, 4, 128, 4, 2, 16, 4, 16, 256, drafter_layers=2, taps=3),
    "narrow": Geometry(64, 64, 128, 4, 2, 16, 4, 16, 256, drafter_layers=5),  # 64 layers: all overhead
    "75m": Geometry(512, 20, 1536, 8, 2, 64, 8, 64, 4096, drafter_layers=2),
    "300m": Geometry(1024, 20, 3072, 8, 2, 128, 8, 128, 8192, drafter_layers=2),
}


def write_pair(folder: Path, geometry: Geometry, bits: int | None = None) -> Path:
    """Writes a target with its tokenizer and, in its folder `drafter/`, a drafter; returns the folder.

    Args:
        bits: quantise both to so many bits; None: float32.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mx.random.seed(0)
    config = geometry.target_config
    model = qwen3_5.Model(qwen3_5.ModelArgs.from_dict(config))
    if bits is not None:
        model, config = quantize_model(model, config, GROUP_SIZE, bits)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())), {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    _write_tokenizer(folder, geometry.vocab)
    drafter = new_drafter(DrafterConfig.from_dict(geometry.drafter_config))
    save_drafter(drafter, geometry.drafter_config, folder / "drafter", bits)
    return folder


def _write_tokenizer(folder: Path, vocab: int) -> None:
    """A word a token, none of which ends an answer."""
    tokenizer = Tokenizer(WordLevel({f"w{i}": i for i in range(vocab)}, unk_token="w0"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.roofline.synthetic",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("geometry", choices=GEOMETRIES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bits", type=int, help="quantise both; by default they are float32")
    options = parser.parse_args()
    write_pair(options.folder, GEOMETRIES[options.geometry], options.bits)


if __name__ == "__main__":
    main()
