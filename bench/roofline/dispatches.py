"""What a cycle submits to the device and moves, counted without a Mac and without weights; and a projection from both.

    python -m dflash_mlx.bench.roofline.dispatches [--pair Qwen3.8-27B] [--rows 4] [--context 4096]
                                                   [--bandwidth 273] [--dispatch 6]

The loop itself runs, on hollow weights, and nothing is evaluated: the lazy graph of its second cycle is counted (`graph.py`).
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import mlx.core as mx
from mlx.utils import tree_flatten

from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.kernels import MAX_ROWS, NAMES, Kernels
from dflash_mlx.loading.known_pairs import known_pairs
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.calibration import TimedBlockSize

from .graph import copies, dispatches, on_metal, primitives
from .hollow import configs, hollow_pair
from .projection import AT_BEST, COST_OF_ROWS, WIDEST, projected_seconds
from .synthetic import GEOMETRIES
from .traffic import cycle_traffic, kinds_of, part_of

GREEDY = Sampling()
NO_KERNELS = Kernels()
# plain decoding, of one row, has MLX's own bits: these two have them as well
AT_ONE_ROW = {"gated_delta", "recurrent_inputs"}
ALL_KERNELS = Kernels(
    {name: frozenset(range(1 if name in AT_ONE_ROW else 2, MAX_ROWS + 1)) for name in NAMES},
    row_invariant=frozenset(("norm", "rope", "elementwise")),  # as if seen so on the device: exact verification asks
)
Count = Callable[[list[mx.array]], Counter[str]]


class Submitted(NamedTuple):
    """What a cycle asks of the device.

    dispatches: by part. All layers of a kind are a part, "verify" is what else the target's pass does.
    primitives: of the graph, views among them; what `mx.compile` joined is one.
    reads: how often the host waits for the device.
    """

    dispatches: dict[str, int]
    primitives: int
    reads: int


def submitted(
    target: TransformerTarget,
    drafter: DFlash | None,
    rows: int,
    context: int,
    sampling: Sampling = GREEDY,
    exact: bool = False,
) -> Submitted:
    """Of a cycle of which half the drafts are accepted; without a drafter, of a plain step."""

    def counted(count: Count) -> tuple[Counter[str], int, int]:
        sequence = TokenSequence(target, drafter, exact)
        sequence.position = context
        sequence.reserve(2 * rows)
        return _submitted(sequence, Sampler(sampling, target.config.vocab_size), rows, count)

    with on_metal():
        parts, nodes, reads = counted(partial(dispatches, width=target.config.vocab_size))
        mx.disable_compile()
        try:
            parts.update(counted(copies)[0])
        finally:
            mx.enable_compile()
    for kind, number in Counter(type(layer) for layer in target.layers).items():
        parts["verify"] -= (number - 1) * parts[part_of(target, kind)]
        parts[part_of(target, kind)] *= number
    return Submitted(dict(parts), nodes, reads)


def _submitted(sequence: TokenSequence, sampler: Sampler, rows: int, count: Count) -> tuple[Counter[str], int, int]:
    """Parts by one way of counting, of the layers the first of each kind by itself; primitives; reads."""
    target, drafter = sequence.target, sequence.drafter
    assert isinstance(target, TransformerTarget)
    parts: Counter[str] = Counter()
    roots: list[mx.array] = []  # all that was computed
    counting = False

    def mark(part: str, made: Any) -> None:
        """What was not computed at the last mark belongs to this part."""
        waiting = sequence.context.waiting if sequence.context else None
        arrays = dict(tree_flatten([made, waiting, sequence.arrays])).values()
        roots.extend(array for array in arrays if isinstance(array, mx.array))
        if counting:
            parts[part] += count(roots).total() - parts.total()

    def marked(part: str, function: Callable[..., Any], before: str | None = None) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if before:
                mark(before, arguments)
            made = function(*arguments, **options)
            mark(part, made)
            return made

        return call

    layers: list[Any] = list(target.layers)
    for kind in kinds_of(target):
        first = next(i for i, layer in enumerate(layers) if type(layer) is kind)
        layer, mark_layer = layers[first], partial(marked, part_of(target, kind), before="verify")
        layers[first] = mark_layer(layer)
        vars(layers[first]).update(one_by_one=mark_layer(layer.one_by_one), exact_ops=layer.exact_ops)
    calls = [("verify", target, "forward"), ("head", sequence, "logits"), ("accept", sampler, "accept")]
    if drafter:
        calls += [("injection", drafter, "inject"), ("draft block", drafter, "hidden")]
        calls += [("draft head", drafter, "logits"), ("draft choice", drafter, "choose")]
    with ExitStack() as stack:
        for part, owner, name in [*calls, ("commit", sequence, "commit")]:
            stack.enter_context(patch.object(owner, name, marked(part, getattr(owner, name))))
        stack.enter_context(patch.object(sequence, "read", marked("accept", sequence.read, before="accept")))
        stack.enter_context(patch.object(target, "layers", layers))
        reads = stack.enter_context(_nothing_computed((rows - 1) // 2))
        cycles = run(sequence, mx.array([0], mx.int32), sampler, TimedBlockSize(rows), 10 * rows, len)
        next(cycles)
        counting = True
        parts["before"], nodes, reads_before = count(roots).total(), primitives(roots), reads.total()
        next(cycles)
    del parts["before"]
    return parts, primitives(roots) - nodes, reads.total() - reads_before


@contextmanager
def _nothing_computed(accepted: int) -> Iterator[Counter[str]]:
    """Counts how the host waits for values, but for numpy, and gives it some at once: a verdict in a list, else zeros."""
    found: Counter[str] = Counter()

    def waits(name: str, give: Callable[..., Any]) -> Any:
        def wait(*arrays: Any, **_: Any) -> Any:
            found[name] += 1
            return give(*arrays)

        return wait

    gives: dict[str, Callable[..., Any]] = {
        "tolist": lambda array: [accepted] + [0] * (array.size - 1),
        "item": lambda array: 0,
        "__bool__": lambda array: False,
        "__int__": lambda array: 0,
        "__float__": lambda array: 0.0,
        "__index__": lambda array: 0,
    }
    with ExitStack() as stack:
        for name, give in gives.items():
            stack.enter_context(patch.object(mx.array, name, waits(name, give)))
        for name in ("eval", "synchronize"):
            stack.enter_context(patch.object(mx, name, waits(name, lambda *arrays: None)))
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.roofline.dispatches",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    pairs = [*(pair.family for pair in known_pairs()), *GEOMETRIES]
    parser.add_argument("--pair", default="Qwen3.8-27B", choices=pairs, help="a target's family, or a geometry")
    parser.add_argument("--rows", type=int, default=4, choices=range(2, WIDEST + 1), help="of a block, the anchor's included")
    parser.add_argument("--context", type=int, default=4096, help="tokens")
    parser.add_argument("--bandwidth", type=float, default=273, help="GB/s; an M4 Pro's as published")
    # https://github.com/Blaizzy/mlx-vlm/pull/2105, M3 Ultra: 29 dispatches less in each of 34 layers saved 5.8 ms
    parser.add_argument("--dispatch", type=float, default=6, help="microseconds that a dispatch takes by itself")
    options = parser.parse_args()
    target, drafter = hollow_pair(*configs(options.pair))
    columns = []
    for kernels in (NO_KERNELS, ALL_KERNELS):
        target.use_kernels(kernels)
        drafter.use_kernels(kernels)
        of_cycle = submitted(target, drafter, options.rows, options.context).dispatches
        of_step = submitted(target, None, 1, options.context).dispatches
        columns.append(of_cycle | {"a cycle": sum(of_cycle.values()), "a plain step": sum(of_step.values())})
    mlx, ours = columns
    print(f"Dispatches, {options.pair}, 4 bits, blocks of {options.rows}, {options.context} tokens of context, greedy")
    print(f"{'':20}{'MLX':>7}{'kernels':>9}")
    for part in mlx:
        print(f"{part:20}{mlx[part]:7}{ours[part]:9}")
    for line in _projection_lines(target, drafter, mlx, ours, options):
        print(line)


def _projection_lines(
    target: TransformerTarget, drafter: DFlash, mlx: dict[str, int], ours: dict[str, int], options: argparse.Namespace
) -> Iterator[str]:
    """What the bytes and the counted dispatches of MLX's ops and of our kernels make of a cycle's time."""
    rows, speed = options.rows, 1e9 * options.bandwidth
    step, cycle = cycle_traffic(target, None, 1, options.context), cycle_traffic(target, drafter, rows, options.context)
    step_gb, cycle_gb = (sum(part.bytes for part in parts) / 1e9 for parts in (step, cycle))
    weights, states = sum(part.weights + part.experts for part in cycle), sum(part.states for part in cycle)
    yield ""
    yield f"A plain step must move {step_gb:.2f} GB."
    yield f"A cycle must move {cycle_gb:.2f} GB, of which weights {weights / 1e9:.2f}, states {states / 1e9:.2f}."
    yield f"Projection, not a measurement: {options.bandwidth:g} GB/s, {options.dispatch:g} us a dispatch"
    yield f"{'':30}{'memory ms':>10}{'dispatches':>12}{'ms':>8}{'plain steps':>13}"
    lines = [("a plain step, MLX", projected_seconds(step, 1, AT_BEST, speed), mlx["a plain step"])]
    for chips, costs in COST_OF_ROWS.items():
        lines.append((f"a cycle, MLX, {chips}", projected_seconds(cycle, rows, costs, speed, replays=True), mlx["a cycle"]))
    lines.append(("a cycle, kernels", projected_seconds(cycle, rows, AT_BEST, speed), ours["a cycle"]))
    times = [1e3 * memory + dispatched * options.dispatch / 1e3 for _, memory, dispatched in lines]
    for (name, memory, dispatched), time in zip(lines, times):
        yield f"{name:30}{1e3 * memory:10.1f}{dispatched:12}{time:8.1f}{time / times[0]:13.2f}"


if __name__ == "__main__":
    main()
