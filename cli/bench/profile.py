"""`dflash-mlx bench profile`: where a cycle's time goes, beside what memory bandwidth allows."""

import io
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Drafter, DrafterBits, Force, Kernels, Model, default_model, parser, positive, tell_of_kernels
from ..render import Progress, json_line, note, terminal_width, write
from .options import tokens

if TYPE_CHECKING:
    from dflash_mlx.bench.run.profile import Profile

BLOCK_SIZE = 4
CACHED = 2**27  # bytes that caches may hold, on the largest chips
COLUMNS = 80
CAPTURE = """\
to see a cycle's kernels in Xcode, run Python with MTL_CAPTURE_ENABLED=1, and in it a warm pair.generate(...) between
mx.metal.start_capture("cycle.gputrace") and mx.metal.stop_capture(); the file must not exist yet."""


def profile(
    model: Model = None,
    drafter: Drafter = "auto",
    drafter_bits: DrafterBits = "auto",
    block_size: Annotated[
        int | None,
        typer.Option(
            parser=parser("--block-size", positive, "a number from 1 up", "4"),
            metavar="N",
            help=f"Rows of the cycle; 1: a plain step. Default: {BLOCK_SIZE}, or the most the drafter takes.",
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        str,
        typer.Option(
            parser=parser("--context", tokens, "a number of tokens from 1 up", "512"),
            metavar="N",
            help="Tokens before the cycle, as in 512 or 8k.",
        ),
    ] = "512",
    kernels: Kernels = "auto",
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines: each part, then the whole cycle.")] = False,
) -> None:
    """Show where a cycle's time goes.

    Each part is timed alone, beside the time that its bytes take at this machine's bandwidth."""
    with Progress(quiet=False) as progress:
        import dflash_mlx  # here, and not at the top: --help and wrong usage need not wait for MLX
        from dflash_mlx.bench.run.profile import profile as measure

        pair = dflash_mlx.load(
            default_model(quiet=False) if model is None else model,
            drafter=None if drafter == "none" else drafter,
            drafter_bits=drafter_bits,
            force=force,
            kernels=kernels,
            progress=progress.loading,
        )
        tell_of_kernels(pair)
        rows = block_size or min(BLOCK_SIZE, pair.drafter.config.block_size if pair.drafter else 1)
        found = measure(pair, rows, int(context), partial(progress.benching, "measuring parts"))
    if as_json:
        write("".join(map(json_line, _records(found))))
        return
    write(_table(found) + "\n")
    for line in _remarks(found):
        write(line + "\n")
    if _has_metal():
        note(CAPTURE)


def _records(found: "Profile") -> Iterator[dict[str, Any]]:
    for part in found.parts:
        floor = part.bytes / found.bandwidth
        yield {"type": "part", "part": part.name, "seconds": part.seconds, "bytes": part.bytes, "floor_seconds": floor}
    yield {
        "type": "cycle",
        "block_size": found.rows,
        "context": found.context,
        "seconds": found.cycle_seconds,
        "bytes": found.bytes,
        "floor_seconds": found.floor_seconds,
        "parts_seconds": found.parts_seconds,
        "host_seconds": found.host_seconds,
        "plain_step_seconds": found.plain_step_seconds,
        "bandwidth": found.bandwidth,
    }


def _table(found: "Profile") -> str:
    """The parts and the cycle for people."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("part", "ms", "share", "MB", "floor ms", "x floor"):
        table.add_column(title, justify="left" if title == "part" else "right", no_wrap=True)

    def add(name: str, seconds: float, moved: int) -> None:
        floor = moved / found.bandwidth
        share = f"{seconds / found.cycle_seconds:.0%}"
        against = (f"{moved / 1e6:.1f}", f"{floor * 1e3:.2f}", f"{seconds / floor:.1f}") if moved else ("-", "-", "-")
        table.add_row(name, f"{seconds * 1e3:.2f}", share, *against)

    for part in found.parts:
        add(part.name, part.seconds, part.bytes)
    table.add_section()
    add("all parts, in turn", found.parts_seconds, found.bytes)
    add("a cycle in the loop" if found.rows > 1 else "a step in the loop", found.cycle_seconds, found.bytes)
    add("of it Python, on the host", found.host_seconds, 0)
    console = Console(file=io.StringIO(), width=max(COLUMNS, terminal_width()))
    console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in lines)


def _remarks(found: "Profile") -> Iterator[str]:
    """What the numbers say."""
    what = f"blocks of {found.rows}" if found.rows > 1 else "a plain step"
    yield f"{what} after {found.context} tokens, greedy; medians; memory reads {found.bandwidth / 1e9:.1f} GB/s"
    between = (found.cycle_seconds - found.parts_seconds) * 1e3
    if between > 0:
        yield f"between parts and cycle: {between:.2f} ms of Python and waits that nothing hides"
    else:
        yield f"the parts take {-between:.2f} ms more alone than in the cycle; far more means other load"
    yield "Python works beside the device: its time is lost only where the device waits"
    reached = found.floor_seconds / found.cycle_seconds
    if found.rows == 1:
        yield f"bound by bandwidth: {1 / found.floor_seconds:.1f} tokens/s; this is {reached:.0%} of it"
    else:
        needed = found.cycle_seconds / found.plain_step_seconds
        pays = f"pay from {needed:.2f} committed tokens on" if needed < found.rows else "cannot pay, whatever they commit"
        yield f"a plain step takes {found.plain_step_seconds * 1e3:.2f} ms: such cycles {pays}"
        yield f"bound by bandwidth: {1 / found.floor_seconds:.1f} tokens/s x acceptance length; this is {reached:.0%} of it"
    if found.bytes < CACHED:
        yield "so few bytes can stay in caches, so memory does not limit them here"


def _has_metal() -> bool:
    import mlx.core as mx

    return mx.metal.is_available()
