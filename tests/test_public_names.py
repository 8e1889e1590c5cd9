"""What people meet in Python: public names, errors that travel, options by name."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from typing import Any

import pytest

import dflash_mlx as dm
import dflash_mlx.convert  # noqa: F401  # its errors too

load = cache(dm.load)


def kinds_of(error: type[dm.DFlashError]) -> Iterator[type[dm.DFlashError]]:
    yield error
    for kind in error.__subclasses__():
        yield from kinds_of(kind)


def fail(kind: type[dm.DFlashError]) -> None:
    raise kind("this is wrong", "Do that.")


def test_every_error_is_the_same_after_a_copy_and_in_another_process() -> None:
    kinds = list(kinds_of(dm.DFlashError))
    assert len(kinds) > 7
    for kind in kinds:
        for again in (
            pickle.loads(pickle.dumps(kind("this is wrong", "Do that."))),
            copy.deepcopy(kind("this is wrong", "Do that.")),
        ):
            assert type(again) is kind and str(again) == "this is wrong Do that."
            assert (again.message, again.hint) == ("this is wrong", "Do that.")
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(dm.RequestError, match="this is wrong") as told,
    ):
        pool.submit(fail, dm.RequestError).result()
    assert told.value.hint == "Do that."


def test_the_version_is_the_packages() -> None:
    assert dm.__version__ == version("dflash-mlx") and "__version__" in dir(dm)
    command = [sys.executable, "-m", "dflash_mlx", "--version"]
    assert subprocess.run(command, capture_output=True, text=True).stdout == f"dflash-mlx {dm.__version__}\n"


def test_every_public_name_is_there() -> None:
    assert all(hasattr(dm, name) for name in dm.__all__) and isinstance(load("demo").session(), dm.Session)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dm.nothing  # noqa: B018


def test_a_pair_says_what_it_is() -> None:
    assert repr(load("demo")) == "<Pair: target qwen3_5, 24 layers of 128; drafter DFlash2, blocks of up to 8>"
    assert repr(load("demo", drafter=None)).endswith("drafter none>")


def test_what_is_meant_to_be_closed_says_that_it_can_be() -> None:
    for method in (dm.Pair.stream, dm.Session.send, dm.Session.retry, dm.Session.edit):
        assert inspect.signature(method).return_annotation == Generator[dm.Chunk]
    stream = load("demo").stream("hi", max_tokens=8)
    assert isinstance(stream, Generator) and next(stream).token_ids
    stream.close()
    assert list(stream) == []


@pytest.mark.parametrize(
    "call, function",
    [
        (lambda pair, session: pair.generate("x", temprature=1), "Pair.generate"),
        (lambda pair, session: pair.stream("x", max_token=1), "Pair.stream"),
        (lambda pair, session: session.send("x", foo=1), "Session.send"),
        (lambda pair, session: session.send("x", system="y"), "Session.send"),
        (lambda pair, session: session.retry(raw=True), "Session.retry"),
        (lambda pair, session: session.edit("x", thinking=True), "Session.edit"),
        (lambda pair, session: pair.stream("x", cache=None), "Pair.stream"),
        (lambda pair, session: dm.load("demo", bits=4), "load"),
    ],
)
def test_a_wrong_option_names_the_function_that_was_called(call: Callable[..., Any], function: str) -> None:
    session = load("demo").session()
    list(session.send("hi", max_tokens=2))
    before = list(session.messages)
    with pytest.raises(TypeError, match=rf"^{function}\(\) got an unexpected keyword argument"):
        call(load("demo"), session)
    assert session.messages == before


def test_a_system_message_and_text_parts_are_read_as_messages_would_be() -> None:
    pair = load("demo")
    messages = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "What is the anchor?"}]
    wanted = pair.generate(messages, max_tokens=12)
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "the anchor?"}]
    for prompt in ("What is the anchor?", messages[1:], [{"role": "user", "content": parts}]):
        got = pair.generate(prompt, system="You are brief.", max_tokens=12)
        assert (got.token_ids, got.statistics.prompt_tokens) == (wanted.token_ids, wanted.statistics.prompt_tokens)


def test_thinking_reaches_the_template_as_in_a_session() -> None:
    pair = load("demo")
    for thinking in (True, False):
        tokens = pair.tokenizer.encode("hi", enable_thinking=thinking)
        assert pair.generate("hi", thinking=thinking, max_tokens=1).statistics.prompt_tokens == len(tokens)


@pytest.mark.parametrize(
    "prompt, options, said",
    [
        ([5, 6], {"system": "x"}, "system needs the chat template"),
        ("x", {"raw": True, "thinking": True}, "thinking needs the chat template"),
        (
            [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}],
            {"system": "x"},
            "have a system message already",
        ),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}], {}, "'image_url', and only text can be read"),
        ([{"role": "user", "content": ["x"]}], {}, "only text can be read"),
        ([{"role": "user", "content": [{"type": "text"}]}], {}, "only text can be read"),
        ("x", {"system": ""}, None),
        (None, {"system": "x"}, "neither text, nor messages"),
        (5, {}, "neither text, nor messages"),
        ("x", {"system": 5}, "system 5 is not text"),
        ("x", {"thinking": "yes"}, "thinking 'yes' is not True or False"),
        ("x", {"raw": "no"}, "raw 'no' is not True or False"),
        ("x", {"progress": 5}, "progress 5 is not a function"),
        ("x", {"block_size": None}, "block_size None is not a whole number"),
        ("x", {"logits_processors": ""}, "logits_processors '' is not a list"),
        ("", {"system": "x"}, "the prompt is empty"),
        ([], {"system": "x"}, "neither text, nor messages"),
        ([{"role": "user", "content": b"x"}], {}, "neither text, nor messages"),
    ],
)
def test_what_cannot_go_through_the_template_is_refused(prompt: Any, options: dict[str, Any], said: str | None) -> None:
    if said is None:
        assert load("demo").generate(prompt, max_tokens=1, **options).token_ids
        return
    with pytest.raises(dm.RequestError, match=said):
        load("demo").stream(prompt, **options)


@pytest.mark.parametrize("bytes_", ["x", -1, 1.5, True, []], ids=repr)
def test_a_session_refuses_what_is_not_a_number_of_bytes(bytes_: Any) -> None:
    with pytest.raises(dm.RequestError, match="is not a number of bytes"):
        load("demo").session(checkpoint_bytes=bytes_)


@pytest.mark.parametrize("option", [{"progress": 5}, {"force": "no"}], ids=str)
def test_loading_refuses_options_of_another_kind(option: dict[str, Any]) -> None:
    with pytest.raises(dm.RequestError, match=f"{next(iter(option))} .* is not"):
        dm.load("demo", **option)


def test_a_session_refuses_what_is_not_a_variable_of_the_template() -> None:
    for variables in ({"foo": True}, {"messages": []}, {"tokenize": False}, {"(": 1}):
        with pytest.raises(dm.RequestError, match=r"is not a variable of this model's chat template"):
            load("demo").session(**variables)


@pytest.mark.parametrize("name", ["raw", "thinking", "force"])
def test_a_flag_takes_true_or_false_and_no_word_or_number(name: str) -> None:
    for value in ("false", 0, 1.0, []):
        with pytest.raises(dm.RequestError, match=re.escape(f"{name} {value!r} is not True or False")) as caught:
            dm.load("demo", force=value) if name == "force" else load("demo").stream("hi", **{name: value})  # type: ignore[arg-type]
        assert caught.value.hint == f"Use {name}=True or {name}=False, or leave it out."
