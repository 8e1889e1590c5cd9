"""The best tokens of every draft row, and the walk of DFlash 2's selector through them.

`CandidateSelector.walk` of `drafters/dflash2.py`: row by row, each candidate is scored given the token chosen before,

    score(candidate) = logit + sum(predecessors[previous] * projected * successors[candidate])

and one is chosen: the best, or one drawn from q = softmax(score / temperature) with random numbers from outside, by the
exponential race of `decoding.acceptance.race`: the highest q / -log(1 - luck).

Two dispatches whatever the number of rows: the best `top_k` of every slice of the vocabulary; then, in one threadgroup,
their union and the whole walk. Every logit is read once. Scores are float32.

Ties: of equal logits the lower id comes first, also where only some of them fit. Candidates stand from the best to the
worst, and of equal scores the first candidate's is taken: the higher logit, then the lower id. NaN is lowest, to the kernel.
"""

from typing import NamedTuple

import mlx.core as mx

from dflash_mlx.kernels import metal_kernel

SIMDGROUPS = 8  # as in candidates.metal
VALUES = 16  # logits a lane looks at
SLICE = SIMDGROUPS * 32 * VALUES
ROWS = 16  # as in candidates_walk.metal
DTYPES = (mx.bfloat16, mx.float16, mx.float32)
INPUTS = ("keys", "ids", "projected", "predecessors", "successors", "anchor", "temperature", "luck")


class Walk(NamedTuple):
    """path: int32 `[rows]`, the chosen tokens. candidates: int32 `[rows, top_k]`, what they were chosen from.

    q: float32 `[rows, top_k]`, what each was drawn from; greedy, 1 where it was chosen.
    """

    path: mx.array
    candidates: mx.array
    q: mx.array


def candidates_reference(
    logits: mx.array,
    projected: mx.array,
    predecessors: mx.array,
    successors: mx.array,
    anchor: mx.array,
    top_k: int,
    temperature: float = 0.0,
    luck: mx.array | None = None,
) -> Walk:
    """As `candidates_metal`, in plain MLX.

    Args:
        logits: `[1, rows, vocab]`, of the draft rows.
        projected: `[1, rows, rank]`, their hidden states after `hidden_projection`.
        predecessors, successors: `[vocab, rank]`, the codebooks.
        anchor: int32 `[1]`, the token before the first row.
        top_k: candidates a row.
        temperature: 0 takes the best.
        luck: float32 `[rows, vocab]`, uniform in [0, 1): needed where the temperature is not 0.
    """
    logits, vocab = logits[0].astype(mx.float32), logits.shape[-1]
    last = mx.topk(logits, top_k, axis=-1).min(axis=-1, keepdims=True)
    rank = mx.where(logits > last, 2 * vocab, mx.where(logits == last, vocab, 0)) - mx.arange(vocab)  # no two are equal
    ids = mx.sort(mx.argpartition(rank, -top_k, axis=-1)[:, -top_k:], axis=-1).astype(mx.int32)
    unary = mx.take_along_axis(logits, ids, axis=-1)
    better = (unary[:, None] > unary[..., None]) | ((unary[:, None] == unary[..., None]) & (ids[:, None] < ids[..., None]))
    order = mx.argsort(better.sum(axis=-1), axis=-1)  # by how many stand before it
    ids, unary = (mx.take_along_axis(x, order, axis=-1) for x in (ids, unary))
    projected, path, chances, previous = projected[0].astype(mx.float32), [], [], anchor
    for row in range(len(ids)):
        code = predecessors[previous[0]].astype(mx.float32) * projected[row]
        scores = unary[row] + (successors[ids[row]].astype(mx.float32) * code).sum(axis=-1)
        choice = mx.argmax(scores)
        q = (mx.arange(top_k) == choice).astype(mx.float32)
        if temperature:
            assert luck is not None
            q = mx.softmax((scores - scores.max()) / max(temperature, 1e-30))
            choice = mx.argmax(mx.where(q > 0, q / -mx.log1p(-luck[row, ids[row]]), -1))
        previous = ids[row][choice[None]]
        path.append(previous)
        chances.append(q)
    return Walk(mx.concatenate(path), ids, mx.stack(chances))


def candidates_metal(
    logits: mx.array,
    projected: mx.array,
    predecessors: mx.array,
    successors: mx.array,
    anchor: mx.array,
    top_k: int,
    temperature: float = 0.0,
    luck: mx.array | None = None,
) -> Walk:
    """Two dispatches; for the arguments see `candidates_reference`."""
    _, rows, vocab = logits.shape
    slices = -(-vocab // SLICE)
    keys, ids = metal_kernel("candidates", ("logits",), ("keys", "ids"))(
        inputs=[logits],
        template=[("K", top_k), ("VALUES", VALUES)],
        grid=(32, SIMDGROUPS, rows * slices),
        threadgroup=(32, SIMDGROUPS, 1),
        output_shapes=[(rows, slices, top_k)] * 2,
        output_dtypes=[mx.uint32] * 2,
    )
    return Walk(
        *metal_kernel("candidates_walk", INPUTS, ("path", "candidates", "q"))(
            inputs=[
                keys,
                ids,
                projected,
                predecessors,
                successors,
                anchor,
                mx.array([temperature], mx.float32),
                mx.zeros((1, 1)) if luck is None else luck,
            ],
            template=[
                ("K", top_k),
                ("RANK", projected.shape[-1]),
                ("FOUND", -(-slices * top_k // 32)),
                ("SAMPLED", temperature > 0),
            ],
            grid=(32, top_k, 1),
            threadgroup=(32, top_k, 1),
            output_shapes=[(rows,), (rows, top_k), (rows, top_k)],
            output_dtypes=[mx.int32, mx.int32, mx.float32],
        )
    )


def covers(dtype: mx.Dtype, rows: int, vocab: int, top_k: int) -> bool:
    """Whether the kernel serves these shapes; any rank is served."""
    return dtype in DTYPES and rows <= ROWS and 2 <= top_k <= min(vocab, 32) and -(-vocab // SLICE) * top_k <= 32 * 64
