"""What a cycle submits to the device and moves, counted without a Mac and without weights; and a projection from both.

    python -m dflash_mlx.bench.dispatches [--geometry 27b] [--rows 4] [--context 4096] [--bandwidth 273] [--dispatch 6]

The loop itself runs, on hollow weights, and nothing is evaluated: the lazy graph of its second cycle is counted (`graph.py`).
"""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx.utils import tree_flatten, tree_map
from mlx_lm.models import qwen3_5

from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import GROUP_SIZE, DFlash, DrafterConfig, new_drafter, quantise
from dflash_mlx.kernels import MAX_ROWS, NAMES, Kernels
from dflash_mlx.known_pairs import known_pairs
from dflash_mlx.targets.qwen3_5 import Qwen35
from dflash_mlx.targets.state import RecurrentState
from dflash_mlx.targets.transformer import TransformerTarget

from .graph import copies, dispatches, hollow, on_metal
from .synthetic import GEOMETRIES

BITS = 4
NO_KERNELS = Kernels()
# plain decoding, of one row, has MLX's own bits: these two have them as well
AT_ONE_ROW = {"gated_delta", "recurrent_inputs"}
ALL_KERNELS = Kernels({name: frozenset(range(1 if name in AT_ONE_ROW else 2, MAX_ROWS + 1)) for name in NAMES})
# cost of MLX's quantised matmul over that of one row, by rows: M1 and M2 read the weights once a row; newer chips as measured
# on an M4 Pro (https://github.com/ml-explore/mlx/issues/3839)
COST_OF_ROWS = {"M1, M2": {1: 1.0, 8: 8.0}, "M3 and newer": {1: 1.0, 2: 1.03, 3: 1.22, 4: 1.47, 6: 2.07, 8: 2.69}}
Count = Callable[[list[mx.array]], Counter[str]]


