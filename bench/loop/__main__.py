"""What the decoding loop costs, beside plain decoding, mlx-lm and z-lab's loop. See README.md in the folder above.

python -m dflash_mlx.bench.loop [overhead] [auto] [first-token] [memory] [parity] [--rounds 5] [--folder F] [--json]
"""

import argparse
import ctypes.util
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import util
from pathlib import Path
from statistics import median

from dflash_mlx.kernels.buffers import capacity_for

from ..roofline.synthetic import GEOMETRIES
from ..run.summary import first_difference
from .controlled import expected_length
from .workbench import BLOCKS, PROMPT, RATES, Bench, Row, answered, machine, show
from .worker import Worker

LONG_PROMPT = [2 + 37 * i % 1999 for i in range(2000)]
DEMO_PROMPTS = ("What is speculative decoding?", "Mia has 247 books. Then Leo brings 386 more. How many books are there now?")


def overhead(bench: Bench) -> Iterator[Row]:
    """(a) Milliseconds a cycle where nothing but the loop costs: 64 narrow layers, float32, a 5-layer DFlash 2 drafter."""
    cycles = 40
    with _engines(bench.pair("narrow"), cycles) as (workers, answers):
        runs = bench.in_turn(_runs(workers, cycles))
    for engine, block in runs:
        yield _row(engine, block, runs, answers)


def auto(bench: Bench) -> Iterator[Row]:
    """(b) `block_size="auto"` over plain where the cost of a pass is linear in its rows: 4 bits on the CPU backend."""
    tokens = 80
    with Worker("dflash-mlx", bench.pair("75m", bits=4)) as worker:
        answer = worker("answer", prompt=PROMPT, tokens=tokens + max(BLOCKS))
        worker("control", prompt=PROMPT, answer=answer, rates=RATES, seed=0)
        passes = worker("passes", widths=[1, *BLOCKS], context=len(PROMPT))
        yield {"pair": "75m-4bit", **{f"verify_{rows}_ms": _ms(seconds) for rows, seconds in passes}}
        yield from _against_plain(bench, "75m-4bit", partial(worker, "run", prompt=PROMPT, cycles=tokens, tokens=tokens))
    with Worker("dflash-mlx", "demo") as worker:

        def answers(block_size: int | str) -> Row:
            done = [worker("run", prompt=prompt, block_size=block_size, cycles=500) for prompt in 4 * DEMO_PROMPTS]
            return {"seconds": sum(run["seconds"] for run in done), "tokens": [t for run in done for t in run["tokens"][1:]]}

        yield from _against_plain(bench, "demo", answers)


def _against_plain(bench: Bench, pair: str, run: Callable[..., Row]) -> Iterator[Row]:
    ways: tuple[int | str, ...] = ("auto", 1)
    runs = bench.in_turn({block: partial(run, block_size=block) for block in ways})
    speeds = {block: [len(each["tokens"]) / each["seconds"] for each in done] for block, done in runs.items()}
    for block, speed in speeds.items():
        over = {"over_plain": _ratio(speed, speeds[1]), "by_round": [round(a / b, 3) for a, b in zip(speed, speeds[1])]}
        yield {"pair": pair, "block_size": block, "tokens_per_second": round(median(speed), 2), **(over if block != 1 else {})}


def first_token(bench: Bench) -> Iterator[Row]:
    """(c) Time to the first token of a 2,000-token prompt, with a drafter over without."""
    openblas = ctypes.util.find_library("openblas")
    geometry = "75m" if openblas else "tiny"  # MLX's own BLAS would take minutes a prompt
    folder = bench.pair(geometry)
    with Worker("dflash-mlx", folder, openblas) as with_drafter, Worker("dflash-mlx", folder, openblas, drafter=False) as without:
        runs = bench.in_turn(
            {
                "with": partial(with_drafter, "run", prompt=LONG_PROMPT, block_size=4, cycles=0),
                "without": partial(without, "run", prompt=LONG_PROMPT, block_size=1, cycles=0),
            }
        )
    seconds = {which: [run["first_s"] for run in done] for which, done in runs.items()}
    sizes = GEOMETRIES[geometry]
    share = sizes.injection_multiply_adds / sizes.target_multiply_adds(len(LONG_PROMPT))
    yield {
        "pair": geometry,
        "prompt_tokens": len(LONG_PROMPT),
        **{f"{which}_drafter_s": round(median(each), 3) for which, each in seconds.items()},
        "ratio": _ratio(seconds["with"], seconds["without"]),
        "by_round": [round(a / b, 3) for a, b in zip(seconds["with"], seconds["without"])],
        "injection_share_of_arithmetic": round(share, 4),
        "aim": round(1 + share + 0.01, 3),
    }


