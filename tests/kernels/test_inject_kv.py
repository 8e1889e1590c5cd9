"""K and V of context and block rows: the answer, what a rejected row leaves, where rows go, and the bytes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import metal_on_cpu
import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models.rope_utils import initialize_rope

from dflash_mlx import kernels
from dflash_mlx.drafters.context import LayerContext, SlidingContext
from dflash_mlx.kernels.inject_kv import Injected, covers, inject_kv_metal, inject_kv_reference, put

F32, BF16, F16 = mx.float32, mx.bfloat16, mx.float16
UNIT = {F32: 2.0**-24, BF16: 2.0**-8, F16: 2.0**-11}
EPS = 1e-6


class Case(NamedTuple):
    """`context` and `block` rows, of which `count` of the context are kept; `layer` None: all; `capacity` of the first layer."""

    dtype: mx.Dtype
    layers: int
    kv_heads: int
    head_dim: int
    context: int
    block: int
    count: int
    position: int = 37
    layer: int | None = None
    capacity: int = 131_072


# the drafters' geometry: 8 kv heads of 128, 5 layers, rings of 2048 + 2 blocks
CASES = [
    Case(BF16, 5, 8, 128, 8, 0, 8, capacity=2064),
    Case(BF16, 5, 8, 128, 4, 4, 2, 2060, 3, 2064),
    Case(BF16, 5, 8, 128, 8, 8, 8, 100_000, 0, 2064),
    Case(BF16, 8, 4, 128, 16, 16, 1, layer=7),
    Case(BF16, 2, 1, 64, 1, 1, 1, 0, 1),
    Case(F32, 5, 8, 128, 4, 4, 3, 4095, 4),
    Case(F32, 2, 2, 128, 16, 0, 16),
    Case(F32, 1, 1, 64, 1, 0, 1, 0),
    Case(F32, 3, 3, 192, 5, 3, 0, layer=1),
    Case(F32, 2, 2, 128, 0, 7, 0, layer=1, capacity=40),
    Case(F32, 2, 2, 64, 33, 0, 20, capacity=40),
    Case(F16, 2, 2, 256, 7, 5, 6, 12, 0, 24),
    Case(F16, 3, 5, 128, 3, 0, 0),
    Case(F16, 4, 1, 128, 2, 16, 2, layer=2),
]


def inputs_of(case: Case, frequencies: mx.array | None = None) -> dict[str, Any]:
    keys = mx.random.split(mx.random.key(7), 3)
    dtype, layers, kv_heads, head_dim, context, block, count, position, layer, capacity = case
    width = 2 * kv_heads * head_dim
    if frequencies is None:
        frequencies = 1e7 ** (mx.arange(0, head_dim, 2) / head_dim)
    return dict(
        context=mx.random.normal((1, context, layers * width), key=keys[0]).astype(dtype) if context else None,
        block=mx.random.normal((1, block, width), key=keys[1]).astype(dtype) if block else None,
        norms=(1 + 0.1 * mx.random.normal((layers, head_dim), key=keys[2])).astype(dtype),
        frequencies=frequencies,
        eps=EPS,
        position=mx.array([position], mx.int32),
        count=mx.array([count], mx.int32),
        capacities=capacity + mx.arange(layers),
        kv_heads=kv_heads,
        layer=layer,
    )


def wide(x: mx.array) -> np.ndarray:
    return np.array(x.astype(F32), np.float64)


def by_hand(case: Case, inputs: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Keys, values and slots in float64, and what an error of a key is measured by. Angles are float32, as anywhere."""
    dtype, layers, heads, dim, context_rows, block_rows, count, position, only, capacity = case
    chosen, rows, half = range(layers) if only is None else [only], context_rows + block_rows, dim // 2
    keys, values, scales = (np.zeros((len(chosen), heads, rows, dim)) for _ in range(3))
    context = wide(inputs["context"]).reshape(context_rows, layers, 2, heads, dim) if context_rows else None
    block = wide(inputs["block"]).reshape(block_rows, 2, heads, dim) if block_rows else None
    inverse = np.float32(1) / np.array(inputs["frequencies"], np.float32)
    for i, layer in enumerate(chosen):
        for j in range(min(count, context_rows) + block_rows):
            k, v = context[j, layer] if context is not None and j < count else block[j - min(count, context_rows)]
            k = k / np.sqrt((k**2).mean(-1, keepdims=True) + EPS) * wide(inputs["norms"])[layer]
            angle = (np.float32(position + j) * inverse).astype(np.float64)
            a, b = k[:, :half], k[:, half:]
            keys[i, :, j] = np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)
            values[i, :, j] = v
            scales[i, :, j] = np.tile(np.hypot(a, b) * (4 * UNIT[dtype] + 2.0**-23 * (1 + angle)), 2)
    slots = [[h * c + (position + j) % c for h in range(heads) for j in range(rows)] for c in (capacity + i for i in chosen)]
    return keys, values, np.array(slots), scales


