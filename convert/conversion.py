"""One conversion, of a target, a drafter or both: plan, write beside the goal, compare with the source, put in place."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypedDict

from dflash_mlx.errors import CheckpointError, DFlashError, RequestError

from .card import write_card
from .check import Report, doubts, good, missed
from .plan import Plan, Row, bits_per_weight, check_dtype
from .recipes import Recipe, read_recipe
from .source import Notice, Source
from .upload import check_repository, upload
from .weights import write_weights
from .write import ALONE, COPIED, Parts, Progress, check_goal, replacing, write_json, write_sums, writing


class TooFarError(DFlashError):
    """The result is further from its source than `max_kl` allows."""


class Options(TypedDict, total=False):
    """The options of a conversion, all of which may be left out.

    Attributes:
        bits: of a weight, 2 to 8 (not 7); 4 by default.
        group_size: weights that share a scale; 64 by default, 32 and 16 in the modes that have nothing else.
        mode: "affine", "mxfp4", "mxfp8" or "nvfp4".
        dtype: "bfloat16", "float16" or "float32", for what is not quantised; by default as the source's config.json says.
        recipe: a named mixture instead of `bits`: "4bit", "4bit-head8", "4bit-gates", "quality" or "float".
        overwrite: replace a model that is there.
        dry_run: only plan; the source is read, and downloaded if need be.
        check: compare the result with the source before it is put in place; on by default.
        max_kl: give up where a target's mean KL divergence is more than this, in nats.
        upload_repo: a Hub repository to upload the result to.
        progress: called with a stage, what is done of it and in all; "writing" and "tensors" count bytes.
        notice: called with a sentence on what is left out or lost.
    """

    bits: int | None
    group_size: int | None
    mode: str
    dtype: str | None
    recipe: str | None
    overwrite: bool
    dry_run: bool
    check: bool
    max_kl: float | None
    upload_repo: str | None
    progress: Progress | None
    notice: Notice | None


@dataclass(frozen=True)
class Conversion:
    """What was converted, or with `dry_run` would be.

    Attributes:
        folder: where the result is.
        source: its Hub id or its folder's name.
        recipe: by name.
        rows: its tensors by kind.
        report: how near it is to its source; None: not compared.
    """

    folder: Path
    source: str
    recipe: str
    rows: list[Row]
    report: Report | None

    @property
    def size(self) -> int:
        """Bytes of its tensors."""
        return sum(row.bytes for row in self.rows)

    @property
    def bits_per_weight(self) -> float:
        """Bits of a weight on average."""
        return bits_per_weight(self.rows)


class Part(NamedTuple):
    """A model to convert.

    Attributes:
        folder: where it goes, below the goal; "" for the goal itself.
        load: opens what was written there as the runtime does; raises where that fails.
        compare: compares it with the source; called with the goal.
    """

    source: Source
    plan: Plan
    folder: str
    load: Callable[[Path], object]
    compare: Callable[[Path], Report]


def read_options(output: str | Path, options: Options, parts: Parts = ALONE) -> tuple[Path, Recipe]:
    """Goal and recipe, checked like all options before anything is opened or downloaded. Raises RequestError."""
    if unknown := sorted(options.keys() - Options.__annotations__.keys()):
        raise RequestError(f"a conversion has no option {unknown[0]!r}.", f"Use {', '.join(Options.__annotations__)}.")
    recipe = read_recipe(options.get("recipe"), options.get("bits"), options.get("group_size"), options.get("mode", "affine"))
    check_dtype(options.get("dtype"))
    most = options.get("max_kl")
    if most is not None and (type(most) not in (int, float) or not math.isfinite(most) or most < 0):
        raise RequestError(f"max_kl must be 0 or more (got {most!r}).", "Give a number of nats, such as max_kl=0.05.")
    if most is not None and not options.get("check", True):
        raise RequestError("max_kl needs the comparison with the source.", "Drop check=False, or max_kl.")
    if repository := options.get("upload_repo"):
        check_repository(repository)
    try:
        goal = Path(output).expanduser().resolve()
        if not options.get("dry_run"):
            check_goal(goal, options.get("overwrite", False), parts, [])
    except (OSError, RuntimeError, ValueError) as error:  # no such user, a name longer than names can be
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise RequestError(f"{output} cannot be created ({reason}).", "Choose another folder.") from error
    return goal, recipe


def carry_out(parts: list[Part], goal: Path, recipe: Recipe, options: Options, target: Path | None = None) -> list[Conversion]:
    """Converts the parts into one goal.

    Args:
        target: a drafter's, which must not be replaced by it.

    Raises:
        RequestError, MemoryBudgetError: see `write.replacing`.
        CheckpointError: a source cannot be read, or what was written does not load.
        TooFarError: the result is further from its source than `max_kl`; it was not put in place.
    """
    rows = [part.plan.rows for part in parts]
    reports: list[Report | None] = [None] * len(parts)
    if not options.get("dry_run"):
        overwrite = options.get("overwrite", False)
        names = tuple(part.folder for part in parts)
        check_goal(goal, overwrite, names, [*(part.source.folder for part in parts), *([target] if target else [])])
        with replacing(goal, overwrite, names, sum(part.plan.size for part in parts)) as temporary, _named_as(goal, temporary):
            for part in parts:
                _write(part, temporary / part.folder, options)
            if options.get("check", True):
                compared = [_compare(part, temporary, goal) for part in parts]
                _check_kl(compared, options.get("max_kl"))
                reports = [_judged(report, recipe, options.get("notice")) for report in compared]
            for part, part_rows, report in zip(parts, rows, reports):
                with writing(temporary / part.folder):
                    write_card(temporary / part.folder, part.source, recipe, part_rows, report)
                    write_sums(temporary / part.folder)
        if repository := options.get("upload_repo"):
            upload(goal, repository)
    return [
        Conversion(goal / part.folder, part.source.name, recipe.name, part_rows, report)
        for part, part_rows, report in zip(parts, rows, reports)
    ]


def _write(part: Part, folder: Path, options: Options) -> None:
    with writing(folder):
        folder.mkdir(exist_ok=True)
        write_json(folder / "config.json", part.plan.config)
    for pattern in COPIED:
        for file in part.source.folder.glob(pattern):
            if file.is_file():
                _copy(file, folder / file.relative_to(part.source.folder))
    write_weights(folder, part.plan, options.get("progress") or (lambda stage, done, total: None))
    part.load(folder)


@contextmanager
def _named_as(goal: Path, temporary: Path) -> Iterator[None]:
    """Errors name the goal, where users look, instead of the temporary folder."""
    try:
        yield
    except DFlashError as error:
        raise type(error)(error.message.replace(str(temporary), str(goal)), error.hint) from error


def _compare(part: Part, temporary: Path, goal: Path) -> Report:
    """The comparison with the source, which names the goal, as errors do."""
    report = part.compare(temporary)
    return replace(report, notes=tuple(note.replace(str(temporary), str(goal)) for note in report.notes))


def _judged(report: Report, recipe: Recipe, notice: Notice | None) -> Report:
    """The report with what would be good, and with what is implausible or not good in its notes; notice is given of that too."""
    found = doubts(report, recipe) or missed(report, recipe)
    if notice:
        for doubt in found:
            notice(doubt)
    top1, kl = good(recipe)
    return replace(report, good_top1=top1, good_kl=kl, notes=(*report.notes, *found))


def _copy(file: Path, goal: Path) -> None:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{file} cannot be read ({error.strerror}).", "Fix its permissions, or get it again.") from error
    with writing(goal.parent):
        goal.parent.mkdir(exist_ok=True)
        goal.write_bytes(content)


def _check_kl(reports: list[Report], most: float | None) -> None:
    notes = [note for report in reports for note in report.notes if note.startswith("Logits")]
    found = [report.kl for report in reports if report.kl is not None]
    if most is not None and not found:
        raise TooFarError(" ".join(["the divergence cannot be limited.", *notes]), "Drop max_kl, or fix that.")
    if most is not None and max(found) > most:
        raise TooFarError(
            f"the result's mean KL divergence from the source is {max(found):.5f} nats, more than {most}: it is not kept.",
            "Use more bits, smaller groups or the recipe quality, or raise max_kl.",
        )
