"""How fast decoding could be at best, where memory bandwidth is the bound; and what that makes of machines we do not have.

The projection: each part of a cycle takes its bytes by the memory's published bandwidth, of which plain decoding reaches a
share that is fitted to published plain figures; a pass of several rows takes longer by what MLX's quantised matmul was
measured to. Beside it stand published figures that it was not fitted to.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from .hollow import configs, hollow_pair
from .published import MACHINES, PUBLISHED, Machine, Published
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
MATMUL_BYTES = 17408 * 5120 * (4 / 8 + 2 * 2 / 64)  # with scales and biases of 64


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
    plain = projected_seconds(pair_traffic(family, 1, context), 1, AT_BEST, speed)
    cycle = pair_traffic(family, rows, context)
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
def pair_traffic(family: str, rows: int, context: int) -> list[Traffic]:
    return cycle_traffic(*hollow_pair(*configs(family)), rows, context)


def _pass(family: str, rows: int) -> list[Traffic]:
    """The target's pass of a cycle, with its head."""
    return [
        part for part in pair_traffic(family, rows, CONTEXT) if part.part == "head" or part.part.endswith(("layers", "layer"))
    ]


def _plain_bytes(figure: Published) -> int:
    return sum(part.bytes for part in pair_traffic(figure.family, 1, CONTEXT))
