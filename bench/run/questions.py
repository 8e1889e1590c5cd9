"""Prompts as a model reads them: encoded, filled up to a context, and known to fit before anything is measured."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dflash_mlx.errors import MemoryBudgetError, RequestError
from dflash_mlx.pair import Pair

from .measure import Question
from .prompts import BenchPrompt, filled


class Questions(NamedTuple):
    """What can be asked.

    of_context: by the context that prompts are filled up to; None: they stay as they are.
    left_out: how many prompts are too long to be answered, over all contexts.
    """

    of_context: dict[int | None, list[Question]]
    left_out: int


def read_questions(
    pair: Pair,
    prompts: Sequence[BenchPrompt],
    contexts: Sequence[int | None],
    max_tokens: int,
    progress: Callable[[int, int], None],
) -> Questions:
    """Encodes the prompts for every context; those that leave no room for an answer are left out.

    Args:
        max_tokens: of an answer.
        progress: called with prompts done and in all.

    Raises:
        RequestError: a context is longer than the model's, or no prompt fits.
        MemoryBudgetError: a context does not fit into this machine's memory.
    """
    for context in contexts:
        if context is not None:
            _check_room(pair, context, max_tokens)
    of_context: dict[int | None, list[Question]] = {}
    total, done = len(contexts) * len(prompts), 0
    for context in contexts:
        questions, numbers = of_context.setdefault(context, []), Counter[str]()
        for prompt in prompts:
            progress(done, total)
            ids = _encode(pair, prompt, context)
            if len(ids) + max_tokens <= pair.context_capacity:
                questions.append(Question(prompt.category, numbers[prompt.category], ids))
            numbers[prompt.category] += 1
            done += 1
        if not questions:
            raise RequestError(
                f"no prompt with {max_tokens} tokens of answer fits into the {pair.context_capacity} that this model takes here.",
                "Use other --prompts, or fewer --max-tokens.",
            )
    return Questions(of_context, total - sum(map(len, of_context.values())))


def _check_room(pair: Pair, context: int, max_tokens: int) -> None:
    positions, capacity = pair.target.config.max_position_embeddings, pair.context_capacity
    asked = f"a context of {context} tokens with an answer of {max_tokens}"
    if context + max_tokens > positions:
        raise RequestError(f"{asked} is more than the {positions} that this model takes.", _way_out(positions - max_tokens))
    if context + max_tokens > capacity:
        raise MemoryBudgetError(
            f"{asked} does not fit into this machine's memory, which has room for {capacity}.",
            f"{_way_out(capacity - max_tokens)} force=True tries anyway.",
        )


def _way_out(longest: int) -> str:
    return f"Use at most --context {longest}." if longest > 0 else "Use fewer --max-tokens."


def _encode(pair: Pair, prompt: BenchPrompt, context: int | None) -> list[int]:
    def encode(messages: list[dict[str, str]]) -> list[int]:
        if pair.tokenizer.knows("messages"):
            return pair.tokenizer.encode(messages)
        return pair.tokenizer.encode("\n\n".join(message["content"] for message in messages), raw=True)  # no chat template

    if context is not None:
        prompt = filled(prompt, context, lambda messages: len(encode(messages)))
    return encode(list(prompt.messages))
