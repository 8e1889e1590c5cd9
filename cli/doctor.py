"""`dflash-mlx doctor`: what to know of this machine, this installation and a pair on it when something is odd."""

import io
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .download import ask_to_download
from .machine import Check, machine_checks
from .options import Drafter, Kernels, Yes
from .pair_report import NO_PROMPTS, compare, load_pair, pair_checks, prompts_of
from .render import Progress, folded, json_line, note, terminal_width, write

if TYPE_CHECKING:
    from dflash_mlx import Pair
    from dflash_mlx.tuning.parity import Parity

BLOCK_SIZES = (2, 4, 8)
TOKENS = 64


def doctor(
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="The model to check: a name from `dflash-mlx models`, a folder, a Hub id, or demo (the default).",
            show_default=False,
        ),
    ] = None,
    drafter: Drafter = "auto",
    parity: Annotated[bool, typer.Option("--parity", help="Only compare passes over blocks with plain decoding.")] = False,
    kernels: Kernels = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    yes: Yes = False,
) -> None:
    """Check this machine, the installation, and a model on it."""
    ask_to_download(model or "demo", None if drafter == "none" else drafter, yes)
    if parity:
        _print_parity(model or "demo", drafter, kernels, as_json)
        return
    ok = True
    for check in _checks(model, drafter, kernels):
        ok &= check.ok
        line = f"{'ok' if check.ok else '!!'} {check.name}: {check.value}\n"
        write(json_line(check._asdict()) if as_json else folded(line, sys.stdout))
    if not ok:
        raise typer.Exit(1)


def _checks(model: str | None, drafter: str, kernels: str) -> Iterator[Check]:
    yield from machine_checks()
    pair, check = _demo(kernels) if (model, drafter) == (None, "auto") else _named(model or "demo", drafter, kernels)
    yield check
    if pair:
        yield from pair_checks(pair, drafter == "none")


def _named(model: str, drafter: str, kernels: str) -> "tuple[Pair | None, Check]":
    from dflash_mlx.errors import ModelNotFoundError
    from dflash_mlx.loading.known_pairs import find

    try:
        with Progress(quiet=False) as progress:
            pair = load_pair(model, drafter, kernels, progress)
    except ModelNotFoundError as error:
        if find(model):  # a part of a known pair cannot be had; any other name leads nowhere
            return None, Check("pair", f"{model}: {error}", False)
        raise
    without = pair.without_drafter or "no drafter"
    drafts = f"drafter with blocks of {pair.drafter.config.block_size}" if pair.drafter else without
    return pair, Check("pair", f"{model}: {pair.target.config.model_type}, {drafts}")


def _demo(kernels: str) -> "tuple[Pair | None, Check]":
    """Whether the embedded pair answers, and its drafter and target agree: with broken arithmetic they do not."""
    import dflash_mlx
    from dflash_mlx.errors import RequestError

    try:
        with Progress(quiet=False) as progress:
            pair = dflash_mlx.load("demo", kernels=kernels, progress=progress.loading)
        answer = pair.generate("What is the anchor?", max_tokens=16, block_size=4)
    except RequestError:  # of --kernels
        raise
    except Exception as error:  # whatever it is: telling is what this command is for
        return None, Check("demo pair", f"fails ({type(error).__name__}: {error})", False)
    tau = answer.statistics.acceptance_length
    value = f"answers {answer.text!r}, {tau:.1f} tokens a pass"
    if tau <= 1.5:
        return None, Check("demo pair", f"{value}: its drafts are hardly ever right; they should often be", False)
    return pair, Check("demo pair", value)


def _print_parity(model: str, drafter: str, kernels: str, as_json: bool) -> None:
    from dflash_mlx.errors import CheckpointError

    with Progress(quiet=False) as progress:
        pair = load_pair(model, drafter, kernels, progress)
        prompts = prompts_of(pair)
        if not prompts:
            raise CheckpointError(f"{model} is {NO_PROMPTS}.", "Get its tokenizer.json again.")
        reports = compare(pair, prompts, BLOCK_SIZES, TOKENS, progress)
    if as_json:
        write("".join(json_line(asdict(report)) for report in reports))
        return
    write(_table(reports))
    note(f"{model}: {len(prompts)} texts, {TOKENS} tokens each. differ: rows whose most likely token is not plain decoding's;")
    note("gap: between plain's two best logits there, at most; logits: the largest difference of any.")


def _table(reports: "list[Parity]") -> str:
    """The reports for people, in 40 columns."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=io.StringIO(), width=terminal_width())
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title in ("verify", "block", "rows", "differ", "gap", "logits"):
        table.add_column(title, justify="left" if title == "verify" else "right", no_wrap=True)
    for report in reports:
        gap = f"{report.largest_gap:.2g}" if report.differing else "-"
        numbers = str(report.block_size), str(report.rows), str(report.differing), gap, f"{report.largest_difference:.2g}"
        table.add_row(report.verify, *numbers)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]
