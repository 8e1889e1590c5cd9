"""What the decoding loop costs, beside plain decoding, mlx-lm and z-lab's loop. See README.md beside this file.

python -m bench.loop [overhead ...] [--rounds 5] [--folder build/bench] [--json]
"""

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from statistics import median
from typing import Any

from bench.controlled import expected_length
from bench.synthetic import GEOMETRIES, write_pair
from bench.worker import Worker

RATE, SEED = 0.75, 1  # of the controlled acceptance: each draft is right this often where those before it are
DRAFTS = 7
PROMPT = [2 + 37 * i % 200 for i in range(32)]

Row = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """What every part is given."""

    folder: Path
    rounds: int

    def pair(self, geometry: str, bits: int | None = None) -> Path:
        """The folder of a synthetic pair, made if it is not there."""
        folder = self.folder / (geometry if bits is None else f"{geometry}-{bits}bit")
        if not (folder / "drafter" / "model.safetensors").is_file():
            write_pair(folder, GEOMETRIES[geometry], bits=bits)
        return folder


def overhead(bench: Bench) -> Iterator[Row]:
    """Milliseconds a cycle where nothing but the loop costs: 64 narrow layers, float32, a 5-layer DFlash 2 drafter."""
    yield from _cycles(bench, bench.pair("narrow"), cycles=40)


def _cycles(bench: Bench, folder: Path, cycles: int, preload: str | None = None) -> Iterator[Row]:
    """Every engine at blocks of 4 and 8 and plain, in turn, on the same checkpoint with the same acceptance."""
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name, folder, preload)) for name in _engines()}
        longest = round(cycles * expected_length([RATE] * DRAFTS) * 1.3) + DRAFTS
        for worker in (workers[name] for name in workers if name != "mlx-lm"):
            answer = worker("answer", prompt=PROMPT, tokens=longest)
            worker("control", prompt=PROMPT, answer=answer, rates=[RATE] * DRAFTS, seed=SEED)
        ways = [(name, block) for block in (4, 8, 1) for name in workers if block == 1 or name != "mlx-lm"]
        ways.remove(("z-lab", 1)) if "z-lab" in workers else None  # it has no plain decoding
        seconds, taus = defaultdict[tuple[str, int], list[float]](list), dict[tuple[str, int], float]()
        for round_ in range(bench.rounds + 1):
            for name, block in ways:
                run = workers[name]("run", prompt=PROMPT, block_size=block, cycles=cycles if round_ else 4)
                if round_:  # the first one warms up
                    seconds[name, block].append(run["seconds"] / cycles)
                    taus[name, block] = (len(run["tokens"]) - 1) / cycles
        plain = median(seconds["dflash-mlx", 1])
        for way in ways:
            cycle = median(seconds[way])
            row = {
                "engine": way[0],
                "block_size": way[1],
                "ms_per_cycle": round(1e3 * cycle, 2),
                "fastest": round(1e3 * min(seconds[way]), 2),
                "slowest": round(1e3 * max(seconds[way]), 2),
                "acceptance_length": round(taus[way], 3),
                "over_plain": round(taus[way] * plain / cycle, 3),
            }
            if way[0] == "dflash-mlx" and ("z-lab", way[1]) in seconds:
                row["of_z_lab"] = round(cycle / median(seconds["z-lab", way[1]]), 3)
            yield row


def _engines() -> list[str]:
    return ["dflash-mlx", *(["z-lab"] if util.find_spec("dflash") else []), "mlx-lm"]


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {"overhead": overhead}


def machine() -> Row:
    """What this was measured on."""
    versions = {name: metadata.version(name) for name in ("mlx", "mlx-lm")}
    return {"machine": platform.machine(), "system": platform.system(), "cores": os.cpu_count(), **versions}


def show(row: Row, as_json: bool) -> None:
    print(json.dumps(row) if as_json else "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.loop", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; none: all")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind, in turn")
    parser.add_argument("--folder", type=Path, help="keeps the checkpoints that are made")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.folder or Path(temporary), options.rounds)
        show({"command": shlex.join(["python", "-m", "bench.loop", *sys.argv[1:]]), **machine()}, options.json)
        for name in options.parts or PARTS:
            for row in PARTS[name](bench):
                show({"part": name, **row}, options.json)


if __name__ == "__main__":
    main()
