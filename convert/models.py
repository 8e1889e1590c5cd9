"""A source as a model that this runtime runs, its weights not read yet, whatever layout they were published in."""

from copy import deepcopy
from pathlib import Path

from dflash_mlx import drafters, targets

from .source import open_source

OF_THE_TARGET = ("embed_tokens.weight", "lm_head.weight")  # early drafters hold copies; what counts is the target's own


def source_target(folder: Path) -> targets.Target:
    """The target of a source; errors as those of `open_source` and `load_target`."""
    source = open_source(folder)
    return targets.assemble(source.folder, deepcopy(source.config), source.weights)  # a copy: mlx-lm edits what it is given


def source_drafter(folder: Path) -> drafters.DFlash:
    """The drafter of a source, ready to draft; errors as those of `open_source` and `load_drafter`."""
    source = open_source(folder)
    weights = {name: weight for name, weight in source.weights.items() if name not in OF_THE_TARGET}
    drafter = drafters.assemble(source.folder, source.config, weights)
    drafter.fuse()
    return drafter
