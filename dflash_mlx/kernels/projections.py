"""Projections that read the same rows, as one matrix: one matmul and one dispatch instead of several."""

import copy
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.activations import swiglu

from dflash_mlx.kernels.columns import Columns

Project = Callable[[nn.Module, mx.array], mx.array]  # computes a linear layer over rows


UNPACKED_BYTES = 64 * 2**20  # of float32 weights in all: about what a processor's cache holds


def as_module(layer: nn.Module, x: mx.array) -> mx.array:
    """A `Project` that calls the layer as it is, an embedding as head; with its float32 weights where it was unpacked."""
    unpacked = layer.get("_unpacked")
    if unpacked is not None:
        y: mx.array = x @ unpacked
        return y + layer.bias if "bias" in layer else y
    y = layer.as_linear(x) if isinstance(layer, nn.Embedding | nn.QuantizedEmbedding) else layer(x)
    return y


def unpack(layers: Sequence[nn.Module]) -> int:
    """Keeps the weights of float32 projections in float32 beside their quantised ones, if all are few (`UNPACKED_BYTES`).

    MLX's quantised matmul on a CPU takes as long for each further row as for the first, nearly three times as long as the
    reference BLAS takes with the same numbers as `[inputs, outputs]`. Call it only where that BLAS is: a row's bits there do
    not depend on the rows beside it. Returns the bytes that this takes.
    """
    chosen = [
        layer
        for layer in layers
        if isinstance(layer, nn.QuantizedLinear | nn.QuantizedEmbedding) and layer.scales.dtype == mx.float32
    ]
    size: int = sum(layer.scales.size * layer.group_size * 4 for layer in chosen)
    if size > UNPACKED_BYTES:
        return 0
    for layer in chosen:
        parts = layer.weight, layer.scales, layer.get("biases")
        weight = mx.dequantize(*parts, group_size=layer.group_size, bits=layer.bits, mode=layer.mode)
        layer._unpacked = mx.contiguous(weight.T)  # the underscore keeps it out of the layer's parameters
    mx.eval([layer._unpacked for layer in chosen])
    return size


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

    def __call__(self, x: mx.array, project: Project = as_module) -> list[mx.array]:
        """The outputs of each part for rows `[..., inputs]`: `[..., outputs]` each. `project` computes joint projections."""
        return [part.view for part in self.columns(x, project)]

    def columns(self, x: mx.array, project: Project = as_module) -> list[Columns]:
        """The same, each part where it stands in what its joint projection gives."""
        results: dict[int, Columns] = {}
        for joint, places in self._joint:
            rows, start = project(joint, x), 0
            for place in places:
                results[place] = Columns(rows, start, self._outputs[place])
                start += self._outputs[place]
        return [results[place] for place in range(len(self._outputs))]

    @property
    def layers(self) -> list[nn.Module]:
        """The joint projections."""
        return [joint for joint, _ in self._joint]

    def side_by_side(self, x: mx.array, project: Project = as_module) -> mx.array:
        """The same outputs in one array, `[..., outputs of all parts]`: of parts of one kind, what one matmul gives."""
        if len(self._joint) == 1:
            return project(self._joint[0][0], x)
        return mx.concatenate(self(x, project), axis=-1)

    def some(self, first: int, count: int) -> "Projections":
        """The same for `count` of the parts: its weights are views of the joint ones."""
        some = copy.copy(self)
        some._outputs = self._outputs[first : first + count]
        some._joint = []
        for joint, places in self._joint:
            before = sum(self._outputs[place] for place in places if place < first)
            chosen = [place - first for place in places if first <= place < first + count]
            after = before + sum(some._outputs[place] for place in chosen)
            if chosen:
                view = copy.copy(joint)
                view.pop("_unpacked", None)
                view.update({name: weight[before:after] for name, weight in joint.parameters().items()})
                some._joint.append((view, chosen))
        return some


class FeedForward:
    """The MLP of a layer: mlx-lm's `MLP` with gate and up as one projection; a mixture of experts as it is."""

    def __init__(self, mlp: nn.Module) -> None:
        self.mlp = mlp
        self._gate_up = Projections([mlp.gate_proj, mlp.up_proj]) if "gate_proj" in mlp else None

    def __call__(self, x: mx.array, project: Project = as_module) -> mx.array:
        """Rows `[..., hidden]` -> `[..., hidden]`. `project` computes the projections."""
        if self._gate_up is None:
            return as_module(self.mlp, x)
        return project(self.mlp.down_proj, swiglu(*self._gate_up(x, project)))

    @property
    def layers(self) -> list[nn.Module]:
        """The linear layers that it calls; none of a mixture of experts."""
        return [*self._gate_up.layers, self.mlp.down_proj] if self._gate_up else []


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
