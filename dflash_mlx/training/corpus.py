"""What a drafter learns from: token ids with the target's hidden states, and batches of blocks sampled in them."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import mlx.core as mx
import numpy as np

from dflash_mlx.errors import RequestError
from dflash_mlx.targets import Target

CHUNK = 512  # tokens a forward, when features are recorded
PADDING = 16  # widths are multiples of it, so that few different shapes occur
POOL = 16  # batches are cut from so many batches' worth of examples, sorted by length


class Example(NamedTuple):
    """One text.

    ids: prompt and answer.
    prompt_length: how many of the ids are given rather than generated; 0 < prompt_length < len(ids).
    features: the target's context features `[rows, taps * hidden]`, one row an id; the last id's may be missing.
    """

    ids: list[int]
    prompt_length: int
    features: mx.array


class Batch(NamedTuple):
    """Blocks of several texts. Rows past a text's end have weight 0 and hold any token.

    features: `[B, length, taps * hidden]`
    positions: int32 `[B, blocks]`, the anchors' places in their text
    tokens: int32 `[B, blocks, block_size]`, the anchor and what follows it
    weights: float32 `[B, blocks, block_size - 1]`, of the rows after the anchor
    """

    features: mx.array
    positions: mx.array
    tokens: mx.array
    weights: mx.array


def record(target: Target, ids: Sequence[int], prompt_length: int, taps: Sequence[int]) -> Example:
    """Runs a text through the target and keeps the outputs of the tapped layers."""
    state, parts = target.new_state(len(ids)), []
    for start in range(0, len(ids), CHUNK):
        rows = mx.array([list(ids[start : start + CHUNK])], mx.int32)
        _, features = target.forward(rows, state, mx.array([start], mx.int32), taps, commit=True)
        assert features is not None
        mx.eval(features)
        parts.append(features[0])
    return Example(list(ids), prompt_length, mx.concatenate(parts))


def save_examples(examples: Sequence[Example], file: str | Path) -> None:
    """Writes examples to one safetensors file."""
    arrays = {"ids": mx.array([token for example in examples for token in example.ids], mx.int32)}
    for name in ("lengths", "prompt_lengths", "rows"):
        arrays[name] = mx.array([_sizes(example)[name] for example in examples], mx.int32)
    arrays["features"] = mx.concatenate([example.features for example in examples])
    mx.save_safetensors(str(file), arrays)


def load_examples(file: str | Path) -> list[Example]:
    """Reads what `save_examples` wrote."""
    arrays = mx.load(str(file))
    assert isinstance(arrays, dict)
    ids = _integers(arrays["ids"])
    examples, start, row = [], 0, 0
    for length, prompt_length, rows in zip(*(_integers(arrays[name]) for name in ("lengths", "prompt_lengths", "rows"))):
        examples.append(Example(ids[start : start + length], prompt_length, arrays["features"][row : row + rows]))
        start, row = start + length, row + rows
    return examples


def _integers(array: mx.array) -> list[int]:
    return array.tolist()  # type: ignore[return-value]


def _sizes(example: Example) -> dict[str, int]:
    return {"lengths": len(example.ids), "prompt_lengths": example.prompt_length, "rows": len(example.features)}


def row_weights(block_size: int, gamma: float) -> np.ndarray:
    """How much each row after the anchor counts: `exp(-(k - 1) / gamma)` for row k.

    A row is of use only if all rows before it were accepted, so early ones matter more.
    """
    return np.exp(-np.arange(block_size - 1) / gamma).astype(np.float32)


def batches(
    examples: Sequence[Example], sequences: int, blocks: int, block_size: int, gamma: float, seed: int
) -> Iterator[Batch]:
    """Endless batches of `sequences` texts of similar length, each with `blocks` anchors sampled in its answer."""
    rng = random.Random(seed)
    usable = [example for example in examples if len(example.ids) - example.prompt_length > 1]
    if not usable:
        raise RequestError("no example has an answer of two tokens or more.", "Give examples with longer answers.")
    while True:
        rng.shuffle(usable)
        for first in range(0, len(usable), sequences * POOL):
            pool = sorted(usable[first : first + sequences * POOL], key=lambda example: len(example.ids))
            groups = [pool[i : i + sequences] for i in range(0, len(pool), sequences)]
            rng.shuffle(groups)
            for group in groups:
                yield _batch(group, blocks, row_weights(block_size, gamma), rng)


def _batch(group: list[Example], blocks: int, weights_of_rows: np.ndarray, rng: random.Random) -> Batch:
    block_size = len(weights_of_rows) + 1
    length = -(-max(len(example.features) for example in group) // PADDING) * PADDING
    positions = np.zeros((len(group), blocks), np.int32)
    tokens = np.zeros((len(group), blocks, block_size), np.int32)
    weights = np.zeros((len(group), blocks, block_size - 1), np.float32)
    for i, (ids, prompt_length, _) in enumerate(group):
        for j in range(blocks):
            position = rng.randrange(prompt_length, len(ids) - 1)
            block = ids[position : position + block_size]
            positions[i, j] = position
            tokens[i, j, : len(block)] = block
            weights[i, j, : len(block) - 1] = weights_of_rows[: len(block) - 1]
    features = mx.stack([mx.pad(f, [(0, length - len(f)), (0, 0)]) for f in (example.features for example in group)])
    return Batch(features, mx.array(positions), mx.array(tokens), mx.array(weights))
