"""How fast decoding could be at best, where memory bandwidth is the bound; and what that makes of machines we do not have.

    python -m dflash_mlx.bench.roofline [--family Qwen3.8-27B] [--rows 4] [--acceptance 3] [--context 1024]

The projection: each part of a cycle takes its bytes by the memory's published bandwidth, of which plain decoding reaches a
share that is fitted to published plain figures; a pass of several rows takes longer by what MLX's quantised matmul was
measured to. Beside it stand published figures that it was not fitted to.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

import numpy as np

from dflash_mlx.known_pairs import known_pairs

from .hollow import configs, hollow_pair
from .published import MACHINES, PUBLISHED, SOURCES, Machine, Published
from .traffic import Traffic, cycle_traffic

Costs = Mapping[int, float]
# cost of a quantised matmul over that of one row, by rows. M1 and M2 read the weights once a row; newer chips as measured
# on an M4 Pro (https://github.com/ml-explore/mlx/issues/3839, 4096 x 24576)
COST_OF_ROWS: dict[str, Costs] = {
    "M1, M2": {1: 1.0, 8: 8.0},
    "M3 and newer": {1: 1.0, 2: 1.03, 3: 1.22, 4: 1.47, 6: 2.07, 8: 2.69},
}
# another project's kernel on an M4 Pro (mlx-dspark's docs: 0.314 ms for 17408 x 5120 at 5 to 8 rows) over one row's 0.225 ms
# by the fitted efficiency
MEASURED_KERNEL: Costs = {1: 1.0, 5: 1.39, 8: 1.39}
# an assumption: our kernels read every weight once and nothing else takes time
AT_BEST: Costs = {1: 1.0, 8: 1.0}
WIDEST = 8  # rows, of all these curves
CONTEXT = 1024  # tokens, where a publication names none
UNITS = {"plain": "tok/s", "pass": "ms", "matmul": "ms", "ratio": "x", "speculative": "tok/s"}
MATMUL_BYTES = 17408 * 5120 * (4 / 8 + 2 * 2 / 64)  # with scales and biases of 64


def floor_seconds(cycle_bytes: float, bandwidth: float) -> float:
    """What a cycle takes if it does nothing but move its bytes, at `bandwidth` bytes a second."""
    return cycle_bytes / bandwidth


def bound(cycle_bytes: float, acceptance_length: float, bandwidth: float) -> float:
    """The most tokens a second, if a cycle commits `acceptance_length` tokens."""
    return acceptance_length / floor_seconds(cycle_bytes, bandwidth)


def cost(costs: Costs, rows: int) -> float:
    """Of a matmul of so many rows over that of one."""
    return float(np.interp(rows, list(costs), list(costs.values())))


def projected_seconds(traffic: Sequence[Traffic], rows: int, costs: Costs, speed: float, replays: bool = False) -> float:
    """Seconds of parts at `speed` bytes a second.

    Args:
        rows: of a block, the anchor's included; the draft's head has one less.
        costs: of weights that all rows meet, by rows. Experts mostly meet one row each.
        replays: states are read and written again when the count is known, as by MLX's kernel.
    """
    moved = 0.0
    for part in traffic:
        met = rows - 1 if part.part in ("draft head", "draft choice") else rows
        moved += part.bytes + (cost(costs, met) - 1) * part.weights + (part.states if replays else 0)
    return moved / speed


class Projection(NamedTuple):
    """Of a machine: tokens a second of plain decoding, and seconds of a cycle by whose kernels."""

    plain: float
    cycles: dict[str, float]


def project(machine: Machine, family: str, rows: int, context: int) -> Projection:
    """What a pair would do on a machine, at the fitted efficiency."""
    speed = efficiency() * machine.bandwidth
    plain = projected_seconds(_traffic(family, 1, context), 1, AT_BEST, speed)
    cycle = _traffic(family, rows, context)
    return Projection(
        1 / plain,
        {
            "MLX": projected_seconds(cycle, rows, COST_OF_ROWS[machine.kernels], speed, replays=True),
            "measured kernel": projected_seconds(cycle, rows, MEASURED_KERNEL, speed),
            "at best": projected_seconds(cycle, rows, AT_BEST, speed),
        },
    )


@cache
def efficiency() -> float:
    """The share of the published bandwidth that plain decoding reaches, fitted to published plain decoding only."""
    return float(np.mean([_plain_bytes(each) * each.value / _machine(each.machine).bandwidth for each in PUBLISHED if each.fits]))


def predict(figure: Published) -> float:
    """What the projection says in place of a published figure, in its unit; of one whose acceptance is unknown, that length."""
    machine = _machine(figure.machine)
    costs = MEASURED_KERNEL if figure.by == "measured kernel" else COST_OF_ROWS[machine.kernels]
    speed = efficiency() * machine.bandwidth
    if figure.kind == "ratio":
        return cost(costs, figure.rows)
    if figure.kind == "matmul":
        return 1e3 * cost(costs, figure.rows) * MATMUL_BYTES / speed
    if figure.kind == "pass":
        return 1e3 * projected_seconds(_pass(figure.family, figure.rows), figure.rows, costs, speed)
    projection = project(machine, figure.family, figure.rows, CONTEXT)
    if figure.kind == "plain":
        return projection.plain
    seconds = projection.cycles[figure.by]
    return figure.acceptance / seconds if figure.acceptance else figure.value * seconds


def _machine(name: str) -> Machine:
    return next(machine for machine in MACHINES if machine.name == name)


@cache
def _traffic(family: str, rows: int, context: int) -> list[Traffic]:
    return cycle_traffic(*hollow_pair(*configs(family)), rows, context)


def _pass(family: str, rows: int) -> list[Traffic]:
    """The target's pass of a cycle, with its head."""
    return [part for part in _traffic(family, rows, CONTEXT) if part.part == "head" or part.part.endswith(("layers", "layer"))]


