"""Keys at the prompt of a chat, and while it answers."""

import json
import os
from pathlib import Path

import pytest
from terminal import FIGURES, PROMPT, SLOW, Chat

CTRL_C, CTRL_D, CTRL_R, CTRL_Z = "\x03", "\x04", "\x12", "\x1a"


def test_a_search_in_the_history_is_taken_given_up_and_left() -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    for said in ("What is the anchor?", "What is 3 + 4?"):
        chat.say(said, FIGURES)
    chat.child.send(CTRL_R + "anch")
    chat.shows("I-search backward: anch")
    chat.child.send("\r")  # takes it
    chat.shows("> What is the anchor?")
    chat.say("", FIGURES)  # sends it
    assert sum("> What is the anchor?" in line for line in chat.screen.lines) == 2
    chat.child.send(CTRL_R + "3 +" + CTRL_C + "typed")  # gives it up
    chat.shows("> typed")
    chat.child.send(CTRL_C + CTRL_R + CTRL_C + CTRL_C)
    chat.until("Ctrl-C again")
    chat.child.send(CTRL_D)
    assert chat.end() == 0


def test_ctrl_c_that_comes_twice_at_a_reply_stops_it_and_no_more() -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.child.send("Go on\r")
    chat.until(FIGURES)
    chat.child.send(CTRL_C + CTRL_C)
    chat.until("stopped", PROMPT)
    chat.child.send(CTRL_C)
    chat.until("Ctrl-C again leaves", PROMPT)
    chat.child.send("typed" + CTRL_C)  # which empties the line
    chat.say("/set verify", "verify fast")  # and is no second one


@pytest.mark.parametrize("tabs", ["\t", "\t\t", "\t\t\t"], ids=len)
def test_tab_inserts_the_only_completion_for_good(tabs: str) -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.say("/he" + tabs, "/retry")
    chat.say("/set verify=ex" + tabs, "verify exact")


def test_pasted_tabs_look_like_blanks_and_stay_tabs() -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.child.send("\x1b[200~/system a\tb\n\tc\x1b[201~")
    chat.shows("/system a   b")
    assert not any("^I" in line for line in chat.screen.lines)
    chat.say("", "system message: a")
    history = Path(os.environ["XDG_CACHE_HOME"], "dflash-mlx", "chat", "history.json")
    assert json.loads(history.read_text())[-1] == "/system a\tb\n\tc"


def test_ctrl_z_suspends_and_fg_goes_on_as_it_was() -> None:
    shell = Chat(SLOW, shell=True)
    shell.until("/help", PROMPT)
    for typed, again in (("Go on", "Go on"), ("\r", FIGURES)):
        shell.child.send(typed)
        shell.until(again)
        shell.child.send(CTRL_Z)
        shell.until("topped", "shell$")
        shell.child.send("echo s''hell\r")
        shell.until("echo s''hell", "shell")  # what is typed there can be seen
        shell.child.send("fg\r")
        shell.until(again)
    shell.child.send("unseen" + CTRL_C)
    assert "unseen" not in shell.until("stopped", PROMPT)
    *_, before, after = "\n".join(shell.screen.lines).split("shell$ fg")
    assert before.splitlines()[-1] == "shell" and after.count(FIGURES) == 1  # nothing was drawn over, or twice
