"""A trained drafter as a folder in the published layout."""

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from dflash_mlx.drafters import GROUP_SIZE, DFlash, new_drafter, quantise


def save_drafter(drafter: DFlash, config: dict[str, Any], folder: str | Path, bits: int | None = None) -> None:
    """Writes config.json and model.safetensors.

    Args:
        drafter: an unquantised drafter; it stays as it is.
        config: what is to be its config.json.
        bits: quantise the projections to so many bits (MLX affine, groups of 64); norms, convolution base kernels
            and codebooks are kept.
    """
    of_source = ("quantization", "quantization_config")  # those of the drafter it came from
    config = {name: value for name, value in config.items() if name not in of_source}
    if bits is not None:
        stored = new_drafter(drafter.config)
        stored.update(drafter.parameters())
        quantise(stored, bits)
        drafter, config = stored, {**config, "quantization": {"group_size": GROUP_SIZE, "bits": bits}}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(drafter.parameters())), {"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
