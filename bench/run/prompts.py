"""What the benchmark asks: our own prompts by category, public sets read from the Hub, and the user's own files."""

import codecs
import json
import logging
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from dflash_mlx.errors import RequestError

from .summary import ALL

CATEGORIES = ("chat", "code", "math", "editing", "documents", "chinese")
FOLDER = Path(__file__).parent / "prompts"
DOCUMENT_END = "\n\n---\n\n"  # in a prompt of `documents`: what stands before it is the document, what follows the question
FROM_PUBLIC_SET = 12  # prompts where no limit is given, as many as a category of ours holds
ROLES = ("system", "user", "assistant")
FORM = 'Each line is {"prompt": "..."} or {"messages": [{"role": "user", "content": "..."}]}, with a "category" if you like.'


class PublicSet(NamedTuple):
    """A data set on the Hub, and how a row of it becomes a prompt."""

    repository: str
    configuration: str | None
    split: str
    prompt: Callable[[dict[str, Any]], str]


SETS = {
    "gsm8k": PublicSet("openai/gsm8k", "main", "test", lambda row: row["question"]),
    "math-500": PublicSet("HuggingFaceH4/MATH-500", None, "test", lambda row: row["problem"]),
    "humaneval": PublicSet(
        "openai/openai_humaneval",
        None,
        "test",
        lambda row: f"Complete this function:\n\n```python\n{row['prompt'].rstrip()}\n```",
    ),
    "mbpp": PublicSet("google-research-datasets/mbpp", "sanitized", "test", lambda row: row["prompt"]),
    "mt-bench": PublicSet("HuggingFaceH4/mt_bench_prompts", None, "train", lambda row: row["prompt"][0]),
}


@dataclass(frozen=True)
class BenchPrompt:
    """A question of a category.

    messages: dictionaries of role and content; the last is the user's.
    """

    category: str
    messages: tuple[dict[str, str], ...]


def read_prompts(names: Sequence[str], limit: int | None = None) -> list[BenchPrompt]:
    """Prompts, grouped by category, the categories in the order in which they first occur.

    Args:
        names: categories of ours, public sets, and paths of .jsonl files; one given twice counts once. No names: all categories
            of ours.
        limit: at most so many prompts of each category, from 1. Of files the first ones; of a public set evenly spaced ones,
            12 where there is no limit.

    Raises:
        RequestError: a name is unknown, a file or a line of it is malformed, a public set cannot be read, or a category beside
            others is called "all".
    """
    groups: dict[str, list[BenchPrompt]] = {}
    for name in dict.fromkeys(names or CATEGORIES):
        for prompt in _read(name, limit):
            groups.setdefault(prompt.category, []).append(prompt)
    if ALL in groups and len(groups) > 1:
        raise RequestError(
            f"one of the categories is called {ALL!r}, as results call all of them together.",
            'Give its prompts another "category", or rename the file where that is its name.',
        )
    return [prompt for group in groups.values() for prompt in group[:limit]]


