"""`dflash-mlx models`: the known pairs, and which of them this machine can run."""

import io
import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from dflash_mlx.errors import RequestError

from .render import note, terminal_width, write

if TYPE_CHECKING:
    from dflash_mlx.loading.known_pairs import KnownPair

GB = 10**9


def models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show everything about one of them.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """List the known models: what they need, whether they fit this machine, whether they are here."""
    # Here, and not at the top: --help need not wait for MLX.
    from dflash_mlx.loading.known_pairs import CONTEXT, default, find, known_pairs
    from dflash_mlx.loading.memory import available

    room, chosen = available(), default()
    pairs = known_pairs()
    if name is not None:
        pair = find(name)
        if pair is None:
            near = get_close_matches(name.lower(), {pair.family.lower(): pair for pair in pairs}, n=1, cutoff=0.4)
            known = next((pair.family for pair in pairs if [pair.family.lower()] == near), None)
            hint = f"Did you mean {known}?" if known else "`dflash-mlx models` lists the known ones."
            raise RequestError(f"no known pair is called {name}.", hint)
        pairs = [pair]
    rows = [_row(pair, room, chosen) for pair in pairs]
    if as_json:
        write("".join(json.dumps(row) + "\n" for row in rows))
        return
    if name is not None:
        write(_details(rows[0], room))
        return
    write(_table(rows))
    mark = "*: the default model" if chosen else "the default model here: demo, which ships with dflash-mlx"
    note(f"{mark}. In GB; RAM: with {CONTEXT} tokens of context, this machine offers {room / GB:.1f}; ~: counted, not published.")
    note("`dflash-mlx models NAME` shows everything about one.")


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


def _details(row: dict[str, object], room: int) -> str:
    """All about one pair, a line each."""
    about = "about " * bool(row["approximate"])
    cached = {part: "downloaded" if row[f"{part}_cached"] else "not downloaded" for part in ("target", "drafter")}
    lines = {
        "model": f"{row['model']}{' (the default here)' if row['default'] else ''}",
        "target": f"{row['target']} ({cached['target']})",
        "drafter": f"{row['drafter']} ({cached['drafter']})",
        "download": f"{about}{row['download_bytes'] / GB:.1f} GB",  # type: ignore[operator]
        "memory": f"{row['memory_bytes'] / GB:.1f} GB with {row['context']} tokens of context, the drafter at 4 bits; "  # type: ignore[operator]
        f"this machine offers {room / GB:.1f} GB: it {'fits' if row['fits'] else 'does not fit'}",
        "source": row["source"],
        "note": row["note"],
        "try": f"dflash-mlx chat --model {row['model']}",
    }
    width = max(map(len, lines))
    return "".join(f"{what:{width}}  {said}\n" for what, said in lines.items())


def _table(rows: list[dict[str, object]]) -> str:
    """The rows for people, in 40 columns."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=io.StringIO(), width=terminal_width())
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title, side in (("model", "left"), ("disk", "right"), ("RAM", "right"), ("fits", "left"), ("here", "left")):
        table.add_column(title, justify=side, no_wrap=title == "model")  # type: ignore[arg-type]
    for row in rows:
        parts = [row["target_cached"], row["drafter_cached"]]
        table.add_row(
            f"{row['model']}{' *' if row['default'] else ''}",
            f"{'~' if row['approximate'] else ''}{row['download_bytes'] / GB:.1f}",  # type: ignore[operator]
            f"{row['memory_bytes'] / GB:.1f}",  # type: ignore[operator]
            "yes" if row["fits"] else "no",
            "yes" if all(parts) else "part" if any(parts) else "no",
        )
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]
