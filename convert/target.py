"""A target: mlx-lm's layout and names, its families' own choice of layers."""

from pathlib import Path
from typing import Any

import mlx.nn as nn

from dflash_mlx.targets import FAMILIES, check_target, load_target
from dflash_mlx.targets.family import build, read_text_config

from . import check
from .conversion import Options, Part
from .plan import new_plan
from .recipes import Recipe, Storage
from .source import Source


def target_part(source: Source, recipe: Recipe, folder: str, options: Options) -> Part:
    """The conversion of a target.

    Raises:
        UnsupportedModelError: it is a drafter, or of a family that this runtime does not run.
        CheckpointError: weights and config.json contradict each other.
        RequestError: see `plan.new_plan`.
    """
    check_target(source.folder, source.config)
    # transformers gives the text part alone a type of its own, mlx-lm has one for both
    config = {**source.config, "model_type": source.config["model_type"].removesuffix("_text")}
    config.pop("vision_config", None)
    family = FAMILIES[config["model_type"]]
    model = build(source.folder, config, family, source.weights)
    tied = "lm_head" not in (model.language_model if "language_model" in model else model)  # whatever was said
    text = {**read_text_config(source.folder, config, family), "tie_word_embeddings": tied}
    config = {**config, "text_config": text, "tie_word_embeddings": tied} if "text_config" in config else text
    source.weights.clear()  # from here on the plan alone holds them: what is read must not stay
    plan = new_plan(
        model, config, recipe, options.get("dtype"), _choice(model), getattr(model, "cast_predicate", lambda name: True)
    )

    def compare(goal: Path) -> check.Report:
        return check.check_target(source.folder, goal / folder, options.get("progress"))

    return Part(source, plan, folder, lambda written: load_target(written, lazy=True), compare)


def _choice(model: nn.Module) -> Any:
    """Of a layer, what mlx-lm says: routers of experts have 8 bits."""
    prescribed = getattr(model, "quant_predicate", None) or (lambda path, layer: True)

    def choice(path: str, layer: nn.Module) -> bool | Storage:
        found = prescribed(path, layer) if hasattr(layer, "to_quantized") else False
        return Storage(found["bits"], found["group_size"], found.get("mode", "affine")) if isinstance(found, dict) else found

    return choice
