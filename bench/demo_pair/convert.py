"""The trained target as a 4-bit folder in mlx-lm's layout, and that folder's model with its numbers multiplied out."""

import json
import shutil
import tempfile
from pathlib import Path

import mlx.core as mx
from mlx_lm.models.qwen3_5 import Model, ModelArgs

from dflash_mlx.checkpoint import read_weights
from dflash_mlx.convert import convert_target as convert

from .tokenizer import IM_END_ID, PAD_ID


def convert_target(source: Path, out: Path) -> None:
    """transformers' checkpoint -> config.json, generation_config.json and 4-bit model.safetensors; the rest float32."""
    with tempfile.TemporaryDirectory() as folder:
        result = convert(source, Path(folder) / "target", recipe="4bit-gates", check=False).folder
        config = json.loads((result / "config.json").read_text())
        shutil.copy(result / "model.safetensors", out)
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
