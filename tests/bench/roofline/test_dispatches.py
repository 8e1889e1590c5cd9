"""The counter of dispatches: graphs made by hand, whose counts are known, and cycles on hollow weights."""

import sys
from functools import partial

import mlx.core as mx
import mlx.nn as nn
import pytest

from dflash_mlx.bench.roofline import dispatches as cycles
from dflash_mlx.bench.roofline.graph import copies, dispatches, on_metal, stand_in
from dflash_mlx.bench.roofline.hollow import configs, hollow_pair
from dflash_mlx.bench.roofline.synthetic import Geometry
from dflash_mlx.bench.roofline.traffic import cycle_traffic

VOCAB = 248320
# four layers, of which the last is attention, with heads that all kernels serve
SERVED = Geometry(512, 4, 1024, 4, 2, 128, 4, 128, 512, drafter_layers=2, taps=3)
count = partial(dispatches, width=VOCAB)


@pytest.fixture
def x() -> mx.array:
    x = mx.zeros((1, 4, 6, 64))
    mx.eval(x)
    return x


def test_views_and_what_is_there_already_cost_nothing(x: mx.array) -> None:
    assert count([x, x[:, 1:], x.transpose(0, 2, 1, 3), x[..., None], x.reshape(24, 64), *mx.split(x, 2, axis=-1)]).total() == 0


def test_an_op_is_a_dispatch_and_counted_once_however_often_it_is_used(x: mx.array) -> None:
    y = mx.exp(x)
    assert count([y, y + x, y * x]) == {"Exp": 1, "Add": 1, "Multiply": 1}


def test_what_compile_joins_is_one_dispatch(x: mx.array) -> None:
    assert count([nn.silu(mx.exp(x))]).total() == 2  # silu is compiled, exp is not
    assert count([mx.compile(lambda x: nn.silu(mx.exp(x)))(x)]).total() == 1


def test_some_ops_are_several_dispatches(x: mx.array) -> None:
    assert count([mx.concatenate([x, x, x])]).total() == 3
    assert count([mx.slice_update(x, x[:, :1], mx.array([2]), axes=(1,))]).total() == 2
    assert count([mx.pad(x, 1)]).total() == 2
    assert count([mx.argpartition(mx.zeros((1, VOCAB)), 5)])["ArgPartition"] == 2 + 2 * 7  # 122 blocks, merged 7 times
    assert dispatches([mx.argpartition(x, 5)], 64).total() == 1


def test_inputs_are_counted_where_compiled_ops_stand_twice(x: mx.array) -> None:
    join = mx.compile(lambda x: mx.concatenate([x, x[:, :1]], axis=1)[:, :4])
    assert count([join(join(x))]) == {"Concatenate": 4}


def test_a_kernel_copies_what_has_gaps() -> None:
    x, weight = mx.zeros((1, 4, 6, 64)), mx.zeros((64,))
    with on_metal():
        norm = partial(mx.fast.rms_norm, weight=weight, eps=1e-6)
        rows = norm(x)
        assert copies([norm(rows), norm(rows[:, 1:]), norm(rows.reshape(24, 64))]).total() == 0
        assert copies([norm(rows.transpose(0, 2, 1, 3))]).total() == 1
        assert copies([norm(part) for part in mx.split(mx.concatenate([rows, rows], axis=-1), 2, axis=-1)]).total() == 2
        assert copies([stand_in([x.shape], [x.dtype], [], [rows.transpose(0, 2, 1, 3)])[0]]).total() == 0


def test_a_reshape_copies_where_it_must(x: mx.array) -> None:
    assert copies([mx.exp(x)[..., :32].reshape(1, 4, 6, 4, 8)]).total() == 0
    assert copies([mx.exp(x).transpose(0, 2, 1, 3).reshape(1, 24, 8, 8)]).total() == 1
    assert copies([mx.exp(x)[..., :32].reshape(1, 4, 192)]).total() == 1


def test_a_copy_of_what_is_also_an_output_is_counted_once(x: mx.array) -> None:
    y = mx.exp(x).transpose(0, 2, 1, 3).reshape(-1)
    assert copies([y, y + 1, (y + 1) * 2]).total() == 1


