"""Answers, measured: plain decoding and blocks in turn, so that what slows the machine down weighs on all alike."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import mlx.core as mx

from dflash_mlx.pair import Pair

WARM_UP = 16  # tokens of the answers that are not counted

BlockSize = int | Literal["auto"]


class Way(NamedTuple):
    """How a prompt is answered.

    block_size: rows a cycle; 1 is plain decoding, "auto" the policy's choice.
    context: tokens that the prompt is filled up to; None: it stays as it is.
    """

    block_size: BlockSize
    temperature: float
    context: int | None

    @property
    def plain(self) -> "Way":
        """The same without drafts."""
        return self._replace(block_size=1)


class Answer(NamedTuple):
    """What an engine tells of an answer.

    decode_seconds: from the first token to the last.
    drafted: by position in the block, how often a token was drafted there whose fate is known.
    accepted: how many of them were kept.
    peak_memory_bytes: the most that was held, over what was held before.
    joules: from the first token to the last; None: not known.
    mode_reason: as in `Statistics`.
    """

    token_ids: tuple[int, ...]
    cycles: int
    decode_seconds: float
    drafted: tuple[int, ...]
    accepted: tuple[int, ...]
    time_to_first_token_s: float
    prefill_tokens_per_second: float
    peak_memory_bytes: int
    joules: float | None
    mode_reason: str | None

    @property
    def decoded(self) -> int:
        """Tokens after the first, which comes from the prompt's own pass."""
        return len(self.token_ids) - 1

    @property
    def tokens_per_second(self) -> float | None:
        """Of decoding. None: nothing was decoded after the first token."""
        return self.decoded / self.decode_seconds if self.decoded > 0 and self.decode_seconds > 0 else None


# Prompt ids, way, the most tokens to generate, seed.
Engine = Callable[[list[int], Way, int, int], Answer]


class Question(NamedTuple):
    """A prompt as the model reads it.

    number: in its category, from 0.
    """

    category: str
    number: int
    ids: list[int]


class Step(NamedTuple):
    """An answer to be measured; those that are compared have the same seed."""

    question: Question
    round: int
    way: Way
    seed: int


@dataclass(frozen=True)
class Run:
    """An answer that was measured, with what was asked and how.

    prompt: its number in the category, from 0.
    """

    category: str
    way: Way
    prompt: int
    round: int
    prompt_tokens: int
    answer: Answer


def plan(
    questions: Mapping[int | None, Sequence[Question]],
    temperatures: Sequence[float],
    block_sizes: Sequence[BlockSize],
    rounds: int,
) -> list[Step]:
    """What is measured, in order: each question is answered in all ways before the next one.

    From question to question another way comes first, and every second one goes through them backwards: of a machine that
    gets slower all the time, no way sees more than another.

    Args:
        questions: by the context that they are filled up to.
        block_sizes: plain decoding is always among them.
        rounds: how often all is asked.
    """
    steps = []
    sizes = list(dict.fromkeys((1, *block_sizes)))
    for context, asked in questions.items():
        for temperature in temperatures:
            turns = [(round, question) for round in range(rounds) for question in asked]
            for at, (round, question) in enumerate(turns):
                first = at // 2 % len(sizes)
                order = (sizes[first:] + sizes[:first])[:: -1 if at % 2 else 1]
                steps += [Step(question, round, Way(size, temperature, context), seed=at) for size in order]
    return steps


def measure(engine: Engine, steps: Sequence[Step], max_tokens: int, cool_down: float) -> Iterator[Run]:
    """Takes the steps, one by one. A way is warmed up by a short answer that is not counted.

    Args:
        max_tokens: of an answer.
        cool_down: seconds of rest before each.
    """
    warm: set[Way] = set()
    for question, round, way, seed in steps:
        if way not in warm:
            engine(question.ids, way, min(max_tokens, WARM_UP), seed)
            warm.add(way)
        time.sleep(cool_down)
        answer = engine(question.ids, way, max_tokens, seed)
        yield Run(question.category, way, question.number, round, len(question.ids), answer)


def engine_of(pair: Pair, verify: Literal["fast", "exact"], joules: Callable[[float, float], float | None]) -> Engine:
    """Answers by a pair, sampled as its checkpoint asks for but for the temperature.

    Args:
        joules: the energy between two times of time.perf_counter, or None.
    """

    def answer(prompt: list[int], way: Way, max_tokens: int, seed: int) -> Answer:
        sampling = replace(pair.default_sampling, temperature=way.temperature, seed=seed)
        stream = pair.stream(prompt, max_tokens=max_tokens, sampling=sampling, block_size=way.block_size, verify=verify)
        held = mx.get_active_memory()
        mx.reset_peak_memory()
        tokens: list[int] = []
        times: list[float] = []
        drafted: Counter[int] = Counter()
        accepted: Counter[int] = Counter()
        for chunk in stream:
            times.append(time.perf_counter())
            tokens += chunk.token_ids
            stopped = chunk.accepted == len(chunk.token_ids)  # behind a stop, nobody knows what would have been kept
            drafted.update(range(chunk.accepted if stopped else len(chunk.drafted)))
            accepted.update(range(chunk.accepted))
        statistics = chunk.statistics
        return Answer(
            token_ids=tuple(tokens),
            cycles=statistics.cycles,
            decode_seconds=times[-1] - times[0],
            drafted=tuple(drafted[i] for i in sorted(drafted)),
            accepted=tuple(accepted[i] for i in sorted(drafted)),
            time_to_first_token_s=statistics.time_to_first_token_s,
            prefill_tokens_per_second=statistics.prefill_tokens_per_second,
            peak_memory_bytes=mx.get_peak_memory() - held,
            joules=joules(times[0], times[-1]) if len(tokens) > 1 else None,
            mode_reason=statistics.mode_reason,
        )

    return answer
