"""A checkpoint folder, read and checked before a model is built on it: config.json and model*.safetensors."""

import json
import re
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from safetensors import SafetensorError, safe_open

from dflash_mlx.config import bare, quantization_of
from dflash_mlx.errors import CheckpointError, ModelNotFoundError, UnsupportedModelError

Weights = dict[str, mx.array]

# MLX's modes of quantisation, and the group sizes and bits that each has, its defaults first
MODES = {
    "affine": [(64, 4), *((group, bits) for bits in (4, 8, 6, 5, 3, 2) for group in (64, 32, 128))],
    **{"mxfp4": [(32, 4)], "nvfp4": [(16, 4)], "mxfp8": [(32, 8)]},
}

LEFT_OUT = {  # what has no part in computing text here, by the tensors' bare names
    "the vision part": re.compile(r"(visual|vision_tower|vision_model|multi_modal_projector)\."),
    "multi-token prediction": re.compile(r"mtp\."),
    "scales of activations and caches": re.compile(
        r".+\.(input|output|activation|act|prob|[qkv]|kv)(_global|_cache)?_(scale|zero_point|amax)(_inv|_ub)?$"
    ),
    "positions and masks": re.compile(r"(.+\.)?(rotary_emb\..+|position_ids|self_attn\.(inv_freq|masked_bias))$"),
}


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises CheckpointError where it is not one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}.", "Get the model's files again.") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} does not hold a JSON object.", "Get the model's files again.")
    return content


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a model folder.

    Raises:
        ModelNotFoundError: the folder or its config.json is missing.
        CheckpointError: config.json is not a JSON object.
    """
    if not folder.is_dir():
        raise ModelNotFoundError(f"there is no folder {folder}.", "Check the path, or give a Hub name like owner/model.")
    if not (folder / "config.json").is_file():
        raise ModelNotFoundError(
            f"{folder} has no config.json.", "Point to the folder that holds config.json and model.safetensors."
        )
    return read_json(folder / "config.json")


def is_drafter(config: dict[str, Any]) -> bool:
    """Whether a config.json describes a DFlash drafter, whatever its model_type says (published ones say "qwen3")."""
    return "dflash_config" in config or "DFlash" in str(config.get("architectures"))


def to_convert(folder: Path, config: dict[str, Any]) -> str:
    """The hint for a checkpoint that only the conversion reads."""
    kind = "drafter" if is_drafter(config) else "target"
    return f"Convert it once: dflash-mlx convert {kind} {shlex.quote(str(folder))} -o FOLDER."


def read_weights(folder: Path) -> Weights:
    """All tensors of a folder, lazily loaded: of the files its index names, else of its model*.safetensors.

    Raises:
        ModelNotFoundError: there is no such file.
        CheckpointError: a file is truncated or damaged (found from its header, before MLX maps it), missing or outside
            the folder, or two files hold the same tensor.
    """
    weights: Weights = {}
    for file in weight_files(folder):
        try:
            with safe_open(file, framework="numpy"):  # checks the header against the file's size
                pass
            tensors: Weights = mx.load(str(file))  # type: ignore[assignment]
        except (SafetensorError, OSError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"{file} is damaged or incomplete ({error}).", "Get the file again: an interrupted download looks like this."
            ) from error
        if twice := sorted(tensors.keys() & weights.keys()):
            raise CheckpointError(f"{folder} has {twice[0]} in two files.", "Get the model's files again, into an empty folder.")
        weights |= tensors
    return weights


def weight_files(folder: Path) -> list[Path]:
    """The files of a folder's weights. Errors as those of `read_weights`."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        files = sorted(folder.glob("model*.safetensors"))
        if not files:
            raise ModelNotFoundError(
                f"{folder} has no model*.safetensors.",
                "Point to a folder with weights in safetensors format; dflash-mlx convert reads a GGUF file.",
            )
        return files
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise CheckpointError(f"{index} has no weight_map.", "Get the model's files again.")
    names = sorted(set(map(str, weight_map.values())))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors") or len(name) > 255:
            raise CheckpointError(
                f"{index} names {name!r}, which is not a weights file of this folder.", "Do not use this checkpoint."
            )
        if not (folder / name).is_file():
            raise CheckpointError(f"{folder} lacks {name}, which its index names.", "Download the model again: it resumes.")
    return [folder / name for name in names]


def leave_out(weights: Weights) -> dict[str, int]:
    """Takes out of weights what has no part in computing text here; how many tensors that were, by what they are."""
    left = {what: [name for name in weights if pattern.match(bare(name))] for what, pattern in LEFT_OUT.items()}
    for name in (name for names in left.values() for name in names):
        weights.pop(name, None)
    return {what: len(names) for what, names in left.items() if names}


def check_layers(count: int, weights: Weights, folder: Path) -> None:
    """Raises CheckpointError where config.json asks for more layers than the weights have: before a model of them is built."""
    found = 1 + max((int(number[1]) for name in weights if (number := re.search(r"\blayers\.(\d{1,9})\.", name))), default=-1)
    if count > found:
        raise CheckpointError(
            f"{folder / 'config.json'} asks for {count} layers, the weights have {found}.", "Get the model's files again."
        )


