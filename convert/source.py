"""A checkpoint as it was published, opened for conversion: its configuration, and its tensors, not read yet.

Whatever was packed (fp8 with scales, MLX's own quantisation) is unpacked when it is read; what is not text is left out.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mlx.core as mx

from dflash_mlx.checkpoint import Weights, leave_out, packing, read_config, read_json, read_weights
from dflash_mlx.config import quantization_of
from dflash_mlx.errors import CheckpointError, UnsupportedModelError
from dflash_mlx.loading.hub import Downloading, resolve

from .gguf import find_gguf, read_gguf

Notice = Callable[[str], None]

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
EXPERT = re.compile(r"(.+\.mlp)\.experts\.(\d{1,5})\.(gate_proj|up_proj|down_proj)\.weight")

# Whose product is how many inputs a layer has, by the layer's name, where that is not the hidden size.
HIDDEN = (("hidden_size",),)
INPUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "o_proj": (("num_attention_heads", "head_dim"),),
    "out_proj": (("linear_num_value_heads", "linear_value_head_dim"),),
    "down_proj": (("intermediate_size",), ("moe_intermediate_size",), ("shared_expert_intermediate_size",)),
    "fc": (("hidden_size", "taps"),),
    "predecessor_codebook": (("selector_rank",),),
    "successor_codebook": (("selector_rank",),),
}


class Source(NamedTuple):
    """A checkpoint to convert.

    Attributes:
        folder: where its files are.
        name: its Hub id, or its folder's name.
        revision: the commit of a Hub snapshot; None: not known.
        config: config.json without entries on quantisation.
        weights: floating-point tensors, lazy: nothing is read before it is evaluated.
    """

    folder: Path
    name: str
    revision: str | None
    config: dict[str, Any]
    weights: Weights


def open_source(name: str | Path, downloading: Downloading | None = None, notice: Notice = lambda text: None) -> Source:
    """Opens a checkpoint: a folder or a Hub id, with safetensors, or a folder with one GGUF file and the original's config.json.

    Args:
        downloading: as in `hub.resolve`.
        notice: called with a sentence on what is left out or lost.

    Raises:
        ModelNotFoundError: nothing is there, or it cannot be had.
        CheckpointError: a file is missing or damaged, or the index is wrong.
        UnsupportedModelError: the weights are in a format that is not read, Python pickles among them.
    """
    folder = resolve(name, downloading)
    gguf = find_gguf(folder)
    if gguf is None:
        _refuse_pickles(folder)
    config = read_config(folder)
    if gguf is None:
        _check_shards(folder)
        weights = read_weights(folder)
        _check_index(folder, weights)
    else:
        weights = read_gguf(gguf)
    for what, count in leave_out(weights).items():
        notice(f"{count} tensors of {what} are left out.")
    config, weights = _unpacked(config, weights, folder, notice)
    if str(config.get("model_type")).startswith("qwen3_5_moe"):
        _stack_experts(weights, folder)
    return Source(folder, *_origin(folder), config, weights)


def _origin(folder: Path) -> tuple[str, str | None]:
    """Name and revision of a folder: a snapshot in the Hub cache tells both."""
    if snapshot := re.fullmatch(r".*/models--([^/]+?)--([^/]+)/snapshots/([^/]+)", folder.absolute().as_posix()):
        return f"{snapshot[1]}/{snapshot[2]}", snapshot[3]
    return folder.resolve().name, None


def _refuse_pickles(folder: Path) -> None:
    pickles = [file.name for pattern in PICKLES for file in sorted(folder.glob(pattern))]
    if pickles and not any(folder.glob("model*.safetensors")):
        raise UnsupportedModelError(
            f"{folder} has its weights as a Python pickle ({pickles[0]}), which can run any code when it is read.",
            "Get the model in safetensors format; many repositories have both.",
        )


def _check_shards(folder: Path) -> None:
    """Raises CheckpointError where files named N of M are not all there, as after an interrupted download without an index."""
    for file in sorted(folder.glob("model*.safetensors")):
        if shards := re.fullmatch(r"(.+)-\d{5}-of-(\d{5})\.safetensors", file.name):
            for number in range(1, int(shards[2]) + 1):
                name = f"{shards[1]}-{number:05d}-of-{shards[2]}.safetensors"
                if not (folder / name).is_file():
                    raise CheckpointError(f"{folder} lacks {name}.", "Download the model again: it resumes.")


def _check_index(folder: Path, weights: Weights) -> None:
    index = folder / "model.safetensors.index.json"
    if index.is_file() and (absent := sorted(read_json(index)["weight_map"].keys() - weights.keys())):
        raise CheckpointError(
            f"{index} names {len(absent)} tensors that no file holds, first {absent[0]}.",
            "The index does not belong to these files: get the model's files again.",
        )


def _unpacked(config: dict[str, Any], weights: Weights, folder: Path, notice: Notice) -> tuple[dict[str, Any], Weights]:
    """Config and weights without quantisation."""
    how = quantization_of(config)
    method = how.get("quant_method") if isinstance(how, dict) else None
    try:
        if how is None:
            pass
        elif method == "fp8":
            weights = _from_fp8(weights, how.get("weight_block_size"))
        elif isinstance(how, dict) and "group_size" in how and "bits" in how and method is None:
            notice("the source is already quantised: that loss stays, and this adds to it. Better convert the original.")
            weights = _from_mlx(weights, how, config)
        else:
            raise UnsupportedModelError(
                f"{folder} is quantised as {method or how!r}, which is not supported.",
                "Give the original weights, their fp8 version with block scales, or an MLX conversion.",
            )
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise CheckpointError(
            f"the quantisation in {folder / 'config.json'} does not fit the weights ({error}).", "Get the model's files again."
        ) from error
    config = _without_quantization(config)
    if isinstance(config.get("text_config"), dict):
        config["text_config"] = _without_quantization(config["text_config"])
    return config, weights


def _without_quantization(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in ("quantization", "quantization_config")}


def _from_mlx(weights: Weights, how: dict[str, Any], config: dict[str, Any]) -> Weights:
    text = config | (config.get("text_config") or {}) | (config.get("dflash_config") or {})
    text["taps"] = len(text.get("target_layer_ids") or ())
    for path in [name.removesuffix(".scales") for name in weights if name.endswith(".scales")]:
        widths = [math.prod(text.get(size) or 1 for size in sizes) for sizes in INPUTS.get(path.rpartition(".")[2], HIDDEN)]
        own = packing(path, weights, how, widths)
        packed, scales, biases = weights[f"{path}.weight"], weights.pop(f"{path}.scales"), weights.pop(f"{path}.biases", None)
        weights[f"{path}.weight"] = mx.dequantize(packed, scales, biases, **own)
    return weights


def _from_fp8(weights: Weights, block_size: list[int] | None) -> Weights:
    """Numbers of fp8 (e4m3) times the scale of their block: `NAME` and `NAME_scale_inv`, as Qwen publishes them, or `NAME_scale`.

    Args:
        block_size: rows and columns that share a scale; None: all do.
    """
    for scale in [name for name in weights if name.endswith(("_scale_inv", ".weight_scale"))]:
        name = scale.removesuffix("_inv").removesuffix("_scale")
        scales, packed = weights.pop(scale), weights[name]
        if packed.dtype != mx.uint8 or not mx.issubdtype(scales.dtype, mx.floating):
            raise ValueError(f"{name} holds {packed.dtype} with scales of {scales.dtype}")
        if scales.size > 1:
            for axis, block in zip((-2, -1), block_size or ()):
                if scales.shape[axis] != -(-packed.shape[axis] // block):
                    raise ValueError(f"{name} {packed.shape} has scales {scales.shape} for blocks of {block_size}")
                scales = mx.split(mx.repeat(scales, block, axis), [packed.shape[axis]], axis)[0]
        weights[name] = (mx.from_fp8(packed, scales.dtype) * scales).astype(mx.bfloat16)
    return weights


def _stack_experts(weights: Weights, folder: Path) -> None:
    """Experts one by one, as in fp8 versions, become what mlx-lm's model of this family holds."""
    found: dict[tuple[str, str], dict[int, str]] = {}
    for name in weights:
        if expert := EXPERT.fullmatch(name):
            found.setdefault((expert[1], expert[3]), {})[int(expert[2])] = name
    for (mlp, projection), experts in found.items():
        if sorted(experts) != list(range(len(experts))):
            raise CheckpointError(f"{folder} lacks experts of {mlp}.", "Download the model again: it resumes.")
        stacked = mx.stack([weights.pop(experts[number]) for number in range(len(experts))])
        weights[f"{mlp}.switch_mlp.{projection}.weight"] = stacked
