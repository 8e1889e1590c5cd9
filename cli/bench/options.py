"""Options of `dflash-mlx bench`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import parser, positive


def _listed(item: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """What reads values with commas between them; one that comes twice counts once."""
    return lambda value: tuple(dict.fromkeys(item(part.strip()) for part in value.split(",")))


def _to_a_million(value: str) -> float:
    number = float(value)
    if not 0 <= number <= 1e6:  # far beyond, neither sampling nor sleeping takes it
        raise ValueError
    return number


def tokens(value: str) -> int:
    return 1024 * positive(value[:-1]) if value[-1:] in ("k", "K") else positive(value)


Prompts = Annotated[
    str,
    typer.Option(
        parser=lambda value: tuple(name for part in value.split(",") if (name := part.strip())),
        metavar="NAME,...",
        help="chat, code, math, editing, documents, chinese; gsm8k, math-500, humaneval, mbpp, mt-bench; or .jsonl files of "
        "your own. Default: the first six.",
        show_default=False,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        parser=parser("--limit", positive, "a number from 1 up", "3"),
        metavar="N",
        help="At most N prompts of each kind.",
        show_default=False,
    ),
]
BlockSizes = Annotated[
    str,
    typer.Option(
        parser=parser(
            "--block-sizes", _listed(lambda size: size if size == "auto" else positive(size)), "a list of sizes", "2,4,8"
        ),
        metavar="N,...",
        help="Block sizes to compare with plain decoding, as in auto,4,8.",
    ),
]
Temperatures = Annotated[
    str,
    typer.Option(
        parser=parser("--temperatures", _listed(_to_a_million), "a list of numbers from 0 to a million", "0,0.7"),
        metavar="X,...",
        help="Temperatures to measure at, as in 0,0.7.",
    ),
]
Contexts = Annotated[
    str | None,
    typer.Option(
        "--context",
        parser=parser("--context", _listed(tokens), "a list of numbers of tokens", "1k,8k"),
        metavar="N,...",
        help="Fill prompts up to N tokens, as in 1k,8k. Default: leave them as they are.",
        show_default=False,
    ),
]
Rounds = Annotated[
    int,
    typer.Option(parser=parser("--rounds", positive, "a number from 1 up", "3"), metavar="N", help="Answer each prompt N times."),
]
CoolDown = Annotated[
    float | None,
    typer.Option(
        parser=parser("--cool-down", _to_a_million, "a number from 0 to a million", "5"),
        metavar="S",
        help="Rest S seconds before each answer. Default: 1 with Metal, else 0.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines: answers as they end, then summaries.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table, for an issue.")]
Save = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the lines of --json to FILE.", show_default=False),
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the results to a .png or .svg file.", show_default=False)]
