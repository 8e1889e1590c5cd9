"""Text in, chunks of text out: one request from prompt to last token."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import mlx.core as mx
from mlx_lm.utils import maybe_set_recommended_wired_limit

from dflash_mlx.decoding.loop import Cycle, run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.decoding.statistics import Recorder, Statistics
from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import RequestError
from dflash_mlx.targets import Target
from dflash_mlx.text import Prompt, Tokenizer

FinishReason = Literal["stop", "length", "cancelled"]

# within 8% of the best width in every published sweep on stock kernels, M3 to M5
AUTO_BLOCK_SIZE = 4


@dataclass(frozen=True)
class Chunk:
    """What one cycle added to the answer; the first chunk comes from the prompt's own pass.

    Attributes:
        text: what became certain; may be empty.
        pieces: the same, by the token of `token_ids` that made it certain.
        token_ids: the tokens committed in this cycle, the end-of-sequence token included.
        drafted: the tokens proposed in this cycle, before verification.
        accepted: how many of them were kept: so many of `token_ids`, from the first, were drafted.
        finish_reason: in the last chunk: "stop" (end of sequence, or a stop string), "length" (`max_tokens`, or the
            model's context is full), "cancelled".
        statistics: the request's figures so far.
    """

    text: str
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
    token_ids: tuple[int, ...]
    finish_reason: FinishReason | None
    statistics: Statistics


@dataclass(frozen=True)
class Request:
    """What is wanted, checked.

    Attributes:
        prompt: token ids.
        max_tokens: already cut to what the model's context has room for.
        block_size: rows a cycle; 1 is plain decoding.
        mode_reason: why decoding is plain; None when it is speculative.
        stop: stop strings.
    """

    prompt: list[int]
    max_tokens: int
    block_size: int
    mode_reason: str | None
    stop: tuple[str, ...]


def new_request(
    target: Target,
    drafter: DFlash | None,
    tokenizer: Tokenizer,
    prompt: Prompt,
    *,
    max_tokens: int,
    sampling: Sampling | None,
    block_size: int | Literal["auto"],
    stop: str | Sequence[str],
    verify: Literal["fast", "exact"],
    raw: bool,
) -> Request:
    """Checks a request's settings. Raises RequestError, naming the first that cannot be served."""
    _check_whole("max_tokens", max_tokens)
    _check_sampling(Sampling() if sampling is None else sampling)
    if raw and not isinstance(prompt, str):
        raise RequestError("raw goes with a prompt that is text.", "Leave raw out: token ids are used as they are.")
    if verify != "fast":
        raise RequestError(f"verify {verify!r} is not available.", 'Use verify="fast".')
    stops = (stop,) if isinstance(stop, str) else stop
    if not isinstance(stops, Sequence) or not all(isinstance(s, str) and s for s in stops):
        raise RequestError(
            f"stop {stop!r} is not a non-empty text or a list of them.", "Leave it out, or give the text to stop at."
        )
    width, mode_reason = _block_size(block_size, drafter)
    ids = tokenizer.encode(prompt, raw)
    vocabulary, positions = target.config.vocab_size, target.config.max_position_embeddings
    room = positions - len(ids)
    if not ids:
        raise RequestError("the prompt is empty.", "Say something to the model.")
    wrong = next((i for i in ids if not 0 <= i < vocabulary), None)
    if wrong is not None:
        raise RequestError(
            f"token id {wrong} is not one of the model's {vocabulary}.", "Encode the prompt with the model's own tokenizer."
        )
    if room < 1:
        raise RequestError(f"the prompt's {len(ids)} tokens fill the model's context of {positions}.", "Shorten the prompt.")
    return Request(ids, min(max_tokens, room), width, mode_reason, tuple(stops))


def generate_stream(
    target: Target,
    drafter: DFlash | None,
    tokenizer: Tokenizer,
    request: Request,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Chunk]:
    """Yields a chunk for the prompt's pass and one for every cycle.

    Args:
        progress: called during prefill with prompt tokens done and in all.
    """
    recorder = Recorder(len(request.prompt), request.mode_reason)
    sequence = TokenSequence(target, drafter if request.block_size > 1 else None)
    answer = _Answer(tokenizer, request)
    with _wired():
        recorder.prefill_started()
        anchor = prefill(sequence, request.prompt, progress)
        [first] = sequence.read(anchor)
        answer.take(first)
        recorder.first()
        yield answer.chunk(Cycle(first, [], 0), recorder.statistics(sequence.device_reads))
        if answer.finish_reason:
            return
        for cycle in run(sequence, anchor, request.block_size, request.max_tokens - 1, answer.take):
            recorder.cycle(cycle)
            yield answer.chunk(cycle, recorder.statistics(sequence.device_reads))
            if answer.finish_reason:
                return


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
        self._text = tokenizer.new_stream(request.stop)
        self._eos_token_ids = tokenizer.eos_token_ids
        self._left = request.max_tokens
        self._pieces: list[str] = []

    def take(self, token_ids: list[int]) -> int:
        """Takes tokens up to the one that ends the answer, if one does; returns how many."""
        self._pieces = []
        for token in token_ids:
            self._left -= 1
            ended = token in self._eos_token_ids
            self._pieces.append("" if ended else self._text.add(token))
            if ended or self._text.stopped:
                self.finish_reason = "stop"
            elif self._left == 0:
                self.finish_reason = "length"
            if self.finish_reason:
                self._pieces[-1] += self._text.flush()
                break
        return len(self._pieces)

    def chunk(self, cycle: Cycle, statistics: Statistics) -> Chunk:
        """The chunk of the tokens that were just taken."""
        return Chunk(
            text="".join(self._pieces),
            pieces=tuple(self._pieces),
            token_ids=tuple(cycle.token_ids),
            drafted=tuple(cycle.drafted),
            accepted=cycle.accepted,
            finish_reason=self.finish_reason,
            statistics=statistics,
        )


def _block_size(block_size: int | Literal["auto"], drafter: DFlash | None) -> tuple[int, str | None]:
    """Rows a cycle, and why decoding is plain, if it is."""
    if drafter is None:
        if block_size not in ("auto", 1):
            raise RequestError(f"block_size {block_size} needs a drafter.", "Load one with the target, or leave block_size out.")
        return 1, "no drafter was loaded"
    trained = drafter.config.block_size
    width = min(AUTO_BLOCK_SIZE, trained) if block_size == "auto" else block_size
    _check_whole("block_size", width)
    if width > trained:
        raise RequestError(f"block_size {width} is more than the {trained} this drafter was trained for.", f"Use 1 to {trained}.")
    return width, "block_size is 1" if width == 1 else None


def _check_whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RequestError(f"{name} {value!r} is not a whole number of 1 or more.", f"Give {name} a number like 4.")


def _check_sampling(sampling: Sampling) -> None:
    if not isinstance(sampling, Sampling):
        raise RequestError(f"sampling {sampling!r} is no Sampling.", "Give a dflash_mlx.Sampling(...), or leave it out.")
    for name, value in vars(sampling).items():
        if not isinstance(value, int | float) and not (name == "seed" and value is None):
            raise RequestError(f"{name} {value!r} is not a number.", f"Give {name} a number, or leave it out.")
    allowed = {
        "temperature": (0 <= sampling.temperature < math.inf, "0 or more"),
        "top_p": (0 < sampling.top_p <= 1, "more than 0, at most 1"),
        "top_k": (sampling.top_k >= 0, "0 or more"),
        "min_p": (0 <= sampling.min_p <= 1, "0 to 1"),
        "repetition_penalty": (0 < sampling.repetition_penalty < math.inf, "more than 0"),
        "presence_penalty": (math.isfinite(sampling.presence_penalty), "any finite number"),
    }
    for name, (fine, wanted) in allowed.items():
        if not fine:
            raise RequestError(f"{name} {getattr(sampling, name)!r} is out of range.", f"It can be {wanted}.")
    if not sampling.greedy:
        raise RequestError(
            "this version decodes greedily: temperature and penalties are not available.", "Use Sampling(temperature=0)."
        )
