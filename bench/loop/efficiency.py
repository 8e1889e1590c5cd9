"""How near the engine comes to what its passes allow, where more rows cost a pass little, as on a Mac: `make bench`.

    python -m dflash_mlx.bench.loop.efficiency [--folder build/bench] [--rounds 5]

A float32 hybrid of random weights and 0.3 B parameters, drafts right as often as they are told (`controlled.py`), and on Linux
OpenBLAS, under which a float32 pass of a few rows costs little more than one of one row. Two bounds: what the memory allows
if a cycle does nothing but move its bytes, and what the parts of a cycle take one after the other.
"""

import argparse
import ctypes.util
import shlex
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import mlx.core as mx
from rich.console import Console
from rich.table import Table

from dflash_mlx.errors import DFlashError, RequestError

from ..roofline.synthetic import GEOMETRIES
from .workbench import BLOCKS, PROMPT, Bench, answered, machine, show
from .worker import Worker

GEOMETRY = "300m"
CYCLES = 12  # of a run
COLUMNS = {
    "block_size": ("block", "d"),
    "tokens_per_second": ("tok/s", ".2f"),
    "over_plain": ("of plain", ".2f"),
    "acceptance_length": ("tau", ".2f"),
    "cycle_ms": ("cycle ms", ".1f"),
    "host_ms": ("host ms", ".1f"),
    "moved_gb": ("GB", ".2f"),
    "memory_bound": ("bound", ".2f"),
    "of_memory_bound": ("of it", ".2f"),
    "parts_bound": ("parts", ".2f"),
    "of_parts_bound": ("of them", ".2f"),
}


def efficiency(bench: Bench) -> Iterator[dict[str, Any]]:
    """A row for plain decoding and for each block size: medians over rounds in which all take turns.

    Raises:
        RequestError: on Linux, where OpenBLAS is missing.
    """
    openblas = ctypes.util.find_library("openblas")
    if openblas is None and not mx.metal.is_available():
        raise RequestError("OpenBLAS is not installed here.", "Install it (Debian: apt-get install libopenblas0-pthread).")
    preload = None if mx.metal.is_available() else openblas
    blocks = (1, *BLOCKS)
    with Worker("dflash-mlx", bench.pair(GEOMETRY), preload) as worker:
        answered({"dflash-mlx": worker}, CYCLES)
        runs = bench.in_turn(
            {block: partial(worker, "run", prompt=PROMPT, block_size=block, cycles=CYCLES) for block in blocks}
            | {-block: partial(worker, "profile", block_size=block, context=len(PROMPT) + 2 * CYCLES) for block in blocks}
        )
    bandwidth = median(profile["bandwidth"] for block in blocks for profile in runs[-block])
    for block in blocks:
        yield row(block, runs[block], runs[1], runs[-block], bandwidth)


def row(block: int, runs: list[Any], plain: list[Any], profiles: list[Any], bandwidth: float) -> dict[str, Any]:
    """Ratios are medians of what was measured in the same round."""
    length = (len(runs[0]["tokens"]) - 1) / runs[0]["cycles"]
    cycles, steps = ([run["seconds"] / run["cycles"] for run in each] for each in (runs, plain))
    moved, parts = profiles[0]["bytes"], [profile["parts_seconds"] for profile in profiles]
    speed, at_best = length / median(cycles), length * bandwidth / moved
    return {
        "block_size": block,
        "tokens_per_second": speed,
        "over_plain": median(length * step / cycle for step, cycle in zip(steps, cycles)),
        "acceptance_length": length,
        "cycle_ms": 1e3 * median(cycles),
        "host_ms": 1e3 * median(profile["host_seconds"] for profile in profiles),
        "moved_gb": moved / 1e9,
        "bandwidth_gb_per_second": bandwidth / 1e9,
        "memory_bound": at_best,
        "of_memory_bound": speed / at_best,
        "parts_bound": length / median(parts),
        "of_parts_bound": median(part / cycle for part, cycle in zip(parts, cycles)),
    }


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for title, _ in COLUMNS.values():
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(format(row[name], how) for name, (_, how) in COLUMNS.items()))
    return table


def _about(rows: list[dict[str, Any]]) -> str:
    sizes = GEOMETRIES[GEOMETRY]
    return (
        f"{GEOMETRY}, float32, hidden {sizes.hidden}, {sizes.layers} layers; memory reads"
        f" {rows[0]['bandwidth_gb_per_second']:.1f} GB/s.\n"
        "GB: what a cycle must move; bound: tok/s if it did nothing else; parts: tok/s if its parts, measured alone,\n"
        "followed each other at once; host: Python's time of a cycle, while the device works or not."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.loop.efficiency",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", type=Path, help="keeps the checkpoints that are made")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind, in turn")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    options = parser.parse_args()
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as temporary:
        about = {"command": shlex.join(["python", "-m", "dflash_mlx.bench.loop.efficiency", *sys.argv[1:]]), **machine()}
        show(about, options.json)
        try:
            rows = list(efficiency(Bench(options.folder or Path(temporary), options.rounds)))
        except DFlashError as error:
            raise SystemExit(f"error: {error.message}\n{error.hint}") from None
    if options.json:
        for row in rows:
            show(row, as_json=True)
    else:
        console.print(_about(rows))
        console.print(_table(rows))


if __name__ == "__main__":
    main()
