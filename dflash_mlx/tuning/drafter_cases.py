"""The kernels that only a drafter uses, at its shapes, beside what MLX's ops would do there."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import mlx.core as mx

from dflash_mlx.drafters import DFlash, DFlash2
from dflash_mlx.drafters.dflash import GREEDY
from dflash_mlx.drafters.injection import frequencies, scaled_norms
from dflash_mlx.kernels import candidates, inject_kv
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.tuning.case_inputs import COPIES, Found, after, name_of, random_arrays
from dflash_mlx.tuning.judge import Case

WARM = 0.8  # temperature of a sampled walk

Make = Callable[..., Any]  # a kernel, or its reference


def of_injection(drafter: DFlash, rows: int) -> Iterator[Found]:
    """Of "inject_kv" with so many rows of a block, of context, or of each."""
    attention, last = drafter.layers[0].self_attn, len(drafter.layers) - 1
    kv_heads, head_dim, turns = attention.kv_heads, attention.head_dim, frequencies(attention.rope)
    what = f"{last + 1} layers, {kv_heads} heads of {head_dim} with keys, {name_of(drafter.dtype)}"
    if turns is None or not inject_kv.covers(drafter.dtype, head_dim):
        yield "inject_kv", what if turns is not None else f"{what}, this kind of RoPE"
        return
    caches = drafter.new_context(GROWTH).layers
    capacities = mx.array([cache.capacity for cache in caches], mx.int32)
    norms = scaled_norms([layer.self_attn for layer in drafter.layers])
    position, width = mx.array([100], mx.int32), 2 * kv_heads * head_dim
    context, block, buffer = (1, rows, (last + 1) * width), (1, rows, width), caches[0].keys.shape

    def by(make: Make, layer: int | None, kept: int, context: mx.array | None, block: mx.array | None) -> inject_kv.Injected:
        count = mx.array([kept], mx.int32)
        return make(context, block, norms, turns, attention.k_norm.eps, position, count, capacities, kv_heads, layer)

    def put(make: Make, context: mx.array, block: mx.array, *buffers: mx.array) -> list[mx.array]:
        made = by(make, 0, (rows + 1) // 2, context, block)
        return [inject_kv.put(buffer, new, made.slots[0]) for buffer, new in zip(buffers, made)]

    def put_by_mlx(context: mx.array, block: mx.array, keys: mx.array, values: mx.array) -> list[mx.array]:
        cache = drafter.new_context().layers[0]
        cache.keys, cache.values = keys, values
        for projected, start in ((context[..., :width], position), (block, position + (rows + 1) // 2)):
            cache.write(*attention.layout(projected[..., : width // 2], projected[..., width // 2 :], start), start)
        return cache.arrays

    if rows > 1:  # a block's
        yield (
            "inject_kv",
            Case(
                kernel="inject_kv",
                what=what,
                rows=rows,
                count=last + 1,
                inputs=partial(random_arrays, min(COPIES, last + 1), drafter.dtype, (context, block, buffer, buffer)),
                ours=partial(put, inject_kv.inject_kv_metal),
                mlx=mx.compile(put_by_mlx),
                link=lambda arguments, y: (arguments[0], after(arguments[1], y[0]), *arguments[2:]),
                reference=partial(put, inject_kv.inject_kv_reference),
            ),
        )
    [[some_context, some_block]] = random_arrays(1, drafter.dtype, (context, block))
    for form, layer, kept, *given in (
        ("context alone", None, rows, some_context, None),
        ("a block alone", last, 0, None, some_block),
        ("in the last layer", last, (rows + 1) // 2, some_context, some_block),
    ):
        yield (
            "inject_kv",
            Case(
                kernel="inject_kv",
                what=f"{what}, {form}",
                rows=rows,
                count=0,
                inputs=partial(list, [given]),
                ours=partial(by, inject_kv.inject_kv_metal, layer, kept),
                mlx=partial(by, inject_kv.inject_kv_reference, layer, kept),
                link=lambda arguments, y: arguments,
                timed=False,
            ),
        )


def of_candidates(drafter: DFlash, rows: int) -> Iterator[Found]:
    """Of "candidates" in drafts of so many rows."""
    if not isinstance(drafter, DFlash2) or rows == 0:
        return
    selector, dtype = drafter.candidate_selector, drafter.dtype
    codes = selector.predecessor_codebook, selector.successor_codebook
    (vocab, rank), top_k = codes[0].shape, selector.top_k
    what = f"{top_k} of {vocab}, {name_of(dtype)}"
    if not candidates.covers(dtype, rows, vocab, top_k):
        yield "candidates", what
        return
    luck = mx.random.uniform(shape=(rows, vocab), key=mx.random.key(0))

    def by(walk: Make, sampled: bool, logits: mx.array, projected: mx.array, anchor: mx.array) -> candidates.Walk:
        return walk(logits, projected, *codes, anchor, top_k, *((WARM, luck) if sampled else ()))

    greedy = Case(
        kernel="candidates",
        what=what,
        rows=rows,
        count=1,
        inputs=lambda: [
            (*arrays, mx.array([i], mx.int32))
            for i, arrays in enumerate(random_arrays(COPIES, dtype, ((1, rows, vocab), (1, rows, rank))))
        ],
        ours=partial(by, candidates.candidates_metal, False),
        mlx=lambda logits, projected, anchor: [selector.walk(projected, logits, anchor, GREEDY).ids[0]],
        link=lambda arguments, y: (after(arguments[0], y[0].astype(dtype)), *arguments[1:]),
        reference=partial(by, candidates.candidates_reference, False),
    )
    yield "candidates", greedy
    ours, reference = (partial(by, walk, True) for walk in (candidates.candidates_metal, candidates.candidates_reference))
    yield "candidates", replace(greedy, what=f"{what}, sampled", count=0, ours=ours, reference=reference, timed=False)
