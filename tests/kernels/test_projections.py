"""Projections of the same rows become one matrix, without a second copy."""

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from dflash_mlx.kernels.projections import Projections

K = 512


def quantised(outputs: int, bits: int = 4, bias: bool = False) -> nn.Module:
    part = nn.Linear(K, outputs, bias)
    part.weight = mx.random.normal(part.weight.shape)
    return part.to_quantized(64, bits)


def test_joint_quantised_projections_give_the_bits_of_each() -> None:
    parts = [quantised(96), quantised(32), quantised(8)]
    x = mx.random.normal((1, 4, K))
    alone = [part(x) for part in parts]
    mx.eval(alone)
    joint = Projections(parts)
    for before, together, view in zip(alone, joint(x), [part(x) for part in parts]):
        assert mx.array_equal(before, together)
        assert mx.array_equal(before, view)


def test_projections_of_mixed_bits_and_biases_keep_their_places() -> None:
    parts = [quantised(16), quantised(24, bits=8), nn.Linear(K, 40), quantised(8), nn.Linear(K, 16), quantised(16, bias=True)]
    x = mx.random.normal((3, K))
    alone = [part(x) for part in parts]
    mx.eval(alone)
    calls: list[nn.Module] = []

    def project(part: nn.Module, x: mx.array) -> mx.array:
        calls.append(part)
        return part(x)

    for before, together in zip(alone, Projections(parts)(x, project)):
        assert mx.allclose(before, together, atol=1e-5)
    assert len(calls) == 4


def test_joint_weights_are_held_once() -> None:
    parts = [quantised(4096), quantised(1024), quantised(1024)]
    weights = [array for part in parts for _, array in tree_flatten(part.parameters())]
    mx.eval(weights)
    size = sum(array.nbytes for array in weights)
    del weights
    before = mx.get_active_memory()
    joint = Projections(parts)
    mx.eval(joint(mx.ones((1, K))), [part.parameters() for part in parts])
    assert mx.get_active_memory() - before < 0.02 * size