def _plain_bytes(figure: Published) -> int:
    return sum(part.bytes for part in _traffic(figure.family, 1, CONTEXT))


def _projection_lines(family: str, rows: int, acceptance: float, context: int) -> Iterator[str]:
    cycle, plain = (sum(part.bytes for part in _traffic(family, count, context)) / 1e9 for count in (rows, 1))
    yield f"Projection, not a measurement: {family}, target and drafter at 4 bits."
    yield f"Blocks of {rows} that commit {acceptance:g} tokens behind {context}. A plain step moves {plain:.2f} GB,"
    yield f"a cycle {cycle:.2f} GB, at {efficiency():.3f} of the published bandwidth. Whether memory holds the pair is not asked."
    yield ""
    ways = ("MLX's kernels", "a measured kernel (1)", "ours, at best (2)")
    yield f"{'':10}{'':>6}{'plain':>8}" + "".join(f"{way:>25}" for way in ways)
    yield f"{'':10}{'GB/s':>6}{'tok/s':>8}" + f"{'ms':>11}{'tok/s':>8}{'x':>6}" * len(ways)
    for machine in MACHINES:
        projection = project(machine, family, rows, context)
        line = f"{machine.name:10}{machine.bandwidth / 1e9:6.0f}{projection.plain:8.1f}"
        for seconds in projection.cycles.values():
            line += f"{seconds * 1e3:11.1f}{acceptance / seconds:8.1f}{acceptance / seconds / projection.plain:6.2f}"
        yield line
    yield "(1) as one projection was measured on an M4 Pro with mlx-dspark's kernel; assumed for all others"
    yield "(2) an assumption: every weight is read once, whatever the rows, and nothing else takes time"


def _validation_lines() -> Iterator[str]:
    yield f"Validation. Fitted is one number, {efficiency():.3f}: the share of the published bandwidth that plain decoding"
    yield "reaches. Figures marked * were used for it, and count for nothing below."
    yield ""
    yield f"{'':51}{'published':>9}{'predicted':>10}{'':7}{'error':>6}  source"
    errors: dict[str, list[float]] = {}
    needed = []
    for figure in PUBLISHED:
        predicted = predict(figure)
        if figure.kind == "speculative" and figure.acceptance is None:
            needed.append((figure, predicted))
            continue
        error = predicted / figure.value - 1
        if not figure.fits:
            errors.setdefault(figure.kind, []).append(error)
        mark, unit = "*" if figure.fits else " ", UNITS[figure.kind]
        values = f"{_digits(figure.value):>9}{_digits(predicted):>10} {unit:6}"
        yield f"{mark}{_name(figure):50}{values}{error:+6.0%}  {figure.source}"
    yield ""
    for kind, found in errors.items():
        count = f"{len(found)} figure{'' if len(found) == 1 else 's'}"
        yield f"{kind:12} {count:11} errors {min(found):+.0%} to {max(found):+.0%}, median {median(found):+.0%}"
    yield ""
    yield "Where no acceptance length was published: the one that the prediction needs"
    for figure, length in needed:
        yield f" {_name(figure):50}{_digits(figure.value):>9} tok/s, with {length:.2f} a cycle  {figure.source}"
    yield ""
    yield "Not predicted: passes of more than 8 rows, where MLX takes other kernels; what dispatches and the"
    yield "host take, which shows most where a step moves little, as of a mixture of experts; heat."
    yield ""
    yield from (f"{name:14}{address}" for name, address in SOURCES.items())


def _digits(value: float) -> str:
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1}f}"


def _name(figure: Published) -> str:
    what = {
        "plain": "plain",
        "pass": f"pass of {figure.rows} row{'' if figure.rows == 1 else 's'}",
        "matmul": f"17408 x 5120, {figure.rows} rows",
        "ratio": f"{figure.rows} rows over 1",
        "speculative": f"blocks of {figure.rows}",
    }[figure.kind]
    if figure.acceptance:
        what += f", {figure.acceptance:.2f} a cycle"
    if figure.by != "MLX":
        what += " (1)"
    return f"{figure.machine}{f', {figure.family}' if figure.family else ''}: {what}"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.roofline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    families = [pair.family for pair in known_pairs()]
    parser.add_argument("--family", default=families[0], choices=families)
    parser.add_argument("--rows", type=int, default=4, choices=range(2, WIDEST + 1), help="of a block, the anchor's included")
    parser.add_argument("--acceptance", type=float, default=3.0, help="tokens that a cycle commits")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens")
    options = parser.parse_args()
    if not 1 <= options.acceptance <= options.rows:
        parser.error(f"a block of {options.rows} commits 1 to {options.rows} tokens, not {options.acceptance:g}")
    for line in _projection_lines(options.family, options.rows, options.acceptance, options.context):
        print(line)
    print()
    for line in _validation_lines():
        print(line)


if __name__ == "__main__":
    main()
