"""A drafter: the published layout and names; projections quantised, norms, base kernels and codebooks kept."""

from pathlib import Path

import mlx.nn as nn

from dflash_mlx.drafters import assemble, load_drafter
from dflash_mlx.errors import RequestError

from . import check
from .conversion import Options, Part
from .models import drafter_weights
from .plan import new_plan
from .recipes import Recipe
from .source import Source


def check_options(options: Options) -> None:
    """Raises RequestError for float16, in which drafters overflow."""
    if options.get("dtype") == "float16":
        raise RequestError("in float16 a drafter's numbers overflow.", "Use bfloat16 or float32.")


def drafter_part(source: Source, recipe: Recipe, folder: str, options: Options, target: Path | str | None) -> Part:
    """The conversion of a drafter.

    Args:
        target: the target to measure its acceptance length with, below the goal or anywhere; None: it is not measured.

    Raises:
        UnsupportedModelError: it is not a drafter.
        CheckpointError: weights and config.json contradict each other.
        RequestError: see `plan.new_plan`.
    """
    weights = drafter_weights(source)
    source.weights.clear()  # from here on the plan alone holds them: what is read must not stay
    config = {key: "bfloat16" if "dtype" in key and entry == "float16" else entry for key, entry in source.config.items()}
    model = assemble(source.folder, config, weights)
    plan = new_plan(model, config, recipe, options.get("dtype"), lambda path, layer: isinstance(layer, nn.Linear))

    def compare(goal: Path) -> check.Report:
        return check.check_drafter(source.folder, goal / folder, goal / target if target else None, options.get("progress"))

    return Part(source, plan, folder, lambda written: load_drafter(written, lazy=True), compare)
