"""Drafters: DFlash and DFlash 2, loaded from their checkpoint layout."""

import re
from pathlib import Path
from typing import Any, Literal

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.checkpoint import Weights, check_layers, is_drafter, load_weights, materialise, packing, read_config, read_weights
from dflash_mlx.config import quantization_of
from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.drafters.dflash import DFlash, Draft
from dflash_mlx.drafters.dflash2 import DFlash2
from dflash_mlx.errors import CheckpointError, RequestError, UnsupportedModelError

__all__ = [
    "GROUP_SIZE",
    "Bits",
    "DFlash",
    "DFlash2",
    "Draft",
    "DrafterConfig",
    "bits_at_load",
    "check_bits",
    "load_drafter",
    "new_drafter",
    "quantise",
]

OF_THE_TARGET = re.compile(r"(.+\.)?(embed_tokens|lm_head)\.")  # early drafters hold copies; what counts is the target's own
GROUP_SIZE = 64  # of weights that share a scale, when a drafter is quantised at load
AUTO_BITS = 4  # read in a quarter of the time, accepted as often: published for DFlash 2 and most DFlash drafters

Bits = int | Literal["auto"] | None


def load_drafter(folder: str | Path, bits: int | None = None, lazy: bool = False, config: dict[str, Any] | None = None) -> DFlash:
    """Loads a drafter from a folder in the published checkpoint layout, quantised or not.

    Args:
        folder: holds config.json and model*.safetensors.
        bits: quantise its projections to this many bits (MLX affine, groups of 64) while loading. Norms,
            convolution base kernels and codebooks are kept. A checkpoint that is already quantised stays as it is.
        lazy: leave the weights on disk until they are used, or until `checkpoint.materialise`.
        config: its config.json, if that has been read.

    Raises:
        ModelNotFoundError, CheckpointError, UnsupportedModelError: see the errors' own text.
        RequestError: `bits` is not one of 2, 3, 4, 5, 6, 8.
    """
    check_bits(bits)
    folder = Path(folder)
    config = read_config(folder) if config is None else config
    if not is_drafter(config):
        raise UnsupportedModelError(
            f"{folder} is not a DFlash drafter (model_type {config.get('model_type')!r}, no dflash_config).",
            "Give a DFlash checkpoint as the drafter; a model that answers is a target.",
        )
    drafter = assemble(folder, config, read_weights(folder))
    if bits is not None and quantization_of(config) is None:
        quantise(drafter, bits)
    drafter.fuse()
    if not lazy:
        materialise(drafter, folder)
        mx.eval([layer.parameters() for layer in drafter.linear_layers])  # views too: no other thread could compute them
    return drafter


def check_bits(bits: Bits) -> None:
    """Raises RequestError where `load`'s drafter_bits is neither "auto" nor None nor a width MLX quantises to."""
    if bits is not None and bits != "auto" and (type(bits) is not int or bits not in (2, 3, 4, 5, 6, 8)):
        raise RequestError(f"drafter_bits {bits!r} is not a width MLX quantises to.", "Use 2, 3, 4, 5, 6 or 8, or leave it out.")


def bits_at_load(bits: Bits, config: dict[str, Any], target_config: dict[str, Any]) -> int | None:
    """What a drafter is quantised to while it is loaded; None: it stays as published.

    Args:
        bits: `load`'s drafter_bits. "auto" quantises a drafter that is not quantised for a target that is.
        config, target_config: contents of both config.json.
    """
    if quantization_of(config) is not None:
        return None
    if bits == "auto":
        return AUTO_BITS if quantization_of(target_config) is not None else None
    return bits


def assemble(folder: Path, config: dict[str, Any], weights: Weights) -> DFlash:
    """The drafter that a config.json describes, with its tensors, not read yet; errors as those of `load_drafter`.

    What float16 holds becomes bfloat16.
    """
    known = DrafterConfig.from_dict(config)
    check_layers(known.num_hidden_layers, weights, folder)
    try:
        drafter = new_drafter(known)
    except Exception as error:  # whatever a senseless size or rope setting makes the layers stumble over
        raise CheckpointError(
            f"{folder / 'config.json'} does not describe a drafter that can be built here ({error!r}).",
            "Get the drafter's files again.",
        ) from error
    load_weights(drafter, _sanitize(weights, config, known, folder), config, folder)
    return drafter


def new_drafter(config: DrafterConfig) -> DFlash:
    """A drafter of the configured version, its weights random by `mx.random`."""
    return DFlash2(config) if config.version == 2 else DFlash(config)


def quantise(drafter: DFlash, bits: int) -> None:
    """Quantises a drafter's projections in place (MLX affine, groups of 64), before `fuse`. All else is kept."""
    nn.quantize(drafter, GROUP_SIZE, bits, class_predicate=_is_projection)


def _sanitize(weights: Weights, config: dict[str, Any], known: DrafterConfig, folder: Path) -> Weights:
    weights = {name: tensor for name, tensor in weights.items() if not OF_THE_TARGET.match(name)}
    # mlx-vlm writes the codebooks as embeddings: with a .weight suffix and, where their rank allows it, quantised
    for name in (f"candidate_selector.{which}_codebook" for which in ("predecessor", "successor")):
        if f"{name}.scales" in weights:
            try:
                how = packing(name, weights, quantization_of(config) or {}, [known.selector_rank])
                table, scales, biases = (weights.pop(f"{name}.{part}", None) for part in ("weight", "scales", "biases"))
                weights[name] = mx.dequantize(table, scales, biases, **how)  # type: ignore[arg-type]
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise CheckpointError(
                    f'"quantization" in {folder / "config.json"} does not fit {name} ({error}).', "Get the drafter's files again."
                ) from error
        elif f"{name}.weight" in weights:
            weights[name] = weights.pop(f"{name}.weight")
    # float16 overflows inside the drafter without an error and drives acceptance to zero; its numbers fit in bfloat16
    return {name: w.astype(mx.bfloat16) if w.dtype == mx.float16 else w for name, w in weights.items()}


def _is_projection(_: str, module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) and module.weight.shape[-1] % GROUP_SIZE == 0
