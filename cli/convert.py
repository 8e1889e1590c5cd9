"""`dflash-mlx convert`: published weights to what this runtime loads, held against their source."""

import io
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dflash_mlx.errors import RequestError

from .download import ask_to_download
from .help import CONTEXT, Command, Group
from .options import Yes
from .render import Progress, folded, json_line, note, terminal_width, write
from .words import on_the_command_line

if TYPE_CHECKING:
    from dflash_mlx.convert import Conversion

convert = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    context_settings=CONTEXT,
    help="Convert published weights to MLX, 4 bits by default, and check the result.",
)

Source = Annotated[
    str,
    typer.Argument(
        metavar="SRC",
        help="A folder (also one with target/ and drafter/), or a Hub id: OWNER/NAME or OWNER/NAME@REVISION.",
    ),
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="The folder to create.", show_default=False)]
Bits = Annotated[
    int | None, typer.Option(metavar="N", help="Bits per weight: 2, 3, 4, 5, 6 or 8. Default: 4.", show_default=False)
]
GroupSize = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Weights that share a scale: 32, 64 or 128. Default: 64, or the mode's own.", show_default=False
    ),
]
Mode = Annotated[str, typer.Option(metavar="NAME", help="affine, mxfp4, mxfp8 or nvfp4.")]
Dtype = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE",
        help="bfloat16, float16 or float32, for what is not quantised. Default: as in the source.",
        show_default=False,
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Instead of --bits: 4bit, 4bit-head8 (head and embeddings at 8), 4bit-gates (recurrent gates kept), "
        "quality (sensitive projections at 6), float (nothing quantised).",
        show_default=False,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace DIR if it exists.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read the source, print tensors, bits and bytes, and stop.")]
Check = Annotated[bool, typer.Option("--check/--no-check", help="Compare the result with the source first.")]
MaxKl = Annotated[
    float | None,
    typer.Option(metavar="X", help="Fail if the mean KL divergence from the source is above X nats.", show_default=False),
]
UploadRepo = Annotated[str | None, typer.Option(metavar="OWNER/NAME", help="Upload the result to the Hub.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines: plan and check of each model.")]


@convert.command(cls=Command)
def target(
    source: Source,
    output: Output,
    bits: Bits = None,
    group_size: GroupSize = None,
    mode: Mode = "affine",
    dtype: Dtype = None,
    recipe: Recipe = None,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    check: Check = True,
    max_kl: MaxKl = None,
    upload_repo: UploadRepo = None,
    as_json: AsJson = False,
    yes: Yes = False,
) -> None:
    """Convert a target."""
    _run("convert_target", locals(), source, None)


@convert.command(cls=Command)
def drafter(
    source: Source,
    output: Output,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The drafter's target, to measure acceptance with: a folder or a Hub id.",
            show_default=False,
        ),
    ] = None,
    bits: Bits = None,
    group_size: GroupSize = None,
    mode: Mode = "affine",
    dtype: Dtype = None,
    recipe: Recipe = None,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    check: Check = True,
    upload_repo: UploadRepo = None,
    as_json: AsJson = False,
    yes: Yes = False,
) -> None:
    """Convert a drafter."""
    _run("convert_drafter", locals(), target, source)


@convert.command(cls=Command)
def pair(
    source: Source,
    output: Output,
    drafter: Annotated[
        str, typer.Option(metavar="NAME", help="A folder, a Hub id, or auto (the one made for the target).")
    ] = "auto",
    bits: Bits = None,
    group_size: GroupSize = None,
    mode: Mode = "affine",
    dtype: Dtype = None,
    recipe: Recipe = None,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    check: Check = True,
    max_kl: MaxKl = None,
    upload_repo: UploadRepo = None,
    as_json: AsJson = False,
    yes: Yes = False,
) -> None:
    """Convert a target and its drafter into DIR/target and DIR/drafter."""
    if drafter == "none":
        raise RequestError("--drafter none leaves no pair to convert.", "Drop it, or convert the target alone.")
    _run("convert_pair", locals(), source, drafter)


def _run(function: str, options: dict[str, Any], target: str | None, drafter: str | None) -> None:
    """Converts with a command's options; target and drafter: what it reads, to ask before it is downloaded."""
    as_json = options.pop("as_json")
    ask_to_download(target, drafter, options.pop("yes"))
    with Progress(quiet=False, time_left=True) as progress:
        import dflash_mlx.convert  # here, and not at the top: --help and wrong usage need not wait for MLX

        try:
            done = getattr(dflash_mlx.convert, function)(**options, progress=progress.converting, notice=note)
        except dflash_mlx.convert.TooFarError as error:
            note("error: {}\n{}".format(*on_the_command_line(error)))
            raise typer.Exit(1) from None
    for conversion in done if isinstance(done, tuple) else (done,):
        write(_line(conversion) if as_json else folded(_table(conversion), sys.stdout))
        if not options["dry_run"]:
            unit, name = (10**9, "GB") if conversion.size >= 10**9 else (10**6, "MB")
            note(f"{conversion.folder} is complete: {conversion.size / unit:.2f} {name}.")


def _line(conversion: "Conversion") -> str:
    report = conversion.report.to_dict() if conversion.report else None
    names = {"folder": str(conversion.folder), "source": conversion.source, "recipe": conversion.recipe}
    rows = [row._asdict() for row in conversion.rows]
    sizes = {"bytes": conversion.size, "bits_per_weight": conversion.bits_per_weight}
    return json_line({**names, **sizes, "tensors": rows, "check": report})


def _table(conversion: "Conversion") -> str:
    """The tensors by kind, and how near they are to the source."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=io.StringIO(), width=max(60, terminal_width()))
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title, side in (("tensors", "left"), ("count", "right"), ("stored as", "left"), ("MB", "right")):
        table.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in conversion.rows:
        table.add_row(row.kind, str(row.tensors), row.stored, f"{row.bytes / 1e6:.2f}")
    table.add_row("all", str(sum(row.tensors for row in conversion.rows)), "", f"{conversion.size / 1e6:.2f}")
    console.print(table)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    title = f"{conversion.source}, {conversion.recipe}: {conversion.bits_per_weight:.2f} bits per weight"
    return f"{title}\n{text}" + (f"\n{conversion.report.table()}" if conversion.report else "")
