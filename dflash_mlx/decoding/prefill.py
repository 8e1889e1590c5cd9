"""The prompt's way into the target's state and the drafter's context."""

from collections.abc import Callable, Sequence

import mlx.core as mx

from dflash_mlx.decoding.sampling import Sampler
from dflash_mlx.decoding.sequence import NO_DRAFT, TokenSequence

CHUNK = 512  # tokens a forward: what the activations and features of a long prompt cost in memory at a time


def prefill(
    sequence: TokenSequence,
    prompt: list[int],
    sampler: Sampler,
    progress: Callable[[int, int], None] | None = None,
    stops: Sequence[int] = (),
    at_stop: Callable[[], None] | None = None,
) -> mx.array:
    """Reads a prompt and chooses the token after it: the first anchor, int32 `[1]`.

    Args:
        sequence: holds less than all of the prompt, and nothing else.
        prompt: token ids.
        progress, stops, at_stop: as for `read`.
    """
    hidden = read(sequence, prompt, progress, stops, at_stop)
    return sampler.accept(NO_DRAFT, sequence.logits(hidden)).tokens


def read(
    sequence: TokenSequence,
    text: list[int],
    progress: Callable[[int, int], None] | None = None,
    stops: Sequence[int] = (),
    at_stop: Callable[[], None] | None = None,
) -> mx.array:
    """Feeds what a sequence does not hold of a text yet, chunk by chunk; returns the last row's hidden state `[1, 1, hidden]`.

    Each full chunk's context features are injected and dropped before the next one.

    Args:
        progress: called with tokens done and tokens in all, before the first chunk and after each.
        stops: positions at which `at_stop` is called, with the sequence just there.
    """
    sequence.reserve(len(text) - sequence.position)
    while sequence.position < len(text):
        start = sequence.position
        if progress:
            progress(start, len(text))
        end = min([start + CHUNK, len(text), *(stop for stop in stops if stop > start)])
        ids = mx.array(text[start:end], mx.int32)
        last = sequence.forward(ids, commit=True)[:, -1:]
        sequence.commit(ids.size)
        mx.eval(last, sequence.arrays)
        if at_stop and end in stops:
            at_stop()
    if progress:
        progress(len(text), len(text))
    return last
