"""The typer app: the commands and what is common to them."""

from importlib.metadata import version
from typing import Annotated

import typer

from .bench.command import bench
from .chat.command import chat
from .convert import convert
from .demo import demo
from .doctor import doctor
from .generate import generate
from .help import CONTEXT, Command, Group
from .models import models

app = typer.Typer(cls=Group, no_args_is_help=True, pretty_exceptions_enable=False, context_settings=CONTEXT)
for command in (chat, generate, demo, models, doctor):
    app.command(cls=Command)(command)
app.add_typer(convert, name="convert")
app.add_typer(bench, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dflash-mlx {version('dflash-mlx')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Speculative decoding of Qwen models on MLX: the same answer, sooner."""
