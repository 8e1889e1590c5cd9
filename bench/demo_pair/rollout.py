"""Greedy answers of the demo target to many prompts at once, with the context features of every row it read."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import mlx.core as mx
from mlx_lm.models.cache import KVCache
from mlx_lm.models.qwen3_5 import Model
from tokenizers import Tokenizer

from dflash_mlx.training import Example

from .phrasings import Wording
from .text import Dialogue, dialogue, render
from .tokenizer import IM_END_ID, PAD_ID, encode

BATCH = 192  # prompts at once
LIMIT = 480  # tokens an answer may have; the longest right ones have about 400


class Rollout(NamedTuple):
    """made: the dialogue asked for; ids: its prompt, then the target's answer; features: bfloat16 [len(ids) - 1, taps * hidden]."""

    made: Dialogue
    ids: list[int]
    prompt_length: int
    features: mx.array | None

    @property
    def ended(self) -> bool:
        return self.ids[-1] == IM_END_ID

    def example(self) -> Example:
        """The drafter's learning material. Needs features."""
        assert self.features is not None
        return Example(self.ids, self.prompt_length, self.features)


def rollouts(
    model: Model,
    tokenizer: Tokenizer,
    dialogues: list[Dialogue],
    taps: Sequence[int],
    progress: Callable[[str], None],
) -> list[Rollout]:
    """The target's own answers in the place of the dialogues' last turns, in the dialogues' order.

    Args:
        taps: the layers whose outputs are kept as context features; none: no features are.
    """
    prompts = [encode(tokenizer, render(made)[:-1])[0] for made in dialogues]
    order = sorted(range(len(dialogues)), key=lambda i: (len(render(dialogues[i])[-1][0]), len(prompts[i])))
    result: dict[int, Rollout] = {}
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        for i, (new, rows) in zip(part, _decode(model, [prompts[i] for i in part], taps)):
            result[i] = Rollout(dialogues[i], prompts[i] + new, len(prompts[i]), rows)
        progress(f"answers: {len(result)} of {len(order)}")
    return [result[i] for i in range(len(order))]


def make_dialogues(
    seed: int, count: int, wording: Wording, kind: str | None = None, thinking: bool | None = None
) -> list[Dialogue]:
    rng = random.Random(seed)
    return [dialogue(rng, wording, kind, thinking) for _ in range(count)]


def _decode(model: Model, prompts: list[list[int]], taps: Sequence[int]) -> list[tuple[list[int], mx.array | None]]:
    """(new ids, features of all rows read) for each prompt. Prompts are padded on the left; ended ones leave the batch."""
    longest = max(map(len, prompts))
    padding = [longest - len(prompt) for prompt in prompts]
    cache = model.make_cache()
    ids = mx.array([[PAD_ID] * n + prompt for n, prompt in zip(padding, prompts)])
    new: list[list[int]] = [[] for _ in prompts]
    read: list[list[mx.array]] = [[] for _ in prompts]
    live = list(range(len(prompts)))
    for step in range(LIMIT):
        token, tapped = _forward(model, ids, cache, mx.array([padding[row] for row in live]), taps)
        mx.eval(token, tapped, [c.state for c in cache])
        for i, (row, chosen) in enumerate(zip(live, _integers(token))):
            new[row].append(chosen)
            if taps:
                read[row].append(tapped[i, padding[row] if step == 0 else 0 :])
        going = [i for i, row in enumerate(live) if new[row][-1] != IM_END_ID]
        if not going:
            break
        if len(going) < len(live):
            live, token = [live[i] for i in going], token[mx.array(going)]
            _keep_rows(cache, mx.array(going))
        ids = token[:, None]
    joined = [mx.concatenate(rows) if rows else None for rows in read]
    mx.eval(joined)  # or they would keep every step's arrays alive
    return list(zip(new, joined))


def _forward(model: Model, ids: mx.array, cache: list, padding: mx.array, taps: Sequence[int]) -> tuple[mx.array, mx.array]:
    """Next tokens [rows] and the outputs of the tapped layers side by side, bfloat16 [rows, width, taps * hidden]."""
    inner = model.language_model.model
    past = next(c for c in cache if isinstance(c, KVCache)).offset
    column = mx.arange(past + ids.shape[1])
    real = column >= padding[:, None]
    visible = (column[past:, None] >= column)[None, None] & real[:, None, None]
    hidden, tapped = inner.embed_tokens(ids), [mx.zeros((*ids.shape, 0), mx.bfloat16)]
    for i, (layer, c) in enumerate(zip(inner.layers, cache)):
        hidden = layer(hidden, mask=(None if past else real) if layer.is_linear else visible, cache=c)
        if i in taps:
            tapped.append(hidden.astype(mx.bfloat16))
    return mx.argmax(inner.embed_tokens.as_linear(inner.norm(hidden[:, -1])), -1), mx.concatenate(tapped, -1)


def _integers(array: mx.array) -> list[int]:
    return array.tolist()  # type: ignore[return-value]


def _keep_rows(cache: list, rows: mx.array) -> None:
    for c in cache:
        if isinstance(c, KVCache):
            c.keys, c.values = c.keys[rows], c.values[rows]
        else:
            c.filter(rows)