def test_functions_that_have_metal_kernels_are_counted_as_those(x: mx.array) -> None:
    keys = mx.zeros((1, 2, 4096, 64))
    with on_metal():
        turn = partial(mx.fast.rope, traditional=False, base=1e4, scale=1.0, offset=mx.array([3]))
        attend = partial(mx.fast.scaled_dot_product_attention, scale=1.0)
        assert count([mx.fast.rms_norm(x, None, 1e-6)]).total() == 1
        assert count([turn(x, 64)]).total() == 1 and count([turn(x, 32)]).total() == 2  # a copy, then the part that turns
        few = count([attend(mx.exp(x), keys, keys)])
        assert few["Depends"] == 2  # over keys in parts, then their sum
        many = count([attend(mx.zeros((1, 12, 8, 64)), keys, keys)])  # 48 queries a key head: more than MLX's kernel takes
        assert many["Depends"] == 0 and many["Matmul"] == 2 and many["Softmax"] == 1
        kernel = mx.fast.metal_kernel("any", ["x"], ["y", "z"], "")
        y, z = kernel(inputs=[x, 3], output_shapes=[(4,), (5,)], output_dtypes=[mx.float32, mx.int32], grid=(1, 1, 1))
        assert (y.shape, z.dtype) == ((4,), mx.int32) and count([y, z]) == {"Depends": 1}


def test_nothing_is_left_behind(x: mx.array) -> None:
    before = mx.fast.rms_norm, mx.fast.metal_kernel, mx.eval, mx.dequantize
    with on_metal():
        assert mx.fast.rms_norm is not before[0]
        mx.eval(y := mx.exp(x))
        assert count([y]).total() == 1  # it was not
    assert (mx.fast.rms_norm, mx.fast.metal_kernel, mx.eval, mx.dequantize) == before


def test_a_cycle_is_counted_by_part_and_kernels_make_it_shorter() -> None:
    target, drafter = hollow_pair(SERVED.target_config["text_config"], SERVED.drafter_config)
    plain = cycles.submitted(target, None, 1, 300).dispatches
    found = cycles.submitted(target, drafter, 4, 300)
    assert found == cycles.submitted(target, drafter, 4, 300)
    assert found.reads == 1
    by_mlx = found.dispatches
    target.use_kernels(cycles.ALL_KERNELS)
    drafter.use_kernels(cycles.ALL_KERNELS)
    by_kernels = cycles.submitted(target, drafter, 4, 300).dispatches
    of_target = {"3 recurrent layers", "1 attention layer", "verify", "head", "accept", "commit"}
    assert set(by_mlx) == set(by_kernels) > set(plain) == of_target
    # norm, projection; norm, its gate, projection, sum; norm, projection, SwiGLU, projection, sum
    around = 2 + 4 + 5
    assert by_kernels["3 recurrent layers"] == 3 * (around + 2)
    # 2 concatenated, convolution, SiLU, 2 norms and scales, decay, strength, recurrence; copies of queries, keys and values
    assert by_mlx["3 recurrent layers"] == 3 * (around + 2 + 2 + 4 + 3 + 3)
    assert by_kernels["head"] == by_mlx["head"] == 1
    assert by_mlx["commit"] > by_kernels["commit"] == 0
    for part in ("injection", "draft block", "draft choice"):
        assert by_kernels[part] < by_mlx[part]
    assert sum(plain.values()) < sum(by_kernels.values()) < 0.7 * sum(by_mlx.values())


def test_a_projected_time_is_that_of_the_bytes_and_of_the_dispatches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, speed = 300, 1e5  # bytes a second, so few that the milliseconds of a tiny pair have digits
    given = ["--pair", "tiny", "--context", str(context), "--bandwidth", str(speed / 1e9), "--dispatch", "7"]
    monkeypatch.setattr(sys, "argv", ["dispatches", *given])
    cycles.main()
    found = {line[:30].rstrip(): line[30:].split() for line in capsys.readouterr().out.splitlines()[-4:]}
    target, drafter = hollow_pair(*configs("tiny"))
    step, cycle = cycle_traffic(target, None, 1, context), cycle_traffic(target, drafter, 4, context)
    moved = {"a plain step, MLX": sum(part.bytes for part in step), "a cycle, kernels": sum(part.bytes for part in cycle)}
    # every row reads the weights again, of which the draft's head and choice have one less; states are replayed
    again = sum((2 if part.part in ("draft head", "draft choice") else 3) * part.weights + part.states for part in cycle)
    moved["a cycle, MLX, M1, M2"] = moved["a cycle, kernels"] + again
    for name, size in moved.items():
        memory, dispatched, milliseconds, _ = found[name]
        assert float(memory) == pytest.approx(1e3 * size / speed, abs=0.05)
        assert float(milliseconds) == pytest.approx(1e3 * size / speed + 0.007 * int(dispatched), abs=0.05)
    assert int(found["a cycle, MLX, M1, M2"][1]) > int(found["a cycle, kernels"][1])
