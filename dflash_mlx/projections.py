"""Projections that read the same rows, as one matrix: one matmul and one dispatch instead of several."""

import copy
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import mlx.core as mx
import mlx.nn as nn


class Projections:
    """Several projections of the same rows, computed as few: one, or one a kind where a checkpoint mixes bits.

    The projections given become views of the joint weights: nothing is held twice. Quantised ones give the same bits as
    they would alone; on Metal, MLX's kernel for one unquantised row depends on the number of outputs where that is small.
    """

    def __init__(self, parts: Sequence[nn.Module]) -> None:
        """parts: `nn.Linear` or `nn.QuantizedLinear`, of the same inputs."""
        kinds: dict[tuple[Any, ...], list[int]] = {}
        for place, part in enumerate(parts):
            kinds.setdefault(_kind(part), []).append(place)
        self._joint = [(_concatenate([parts[i] for i in places]), places) for places in kinds.values()]
        self._outputs = [part["weight"].shape[0] for part in parts]

    def __call__(
        self, x: mx.array, project: Callable[[nn.Module, mx.array], mx.array] = lambda part, x: part(x)
    ) -> list[mx.array]:
        """The outputs of each part for rows `[..., inputs]`: `[..., outputs]` each.

        `project` calls a joint projection; by default as the module that it is.
        """
        results = [x] * len(self._outputs)
        for joint, places in self._joint:
            cuts = list(accumulate(self._outputs[place] for place in places))[:-1]
            for place, rows in zip(places, mx.split(project(joint, x), cuts, axis=-1)):
                results[place] = rows
        return results


def _kind(part: nn.Module) -> tuple[Any, ...]:
    """What projections of one matrix have in common."""
    quantisation = (getattr(part, name, None) for name in ("bits", "group_size", "mode"))
    return type(part), *quantisation, *((name, part[name].dtype) for name in part.parameters())


def _concatenate(parts: list[nn.Module]) -> nn.Module:
    """One projection that gives the outputs of all parts side by side; theirs become views of its weights."""
    joint = copy.copy(parts[0])
    cuts = list(accumulate(part["weight"].shape[0] for part in parts))[:-1]
    for name in joint.parameters():
        joint[name] = mx.concatenate([part[name] for part in parts])
        for part, view in zip(parts, mx.split(joint[name], cuts)):
            part[name] = view
    return joint
