"""Targets: one file a Qwen family, behind the contract in `base`."""

from pathlib import Path
from typing import Any

from dflash_mlx.checkpoint import Weights, is_drafter, materialise, read_config
from dflash_mlx.errors import UnsupportedModelError
from dflash_mlx.targets import qwen3, qwen3_5, qwen3_moe, qwen3_next
from dflash_mlx.targets.base import Target, TargetConfig
from dflash_mlx.targets.family import Family, build
from dflash_mlx.targets.state import State

__all__ = ["State", "Target", "TargetConfig", "check_target", "load_target"]

FAMILIES: dict[str, Family] = {"qwen3": qwen3.FAMILY, "qwen3_moe": qwen3_moe.FAMILY, "qwen3_next": qwen3_next.FAMILY}
FAMILIES |= {"qwen3_5": qwen3_5.DENSE, "qwen3_5_text": qwen3_5.DENSE, "qwen3_5_moe": qwen3_5.MOE, "qwen3_5_moe_text": qwen3_5.MOE}


def load_target(folder: str | Path, lazy: bool = False, config: dict[str, Any] | None = None) -> Target:
    """Loads a target from a folder in mlx-lm's checkpoint layout, quantised or not.

    Args:
        lazy: leave the weights on disk until they are used, or until `checkpoint.materialise`.
        config: its config.json, if that has been read.

    Raises:
        ModelNotFoundError, CheckpointError: see the errors' own text.
        UnsupportedModelError: the folder holds a drafter, or a model of a family that this runtime does not run.
    """
    folder = Path(folder)
    target = assemble(folder, read_config(folder) if config is None else config)
    if not lazy:
        materialise(target.module, folder)
    return target


def assemble(folder: Path, config: dict[str, Any], weights: Weights | None = None) -> Target:
    """The target that a config.json describes, with its tensors (None: the folder's), not read yet.

    Raises:
        as `load_target`.
    """
    family = FAMILIES[check_target(folder, config)["model_type"]]
    model = build(folder, config, family, weights)
    return family.target(model.language_model if "language_model" in model else model)


def check_target(folder: Path, config: dict[str, Any] | None = None) -> dict[str, Any]:
    """The config.json of a folder (or the one given), if it is that of a target this runtime runs.

    Raises:
        as `load_target`.
    """
    config = read_config(folder) if config is None else config
    if is_drafter(config):
        raise UnsupportedModelError(
            f"{folder} holds a DFlash drafter, which cannot answer by itself.",
            "Give it as drafter, with the model it was made for as target.",
        )
    family = config.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise UnsupportedModelError(
            f"{folder} has model_type {family!r}, which is not supported.", f"Supported are {', '.join(FAMILIES)}."
        )
    return config
