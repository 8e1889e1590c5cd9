"""A chat through pipes."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from command import ENDLESS, Result

ANCHOR = "The anchor is the newest token of the text."
CHAT = ("chat", "--model", "demo", "--block-size", "4")


def test_lines_of_a_pipe_are_answered_and_nothing_else(small: Path) -> None:
    command = [sys.executable, "-c", "from dflash_mlx.cli import main; main()", "chat", "--think", "--block-size", "4"]
    command += ["--model", str(small / "target"), "--drafter", str(small / "drafter")]
    lines = ["What is 3 x 4?", "", "/undo", "word " * 600, *["What is the anchor?"] * 9]
    result = subprocess.run(command, input="\n".join(lines).encode() + b"\n\xff\n", capture_output=True)
    out, err = result.stdout.decode(), result.stderr.decode().splitlines()
    assert out.startswith("The answer is 12.\n") and out.count(ANCHOR) == 9 and "think" not in out
    assert err[0].startswith("error: line 4: this message takes ")
    assert err[2].startswith("The context is full") and err[-2] == "error: line 14: byte 0xff is not UTF-8."
    assert result.returncode == 2


def test_a_reply_that_is_all_thinking_has_an_empty_line_and_a_word_on_stderr(run: Callable[..., Result]) -> None:
    result = run(*CHAT, "--think", "--max-tokens", "12", stdin=b"What is 13 + 4?\nWhat is the anchor?\n")
    assert (result.code, result.out) == (0, "\nThe anchor\n")
    assert result.err.startswith("line 1: there is no answer: thinking used up all 12 tokens.")
    assert len(result.err.splitlines()) == 1


def test_replies_can_be_told_apart_as_json(run: Callable[..., Result]) -> None:
    result = run(
        *CHAT, "--json", "--max-tokens", "80", stdin="What is the anchor?\n\nWhat is\tthe größte anchor?\n".encode() + b"\xff\n"
    )
    assert result.code == 2 and result.err.startswith("error: line 4: byte 0xff is not UTF-8.\n")
    objects = [json.loads(line) for line in result.out.splitlines()]
    replies = [one for one in objects if one["type"] == "end"]
    assert [one["line"] for one in replies] == [1, 3]
    assert replies[0]["text"].startswith(ANCHOR) and replies[0]["finish_reason"] == "stop"
    for reply in replies:
        chunks = [one for one in objects if one["type"] == "chunk" and one["line"] == reply["line"]]
        assert "".join(one["text"] for one in chunks) == reply["text"]
        assert sum(len(one["token_ids"]) for one in chunks) == reply["statistics"]["generated_tokens"]
    assert objects[-1]["type"] == "error" and objects[-1]["line"] == 4 and "0xff" in objects[-1]["message"]
    assert {one["type"] for one in objects} == {"chunk", "end", "error"}


def test_ctrl_c_gives_a_reply_its_last_object() -> None:
    command = [sys.executable, "-c", ENDLESS, *CHAT, "--json"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin and process.stdout
    process.stdin.write(b"What is the anchor?\n")
    process.stdin.flush()
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    last = json.loads((first + out).splitlines()[-1])
    assert (process.returncode, err, last["finish_reason"]) == (130, b"", "cancelled")
