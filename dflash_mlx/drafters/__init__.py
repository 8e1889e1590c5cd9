"""Drafters: DFlash and DFlash 2, loaded from their checkpoint layout."""

from pathlib import Path

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.checkpoint import is_drafter, load_weights, materialise, read_config, read_weights
from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.drafters.dflash import DFlash, Draft
from dflash_mlx.drafters.dflash2 import DFlash2
from dflash_mlx.errors import RequestError, UnsupportedModelError

__all__ = ["DFlash", "DFlash2", "Draft", "DrafterConfig", "load_drafter"]

GROUP_SIZE = 64  # of weights that share a scale, when a drafter is quantised at load


def load_drafter(folder: str | Path, bits: int | None = None, lazy: bool = False) -> DFlash:
    """Loads a drafter from a folder in the published checkpoint layout, quantised or not.

    Args:
        folder: holds config.json and model*.safetensors.
        bits: quantise its projections to this many bits (MLX affine, groups of 64) while loading. Norms,
            convolution base kernels and codebooks are kept. A checkpoint that is already quantised stays as it is.
        lazy: leave the weights on disk until they are used, or until `checkpoint.materialise`.

    Raises:
        ModelNotFoundError, CheckpointError, UnsupportedModelError: see the errors' own text.
        RequestError: `bits` is not one of 2, 3, 4, 5, 6, 8.
    """
    if bits is not None and (type(bits) is not int or bits not in (2, 3, 4, 5, 6, 8)):
        raise RequestError(f"drafter_bits {bits!r} is not a width MLX quantises to.", "Use 2, 3, 4, 5, 6 or 8, or leave it out.")
    folder = Path(folder)
    config = read_config(folder)
    if not is_drafter(config):
        raise UnsupportedModelError(
            f"{folder} holds no DFlash drafter (model_type {config.get('model_type')!r}, no dflash_config).",
            "Give a DFlash checkpoint as drafter; a model to be answered by is a target.",
        )
    known = DrafterConfig.from_dict(config)
    drafter = (DFlash2 if known.version == 2 else DFlash)(known)
    load_weights(drafter, _sanitize(read_weights(folder)), config, folder)
    if bits is not None and "quantization" not in config:
        nn.quantize(drafter, GROUP_SIZE, bits, class_predicate=_is_projection)
    drafter.fuse()
    if not lazy:
        materialise(drafter, folder)
    return drafter


def _sanitize(weights: dict[str, mx.array]) -> dict[str, mx.array]:
    # float16 overflows inside the drafter without an error and drives acceptance to zero; its numbers fit in bfloat16
    return {name: w.astype(mx.bfloat16) if w.dtype == mx.float16 else w for name, w in weights.items()}


def _is_projection(_: str, module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) and module.weight.shape[-1] % GROUP_SIZE == 0
