"""A new drafter from its configuration, and a trained one as a folder in the published layout."""

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from dflash_mlx.drafters import GROUP_SIZE, DFlash, DFlash2, DrafterConfig, quantise


def new_drafter(config: dict[str, Any]) -> DFlash:
    """An untrained drafter, random by `mx.random`, from what will be its config.json."""
    known = DrafterConfig.from_dict(config)
    return (DFlash2 if known.version == 2 else DFlash)(known)


def save_drafter(drafter: DFlash, config: dict[str, Any], folder: str | Path, bits: int | None = None) -> None:
    """Writes config.json and model.safetensors.

    Args:
        drafter: an unquantised drafter; it stays as it is.
        config: its config.json, as given to `new_drafter`.
        bits: quantise the projections to so many bits (MLX affine, groups of 64); norms, convolution base kernels
            and codebooks are kept.
    """
    config = {name: value for name, value in config.items() if name != "quantization"}  # that of the drafter it came from
    if bits is not None:
        stored = new_drafter(config)
        stored.update(drafter.parameters())
        quantise(stored, bits)
        drafter, config = stored, {**config, "quantization": {"group_size": GROUP_SIZE, "bits": bits}}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(drafter.parameters())), {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
