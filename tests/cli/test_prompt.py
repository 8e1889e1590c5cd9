"""Where `dflash-mlx generate` has its prompt from: the argument, stdin, or both."""

import io
import json
import os
import threading
import time
from collections.abc import Iterator
from importlib import import_module

import pytest
from command import PROMPT

JOINED = f"Please answer.\n\n{PROMPT}"


@pytest.fixture
def pipe() -> Iterator[tuple[io.IOBase, io.IOBase]]:
    """The two ends of a pipe."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as read_end, os.fdopen(write, "wb", buffering=0) as write_end:
        yield read_end, write_end


@pytest.mark.parametrize("arguments", [["-"], []], ids=["dash", "pipe"])
@pytest.mark.parametrize("stdin", [PROMPT.encode(), PROMPT.encode() + b"\r\n", b"\xef\xbb\xbf" + PROMPT.encode() + b"\n"])
def test_prompt_on_stdin_gives_the_same_answer_as_an_argument(run, demo, arguments, stdin):
    assert run("generate", *arguments, "--quiet", stdin=stdin).out == demo.generate(PROMPT).text + "\n"


def prompt_tokens(run, *arguments: str, **options) -> tuple[int, str]:
    """The number of the prompt's tokens, and stderr."""
    code, out, err = run("generate", *arguments, "--max-tokens", "1", "--json", **options)
    assert code == 0
    return json.loads(out.splitlines()[-1])["statistics"]["prompt_tokens"], err


def test_stdin_comes_after_an_argument_and_a_blank_line(run, demo):
    assert demo.generate(JOINED).text != demo.generate("Please answer.").text
    assert run("generate", "Please answer.", "--quiet", stdin=PROMPT.encode() + b"\n").out == demo.generate(JOINED).text + "\n"
    tokens = demo.generate(JOINED, max_tokens=1).statistics.prompt_tokens
    assert prompt_tokens(run, "Please answer.", stdin=PROMPT.encode()) == (tokens, "")


@pytest.mark.parametrize("stdin", [b"", b" \n\n"])
def test_a_blank_stdin_adds_nothing_to_an_argument(run, demo, stdin):
    tokens = demo.generate(PROMPT, max_tokens=1).statistics.prompt_tokens
    assert prompt_tokens(run, PROMPT, stdin=stdin) == (tokens, "")


def test_a_pipe_that_is_written_to_late_is_waited_for_and_read_to_its_end(run, demo, pipe):
    def write() -> None:
        for part in (PROMPT[:9], PROMPT[9:]):
            time.sleep(0.3)
            pipe[1].write(part.encode())
        pipe[1].close()

    threading.Thread(target=write).start()
    tokens = demo.generate(JOINED, max_tokens=1).statistics.prompt_tokens
    assert prompt_tokens(run, "Please answer.", stdin=pipe[0]) == (tokens, "")


def test_an_open_pipe_that_nobody_writes_to_is_left_out_with_a_word(run, demo, pipe, monkeypatch):
    monkeypatch.setattr(import_module("dflash_mlx.cli.generate"), "WAIT", 0.2)
    tokens, err = prompt_tokens(run, PROMPT, stdin=pipe[0])
    assert tokens == demo.generate(PROMPT, max_tokens=1).statistics.prompt_tokens
    assert err.startswith("stdin is open but sent nothing for 0.2 s, so it is ignored.")


def test_a_stdin_that_cannot_be_read_as_under_nohup_is_left_alone(run, demo):
    tokens = demo.generate(PROMPT, max_tokens=1).statistics.prompt_tokens
    with open(os.devnull, "wb") as nothing:
        assert prompt_tokens(run, PROMPT, stdin=nothing) == (tokens, "")
    assert prompt_tokens(run, PROMPT, stdin=io.BytesIO(b"not a file")) == (tokens, "")


@pytest.mark.parametrize(
    ("arguments", "stdin", "complaint"),
    [
        ([""], b"", "is empty"),
        ([" \n"], b"", "is empty"),
        ([], b"", "is empty"),
        (["-"], b"\n", "is empty"),
        ([], b"What is \xff?", "not UTF-8: byte 0xff at 8"),
        ([], b"one two three " * 20_000, "context"),
        ([PROMPT], b"What is \xff?", "not UTF-8: byte 0xff at 8"),
        (["What is \udcff?"], b"", "UTF-8"),
    ],
)
def test_prompts_that_cannot_be_answered_get_one_sentence_and_a_hint(run, arguments, stdin, complaint):
    code, out, err = run("generate", *arguments, stdin=stdin)
    sentence, hint = err.splitlines()
    assert (code, out) == (2, "")
    assert sentence.startswith("error: ") and complaint in sentence
