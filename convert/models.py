"""A source as a model that this runtime runs, its weights not read yet, whatever layout they were published in."""

import gc
from pathlib import Path

from dflash_mlx import drafters, targets
from dflash_mlx.checkpoint import Weights, is_drafter
from dflash_mlx.errors import UnsupportedModelError
from dflash_mlx.loading.fit import check_fit

from .source import Source, open_source


def source_target(folder: Path) -> targets.Target:
    """The target of a source; errors as those of `open_source` and `load_target`."""
    source = open_source(folder)
    return targets.assemble(source.folder, source.config, source.weights)


def source_drafter(folder: Path) -> drafters.DFlash:
    """The drafter of a source, ready to draft; errors as those of `open_source` and `load_drafter`."""
    source = open_source(folder)
    drafter = drafters.assemble(source.folder, source.config, drafter_weights(source))
    drafter.fuse()
    return drafter


def drafter_weights(source: Source) -> Weights:
    """A drafter's weights. Raises UnsupportedModelError where a source is none."""
    if not is_drafter(source.config):
        raise UnsupportedModelError(f"{source.name} is not a DFlash drafter.", "Convert it as a target.")
    return dict(source.weights)


def check_made_for(target: targets.Target, drafter: Path) -> None:
    """Raises PairMismatchError where the sizes of a drafter's source are not this target's; no weights are read for it."""
    check_fit(target, source_drafter(drafter))
    gc.collect()  # a layer and its compiled functions hold each other, and a GGUF file is in memory whole
