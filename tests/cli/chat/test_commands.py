"""Commands of a chat, typed on a terminal."""

import base64
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Result
from terminal import FIGURES, PROMPT, SLOW, Chat

import dflash_mlx as dm
from dflash_mlx.cli.chat import clipboard

PYTHON = '''def sum_numbers(numbers):
    """Sum a list of numbers."""
    total = 0
    for x in numbers:
        total += x
    return total'''


def copied(written: str) -> str:
    """What the terminal was told to put on its clipboard."""
    [encoded] = re.findall(r"\x1b\]52;c;([^\x07]*)\x07", written)
    return base64.b64decode(encoded).decode()


def test_the_newest_reply_and_its_code_go_to_the_clipboard() -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.say("/copy", "there is no reply to copy")
    chat.say("Write a Python function that sums a list of numbers.", FIGURES)
    assert PYTHON in "\n".join(chat.screen.lines)  # as it stands on the screen
    assert copied(chat.say("/copy", "Copied the newest reply, 9 lines.")).startswith(f"```python\n{PYTHON}\n```\n")
    assert copied(chat.say("/copy 1", "Copied code block 1, 6 lines.")) == PYTHON
    chat.say("/copy 2", "no code block 2", "It has 1")
    chat.say("/copy x", "no code block x")
    chat.child.close(force=True)


def test_a_conversation_is_saved_exported_and_gone_on_with(tmp_path: Path) -> None:
    saved, exported = tmp_path / "talk", tmp_path / "my talk.md"
    chat = Chat(SLOW, "--system", "Be kind.")
    chat.until("/help", PROMPT)
    chat.say(f"/export '{exported}'", "nothing has been said yet")
    chat.child.send("Write a Python function\x1b\rthat sums a list of numbers.")
    chat.say("", FIGURES)
    said = copied(chat.say("/copy", "Copied"))
    chat.say(f"/save {saved}", "Saved")
    chat.say(f"/export '{exported}'", "Written")
    chat.say(f"/export '{exported}'", "already exists")
    chat.child.close(force=True)
    assert (
        exported.read_text()
        == f"""## System

Be kind.

## You

Write a Python function
that sums a list of numbers.

## demo

{said}
"""
    )
    assert exported.stat().st_mode & 0o077 == 0 and list(tmp_path.iterdir()) in ([saved, exported], [exported, saved])

    chat = Chat(SLOW, "--load", str(saved))
    chat.until("Continuing with 1 turn", "> Write a Python function", "that sums", PROMPT)
    assert copied(chat.say("/copy", "Copied")) == said
    chat.say("/system", "Be kind.")
    chat.child.close(force=True)


def test_a_file_that_is_not_there_is_noticed_before_a_model_is_loaded(run: Callable[..., Result]) -> None:
    result = run("chat", "--model", "nobody/nothing", "--load", "missing")
    assert (result.code, result.err) == (2, "error: there is no file missing.\nCheck the name.\n")


def test_a_mac_has_a_command_for_its_clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dm.RequestError, match="no clipboard"):
        clipboard.copy("nowhere to put it")
    command = tmp_path / "pbcopy"
    command.write_text(f'#!/bin/sh\n/bin/cat > "{tmp_path}/board"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    clipboard.copy("größer\nals")
    assert (tmp_path / "board").read_text(encoding="utf-8") == "größer\nals"
