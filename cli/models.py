"""`dflash-mlx models`: the known pairs, and which of them this machine can run."""

import io
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from .render import note, write

if TYPE_CHECKING:
    from dflash_mlx.loading.known_pairs import KnownPair

GB = 10**9


def models(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False) -> None:
    """List the known pairs: what they need, whether they fit this machine, whether they are downloaded."""
    # Here, and not at the top: --help need not wait for MLX.
    from dflash_mlx.loading.known_pairs import CONTEXT, default, known_pairs
    from dflash_mlx.loading.memory import available

    pairs, room, chosen = known_pairs(), available(), default()
    rows = [_row(pair, room, chosen) for pair in pairs]
    if as_json:
        write("".join(json.dumps(row) + "\n" for row in rows))
        return
    write(_table(rows))
    mark = "*: the default model" if chosen else "the default model here: demo, the embedded pair"
    note(f"{mark}. RAM: with {CONTEXT} tokens of context; this machine offers {room / GB:.1f} GB. ~: counted, not published.")


def _row(pair: "KnownPair", room: int, chosen: "KnownPair | None") -> dict[str, object]:
    from dflash_mlx.loading.hub import cached
    from dflash_mlx.loading.known_pairs import CONTEXT

    need = pair.need().total
    return {
        "model": pair.family,
        "target": pair.target,
        "drafter": pair.drafter,
        "download_bytes": pair.download,
        "approximate": pair.approximate,
        "memory_bytes": need,
        "context": CONTEXT,
        "fits": need <= room,
        "target_cached": cached(pair.target) is not None,
        "drafter_cached": cached(pair.drafter) is not None,
        "default": pair == chosen,
        "source": pair.source,
        "note": pair.note,
    }


def _table(rows: list[dict[str, object]]) -> str:
    """The rows for people, in 40 columns; where there are 80, with the targets' names in full."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=io.StringIO(), width=Console(file=sys.stdout).width)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title, side in (("model", "left"), ("disk GB", "right"), ("RAM GB", "right"), ("fits", "left"), ("cached", "left")):
        table.add_column(title, justify=side, no_wrap=title == "model")  # type: ignore[arg-type]
    if console.width >= 80:
        table.add_column("target", no_wrap=True)
    for row in rows:
        parts = [row["target_cached"], row["drafter_cached"]]
        full = [str(row["target"])] if console.width >= 80 else []
        table.add_row(
            f"{row['model']}{' *' if row['default'] else ''}",
            f"{'~' if row['approximate'] else ''}{row['download_bytes'] / GB:.1f}",  # type: ignore[operator]
            f"{row['memory_bytes'] / GB:.1f}",  # type: ignore[operator]
            "yes" if row["fits"] else "no",
            "yes" if all(parts) else "part" if any(parts) else "no",
            *full,
        )
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]
