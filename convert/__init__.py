"""Conversion from the Hub's PyTorch layout to 4-bit MLX; installs as `dflash_mlx.convert`."""

from pathlib import Path
from typing import NamedTuple, Unpack

from dflash_mlx.errors import RequestError
from dflash_mlx.loading.hub import Downloading, resolve, resolve_pair
from dflash_mlx.targets import load_target

from .check import Report
from .conversion import Conversion, Options, TooFarError, carry_out, read_options
from .drafter import check_options, drafter_part
from .models import check_made_for, source_target
from .source import Source, open_source
from .target import target_part
from .write import PAIR

__all__ = [
    "Conversion",
    "Options",
    "PairConversion",
    "Report",
    "TooFarError",
    "convert_drafter",
    "convert_pair",
    "convert_target",
]


class PairConversion(NamedTuple):
    """The two parts of a converted pair."""

    target: Conversion
    drafter: Conversion


def convert_target(source: str | Path, output: str | Path, **options: Unpack[Options]) -> Conversion:
    """Converts a target. Holds one tensor and one file of the result at a time; but MLX reads a GGUF file whole.

    Args:
        source: a folder, also one that holds `target/` and `drafter/`, or a Hub id ("owner/model", "owner/model@revision").
        output: the folder to make.
        options: see `Options`.

    Raises:
        DFlashError: what is wrong and what to do about it; the output is then as it was.
    """
    goal, recipe = read_options(output, options)
    part = target_part(_open(source, options), recipe, "", options)
    return carry_out([part], goal, recipe, options)[0]


def convert_drafter(
    source: str | Path, output: str | Path, target: str | Path | None = None, **options: Unpack[Options]
) -> Conversion:
    """Converts a drafter; arguments, errors and memory as those of `convert_target`; but `check` loads `target` whole.

    Args:
        target: the target it was made for, as MLX loads it: it must fit, and acceptance lengths are compared with it.
    """
    check_options(options)
    if options.get("max_kl") is not None:
        raise RequestError("max_kl compares logits, and a drafter alone has none.", "Drop max_kl.")
    goal, recipe = read_options(output, options)
    folder = resolve(source, _downloading(options), "drafter")
    with_target = resolve(target, _downloading(options)).resolve() if target is not None else None
    if with_target:
        check_made_for(load_target(with_target, lazy=True), folder)
    part = drafter_part(_open(folder, options), recipe, "", options, with_target)
    return carry_out([part], goal, recipe, options, with_target)[0]


def convert_pair(
    source: str | Path, output: str | Path, drafter: str | Path = "auto", **options: Unpack[Options]
) -> PairConversion:
    """Converts a target and its drafter, into `target/` and `drafter/` of the output; errors as those of `convert_target`.

    Memory is as there too; but `check` loads the whole target, to measure acceptance.

    Args:
        source, drafter: as `load` takes them: "auto" is the known drafter for this target, or the folder's own.
    """
    check_options(options)
    goal, recipe = read_options(output, options, PAIR)
    folders = resolve_pair(source, drafter, _downloading(options))
    if folders.drafter is None:
        raise RequestError(f"no drafter is known for {source}.", "Name one, or convert the target alone.")
    check_made_for(source_target(folders.target), folders.drafter)
    parts = [
        target_part(_open(folders.target, options), recipe, "target", options),
        drafter_part(_open(folders.drafter, options), recipe, "drafter", options, "target"),
    ]
    return PairConversion(*carry_out(parts, goal, recipe, options))


def _open(name: str | Path, options: Options) -> Source:
    return open_source(name, _downloading(options), options.get("notice") or (lambda text: None))


def _downloading(options: Options) -> Downloading | None:
    progress = options.get("progress")
    return progress and (lambda name, size: progress(f"download of {name}", 0, size))
