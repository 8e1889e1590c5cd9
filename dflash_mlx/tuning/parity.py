"""How far verification is from plain decoding: the same tokens, row by row and in blocks, compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import mlx.core as mx

from dflash_mlx.targets import State, Target

Verify = Literal["fast", "exact"]


@dataclass(frozen=True)
class Parity:
    """What blocks of one size gave, held against single rows.

    Attributes:
        verify: how the blocks were computed.
        block_size: rows a block.
        rows: rows compared.
        differing: rows whose most likely token is another one: where an answer could part from plain decoding's.
        largest_gap: between plain decoding's two best logits, at most, in the differing rows; 0 where there is none.
        largest_difference: between a logit in a block and the same one alone, at most, over all rows.
    """

    verify: Verify
    block_size: int
    rows: int
    differing: int
    largest_gap: float
    largest_difference: float


def parity(
    target: Target,
    prompts: Sequence[Sequence[int]],
    block_sizes: Sequence[int],
    tokens: int = 64,
    progress: Callable[[int, int], None] | None = None,
    verify: Sequence[Verify] = ("fast",),
) -> list[Parity]:
    """Compares verification in blocks with plain greedy decoding, teacher-forced: blocks are given plain decoding's tokens.

    Plain decoding goes on for `tokens` tokens behind each prompt, whatever they are; then each block size verifies the
    same ones, as many as fill whole blocks, each block on what the blocks before it left in the state.

    Args:
        prompts: token ids, each prompt short enough for one pass.
        tokens: at least the largest block size.
        progress: called with prompts done and in all.
        verify: how to compute blocks; each way with each size.
    """
    ways = list(product(verify, block_sizes))
    gaps: dict[tuple[Verify, int], list[mx.array]] = {way: [] for way in ways}
    differences: dict[tuple[Verify, int], list[mx.array]] = {way: [] for way in ways}
    for done, prompt in enumerate(prompts):
        if progress:
            progress(done, len(prompts))
        ids, plain = _plain(target, prompt, tokens)
        top = mx.sort(plain, axis=-1)[:, -2:]
        for how, size in ways:
            blocks = _in_blocks(target, prompt, ids, size, how == "exact")
            rows = len(blocks)
            differ = mx.argmax(blocks, axis=-1) != mx.argmax(plain[:rows], axis=-1)
            gaps[how, size].append(mx.where(differ, top[:rows, 1] - top[:rows, 0], -1))  # -1: the same token
            differences[how, size].append(mx.abs(blocks - plain[:rows]).max(axis=-1))
            mx.eval(gaps[how, size][-1], differences[how, size][-1])  # a block's logits are many: drop them
    return [_summary(*way, mx.concatenate(gaps[way]), mx.concatenate(differences[way])) for way in ways]


def _summary(verify: Verify, block_size: int, gaps: mx.array, differences: mx.array) -> Parity:
    return Parity(
        verify=verify,
        block_size=block_size,
        rows=gaps.size,
        differing=(gaps >= 0).sum().item(),  # type: ignore[arg-type]
        largest_gap=mx.maximum(gaps.max(), 0.0).item(),  # type: ignore[arg-type]
        largest_difference=differences.max().item(),  # type: ignore[arg-type]
    )


def _plain(target: Target, prompt: Sequence[int], tokens: int) -> tuple[list[int], mx.array]:
    """The tokens after a prompt; and `[tokens, vocab]`, the logits of each one's row: what comes after it."""
    state, last = _read(target, prompt, tokens)
    ids: list[int] = mx.argmax(last, axis=-1).tolist()  # type: ignore[assignment]
    rows: list[mx.array] = []
    for i in range(tokens):
        rows.append(_logits(target, ids[-1:], state, len(prompt) + i))
        state.commit(1)
        ids += mx.argmax(rows[-1], axis=-1).tolist()  # type: ignore[arg-type]
    return ids[:tokens], mx.concatenate(rows)


def _in_blocks(target: Target, prompt: Sequence[int], ids: list[int], size: int, exact: bool) -> mx.array:
    """The logits of the rows of `ids`, computed in blocks; `[rows, vocab]`, the rows that fill whole blocks."""
    state, _ = _read(target, prompt, len(ids))
    rows = []
    for start in range(0, len(ids) - size + 1, size):
        rows.append(_logits(target, ids[start : start + size], state, len(prompt) + start, exact))
        state.commit(size)
        mx.eval(rows[-1], state.arrays)
    return mx.concatenate(rows)


def _read(target: Target, prompt: Sequence[int], tokens: int) -> tuple[State, mx.array]:
    """A state that holds the prompt, with room for `tokens` more; and the logits of the prompt's last row, `[1, vocab]`."""
    state = target.new_state(len(prompt) + tokens)
    hidden, _ = target.forward(mx.array([prompt], mx.int32), state, mx.array([0], mx.int32), commit=True)
    return state, target.lm_head(hidden[:, -1:])[0]


def _logits(target: Target, ids: list[int], state: State, position: int, exact: bool = False) -> mx.array:
    hidden, _ = target.forward(mx.array([ids], mx.int32), state, mx.array([position], mx.int32), exact=exact)
    return target.lm_head(hidden, exact=exact)[0].astype(mx.float32)
