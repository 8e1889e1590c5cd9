"""Engines on the same questions, in turn, and the table of what came out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from statistics import median
from typing import Any, NamedTuple, Protocol

from ..run.summary import first_difference
from .process import EngineFailed

OURS, REFERENCE = "dflash-mlx (ours)", "mlx-lm"
Row = dict[str, Any]


class Engine(Protocol):
    """What an engine's process is called with."""

    def __call__(self, call: str, **arguments: Any) -> Any: ...


class Questions(NamedTuple):
    """What every engine is asked, the same token ids."""

    prompts: list[list[int]]
    stop: list[int]
    block_size: int
    max_tokens: int


class Way(NamedTuple):
    """How an engine answers; block_size 1 is plain decoding."""

    engine: str
    block_size: int


class Answer(NamedTuple):
    """An answer, measured.

    Attributes:
        tokens: before the stop token, at most so many as were asked.
        decoded: how many tokens the engine computed, the stop token and what was too many included.
        seconds: after the first token.
        cycles: draft-verify passes; None: there are none, or it does not tell.
    """

    tokens: tuple[int, ...]
    decoded: int
    seconds: float
    cycles: int | None

    @staticmethod
    def of(told: Mapping[str, Any], questions: Questions) -> "Answer":
        """What an adapter's `answer` gave."""
        tokens = told["tokens"]
        end = next((i for i, token in enumerate(tokens) if token in questions.stop), None)
        text = tokens[:end][: questions.max_tokens]
        return Answer(tuple(text), len(tokens) if end is None else end + 1, told["seconds"], told["cycles"])


Round = list[Answer]  # of a way, an answer to each prompt


def ways_of(engines: Sequence[str], block_size: int) -> list[Way]:
    """Our plain decoding first, then every engine at the block size; mlx-lm has plain decoding only."""
    return [Way(OURS, 1), *(Way(name, 1 if name == REFERENCE else block_size) for name in engines)]


def in_turn(
    engines: Mapping[str, Engine], questions: Questions, rounds: int, failed: Callable[[str, str], None]
) -> dict[Way, list[Round]]:
    """Every way answers every prompt once a round, one after the other, each time another first. The first round warms up.

    An engine that fails is told of by `failed(name, why)` and left out, with all that it had answered.
    """
    ways = ways_of(list(engines), questions.block_size)
    results: dict[Way, list[Round]] = {way: [[] for _ in range(1 + rounds)] for way in ways}
    for turn, (round_, prompt) in enumerate(product(range(1 + rounds), questions.prompts)):
        first = turn % len(ways)
        for way in ways[first:] + ways[:first]:
            if way not in results:
                continue
            asked = {"prompt": prompt, "max_tokens": questions.max_tokens, "stop": questions.stop}
            try:
                told = engines[way.engine]("answer", block_size=way.block_size, **asked)
            except EngineFailed as error:
                failed(way.engine, str(error))
                results = {other: found for other, found in results.items() if other.engine != way.engine}
            else:
                results[way][round_].append(Answer.of(told, questions))
    return {way: found[1:] for way, found in results.items()}


def rows(results: Mapping[Way, Sequence[Round]], versions: Mapping[str, str], notes: Mapping[str, str]) -> Iterator[Row]:
    """A row a way. Speeds are medians over the rounds; `of_plain` is the median of each round's ratio to our plain decoding.

    Answers are compared with mlx-lm's, or with our plain decoding's where that is missing: a prompt is `same` if every round's
    answer is. `first_difference`: prompt and token, from 0.
    """
    plain = [_speed(round_) for round_ in results[Way(OURS, 1)]]
    reference = results.get(Way(REFERENCE, 1), results[Way(OURS, 1)])[0]
    for way, found in results.items():
        speeds = [_speed(round_) for round_ in found]
        answers = [each for round_ in found for each in round_]
        cycles = sum(each.cycles or 0 for each in answers)
        apart = {
            prompt: token
            for round_ in found
            for prompt, (answer, right) in enumerate(zip(round_, reference))
            if (token := first_difference(answer.tokens, right.tokens)) is not None
        }
        tokens = sum(each.decoded - 1 for each in answers)
        yield {
            "engine": way.engine,
            "version": versions[way.engine],
            "block_size": way.block_size,
            "tokens_per_second": round(median(speeds), 1),
            "of_plain": round(median(speed / base for speed, base in zip(speeds, plain)), 2),
            "tokens_a_cycle": round(tokens / cycles, 2) if cycles else None,
            "same": len(reference) - len(apart),
            "prompts": len(reference),
            "first_difference": min(apart.items(), default=None),
            "note": notes.get(way.engine, "") if way.block_size > 1 or way.engine != OURS else "plain decoding",
        }


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as a Markdown table whose columns line up."""
    head = ("engine", "version", "block", "tok/s", "of our plain", "tokens a cycle", "same answers", "first difference", "note")
    lines = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, tuple("-" * width for width in widths))
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]


def _cells(row: Row) -> tuple[str, ...]:
    cycle, apart = row["tokens_a_cycle"], row["first_difference"]
    return (
        row["engine"],
        row["version"],
        str(row["block_size"]),
        f"{row['tokens_per_second']:.1f}",
        f"{row['of_plain']:.2f}",
        "" if cycle is None else f"{cycle:.2f}",
        f"{row['same']}/{row['prompts']}",
        "" if apart is None else f"prompt {apart[0]}, token {apart[1]}",
        row["note"],
    )


def _speed(answers: Round) -> float:
    """Tokens a second after the first, over all prompts."""
    seconds = sum(each.seconds for each in answers)
    return sum(each.decoded - 1 for each in answers) / seconds if seconds else 0.0