def check(got: Injected, wanted: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], dtype: mx.Dtype) -> None:
    keys, values, slots, scales = wanted
    assert got.keys.dtype == got.values.dtype == dtype and got.slots.dtype == mx.int32
    assert (np.abs(wide(got.keys) - keys) <= scales + 2.0**-25).all()
    assert (wide(got.values) == values).all()
    assert (np.array(got.slots) == slots).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernel_and_reference_give_normed_rotated_keys_and_plain_values(case: Case, runs: list[metal_on_cpu.Run]) -> None:
    assert covers(case.dtype, case.head_dim)
    inputs = inputs_of(case)
    wanted = by_hand(case, inputs)
    check(inject_kv_metal(**inputs), wanted, case.dtype)
    check(inject_kv_reference(**inputs), wanted, case.dtype)


@pytest.mark.parametrize(
    "scaling",
    [
        None,
        {"rope_type": "linear", "factor": 4.0},
        {"rope_type": "llama3", "factor": 8.0},
        {"rope_type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1},
    ],
    ids=str,
)
def test_rotation_is_that_of_mlx_lm(scaling: dict[str, Any] | None, runs: list[metal_on_cpu.Run]) -> None:
    case = Case(F32, 1, 2, 128, 4, 0, 4, 900)
    rope = initialize_rope(128, 1e7, False, scaling, 262144)
    frequencies = getattr(rope, "_freqs", None)
    if frequencies is None:
        frequencies = 1e7 ** (mx.arange(0, 128, 2) / 128) / rope.scale
    inputs = inputs_of(case, frequencies)
    k = inputs["context"].reshape(1, 4, 2, 2, 128)[:, :, 0].transpose(0, 2, 1, 3)
    wanted = rope(mx.fast.rms_norm(k, inputs["norms"][0], EPS), offset=inputs["position"])
    inputs["norms"] = inputs["norms"] * getattr(rope, "mscale", 1.0)
    for inject in (inject_kv_metal, inject_kv_reference):
        assert mx.allclose(inject(**inputs).keys, wanted, rtol=0, atol=3e-4).item()


@pytest.mark.parametrize("count", range(5))
def test_rejected_rows_leave_no_trace(count: int, runs: list[metal_on_cpu.Run]) -> None:
    inputs = inputs_of(Case(F32, 2, 2, 64, 4, 4, count, layer=1))
    poisoned = mx.where(mx.arange(4)[:, None] < count, inputs["context"], mx.nan)
    for inject in (inject_kv_metal, inject_kv_reference):
        before, after = inject(**inputs), inject(**inputs | {"context": poisoned})
        assert mx.array_equal(before.keys, after.keys).item() and mx.array_equal(before.values, after.values).item()


def test_all_layers_at_once_are_each_layer_alone(runs: list[metal_on_cpu.Run]) -> None:
    inputs = inputs_of(CASES[6])
    together = inject_kv_metal(**inputs)
    for layer in range(2):
        alone = inject_kv_metal(**inputs | {"layer": layer})
        assert mx.array_equal(alone.keys[0], together.keys[layer]).item()
        assert mx.array_equal(alone.values[0], together.values[layer]).item()


@pytest.mark.parametrize("position", [0, 5, 21, 23, 47])
@pytest.mark.parametrize("new", [lambda: SlidingContext(2, 64, F32, 16, 4), lambda: LayerContext(2, 64, F32, 256)])
def test_one_write_puts_context_and_block_where_two_would(
    new: Callable[[], LayerContext], position: int, runs: list[metal_on_cpu.Run]
) -> None:
    one, two = new(), new()
    inputs = inputs_of(Case(F32, 2, 2, 64, 4, 4, 2, position, 1)) | {"capacities": mx.array([999, one.capacity], mx.int32)}
    rows = inject_kv_metal(**inputs)
    one.keys, one.values = put(one.keys, rows.keys, rows.slots[0]), put(one.values, rows.values, rows.slots[0])

    behind = inputs["position"] + 2
    kept = inject_kv_reference(**inputs | {"block": None, "count": mx.array([4])})
    block = inject_kv_reference(**inputs | {"context": None, "position": behind})
    two.write(kept.keys, kept.values, inputs["position"])
    two.write(block.keys, block.values, behind)
    seen = two.visible(behind, 4, False)[0]  # the rows of a block see one another
    for ours, theirs in zip(one.arrays, two.arrays):
        assert mx.where(seen, mx.abs(ours - theirs).max(axis=(0, 1, 3)), 0).max().item() < 1e-5


def test_rows_are_put_in_place() -> None:
    buffers = [mx.zeros((1, 2, 100_000, 64))]
    rows, slots = mx.ones((2, 3, 64)), mx.array([5, 6, 7, 100_005, 100_006, 100_007])
    mx.eval(buffers, rows, slots)
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    buffers[0] = put(buffers[0], rows, slots)
    mx.eval(buffers)
    assert max(mx.get_peak_memory(), mx.get_active_memory()) < before + 1_000_000
    assert buffers[0][0, :, 5:8].sum().item() == buffers[0].sum().item() == rows.size


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
@pytest.mark.parametrize("rows", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("merged", [False, True])
def test_every_byte_moves_once(rows: int, merged: bool, runs: list[metal_on_cpu.Run]) -> None:
    case = Case(BF16, 5, 8, 128, rows, rows * merged, rows, layer=2 if merged else None)
    inputs = inputs_of(case)
    outputs = inject_kv_metal(**inputs)
    needed = sum(x.nbytes for x in outputs) + inputs["frequencies"].nbytes + inputs["capacities"].nbytes
    if merged:  # a layer's share
        needed += inputs["block"].nbytes + (inputs["context"].nbytes + inputs["norms"].nbytes) // case.layers
    else:
        needed += inputs["context"].nbytes + inputs["norms"].nbytes
    buffers = runs[-1].buffers
    moved = sum(buffer.read + buffer.written for name, buffer in buffers.items() if buffer.size > 64 or name == "slots")
    assert moved <= 1.05 * needed


@pytest.mark.parametrize("runs", ["harness"], indirect=True)
def test_the_barrier_is_missed(runs: list[metal_on_cpu.Run], monkeypatch: pytest.MonkeyPatch) -> None:
    header, body = kernels.source("inject_kv")
    assert metal_on_cpu.count_barriers(body) == 1
    monkeypatch.setattr(kernels, "source", lambda _: (header, metal_on_cpu.without_barrier(body, 0)))
    inject_kv_metal(**inputs_of(CASES[6]))
    assert runs.pop().findings


def test_what_the_kernel_does_not_cover() -> None:
    assert not covers(mx.float32, 96) and not covers(mx.int32, 128) and not covers(mx.bfloat16, 1024)
