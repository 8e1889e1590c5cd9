"""The prompt's way into the target's state and the drafter's context."""

from collections.abc import Callable

import mlx.core as mx

from dflash_mlx.decoding.sampling import Sampler
from dflash_mlx.decoding.sequence import NO_DRAFT, TokenSequence

CHUNK = 512  # tokens a forward: what the activations and features of a long prompt cost in memory at a time


def prefill(
    sequence: TokenSequence, prompt: list[int], sampler: Sampler, progress: Callable[[int, int], None] | None = None
) -> mx.array:
    """Feeds a prompt, chunk by chunk, and chooses the token after it: the first anchor, int32 `[1]`.

    Each full chunk's context features are injected and dropped before the next one.

    Args:
        sequence: gets the prompt behind what it holds.
        prompt: token ids, at least one.
        progress: called with tokens done and tokens in all, before the first chunk and after each.
    """
    sequence.reserve(len(prompt))
    for start in range(0, len(prompt), CHUNK):
        if progress:
            progress(start, len(prompt))
        ids = mx.array(prompt[start : start + CHUNK], mx.int32)
        last = sequence.forward(ids, commit=True)[:, -1:]
        sequence.commit(ids.size)
        mx.eval(last, sequence.arrays)
    if progress:
        progress(len(prompt), len(prompt))
    return sampler.accept(NO_DRAFT, sequence.logits(last)).tokens
