"""The trained target as a 4-bit folder in mlx-lm's layout, and that folder's model with its numbers multiplied out."""

import json
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm.models.qwen3_5 import Model, ModelArgs

from dflash_mlx.checkpoint import read_weights

from .tokenizer import IM_END_ID, PAD_ID

BITS, GROUP = 4, 64


def convert_target(source: Path, out: Path) -> None:
    """transformers' checkpoint -> config.json, generation_config.json and 4-bit model.safetensors; the rest float32."""
    config = json.loads((source / "config.json").read_text())
    config = {key: value for key, value in config.items() if key not in ("transformers_version", "dtype")}
    config["model_type"] = "qwen3_5"
    config["rope_parameters"].pop("mrope_section")  # for images; transformers warns of it where there are none
    model = Model(ModelArgs.from_dict(json.loads(json.dumps(config))))  # a copy: mlx-lm edits what it is given
    model.load_weights(list(model.sanitize(read_weights(source)).items()))

    def stored_in_4_bits(path: str, module: nn.Module) -> bool:
        return (
            hasattr(module, "to_quantized")
            and module.weight.shape[-1] % GROUP == 0
            and not path.endswith(("in_proj_a", "in_proj_b"))
        )

    nn.quantize(model, GROUP, BITS, class_predicate=stored_in_4_bits)
    config["quantization"] = {"group_size": GROUP, "bits": BITS}
    mx.save_safetensors(str(out / "model.safetensors"), dict(tree_flatten(model.parameters())), metadata={"format": "mlx"})
    generation = {"eos_token_id": [IM_END_ID, PAD_ID], "pad_token_id": PAD_ID, "do_sample": False}
    for name, content in (("config", config), ("generation_config", generation)):
        (out / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def load_dequantised(folder: Path) -> Model:
    """The model of a 4-bit folder with the same numbers as float32 matrices, which CPUs multiply faster in batches."""
    config = json.loads((folder / "config.json").read_text())
    quantization = config.pop("quantization")
    weights = read_weights(folder)
    for name in [key.removesuffix(".scales") for key in weights if key.endswith(".scales")]:
        weight, scales, biases = (weights.pop(f"{name}.{part}") for part in ("weight", "scales", "biases"))
        weights[f"{name}.weight"] = mx.dequantize(weight, scales, biases, **quantization)
    model = Model(ModelArgs.from_dict(config))
    model.load_weights(list(weights.items()))
    model.eval()
    mx.eval(model.parameters())
    return model
