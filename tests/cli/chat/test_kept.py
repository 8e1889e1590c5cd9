"""A conversation outlives the chat that had no proper end, and only that."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import FIGURES, PROMPT, SLOW, Chat

from dflash_mlx.cli.chat.kept import Keeper, left

CTRL_C, CTRL_D = "\x03", "\x04"
SAID = [{"role": "user", "content": "What is\nit?"}, {"role": "assistant", "content": "It is this."}]


def unfinished(cache: Path) -> list[Path]:
    return list((cache / "dflash-mlx" / "chat").glob("unfinished-*"))


def test_a_chat_that_is_killed_is_offered_to_the_next_one(own_cache: Path) -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.say("/system Be kind.")
    chat.say("What is the anchor?", FIGURES)
    chat.child.send("Go on\r")
    chat.until(FIGURES)
    chat.child.kill(signal.SIGKILL)
    chat.child.wait()
    [file] = unfinished(own_cache)
    assert file.stat().st_mode & 0o077 == 0

    chat = Chat(SLOW)
    chat.until("broke off. 2 messages, the newest: Go on", "Continue it? ")
    chat.child.send(CTRL_C)  # not now
    chat.until("kept for the next chat", PROMPT)
    chat.child.send(CTRL_D)
    assert chat.end() == 0 and unfinished(own_cache) == [file]

    chat = Chat(SLOW)
    chat.until("Continue it? ")
    chat.child.send("perhaps\ry\r")
    chat.until("Type yes or no.", "Continuing with ")
    chat.shows("> Go on")  # with what there was of the reply, or at the prompt
    chat.child.send(CTRL_C)
    chat.say("/system", "Be kind.")
    assert len(unfinished(own_cache)) == 1 and not file.exists()  # it is this chat's now
    chat.child.send("/quit\r")
    assert chat.end() == 0 and unfinished(own_cache) == []


@pytest.mark.parametrize("keys, code", [("/bye\r", 0), (CTRL_C, 130)])
def test_a_chat_with_a_proper_end_leaves_nothing(keys: str, code: int, own_cache: Path) -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.say("What is the anchor?", FIGURES)
    assert len(unfinished(own_cache)) == 1
    if keys == CTRL_C:
        chat.child.send(CTRL_C)
        chat.until("again", PROMPT)
    chat.child.send(keys)
    assert chat.end() == code and unfinished(own_cache) == []


def kept_elsewhere(*content: object) -> None:
    """Keeps a conversation in another process, which then ends."""
    script = "import json, sys; from dflash_mlx.cli.chat.kept import Keeper; Keeper().keep(*json.loads(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", script, json.dumps(content)], check=True)


def test_what_was_left_comes_back_as_it_was(own_cache: Path) -> None:
    kept_elsewhere(SAID, {"enable_thinking": True}, "next")
    there = left()
    assert there and (there.messages, there.template, there.unsaid) == (SAID, {"enable_thinking": True}, "next")


def test_what_is_damaged_or_in_use_is_not_offered(own_cache: Path) -> None:
    Keeper().keep(SAID, {})
    kept_elsewhere(SAID, {})
    [ours] = [file for file in unfinished(own_cache) if str(os.getpid()) in file.name]
    [theirs] = [file for file in unfinished(own_cache) if file != ours]
    for damaged in ("", "[]", '{"messages": [1], "template": {}, "unsaid": ""}', '{"messages": [], "template": {}}'):
        theirs.write_text(damaged)
        ours.rename(ours.with_name(f"unfinished-{os.getppid()}.json"))  # of a process that runs
        assert left() is None
        ours.with_name(f"unfinished-{os.getppid()}.json").rename(ours)


def test_an_empty_conversation_is_not_kept(own_cache: Path) -> None:
    keeper = Keeper()
    keeper.keep(SAID, {})
    keeper.keep([], {})
    assert unfinished(own_cache) == []


def test_a_message_without_an_answer_stands_at_the_prompt_again() -> None:
    kept_elsewhere([], {}, "What is the anchor?")
    chat = Chat(SLOW)
    chat.until("1 message, the newest: What is the anchor?", "Continue it? ")
    chat.child.send("yes\r")
    chat.shows("> What is the anchor?")
    chat.child.close(force=True)


def test_no_deletes_what_was_left(own_cache: Path) -> None:
    kept_elsewhere(SAID, {})
    chat = Chat(SLOW, TERM="dumb")
    chat.until("the newest: What is it?", "Continue it? ")
    chat.child.send("\rn\r")
    chat.until("Type yes or no.", "> ")
    chat.child.send(CTRL_D)
    assert chat.end() == 0 and unfinished(own_cache) == []
