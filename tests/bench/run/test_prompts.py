"""What is asked: our own prompts, public sets, files of the user's, and prompts filled up to a length."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fixture_data import DEMO

from dflash_mlx.bench.run.prompts import CATEGORIES, DOCUMENT_END, SETS, BenchPrompt, filled, read_prompts
from dflash_mlx.errors import RequestError
from dflash_mlx.text import Tokenizer

SHIPPED = Path(__file__).parents[3] / "bench" / "run" / "prompts"
PUBLISHED = {  # repository, configuration, split, and the rows' fields, as the Hub shows them
    "gsm8k": ("openai/gsm8k", "main", "test", lambda i: {"question": f"Sum {i}", "answer": "#### 1"}),
    "math-500": ("HuggingFaceH4/MATH-500", None, "test", lambda i: {"problem": f"Problem {i}", "solution": "", "answer": ""}),
    "humaneval": ("openai/openai_humaneval", None, "test", lambda i: {"prompt": f"def f{i}():\n", "canonical_solution": ""}),
    "mbpp": ("google-research-datasets/mbpp", "sanitized", "test", lambda i: {"prompt": f"Write {i}", "code": ""}),
    "mt-bench": ("HuggingFaceH4/mt_bench_prompts", None, "train", lambda i: {"prompt": [f"First {i}", "Then"], "reference": []}),
}


def text(prompt: BenchPrompt) -> str:
    (message,) = prompt.messages
    assert message.keys() == {"role", "content"} and message["role"] == "user"
    return message["content"]


def texts(*names: str, limit: int | None = None) -> list[str]:
    return [text(prompt) for prompt in read_prompts(names, limit)]


def words(messages: list[dict[str, str]]) -> int:
    return sum(len(message["content"].split()) for message in messages)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes lines to a file of prompts and gives its path."""

    def write(*lines: Any, name: str = "mine.jsonl") -> str:
        parts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        (tmp_path / name).write_bytes(b"\n".join(parts))
        return str(tmp_path / name)

    return write


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A datasets library that knows the five sets, with a hundred rows each; what it did."""
    done: list[str] = []

    def load_dataset(repository: str, configuration: str | None, split: str) -> list[dict[str, Any]]:
        done.append(repository)
        logging.getLogger("datasets").warning("something about %s", repository)
        ((*_, row),) = [known for known in PUBLISHED.values() if known[:3] == (repository, configuration, split)]
        return [row(i) for i in range(100)]

    def disable_progress_bars() -> None:
        done.append("quiet")

    library = SimpleNamespace(load_dataset=load_dataset, disable_progress_bars=disable_progress_bars)
    monkeypatch.setitem(sys.modules, "datasets", library)
    return done


# Our own prompts


def test_every_category_ships_twelve_prompts_and_no_two_are_alike() -> None:
    prompts = read_prompts([])
    assert [prompt.category for prompt in prompts] == [category for category in CATEGORIES for _ in range(12)]
    assert len({" ".join(text(prompt).split()).lower() for prompt in prompts}) == len(prompts)
    assert {path.stem for path in SHIPPED.iterdir()} == set(CATEGORIES)


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_shipped_file_is_readable_text_without_blank_lines(category: str) -> None:
    content = (SHIPPED / f"{category}.jsonl").read_bytes().decode()
    assert content.endswith("}\n") and "\n\n" not in content and "\r" not in content and "\\u" not in content
    assert all(prompt == prompt.strip() for prompt in texts(category))


def test_an_editing_prompt_holds_a_text_worth_copying() -> None:
    for prompt in texts("editing"):
        instruction, given = prompt.split("\n\n", 1)
        assert len(instruction.split()) < 50 and 80 <= len(given.split()) <= 250


def test_a_document_is_long_and_followed_by_one_question() -> None:
    for prompt in texts("documents"):
        document, question = prompt.split(DOCUMENT_END)
        assert 2500 <= len(document) <= 4500 and 80 <= len(question) <= 500


def test_chinese_prompts_are_chinese_and_the_others_are_not() -> None:
    for prompt in read_prompts([]):
        share = sum("\u4e00" <= character <= "\u9fff" for character in text(prompt)) / len(text(prompt))
        assert share > 0.7 if prompt.category == "chinese" else share == 0


def test_every_shipped_prompt_fits_the_demo_pair() -> None:
    tokenizer = Tokenizer(DEMO / "target")
    assert max(len(tokenizer.encode(list(prompt.messages))) for prompt in read_prompts([])) <= 3900


# Names


def test_categories_come_in_the_order_given_and_the_limit_is_for_each() -> None:
    prompts = read_prompts(["math", "chat", "math"], limit=2)
    assert [prompt.category for prompt in prompts] == ["math", "math", "chat", "chat"]
    assert texts("math", limit=2) == texts("math")[:2]


def test_one_category_of_two_sources_stays_together(write: Callable[..., str]) -> None:
    path = write({"prompt": "a"}, {"prompt": "b", "category": "math"})
    prompts = read_prompts(["math", path], limit=13)
    assert [prompt.category for prompt in prompts] == ["math"] * 13 + ["mine"]
    assert [text(prompt) for prompt in prompts[12:]] == ["b", "a"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("maths", "there are no prompts called 'maths'."),
        ("mine.jsonl", "there is no file mine.jsonl."),
        ("some/prompts.txt", "there is no file some/prompts.txt."),
    ],
)
def test_an_unknown_name_says_what_it_was_taken_for(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError) as caught:
        read_prompts(["chat", name])
    assert caught.value.message == message
    assert (f"Choose from {', '.join([*CATEGORIES, *SETS])}," in caught.value.hint) == ("called" in message)


# The user's own files


def test_a_file_may_hold_prompts_conversations_and_categories(write: Callable[..., str]) -> None:
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "你好"}]
    path = write(b'\xef\xbb\xbf{"prompt": "one"}\r', b"  ", {"messages": talk, "category": "talks"}, b"", name="a file.txt")
    assert read_prompts([path]) == [
        BenchPrompt("a file", ({"role": "user", "content": "one"},)),
        BenchPrompt("talks", tuple(talk)),
    ]


def test_all_is_a_category_only_where_there_is_no_other(write: Callable[..., str]) -> None:
    path = write({"prompt": "one"}, name="all.jsonl")
    assert read_prompts([path])[0].category == "all"
    with pytest.raises(RequestError, match="called 'all', as results call all of them together"):
        read_prompts([path, "chat"])


USER = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"hello", "is not JSON (Expecting value in column 1)."),
        (b'{"prompt": ' + b"9" * 5000 + b"}", "is not JSON that can be read (Exceeds the limit"),
        (b"[" * 100_000, "is not JSON that can be read (maximum recursion depth"),
        (b'{"prompt": "caf\xe9"}', "is not UTF-8 text."),
        (["hello"], "is not a JSON object."),
        ({"text": "hello"}, "has an unknown key 'text'."),
        ({"category": "chat"}, "has neither a prompt nor messages."),
        ({"prompt": "hello", "messages": [USER]}, "has both a prompt and messages."),
        ({"prompt": 7}, "has a prompt that is not text."),
        ({"prompt": " \n"}, "has a prompt that is empty."),
        ({"prompt": "\ud800"}, "has a prompt with characters that are not valid UTF-8."),
        ({"messages": []}, "has messages that are not a list with at least one."),
        ({"messages": USER}, "has messages that are not a list with at least one."),
        ({"messages": ["hello"]}, "has a message that is not made of role and content."),
        ({"messages": [{"role": "user"}]}, "has a message that is not made of role and content."),
        ({"messages": [{**USER, "role": "tool"}]}, "has a message of an unknown role 'tool'."),
        ({"messages": [{**USER, "content": None}]}, "has a message's content that is not text."),
        ({"messages": [USER, {**USER, "role": "assistant"}]}, "has a last message that is not the user's."),
        ({"prompt": "hello", "category": ""}, "has a category that is empty."),
        ({"prompt": "hello", "category": ["chat"]}, "has a category that is not text."),
    ],
)
def test_a_malformed_line_is_named(line: Any, message: str, write: Callable[..., str]) -> None:
    path = write({"prompt": "fine"}, b"", line, {"prompt": "fine"})
    with pytest.raises(RequestError) as caught:
        read_prompts([path])
    assert caught.value.message.startswith(f"line 3 of {path} {message}")
    assert caught.value.hint.startswith('Each line is {"prompt": "..."}')


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_file_without_prompts_is_refused(content: bytes, write: Callable[..., str]) -> None:
    with pytest.raises(RequestError, match="mine.jsonl has no prompts"):
        read_prompts([write(content)])


def test_a_folder_and_what_cannot_be_opened_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a message has no room for a long path
    with pytest.raises(RequestError, match="is a folder, not a file of prompts"):
        read_prompts([str(tmp_path)])
    with pytest.raises(RequestError, match=r"cannot be read \(File name"):
        read_prompts(["x" * 260 + ".jsonl"])


# Public sets


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("gsm8k", "Sum 0"),
        ("math-500", "Problem 0"),
        ("humaneval", "Complete this function:\n\n```python\ndef f0():\n```"),
        ("mbpp", "Write 0"),
        ("mt-bench", "First 0"),
    ],
)
def test_a_public_set_is_read_from_its_field(name: str, first: str, hub: list[str]) -> None:
    prompts = read_prompts([name])
    assert [prompt.category for prompt in prompts] == [name] * 12
    assert text(prompts[0]) == first
    assert hub == ["quiet", PUBLISHED[name][0]]


def test_the_prompts_of_a_public_set_are_evenly_spaced(hub: list[str]) -> None:
    assert texts("mbpp", limit=4) == ["Write 0", "Write 25", "Write 50", "Write 75"]
    assert texts("mbpp", limit=1000) == [f"Write {i}" for i in range(100)]
    assert texts("mbpp")[-1] == f"Write {11 * 100 // 12}"


def test_the_library_of_public_sets_does_not_talk_in_between(hub: list[str], caplog: pytest.LogCaptureFixture) -> None:
    read_prompts(["gsm8k"])
    assert not caplog.records
    logging.getLogger("datasets").warning("heard again")
    assert [record.message for record in caplog.records] == ["heard again"]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ConnectionError("Couldn't reach 'openai/gsm8k' on the Hub\n(OfflineModeIsEnabled)"), "Hub (OfflineModeIsEnabled)"),
        (RuntimeError("a very long tale " * 50), "tale a ..."),
        (KeyError(), "KeyError"),
    ],
)
def test_a_public_set_out_of_reach_is_one_sentence(
    error: Exception, cause: str, hub: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(sys.modules["datasets"], "load_dataset", fail)
    with pytest.raises(RequestError) as caught:
        read_prompts(["gsm8k"])
    assert caught.value.message.startswith("the data set openai/gsm8k cannot be read (")
    assert caught.value.message.endswith(f"{cause}).") and len(caught.value.message) < 220
    assert "connection" in caught.value.hint and "documents" in caught.value.hint


def test_a_public_set_that_has_changed_is_one_sentence(hub: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["datasets"], "load_dataset", lambda *_, **__: [{"q": "renamed"}])
    with pytest.raises(RequestError, match=r"openai/gsm8k cannot be read \('question'\)"):
        read_prompts(["gsm8k"])


def test_without_the_library_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(RequestError, match="pip install datasets"):
        read_prompts(["gsm8k"])


# Filling


TALK = BenchPrompt("talks", ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who won,\nand why?"}))


@pytest.mark.parametrize("tokens", [7, 100, 511, 5_000, 20_000])
def test_a_filled_prompt_has_as_many_tokens_as_asked_for(tokens: int) -> None:
    calls: list[int] = []
    result = filled(TALK, tokens, lambda messages: calls.append(1) or words(messages))  # type: ignore[func-returns-value]
    assert 0.98 * tokens <= words(list(result.messages)) <= tokens
    assert len(calls) < 12
    assert result.category == "talks" and result.messages[0] == TALK.messages[0]


def test_filling_puts_documents_without_questions_before_the_last_message() -> None:
    documents = [prompt.split(DOCUMENT_END)[0] for prompt in texts("documents")]
    result = filled(TALK, 20_000, words).messages[-1]["content"]
    assert result.endswith("\n\nWho won,\nand why?")
    assert result.startswith("\n\n".join([*documents, *documents])[: len(result) - 30])  # there are more words than in twelve
    assert all(prompt.split(DOCUMENT_END)[1] not in result for prompt in texts("documents"))


@pytest.mark.parametrize("tokens", [-1, 0, 5, 6])
def test_a_prompt_that_is_long_enough_stays_as_it_is(tokens: int) -> None:
    assert words(list(TALK.messages)) == 6
    assert filled(TALK, tokens, words) == TALK


def test_the_template_and_small_tokens_count_too() -> None:
    def count(messages: list[dict[str, str]]) -> int:
        return 40 + sum(len(message["content"]) for message in messages) // 3

    assert 0.98 * 8192 <= count(list(filled(TALK, 8192, count).messages)) <= 8192


def test_a_document_is_not_filled_up_with_itself() -> None:
    prompt = read_prompts(["documents"])[3]
    document = prompt.messages[-1]["content"].split(DOCUMENT_END)[0]
    assert filled(prompt, 20_000, words).messages[-1]["content"].count(document) == 1