def configs(geometry: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The config.json of a target, its text part, and of its drafter."""
    if geometry == "27b":
        [pair] = (pair for pair in known_pairs() if pair.family == "Qwen3.8-27B")
        return pair.target_config, pair.drafter_config
    return GEOMETRIES[geometry].target_config["text_config"], GEOMETRIES[geometry].drafter_config


def hollow_pair(config: dict[str, Any], drafter_config: dict[str, Any]) -> tuple[TransformerTarget, DFlash]:
    """A target and its drafter, at 4 bits and bfloat16, whose weights take no memory."""
    model = qwen3_5.Model(qwen3_5.ModelArgs.from_dict({"model_type": "qwen3_5", "text_config": config})).language_model
    model.update(tree_map(lambda weight: weight.astype(mx.bfloat16), model.parameters()))
    nn.quantize(model, GROUP_SIZE, BITS, class_predicate=lambda _, part: _can_be_quantised(part))
    drafter = new_drafter(DrafterConfig.from_dict(drafter_config))
    drafter.set_dtype(mx.bfloat16)
    quantise(drafter, BITS)
    for module in (model, drafter):
        module.update(tree_map(lambda weight: hollow(weight.shape, weight.dtype), module.parameters()))
    with patch.object(mx, "concatenate", _hollow_concatenation):  # of weights, into joint projections
        target = Qwen35(model)
        drafter.fuse()
    mx.eval(model.parameters(), drafter.parameters())
    return target, drafter


def _can_be_quantised(part: nn.Module) -> bool:
    return hasattr(part, "to_quantized") and part.weight.shape[-1] % GROUP_SIZE == 0


def _hollow_concatenation(parts: Sequence[mx.array], axis: int = 0) -> mx.array:
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    joint = hollow(shape, parts[0].dtype)
    mx.eval(joint)
    return joint


class Fixed:
    """Block sizes that are always the same."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def next(self, position: int) -> int:
        return self.rows

    def record(self, *cycle: object) -> None:
        pass


def submitted(target: TransformerTarget, drafter: DFlash | None, rows: int, context: int) -> dict[str, int]:
    """Dispatches by part of a greedy cycle of which half the drafts are accepted; without a drafter, of a plain step.

    All layers of a kind are a part, "verify" is what else the target's pass does.
    """
    fused = partial(dispatches, width=target.config.vocab_size)
    with on_metal():
        found = _submitted(target, drafter, rows, context, fused)
        mx.disable_compile()
        try:
            found.update(_submitted(target, drafter, rows, context, copies))
        finally:
            mx.enable_compile()
    parts = {}
    for kind, number in Counter(type(layer).__name__ for layer in target.layers).items():
        found["verify"] -= (number - 1) * found[kind]
        parts[f"{number} {kind}s"] = number * found.pop(kind)
    return parts | found


def _submitted(target: TransformerTarget, drafter: DFlash | None, rows: int, context: int, count: Count) -> Counter[str]:
    """By one way of counting; of the layers, the first of each kind by itself."""
    sequence = TokenSequence(target, drafter)
    sequence.position = context
    sequence.reserve(2 * rows)
    sampler = Sampler(Sampling(), target.config.vocab_size)
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

    def read(answer: mx.array, *sizes: int) -> list[list[int]]:
        mark("accept", answer)
        return [[(rows - 1) // 2], *([0] * size for size in sizes[1:])]

    layers: list[Any] = list(target.layers)
    for layer in {type(layer): layer for layer in reversed(target.layers)}.values():
        layers[layers.index(layer)] = marked(type(layer).__name__, layer, before="verify")
    calls = [("verify", target, "forward"), ("head", sequence, "logits"), ("accept", sampler, "accept")]
    if drafter:
        calls += [("inject", drafter, "inject"), ("draft block", drafter, "hidden")]
        calls += [("draft head", drafter, "logits"), ("draft choose", drafter, "choose")]
    with ExitStack() as stack:
        for part, owner, name in [*calls, ("commit", sequence, "commit")]:
            stack.enter_context(patch.object(owner, name, marked(part, getattr(owner, name))))
        stack.enter_context(patch.object(sequence, "read", read))
        stack.enter_context(patch.object(target, "layers", layers))
        cycles = run(sequence, mx.array([0], mx.int32), sampler, Fixed(rows), 10 * rows, len)
        next(cycles)
        counting = True
        parts["before"] = count(roots).total()
        next(cycles)
    del parts["before"]
    return parts


class Moved(NamedTuple):
    """Bytes: weights of the target, with its head; those that a draft reads, that head among them; states; K and V of both."""

    target: int
    draft: int
    states: int
    target_context: int
    draft_context: int


def moved(target: TransformerTarget, drafter: DFlash, context: int) -> Moved:
    """What a cycle must move if it reads each weight, K and V once, and each recurrent state once without writing it."""
    besides = () if target.args.tie_word_embeddings else ("embed_tokens",)
    layers = target.new_state(context).layers
    return Moved(
        _nbytes(target.module, *besides),
        _nbytes(drafter, "predecessor_codebook", "successor_codebook") + _nbytes(target.head),
        sum(layer.recurrent.nbytes for layer in layers if isinstance(layer, RecurrentState)),
        sum(array.nbytes for layer in layers if not isinstance(layer, RecurrentState) for array in layer.arrays),
        sum(array.nbytes for array in drafter.new_context(context).arrays),
    )


def _nbytes(module: nn.Module, *besides: str) -> int:
    """Of a module's weights but for tables of which only rows are read."""
    weights: dict[str, mx.array] = dict(tree_flatten(module.parameters()))
    return sum(weight.nbytes for name, weight in weights.items() if not set(name.split(".")) & set(besides))


def project(bytes_moved: float, dispatched: int, bandwidth: float, microseconds: float) -> float:
    """Milliseconds, if a dispatch takes so long by itself and memory (GB/s) never waits for anything else."""
    return bytes_moved / bandwidth / 1e6 + dispatched * microseconds / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dflash_mlx.bench.dispatches", description=__doc__)
    parser.add_argument("--geometry", default="27b", choices=["27b", *GEOMETRIES])
    parser.add_argument("--rows", type=int, default=4, choices=range(2, 9), help="of a block, the anchor's included")
    parser.add_argument("--context", type=int, default=4096, help="tokens")
    parser.add_argument("--bandwidth", type=float, default=273, help="GB/s; an M4 Pro's as published")
    # https://github.com/Blaizzy/mlx-vlm/pull/2105, M3 Ultra: 29 dispatches less in each of 34 layers saved 5.8 ms
    parser.add_argument("--dispatch", type=float, default=6, help="microseconds that a dispatch takes by itself")
    options = parser.parse_args()
    target, drafter = hollow_pair(*configs(options.geometry))
    columns = []
    for kernels in (NO_KERNELS, ALL_KERNELS):
        target.use_kernels(kernels)
        drafter.use_kernels(kernels)
        cycle = submitted(target, drafter, options.rows, options.context)
        step = submitted(target, None, 1, options.context)
        columns.append(cycle | {"a cycle": sum(cycle.values()), "a plain step": sum(step.values())})
    print(f"Dispatches, {options.geometry}, 4 bits, blocks of {options.rows}, {options.context} tokens of context, greedy")
    print(f"{'':20}{'MLX':>7}{'kernels':>9}")
    for part in columns[0]:
        print(f"{part:20}{columns[0][part]:7}{columns[1][part]:9}")

    size = moved(target, drafter, options.context)
    print(f"\nBytes, each once, GB: {', '.join(f'{name} {value / 1e9:.2f}' for name, value in size._asdict().items())}")
    print(f"Projection, not a measurement: {options.bandwidth:g} GB/s, {options.dispatch:g} us a dispatch")
    print(f"{'':30}{'GB':>7}{'dispatches':>12}{'ms':>7}{'plain steps':>13}")
    # MLX's kernel reads and writes the states, in a cycle again for the accepted rows; ours once
    plain = size.target + 2 * size.states + size.target_context
    lines: list[tuple[str, float, int]] = [("a plain step, MLX", plain, columns[0]["a plain step"])]
    weights, context = size.target + size.draft, size.target_context + size.draft_context
    for chips, costs in COST_OF_ROWS.items():
        factor = float(np.interp(options.rows, list(costs), list(costs.values())))
        lines.append((f"a cycle, MLX, {chips}", factor * weights + 4 * size.states + context, columns[0]["a cycle"]))
    lines.append(("a cycle, kernels", weights + 2 * size.states + context, columns[1]["a cycle"]))
    times = [project(total, dispatched, options.bandwidth, options.dispatch) for _, total, dispatched in lines]
    for (name, total, dispatched), time in zip(lines, times):
        print(f"{name:30}{total / 1e9:7.1f}{dispatched:12}{time:7.1f}{time / times[0]:13.2f}")


if __name__ == "__main__":
    main()
