"""The kernels of the recurrent layers at a target's shapes, beside what MLX's ops would do there."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import mlx.core as mx

from dflash_mlx.kernels import gated_delta, recurrent_inputs
from dflash_mlx.kernels.columns import Columns, columns_of
from dflash_mlx.kernels.gated_delta import Writes
from dflash_mlx.kernels.projections import as_module
from dflash_mlx.kernels.recurrent_inputs import RecurrentInputs, Weights
from dflash_mlx.targets.gated_delta import RecurrentLayer, recur, replay
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.targets.tree import Branch
from dflash_mlx.tuning.case_inputs import COPIES, Found, after, name_of, random_arrays
from dflash_mlx.tuning.judge import Case


def of_recurrence(target: TransformerTarget, rows: int) -> Iterator[Found]:
    """Of "gated_delta" and "recurrent_inputs" in passes of so many rows."""
    layers = [layer for layer in target.layers if isinstance(layer, RecurrentLayer)]
    if not layers:
        return
    net, dtype = layers[0].layer.linear_attn, target.dtype
    heads = net.num_k_heads, net.head_k_dim, net.num_v_heads, net.head_v_dim
    what = "{} heads of {} for keys, {} of {} for values".format(*heads) + f", {name_of(dtype)}"
    copies, path = min(COPIES, len(layers)), Branch(range((rows + 1) // 2))
    if gated_delta.covers(*heads, dtype):
        yield (
            "gated_delta",
            Case(
                kernel="gated_delta",
                what=what,
                rows=rows,
                count=len(layers),
                inputs=lambda: [_recurrent_rows(heads, rows, dtype) for _ in range(copies)],
                ours=lambda state, last, q, new: gated_delta.gated_delta_metal(state, last, path.array, q, new),
                mlx=partial(_recur, (rows + 1) // 2),
                link=lambda arguments, y: (after(arguments[0], y[1]), *arguments[1:]),
                reference=lambda state, last, q, new: gated_delta.gated_delta_reference(state, last, path.array, q, new),
                bits=partial(_recur_one_by_one, (rows + 1) // 2),
            ),
        )
    else:
        yield "gated_delta", what
    if not recurrent_inputs.covers(*heads, dtype, net.dt_bias.dtype):
        yield "recurrent_inputs", what
        return
    nets = [layer.layer.linear_attn for layer in layers[:COPIES]]
    weights = [Weights(net.conv1d.weight, net.A_log, net.dt_bias) for net in nets]
    # where the kernel finds its parts in the joint projections is a part of it
    qkv, _, a, b = layers[0].projected(mx.zeros((1, 1, target.config.hidden_size), dtype), as_module)
    parts = [columns_of(part) for part in (qkv, a, b)]
    shapes = (1, net.conv_kernel_size - 1 + rows, net.conv_dim), *((1, rows, part.rows.shape[-1]) for part in parts)
    keys, before = (net.num_k_heads, net.head_k_dim), mx.array(path.newest(net.conv_kernel_size - 1), mx.int32)
    make = partial(_inputs, parts, keys)
    yield (
        "recurrent_inputs",
        Case(
            kernel="recurrent_inputs",
            what=what,
            rows=rows,
            count=len(layers),
            inputs=lambda: [(*arrays, *w) for arrays, w in zip(random_arrays(len(weights), dtype, shapes), weights)],
            ours=partial(make, recurrent_inputs.recurrent_inputs_metal, before),
            mlx=mx.compile(partial(make, recurrent_inputs.recurrent_inputs_reference, before)),
            link=lambda arguments, y: (arguments[0], after(arguments[1], y[0]), *arguments[2:]),
            bits=partial(_inputs_one_by_one, make, (rows + 1) // 2),
        ),
    )


def _recurrent_rows(heads: tuple[int, ...], rows: int, dtype: mx.Dtype) -> tuple[mx.array, Writes, mx.array, Writes]:
    key_heads, key_dim, value_heads, value_dim = heads

    def writes() -> Writes:
        k = mx.random.normal((1, rows, key_heads, key_dim)) * key_dim**-0.5
        v = mx.random.normal((1, rows, value_heads, value_dim))
        g, beta = mx.random.uniform(0.5, 1, (1, rows, value_heads)), mx.random.uniform(0, 1, (1, rows, value_heads))
        return Writes(k.astype(dtype), v.astype(dtype), g, beta.astype(dtype))

    q = mx.random.normal((1, rows, key_heads, key_dim)) / key_dim
    return mx.random.normal((1, value_heads, value_dim, key_dim)), writes(), q.astype(dtype), writes()


def _recur(count: int, state: mx.array, last: Writes, q: mx.array, new: Writes) -> tuple[mx.array, mx.array]:
    """What the layer does without the kernel: of plain decoding's one row, the state is there already."""
    before = state if count == q.shape[1] else replay(Branch(range(count)), last, state)
    y, states = recur(q, new, before)
    return y, states[-1]


def _recur_one_by_one(count: int, state: mx.array, last: Writes, q: mx.array, new: Writes) -> tuple[mx.array, mx.array]:
    for row in range(count):
        state = replay(Branch([0]), Writes(*(part[:, row : row + 1] for part in last)), state)
    before, outputs = state, []
    for row in range(q.shape[1]):
        y, states = recur(q[:, row : row + 1], Writes(*(part[:, row : row + 1] for part in new)), state)
        state = states[-1]
        outputs.append(y)
    return mx.concatenate(outputs, axis=1), before


def _inputs(
    parts: Sequence[Columns],
    keys: tuple[int, int],
    make: Callable[..., RecurrentInputs],
    before: mx.array,
    conv_rows: mx.array,
    *rows: mx.array,
) -> RecurrentInputs:
    """rows: those that qkv, a and b are columns of, each; then the weights."""
    qkv, a, b = (Columns(wide, part.start, part.size) for wide, part in zip(rows, parts))
    return make(conv_rows, before, qkv, a, b, Weights(*rows[3:]), *keys)


def _inputs_one_by_one(make: Callable[..., RecurrentInputs], count: int, before: mx.array, *rows: mx.array) -> RecurrentInputs:
    """As plain decoding makes them, compiled."""
    *wide, conv, A_log, dt_bias = rows
    width = conv.shape[1] - 1
    alone = mx.compile(partial(make, recurrent_inputs.recurrent_inputs_reference, mx.arange(width)))
    before = kept = before[:, count : count + width]
    results = []
    for row in range(wide[0].shape[1]):
        results.append(RecurrentInputs(*alone(before, *(part[:, row : row + 1] for part in wide), conv, A_log, dt_bias)))
        before = results[-1].conv_rows[:, 1:]
    q = mx.concatenate([result.q for result in results], axis=1)
    writes = Writes(*(mx.concatenate(list(parts), axis=1) for parts in zip(*(result.writes for result in results))))
    new = [result.conv_rows[:, -1:] for result in results]
    return RecurrentInputs(q, writes, mx.concatenate([kept, *new], axis=1))
