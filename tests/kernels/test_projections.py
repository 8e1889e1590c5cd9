"""Projections of the same rows become one matrix, without a second copy."""

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten

from dflash_mlx.kernels import projections
from dflash_mlx.kernels.projections import Projections, as_module, unpack

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


@pytest.mark.parametrize("bias", [False, True])
def test_unpacked_weights_are_the_quantised_ones(bias: bool) -> None:
    layer = quantised(48, bias=bias)
    x = mx.random.normal((1, 5, K))
    weight = np.array(mx.dequantize(layer.weight, layer.scales, layer.biases, 64, 4)).astype(np.float64)
    expected = np.array(x).astype(np.float64) @ weight.T + (np.array(layer.bias) if bias else 0)
    parameters = tree_flatten(layer.parameters())
    unpack([layer])
    assert "_unpacked" in layer and len(tree_flatten(layer.parameters())) == len(parameters)
    assert np.abs(np.array(as_module(layer, x)) - expected).max() < 1e-4


def test_an_unpacked_embedding_is_the_head() -> None:
    layer = nn.Embedding(40, K).to_quantized(64, 4)
    x = mx.random.normal((1, 3, K))
    before = as_module(layer, x)
    unpack([layer])
    assert "_unpacked" in layer and mx.allclose(as_module(layer, x), before, atol=1e-4)


def test_large_half_precision_and_float_weights_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    half, plain, large = quantised(64), nn.Linear(K, 8), quantised(64)
    half.scales, half.biases = half.scales.astype(mx.bfloat16), half.biases.astype(mx.bfloat16)
    unpack([half, plain])
    monkeypatch.setattr(projections, "UNPACKED_BYTES", 64 * K * 4 - 1)
    unpack([large])
    assert not any("_unpacked" in layer for layer in (half, plain, large))