def filled(prompt: BenchPrompt, tokens: int, count: Callable[[list[dict[str, str]]], int]) -> BenchPrompt:
    """The prompt behind as much text as fits: our documents, in turn, but for its own, cut between two words.

    The text stands at the beginning of the last message, before a blank line.

    Args:
        tokens: how long the whole may be. The result is at most 2% shorter; a prompt that is longer already stays as it is.
        count: tokens of a conversation, the chat template's own included. It is called about ten times.
    """
    last = prompt.messages[-1]
    others = "".join(document + "\n\n" for document in _documents() if document not in last["content"])
    words = re.findall(r"\S+\s*", others)

    def with_words(number: int) -> BenchPrompt:
        if not number:
            return prompt
        text = "".join(islice(cycle(words), number)).rstrip()
        return replace(prompt, messages=(*prompt.messages[:-1], {**last, "content": f"{text}\n\n{last['content']}"}))

    # A word has at least one token, so that no more words than tokens can fit.
    numbers = range(0, max(tokens, 0) + 1, max(1, tokens // 512))
    fitting = bisect_right(numbers, tokens, key=lambda number: count(list(with_words(number).messages)))
    return with_words(numbers[max(fitting - 1, 0)])


@cache
def _documents() -> list[str]:
    """Our documents without their questions."""
    return [prompt.messages[-1]["content"].split(DOCUMENT_END)[0] for prompt in _read("documents", None)]


def _read(name: str, limit: int | None) -> Iterable[BenchPrompt]:
    if name in CATEGORIES:
        return _read_file(str(FOLDER / f"{name}.jsonl"))
    if name in SETS:
        return _read_set(name, limit or FROM_PUBLIC_SET)
    if name.endswith(".jsonl") or os.path.exists(name):
        return _read_file(name)
    if os.path.basename(name) != name:
        raise RequestError(f"there is no file {name}.", "Check the path of your prompts.")
    known = ", ".join([*CATEGORIES, *SETS])
    raise RequestError(f"there are no prompts called {name!r}.", f"Choose from {known}, or give the path of a .jsonl file.")


def _read_file(name: str) -> list[BenchPrompt]:
    try:
        content = Path(name).read_bytes().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError as error:
        raise RequestError(f"there is no file {name}.", "Check the path of your prompts.") from error
    except IsADirectoryError as error:
        raise RequestError(f"{name} is a folder, not a file of prompts.", "Name one .jsonl file in it, or several.") from error
    except OSError as error:
        raise RequestError(f"{name} cannot be read ({error.strerror}).", "Check the file and its permissions.") from error
    prompts = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            prompts.append(_parsed(line, Path(name).stem))
        except ValueError as error:
            raise RequestError(f"line {number} of {name} {error}.", FORM) from error
    if not prompts:
        raise RequestError(f"{name} has no prompts.", FORM)
    return prompts


def _parsed(line: bytes, category: str) -> BenchPrompt:
    """A line's prompt. Raises ValueError with the rest of a sentence that begins with the line."""
    try:
        item = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg} in column {error.colno})") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits, too many brackets
        raise ValueError(f"is not JSON that can be read ({error})") from error
    if not isinstance(item, dict):
        raise ValueError("is not a JSON object")
    unknown = [key for key in item if key not in ("prompt", "messages", "category")]
    if unknown:
        raise ValueError(f"has an unknown key {unknown[0]!r}")
    if "prompt" in item and "messages" in item:
        raise ValueError("has both a prompt and messages")
    if "prompt" not in item and "messages" not in item:
        raise ValueError("has neither a prompt nor messages")
    messages = item["messages"] if "messages" in item else [{"role": "user", "content": item["prompt"]}]
    if not isinstance(messages, list) or not messages:
        raise ValueError("has messages that are not a list with at least one")
    for message in messages:
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise ValueError("has a message that is not made of role and content")
        if message["role"] not in ROLES:
            raise ValueError(f"has a message of an unknown role {message['role']!r}")
        _check_text(message["content"], "a prompt" if "prompt" in item else "a message's content")
    if messages[-1]["role"] != "user":
        raise ValueError("has a last message that is not the user's")
    _check_text(item.get("category", category), "a category")
    return BenchPrompt(item.get("category", category), tuple(messages))


def _check_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise ValueError(f"has {what} that is not text")
    if not value.strip():
        raise ValueError(f"has {what} that is empty")
    try:
        value.encode()
    except UnicodeEncodeError as error:  # JSON can name halves of characters
        raise ValueError(f"has {what} with characters that are not valid UTF-8") from error


def _read_set(name: str, limit: int) -> list[BenchPrompt]:
    source = SETS[name]
    try:
        from datasets import disable_progress_bars, load_dataset
    except ImportError as error:
        hint = "Install it: pip install datasets."
        raise RequestError(f"{name} is read by the datasets library, which cannot be imported ({error}).", hint) from error
    try:
        with _silence():
            disable_progress_bars()
            rows = load_dataset(source.repository, source.configuration, split=source.split)
            chosen = min(limit, len(rows))
            texts = [source.prompt(rows[i * len(rows) // chosen]) for i in range(chosen)]
    except Exception as error:  # the library names no narrower kind
        cause = shorten(str(error), 160, placeholder=" ...") or type(error).__name__
        raise RequestError(
            f"the data set {source.repository} cannot be read ({cause}).",
            f"Check the connection to the Hub, or use prompts that ship with this program: {', '.join(CATEGORIES)}.",
        ) from error
    return [BenchPrompt(name, ({"role": "user", "content": text},)) for text in texts]


@contextmanager
def _silence() -> Iterator[None]:
    """Meanwhile nobody logs warnings: retries of a connection and advice would come in between our own lines."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
