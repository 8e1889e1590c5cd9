"""`dflash-mlx doctor`: what to know of this machine and installation when something is odd."""

import io
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args

import typer

from dflash_mlx.errors import RequestError

from .render import Progress, note, write

if TYPE_CHECKING:
    from dflash_mlx.decoding.parity import Parity

GB = 10**9
BLOCK_SIZES = (2, 4, 8)
TOKENS = 64
PROMPTS = (
    "The three states of matter are",
    "def fibonacci(n):\n",
    "Question: A train goes 120 km in 90 minutes. How fast is it? Let us think step by step.\nAnswer:",
)


class Check(NamedTuple):
    name: str
    value: str
    ok: bool = True


def doctor(
    parity: Annotated[
        bool, typer.Option("--parity", help="Compare verification in blocks with plain decoding instead, row by row.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --parity: a folder, a Hub id, or demo (the embedded pair, the default).",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Check this installation: versions, device, memory, disk, and whether the embedded pair answers."""
    if parity:
        _print_parity(model or "demo", as_json)
        return
    if model is not None:
        raise RequestError("--model has no place without --parity.", "Add --parity, or drop --model: the checks need no model.")
    ok = True
    for check in _checks():
        ok &= check.ok
        write(json.dumps(check._asdict()) + "\n" if as_json else f"{'ok' if check.ok else '!!'} {check.name}: {check.value}\n")
    if not ok:
        raise typer.Exit(1)


def _checks() -> Iterator[Check]:
    # Here, and not at the top: --help need not wait for MLX.
    import mlx.core as mx

    for package in ("dflash-mlx", "mlx", "mlx-lm"):
        yield Check(package, version(package))
    yield Check("Python", platform.python_version())
    on_mac = platform.system() == "Darwin"
    system = f"macOS {platform.mac_ver()[0]}" if on_mac else f"{platform.system()} {platform.release()}"
    yield Check("system", f"{system}, {platform.machine()}", not on_mac or platform.machine() == "arm64")
    device = "GPU" if mx.default_device() == mx.gpu else "CPU"
    yield Check("device", f"{device} of {mx.device_info()['device_name']}")
    metal = mx.metal.is_available()
    yield Check("Metal", "yes" if metal else "no: the CPU computes", metal or not on_mac)
    yield _memory()
    yield _exact()
    yield _hub_cache()
    yield _costs()
    yield _demo()


def _memory() -> Check:
    from dflash_mlx.memory import available

    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Check("memory", f"{total / GB:.1f} GB, of which a model may take {available() / GB:.1f} GB")


def _exact() -> Check:
    from dflash_mlx.targets.row_invariance import Op, rows_apart

    apart = [op for op in get_args(Op) if rows_apart(op)]
    if not apart:
        value = "rows are computed together: no slower than fast"
    elif len(apart) == len(get_args(Op)):
        value = "rows are computed one by one: no faster than plain decoding"
    else:
        value = f"rows are computed one by one in {', '.join(apart)}: slower than fast"
    return Check("exact verification", value)


def _hub_cache() -> Check:
    from huggingface_hub import constants

    from dflash_mlx.known_pairs import known_pairs

    cache = Path(constants.HF_HUB_CACHE)
    there = next(place for place in (cache, *cache.absolute().parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    smallest = min(known_pairs(), key=lambda pair: pair.download)
    value = f"{cache}, {free / GB:.1f} GB free"
    if constants.HF_HUB_OFFLINE:
        value += ", downloads switched off (HF_HUB_OFFLINE)"
    if not os.access(there, os.W_OK):
        return Check("Hub cache", f"{value}, no permission to write", False)
    if free < smallest.download:
        return Check(
            "Hub cache", f"{value}; the smallest known pair, {smallest.family}, is {smallest.download / GB:.1f} GB", False
        )
    return Check("Hub cache", value)


def _costs() -> Check:
    from dflash_mlx.decoding.calibration import folder

    place = next(place for place in (folder(), *folder().parents) if place.is_dir())
    if os.access(place, os.W_OK):
        return Check("costs of passes", f"{len(list(folder().glob('*.json')))} measured, in {folder()}; delete to measure again")
    return Check("costs of passes", f"{folder()}, no permission to write: measured again by every process", False)


def _demo() -> Check:
    """Whether the embedded pair answers, and its drafter and target agree: with broken arithmetic they do not."""
    import dflash_mlx

    try:
        with Progress(quiet=False) as progress:
            pair = dflash_mlx.load("demo", progress=progress.loading)
        answer = pair.generate("What is the anchor?", max_tokens=16, block_size=4)
    except Exception as error:  # whatever it is: telling is what this command is for
        return Check("demo pair", f"fails ({type(error).__name__}: {error})", False)
    tau = answer.statistics.acceptance_length
    value = f"answers {answer.text!r}, {tau:.1f} tokens a pass"
    return Check(
        "demo pair", value if tau > 1.5 else f"{value}: its drafts are hardly ever right, they should be often", tau > 1.5
    )


def _print_parity(model: str, as_json: bool) -> None:
    import dflash_mlx
    from dflash_mlx.decoding.parity import parity

    with Progress(quiet=False) as progress:
        pair = dflash_mlx.load(model, drafter=None, progress=progress.loading)
        prompts = [pair.tokenizer.encode(prompt, raw=True) for prompt in PROMPTS]
        reports = parity(pair.target, prompts, BLOCK_SIZES, TOKENS, progress.comparing)
    if as_json:
        write("".join(json.dumps(asdict(report)) + "\n" for report in reports))
        return
    write(_table(reports))
    note(f"{model}: {len(PROMPTS)} texts, {TOKENS} tokens each. differ: rows whose most likely token is not plain decoding's;")
    note("gap: between plain's two best logits there, at most; logits: the largest difference of any.")


def _table(reports: "list[Parity]") -> str:
    """The reports for people, in 40 columns."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=io.StringIO(), width=Console(file=sys.stdout).width)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("block", "rows", "differ", "gap", "logits"):
        table.add_column(title, justify="right", no_wrap=True)
    for report in reports:
        gap = f"{report.largest_gap:.2g}" if report.differing else "-"
        table.add_row(str(report.block_size), str(report.rows), str(report.differing), gap, f"{report.largest_difference:.2g}")
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]
