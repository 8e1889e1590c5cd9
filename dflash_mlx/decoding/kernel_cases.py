"""What kernels have to do in a pair's passes: its own shapes and dtypes, beside what MLX's ops would do there.

The weights are the model's own, layer after layer; activations are random.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.buffers import GROWTH
from dflash_mlx.drafters import DFlash, DFlash2
from dflash_mlx.drafters.dflash import GREEDY
from dflash_mlx.drafters.injection import frequencies
from dflash_mlx.kernels import MAX_ROWS, candidates, gated_delta, inject_kv, recurrent_inputs, verify_attention
from dflash_mlx.kernels.gated_delta import Writes
from dflash_mlx.kernels.recurrent_inputs import RecurrentInputs, Weights
from dflash_mlx.kernels.tuning import Case
from dflash_mlx.kernels.verify_matmul import kernel_for, verify_linear
from dflash_mlx.targets.gated_delta import RecurrentLayer, recur, replay
from dflash_mlx.targets.transformer import TransformerTarget

ROWS = (1, 2, 4, 6, 8, 12, MAX_ROWS)  # at which kernels are measured; those between them follow the nearest
LONG = 4096  # positions of a buffer: attention's kernel is for these
COPIES = 6  # of weights and buffers, at most

# A kernel's name, and a case or what is not covered.
Found = tuple[str, Case | str]


def cases_of(target: TransformerTarget, drafter: DFlash | None) -> Iterator[Found]:
    """Every kernel at every shape that the pair has for it, at a few numbers of rows."""
    widest = min(drafter.config.block_size, MAX_ROWS) if drafter else 1
    for rows in sorted({widest, *(rows for rows in ROWS if rows < widest)}):
        if rows > 1:  # one row is MLX's own
            of_target = [(layer, target.dtype) for layer in target.linear_layers]
            of_drafter = [(layer, drafter.dtype) for layer in drafter.linear_layers] if drafter else []
            yield from _matmuls("verify_matmul", of_target, rows)
            yield from _matmuls("verify_matmul_fast", of_target + of_drafter, rows)
        yield from _attention(target, rows)
        yield from _recurrence(target, rows)
        if drafter and rows > 1:
            yield from _injection(drafter, rows)
            yield from _candidates(drafter, rows - 1)


def _matmuls(name: str, layers: Sequence[tuple[nn.Module, mx.Dtype]], rows: int) -> Iterator[Found]:
    """Of linear layers, each with the dtype of its rows."""
    exact = name == "verify_matmul"
    kinds: dict[tuple[Any, ...], list[nn.Module]] = {}
    for layer, dtype in layers:
        quantisation = (getattr(layer, what, None) for what in ("bits", "group_size", "mode"))
        kinds.setdefault((layer["weight"].shape, *quantisation, dtype), []).append(layer)
    for (shape, bits, group_size, mode, dtype), alike in kinds.items():
        outputs, inputs = shape[0], shape[1] * 32 // bits if bits else shape[1]
        how = f"{bits} bits {mode}, groups of {group_size}" if bits else "not quantised"
        what = f"{inputs} -> {outputs}, {how}, {_name(dtype)}"
        if kernel_for(alike[0], rows, dtype, exact) is None:
            yield name, what
            continue
        case = Case(
            kernel=name,
            what=what,
            rows=rows,
            count=len(alike),
            inputs=partial(_rows_for, alike[:COPIES], (1, rows, inputs), dtype),
            ours=partial(verify_linear, exact=exact),
            # exact verification does without the kernel what plain decoding does, row after row
            mlx=_one_by_one if exact else _call,
            link=lambda arguments, y: (arguments[0], _after(arguments[1], y)),
            reference=_call,
            bits=_one_by_one if exact else None,
        )
        yield name, case


def _attention(target: TransformerTarget, rows: int) -> Iterator[Found]:
    config = target.config
    if rows == 1 or not config.attention_layers:
        return
    heads, kv_heads, head_dim = config.num_attention_heads, config.num_key_value_heads, config.head_dim
    what = f"{heads} heads of {head_dim}, {kv_heads} with keys, {_name(target.dtype)}"
    if not verify_attention.covers(target.dtype, heads, kv_heads, head_dim, rows):
        yield "verify_attention", f"{what}, {rows} rows"
        return
    position = mx.array([LONG - GROWTH], mx.int32)
    mask = mx.arange(LONG) <= (position + mx.arange(rows))[:, None]
    shapes = (1, heads, rows, head_dim), *[(1, kv_heads, LONG, head_dim)] * 2
    yield (
        "verify_attention",
        Case(
            kernel="verify_attention",
            what=f"{what}, {LONG} positions",
            rows=rows,
            count=config.attention_layers,
            inputs=partial(_arrays, min(COPIES, config.attention_layers), target.dtype, shapes),
            ours=lambda queries, keys, values: verify_attention.verify_attention_metal(queries, keys, values, position),
            mlx=partial(mx.fast.scaled_dot_product_attention, scale=head_dim**-0.5, mask=mask),
            link=lambda arguments, y: (_after(arguments[0], y), *arguments[1:]),
        ),
    )


def _recurrence(target: TransformerTarget, rows: int) -> Iterator[Found]:
    layers = [layer for layer in target.layers if isinstance(layer, RecurrentLayer)]
    if not layers:
        return
    net, dtype = layers[0].layer.linear_attn, target.dtype
    heads = net.num_k_heads, net.head_k_dim, net.num_v_heads, net.head_v_dim
    what = "{} heads of {} for keys, {} of {} for values".format(*heads) + f", {_name(dtype)}"
    copies, count = min(COPIES, len(layers)), mx.array([(rows + 1) // 2], mx.int32)
    if gated_delta.covers(*heads, dtype):
        yield (
            "gated_delta",
            Case(
                kernel="gated_delta",
                what=what,
                rows=rows,
                count=len(layers),
                inputs=lambda: [_recurrent_rows(heads, rows, dtype) for _ in range(copies)],
                ours=lambda state, last, q, new: gated_delta.gated_delta_metal(state, last, count, q, new),
                mlx=partial(_recur, (rows + 1) // 2),
                link=lambda arguments, y: (_after(arguments[0], y[1]), *arguments[1:]),
                reference=lambda state, last, q, new: gated_delta.gated_delta_reference(state, last, count, q, new),
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
    shapes = (1, net.conv_kernel_size - 1 + rows, net.conv_dim), (1, rows, net.conv_dim), *[(1, rows, net.num_v_heads)] * 2
    keys = net.num_k_heads, net.head_k_dim
    by_mlx = mx.compile(partial(_inputs, recurrent_inputs.recurrent_inputs_reference, keys, count))
    yield (
        "recurrent_inputs",
        Case(
            kernel="recurrent_inputs",
            what=what,
            rows=rows,
            count=len(layers),
            inputs=lambda: [(*arrays, *w) for arrays, w in zip(_arrays(len(weights), dtype, shapes), weights)],
            ours=partial(_inputs, recurrent_inputs.recurrent_inputs_metal, keys, count),
            mlx=by_mlx,
            link=lambda arguments, y: (arguments[0], _after(arguments[1], y[0]), *arguments[2:]),
            bits=partial(_inputs_one_by_one, (rows + 1) // 2, keys),
        ),
    )


def _injection(drafter: DFlash, rows: int) -> Iterator[Found]:
    attention = drafter.layers[0].self_attn
    kv_heads, head_dim, layers, turns = attention.kv_heads, attention.head_dim, len(drafter.layers), frequencies(attention.rope)
    what = f"{layers} layers, {kv_heads} heads of {head_dim} with keys, {_name(drafter.dtype)}"
    if turns is None or not inject_kv.covers(drafter.dtype, head_dim):
        yield "inject_kv", what if turns is not None else f"{what}, this kind of RoPE"
        return
    caches = drafter.new_context(GROWTH).layers
    capacities = mx.array([cache.capacity for cache in caches], mx.int32)
    norms = mx.stack([layer.self_attn.k_norm.weight for layer in drafter.layers]).astype(mx.float32)
    norms = norms * getattr(attention.rope, "mscale", 1.0)
    position, count, width = mx.array([100], mx.int32), mx.array([(rows + 1) // 2], mx.int32), 2 * kv_heads * head_dim

    def by(make: Callable[..., inject_kv.Injected], context: mx.array, block: mx.array, *buffers: mx.array) -> list[mx.array]:
        made = make(context, block, norms, turns, attention.k_norm.eps, position, count, capacities, kv_heads, 0)
        return [inject_kv.put(buffer, new, made.slots[0]) for buffer, new in zip(buffers, made)]

    def by_mlx(context: mx.array, block: mx.array, keys: mx.array, values: mx.array) -> list[mx.array]:
        cache = drafter.new_context().layers[0]
        cache.keys, cache.values = keys, values
        for projected, start in ((context[..., :width], position), (block, position + count)):
            cache.write(*attention.layout(projected[..., : width // 2], projected[..., width // 2 :], start), start)
        return cache.arrays

    shapes = (1, rows, layers * width), (1, rows, width), *[caches[0].keys.shape] * 2
    yield (
        "inject_kv",
        Case(
            kernel="inject_kv",
            what=what,
            rows=rows,
            count=layers,
            inputs=partial(_arrays, min(COPIES, layers), drafter.dtype, shapes),
            ours=partial(by, inject_kv.inject_kv_metal),
            mlx=mx.compile(by_mlx),
            link=lambda arguments, y: (arguments[0], _after(arguments[1], y[0]), *arguments[2:]),
            reference=partial(by, inject_kv.inject_kv_reference),
        ),
    )


def _candidates(drafter: DFlash, rows: int) -> Iterator[Found]:
    if not isinstance(drafter, DFlash2):
        return
    selector, dtype = drafter.candidate_selector, drafter.dtype
    codes = selector.predecessor_codebook, selector.successor_codebook
    (vocab, rank), top_k = codes[0].shape, selector.top_k
    what = f"{top_k} of {vocab}, {_name(dtype)}"
    if not candidates.covers(dtype, rows, vocab, top_k):
        yield "candidates", what
        return
    yield (
        "candidates",
        Case(
            kernel="candidates",
            what=what,
            rows=rows,
            count=1,
            inputs=lambda: [
                (*arrays, mx.array([i], mx.int32))
                for i, arrays in enumerate(_arrays(COPIES, dtype, ((1, rows, vocab), (1, rows, rank))))
            ],
            ours=lambda logits, projected, anchor: candidates.candidates_metal(logits, projected, *codes, anchor, top_k),
            mlx=lambda logits, projected, anchor: [selector.walk(projected, logits, anchor, GREEDY).ids[0]],
            link=lambda arguments, y: (_after(arguments[0], y[0].astype(dtype)), *arguments[1:]),
            reference=lambda logits, projected, anchor: candidates.candidates_reference(logits, projected, *codes, anchor, top_k),
        ),
    )


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).removeprefix("mlx.core.")


def _arrays(copies: int, dtype: mx.Dtype, shapes: Sequence[tuple[int, ...]]) -> list[tuple[mx.array, ...]]:
    keys = iter(mx.random.split(mx.random.key(0), copies * len(shapes)))
    return [tuple(mx.random.normal(shape, dtype, key=next(keys)) for shape in shapes) for _ in range(copies)]


def _after(x: mx.array, y: mx.array) -> mx.array:
    """x, by an op that has to wait for y."""
    return mx.minimum(x, y[(slice(1),) * y.ndim].reshape(1).astype(x.dtype))


def _rows_for(layers: list[nn.Module], shape: tuple[int, ...], dtype: mx.Dtype) -> list[tuple[nn.Module, mx.array]]:
    return [(layer, x) for layer, (x,) in zip(layers, _arrays(len(layers), dtype, [shape]))]


def _call(layer: nn.Module, x: mx.array) -> mx.array:
    y: mx.array = layer.as_linear(x) if isinstance(layer, nn.QuantizedEmbedding) else layer(x)
    return y


def _one_by_one(layer: nn.Module, x: mx.array) -> mx.array:
    return mx.concatenate([_call(layer, row) for row in mx.split(x, x.shape[1], axis=1)], axis=1)


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
    before = state if count == q.shape[1] else replay(count, last, state)
    y, states = recur(q, new, before)
    return y, states[-1]


def _recur_one_by_one(count: int, state: mx.array, last: Writes, q: mx.array, new: Writes) -> tuple[mx.array, mx.array]:
    for row in range(count):
        state = replay(1, Writes(*(part[:, row : row + 1] for part in last)), state)
    before, outputs = state, []
    for row in range(q.shape[1]):
        y, states = recur(q[:, row : row + 1], Writes(*(part[:, row : row + 1] for part in new)), state)
        state = states[-1]
        outputs.append(y)
    return mx.concatenate(outputs, axis=1), before


def _inputs(
    make: Callable[..., RecurrentInputs],
    keys: tuple[int, int],
    count: mx.array,
    before: mx.array,
    qkv: mx.array,
    a: mx.array,
    b: mx.array,
    *weights: mx.array,
) -> RecurrentInputs:
    return make(before, count, qkv, a, b, Weights(*weights), *keys)


def _inputs_one_by_one(
    count: int, keys: tuple[int, int], before: mx.array, qkv: mx.array, a: mx.array, b: mx.array, *weights: mx.array
) -> RecurrentInputs:
    """As plain decoding makes them, compiled."""
    alone = mx.compile(partial(_inputs, recurrent_inputs.recurrent_inputs_reference, keys, mx.array([0], mx.int32)))
    before = kept = before[:, count : count + weights[0].shape[1] - 1]
    results = []
    for row in range(qkv.shape[1]):
        results.append(RecurrentInputs(*alone(before, *(part[:, row : row + 1] for part in (qkv, a, b)), *weights)))
        before = results[-1].conv_rows[:, 1:]
    q = mx.concatenate([result.q for result in results], axis=1)
    writes = Writes(*(mx.concatenate(list(parts), axis=1) for parts in zip(*(result.writes for result in results))))
    return RecurrentInputs(q, writes, mx.concatenate([kept, qkv], axis=1))