def memory(bench: Bench) -> Iterator[Row]:
    """(d) Peak memory over plain, and whether it is flat over 2,000 cycles. Every figure from a fresh process."""
    peaks = {}
    for block in (1, *BLOCKS):
        with Worker("dflash-mlx", bench.pair("75m"), drafter=block > 1) as worker:
            held = worker("weights")["active"]
            [seen] = worker("memory", prompt=PROMPT, block_size=block, marks=[40])
        peaks[block] = seen["peak"]
        row = {"pair": "75m", "block_size": block, "weights_mb": _mb(held), "peak_mb": _mb(seen["peak"])}
        if block == 1:
            plain_weights = held
        else:
            row |= {"over_plain_mb": _mb(seen["peak"] - peaks[1]), "of_it_drafter_mb": _mb(held - plain_weights)}
        yield row
    geometry = GEOMETRIES["tiny"]
    for block in (1, 4):
        with Worker("dflash-mlx", bench.pair("tiny")) as worker:
            early, late = worker("memory", prompt=PROMPT, block_size=block, marks=[200, 2000])
        buffers = [geometry.bytes_per_position(block > 1) * capacity_for(len(PROMPT) + at["tokens"]) for at in (early, late)]
        yield {
            "pair": "tiny",
            "block_size": block,
            "tokens": [early["tokens"], late["tokens"]],
            "active_mb_at_200_and_2000": [_mb(early["active"]), _mb(late["active"])],
            "peak_mb_at_200_and_2000": [_mb(early["peak"]), _mb(late["peak"])],
            "keys_and_values_mb": [_mb(size) for size in buffers],
            "active_growth_without_them_mb": _mb(late["active"] - early["active"] - (buffers[1] - buffers[0])),
        }


def parity(bench: Bench) -> Iterator[Row]:
    """How often fast verification gives another token than plain decoding, and how close its two best logits are there."""
    for blas in dict.fromkeys((None, ctypes.util.find_library("openblas"))):
        with Worker("dflash-mlx", bench.pair("tiny"), blas) as worker:
            for row in worker("parity", prompt=PROMPT, block_sizes=[2, *BLOCKS], tokens=1000):
                yield {"pair": "tiny", "blas": blas or "MLX's own", **row}


@contextmanager
def _engines(folder: Path, cycles: int) -> Iterator[tuple[dict[str, Worker], dict[str, list[int]]]]:
    """A process for every engine that is installed, acceptance controlled, and the answers that are drafted from."""
    with ExitStack() as stack:
        names = ["dflash-mlx", *(["z-lab"] if util.find_spec("dflash") else []), "mlx-lm"]
        workers = {name: stack.enter_context(Worker(name, folder)) for name in names}
        if "z-lab" not in workers:
            print("z-lab's rows are left out: its package dflash is not installed here.", file=sys.stderr)
        yield workers, answered(workers, cycles)


def _runs(workers: Mapping[str, Worker], cycles: int) -> dict[tuple[str, int], Callable[[], Row]]:
    """Engine and block size -> a run. mlx-lm has plain decoding only, z-lab none."""
    ways = [(name, block) for block in BLOCKS for name in workers if name != "mlx-lm"] + [("dflash-mlx", 1), ("mlx-lm", 1)]
    return {(name, block): partial(workers[name], "run", prompt=PROMPT, block_size=block, cycles=cycles) for name, block in ways}


def _row(engine: str, block: int, runs: Mapping[tuple[str, int], list[Row]], answers: Mapping[str, list[int]]) -> Row:
    first, cycles = runs[engine, block][0], _cycle_times(runs[engine, block])
    tokens, length = first["tokens"], (len(first["tokens"]) - 1) / first["cycles"]
    row = {
        "engine": engine,
        "block_size": block,
        "ms_per_cycle": _ms(median(cycles)),
        "fastest": _ms(min(cycles)),
        "slowest": _ms(max(cycles)),
        "acceptance_length": round(length, 3),
        "asked": round(expected_length(RATES[: block - 1]), 3),
        "over_plain": _ratio(_cycle_times(runs["dflash-mlx", 1]), cycles, length),
    }
    if engine == "dflash-mlx" and ("z-lab", block) in runs:
        row["of_z_lab"] = _ratio(cycles, _cycle_times(runs["z-lab", block]))
    left = first_difference(tokens, answers.get(engine, tokens)[: len(tokens)])
    if left is not None:
        row["leaves_its_answer_after"] = left  # and is accepted by chance from there on
    return row


def _cycle_times(runs: list[Row]) -> list[float]:
    """Seconds a cycle, a run each."""
    return [run["seconds"] / run["cycles"] for run in runs]


def _ratio(of: list[float], to: list[float], factor: float = 1.0) -> float:
    """Median over the rounds of what was measured in the same round, so that a slow minute weighs on both."""
    return round(factor * median(a / b for a, b in zip(of, to)), 3)


def _ms(seconds: float) -> float:
    return round(1e3 * seconds, 2)


def _mb(size: int) -> float:
    return round(size / 1e6, 3)


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "overhead": overhead,
    "auto": auto,
    "first-token": first_token,
    "memory": memory,
    "parity": parity,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.loop", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; none: all")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind, in turn")
    parser.add_argument("--folder", type=Path, help="keeps the checkpoints that are made")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.folder or Path(temporary), options.rounds)
        show({"command": shlex.join(["python", "-m", "dflash_mlx.bench.loop", *sys.argv[1:]]), **machine()}, options.json)
        for name in options.parts or PARTS:
            for row in PARTS[name](bench):
                show({"part": name, **row}, options.json)


if __name__ == "__main__":
    main()
