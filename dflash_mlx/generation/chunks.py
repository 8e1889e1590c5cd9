"""From a checked request to chunks of text: one answer, from prompt to last token."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

import mlx.core as mx
from mlx_lm.utils import maybe_set_recommended_wired_limit

from dflash_mlx.decoding.block_size import FixedBlockSize, Policy
from dflash_mlx.decoding.copies import Copies
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.decoding.loop import Cycle, run
from dflash_mlx.decoding.prefill import prefill, read
from dflash_mlx.decoding.prefix_cache import PrefixCache
from dflash_mlx.decoding.sampling import Sampler
from dflash_mlx.decoding.statistics import Recorder, Statistics
from dflash_mlx.drafters import DFlash
from dflash_mlx.generation.request import Request
from dflash_mlx.targets import Target
from dflash_mlx.text import StopTexts, Thinking, Tokenizer

FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True)
class Chunk:
    """What one cycle added to the answer; the first chunk comes from the prompt's own pass.

    Attributes:
        text: what became certain of the answer; may be empty.
        thinking: what became certain of the thinking before it, with the markers and the line breaks behind them.
        pieces: all that became certain, by the token of `token_ids` that made it so.
        token_ids: the tokens committed in this cycle, the end-of-sequence token included.
        drafted: the tokens proposed in this cycle, before verification.
        accepted: how many of them were kept: so many of `token_ids`, from the first, were drafted.
        finish_reason: in the last chunk: "stop" (end of sequence, or a stop string), "length" (`max_tokens`, or the
            model's context is full), "cancelled".
        statistics: the request's figures so far.
    """

    text: str
    thinking: str
    pieces: tuple[str, ...]
    token_ids: tuple[int, ...]
    drafted: tuple[int, ...]
    accepted: int
    finish_reason: FinishReason | None
    statistics: Statistics


@dataclass(frozen=True)
class Generation:
    """A whole answer. See `Chunk` for the fields."""

    text: str
    thinking: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason | None
    statistics: Statistics


def generate_stream(
    target: Target,
    drafter: DFlash | None,
    tokenizer: Tokenizer,
    request: Request,
    costs: Callable[[], Costs],
    progress: Callable[[int, int], None] | None = None,
    cache: PrefixCache | None = None,
    marks: Sequence[int] = (),
    note: str | None = None,
    without_drafter: str = "no drafter was loaded",
) -> Generator[Chunk]:
    """Yields a chunk for the prompt's pass and one for every cycle.

    Args:
        costs: gives those of this pair on this machine, where the block size depends on them.
        progress: called during prefill with prompt tokens done and in all.
        cache: what earlier requests have read; it is left with what this one has.
        marks: positions in the prompt that later prompts may have in common with it.
        note: what else `Statistics.mode_reason` shall tell.
        without_drafter: what it tells where there is no drafter.
    """
    recorder = Recorder(len(request.prompt), note)
    answer = _Answer(tokenizer, request)
    text = list(request.prompt)  # and all that is handed out
    with _wired():
        policy = _policy(drafter, request, costs, without_drafter)
        wanted = None if policy.plain_only else drafter
        sequence = (cache or PrefixCache(0)).enter(target, wanted, request.exact, request.prompt)
        try:
            sampler = Sampler(request.sampling, target.config.vocab_size, request.prompt, request.logits_processors)
            recorder.prefill_started(sequence.position)
            mark = partial(cache.mark, request.prompt) if cache else None
            anchor = prefill(sequence, request.prompt, sampler, progress, marks, mark)
            [first] = sequence.read(anchor, 1)
            answer.take(first)
            sampler.add(first)
            sequence.head.add([*request.prompt, *first])
            recorder.first()
            text += first
            yield answer.chunk(Cycle(first, [], 0), recorder.statistics(sequence, policy))
            if answer.finish_reason:
                return
            copies = Copies(text) if request.by_copy else None
            for cycle in run(sequence, anchor, sampler, policy, request.max_tokens - 1, answer.take, copies):
                recorder.cycle(cycle)
                text += cycle.token_ids
                yield answer.chunk(cycle, recorder.statistics(sequence, policy))
                if answer.finish_reason:
                    return
        finally:
            if cache:
                cache.leave(text)


def read_ahead(cache: PrefixCache, text: list[int]) -> None:
    """Reads a text with which a later prompt will begin, if a request was answered from this cache before."""
    if cache.sequence:
        sequence = cache.sequence
        text = text[: sequence.target.config.max_position_embeddings]
        with _wired():
            sequence = cache.enter(sequence.target, sequence.drafter, sequence.exact, [*text, -1])
            if sequence.position < len(text):
                read(sequence, text)
                cache.mark(text)


def _policy(
    drafter: DFlash | None, request: Request, costs: Callable[[], Costs], without_drafter: str
) -> Policy | FixedBlockSize:
    if drafter:
        without_drafter = "block_size is 1" if drafter.config.block_size == 1 else "only copies were asked for"
    if request.block_size is not None:
        if request.by_copy:
            return FixedBlockSize(1, without_drafter, copied=request.block_size)
        return FixedBlockSize(request.block_size, "block_size is 1" if drafter else without_drafter, tree=request.by_tree)
    # what is repeated must not depend on how long a cycle happened to take
    repeatable = request.sampling.temperature > 0 and request.sampling.seed is not None
    trained = drafter.config.block_size if drafter and request.by_drafter else 1
    return Policy(costs(), trained, repeatable, without_drafter, request.by_tree)


@contextmanager
def _wired() -> Iterator[None]:
    """Keeps weights resident while a request runs, where mlx-lm would, and gives the limit back afterwards."""
    before = maybe_set_recommended_wired_limit()
    try:
        yield
    finally:
        # if it stood there already, another request that is still running will give it back
        if before is not None and before != mx.device_info()["max_recommended_working_set_size"]:
            mx.synchronize()
            mx.set_wired_limit(before)


class _Answer:
    """The answer as it grows: decides token by token where it ends."""

    def __init__(self, tokenizer: Tokenizer, request: Request) -> None:
        self.finish_reason: FinishReason | None = None
        self._text, self._thinking, self._stop = tokenizer.new_stream(), Thinking(request.thinking), StopTexts(request.stop)
        self._eos_token_ids = tokenizer.eos_token_ids
        self._left = request.max_tokens
        self._pieces: list[tuple[str, str]] = []  # thinking and answer, by token

    def take(self, token_ids: list[int]) -> int:
        """Takes tokens up to the one that ends the answer, if one does; returns how many."""
        self._pieces = []
        for token in token_ids:
            self._left -= 1
            ended = token in self._eos_token_ids
            last = ended or self._left == 0
            text = "" if ended else self._text.add(token)
            thinking, answer = self._thinking.add(text + (self._text.flush() if last else ""), last)
            self._pieces.append((thinking, self._stop.add(answer, last)))
            if ended or self._stop.stopped:
                self.finish_reason = "stop"
            elif last:
                self.finish_reason = "length"
            if self.finish_reason:
                break
        return len(self._pieces)

    def chunk(self, cycle: Cycle, statistics: Statistics) -> Chunk:
        """The chunk of the tokens that were just taken."""
        return Chunk(
            text="".join(answer for _, answer in self._pieces),
            thinking="".join(thinking for thinking, _ in self._pieces),
            pieces=tuple(map("".join, self._pieces)),
            token_ids=tuple(cycle.token_ids),
            drafted=tuple(cycle.drafted),
            accepted=cycle.accepted,
            finish_reason=self.finish_reason,
            statistics=statistics,
        )
