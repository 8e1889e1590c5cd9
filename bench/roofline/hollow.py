"""Pairs of any size that take no memory, for counting: what they submit, what they would move. Nothing of them is computed."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_map

from dflash_mlx.drafters import GROUP_SIZE, DFlash, DrafterConfig, new_drafter, quantise
from dflash_mlx.loading.known_pairs import known_pairs
from dflash_mlx.targets import FAMILIES
from dflash_mlx.targets.transformer import TransformerTarget

from .graph import hollow
from .synthetic import GEOMETRIES

BITS = 4


def configs(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The config.json of a target, its text part, and of its drafter: of a known pair's family, or of a geometry."""
    if name in GEOMETRIES:
        return GEOMETRIES[name].target_config["text_config"], GEOMETRIES[name].drafter_config
    [pair] = (pair for pair in known_pairs() if pair.family == name)
    return pair.target_config, pair.drafter_config


def hollow_pair(config: dict[str, Any], drafter_config: dict[str, Any]) -> tuple[TransformerTarget, DFlash]:
    """A target and its drafter, at 4 bits and bfloat16, whose weights take no memory.

    Projections whose inputs are no multiple of the group stay as they are, and so do drafts' tables: as `load` has them. A
    mixture's routers are of 4 bits, where published ones have 8: 0.1% of the bytes.
    """
    family = FAMILIES[config["model_type"]]
    model: nn.Module = family.module.Model(family.module.ModelArgs.from_dict(config))
    model = model.language_model if "language_model" in model else model
    model.update(tree_map(lambda weight: weight.astype(mx.bfloat16), model.parameters()))
    nn.quantize(model, GROUP_SIZE, BITS, class_predicate=lambda _, part: _can_be_quantised(part))
    drafter = new_drafter(DrafterConfig.from_dict(drafter_config))
    drafter.set_dtype(mx.bfloat16)
    quantise(drafter, BITS)
    for module in (model, drafter):
        module.update(tree_map(lambda weight: hollow(weight.shape, weight.dtype), module.parameters()))
    with patch.object(mx, "concatenate", _hollow_concatenation):  # of weights, into joint projections
        target = family.target(model)
        drafter.fuse()
    mx.eval(model.parameters(), drafter.parameters())
    return target, drafter


def _can_be_quantised(part: nn.Module) -> bool:
    return hasattr(part, "to_quantized") and part.weight.shape[-1] % GROUP_SIZE == 0


def _hollow_concatenation(parts: Sequence[mx.array], axis: int = 0) -> mx.array:
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    joint = hollow(shape, parts[0].dtype)
    mx.eval(joint)
    return joint