def load_weights(model: nn.Module, weights: Weights, config: dict[str, Any], folder: Path) -> None:
    """Puts a checkpoint's tensors into a model, quantising its layers first where the checkpoint is quantised.

    Follows mlx-lm's format: a layer is quantised iff `<layer>.scales` exists, as `packing` finds.

    Raises:
        CheckpointError: tensors missing, left over, or of a shape that contradicts config.json.
        UnsupportedModelError: the checkpoint is quantised in a way MLX does not name.
    """
    leave_out(weights)
    quantization = quantization_of(config)
    if isinstance(quantization, dict) and "quant_method" in quantization:
        raise UnsupportedModelError(
            f"{folder} is quantised as {quantization['quant_method']}, a format other than MLX's.",
            to_convert(folder, config)
            if quantization["quant_method"] == "fp8"
            else "Use an MLX conversion of this model, or the original weights.",
        )
    if quantization is not None:
        try:
            _quantize(model, weights, quantization)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise CheckpointError(
                f'"quantization" in {folder / "config.json"} does not fit the model ({error}).', "Get the model's files again."
            ) from error
    _check_tensors(dict(tree_flatten(model.parameters())), weights, folder)
    model.load_weights(list(weights.items()))
    model.eval()


def _quantize(model: nn.Module, weights: Weights, quantization: dict[str, Any]) -> None:
    def parameters_of(path: str, module: nn.Module) -> bool | dict[str, Any]:
        return f"{path}.scales" in weights and packing(path, weights, quantization, [module.weight.shape[-1]])

    nn.quantize(model, quantization["group_size"], quantization["bits"], class_predicate=parameters_of)


def packing(path: str, weights: Weights, quantization: dict[str, Any], inputs: Collection[int]) -> dict[str, Any]:
    """`group_size`, `bits` and `mode` of a quantised layer: as config.json says, or else as the shapes tell.

    A layer's own entry stands alone, as in mlx-lm: what it leaves out is its mode's default, not the other layers'.

    Args:
        quantization: see `quantization_of`.
        inputs: how many inputs the layer may have.
    """
    packed, scales = weights[f"{path}.weight"], weights[f"{path}.scales"]
    own = quantization.get(bare(path))
    said = {name: value for name, value in own.items() if value is not None} if isinstance(own, dict) else {}
    said = said or quantization
    mode = said.get("mode", "affine")
    first = (mode, said.get("group_size", MODES[mode][0][0]), said.get("bits", MODES[mode][0][1]))
    for mode, group_size, bits in [first, *((mode, *sizes) for mode, known in MODES.items() for sizes in known)]:
        wide = scales.shape[-1] * group_size
        if packed.shape[-1] * 32 == wide * bits and wide in inputs and (mode == "affine") == (scales.dtype != mx.uint8):
            break
    else:
        mode, group_size, bits = first
    return {"group_size": group_size, "bits": bits, "mode": mode}


def _check_tensors(expected: dict[str, Any], weights: Weights, folder: Path) -> None:
    missing, extra = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    for what, names in (("lacks", missing), ("has unexpected", extra)):
        if names:
            raise CheckpointError(
                f"{folder} {what} {len(names)} tensors, first {names[0]}.",
                "The weights and config.json are not of the same model: get both again.",
            )
    for name, tensor in expected.items():
        if _kind(tensor) != _kind(weights[name]):
            raise CheckpointError(
                f"{name} in {folder} holds {weights[name].dtype}, where {_kind(tensor)} is expected.",
                "Get the model's files again, or another conversion.",
            )
        if tensor.shape != weights[name].shape:
            raise CheckpointError(
                f"{name} in {folder} has shape {weights[name].shape}, config.json asks for {tensor.shape}.",
                "The weights and config.json are not of the same model: get both again.",
            )


def _kind(tensor: mx.array) -> str:
    return "floating point" if mx.issubdtype(tensor.dtype, mx.floating) else str(tensor.dtype)


def materialise(model: nn.Module, folder: Path) -> None:
    """Reads a lazily loaded model's weights into memory, one at a time, and checks them.

    Raises:
        CheckpointError: a tensor holds NaN or infinity.
    """
    parameters: dict[str, mx.array] = dict(tree_flatten(model.parameters()))
    for name, weight in parameters.items():
        if mx.issubdtype(weight.dtype, mx.floating) and not mx.isfinite(weight).all().item():
            raise CheckpointError(
                f"{name} in {folder} holds NaN or infinity.", "Get the model's files again, or another conversion."
            )
        mx.eval(weight)


def size_in_memory(model: nn.Module) -> int:
    """Bytes of a model's weights, loaded or not."""
    parameters: dict[str, mx.array] = dict(tree_flatten(model.parameters()))
    return sum(weight.nbytes for weight in parameters.values())
