"""`dflash-mlx chat` on a terminal of its own, and through pipes."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fixture_data import DEMO
from terminal import FIGURES, PROMPT, SLOW, Chat

from dflash_mlx.cli.answer import RESET
from dflash_mlx.cli.chat.kept import left
from dflash_mlx.cli.chat.screen import DIM, RED

ANCHOR = "The anchor is the newest token of the text."
DEMO_CHAT = ("chat", "--model", "demo", "--block-size", "4")
CTRL_C, CTRL_D, ALT_ENTER = "\x03", "\x04", "\x1b\r"


def test_a_chat_from_greeting_to_farewell(tmp_path: Path) -> None:
    chat = Chat(SLOW)
    chat.until(f"{DIM}demo; drafter auto", "/help", PROMPT)
    chat.say("What is the anchor?", FIGURES)
    assert ANCHOR in "\n".join(chat.screen.lines)

    chat.say("/?", "/retry", "/quit", "Enter sends")
    chat.shows("> /?")
    question = max(i for i, line in enumerate(chat.screen.lines) if line == "> /?")
    assert len(chat.screen.lines) - question <= 24  # all of it can be seen, from the question to the next prompt
    chat.say("/stats", "drafts accepted", "block sizes used", "prompts: ")
    chat.say("/retry", FIGURES)
    assert sum(ANCHOR in line for line in chat.screen.lines) == 2
    chat.say("/system Be brief.", "system message: Be brief.")
    chat.say("/set temperature 0.5", "temperature 0.5")
    chat.say("/set temperature warm", "temperature 'warm' is not a number.")
    chat.say("/set temperatur 0", "Did you mean temperature?")
    chat.say("/set temperature=0", "temperature 0")
    chat.say("/set max-tokens 4096", "max_tokens 4096")
    chat.say("/set", "seed none", "verify fast")
    chat.say("/set max_tokens 0", "max_tokens 0 is not")
    chat.say("/unod", f"{RED}error: there is no command /unod.{RESET}", f"{DIM}Did you mean /undo?")
    chat.say("/think", "does not think")
    chat.say("/set effort high", "has no reasoning effort")
    chat.say("/set effort", "has no reasoning effort")
    chat.say("/set x", "there is no setting x")

    chat.say("/think on", "from the next message on")
    chat.say("What is 13 + 4?", "thought for ", FIGURES)
    chat.say("/think show", "ones: ")
    chat.say("/think maybe", "/think off")
    chat.say("/think", "The model thinks before")
    chat.say("/think off", "does not think")

    chat.say("/edit")
    chat.shows("edit> What is 13 + 4?")
    chat.child.send(CTRL_C)  # gives up the edit
    chat.until("Nothing was edited.", PROMPT)
    chat.say("/edit")
    chat.say("\b" * 15 + "/set verify", "verify fast")  # a command, and no edit any more
    chat.say("/edit")
    chat.shows("edit> What is 13 + 4?")
    chat.say("\b" * 15 + "What is 20 + 4?", FIGURES)
    chat.say("/undo", "Taken back")
    chat.shows("> What is 20 + 4?")
    chat.child.send(CTRL_C)  # empties the line

    file = tmp_path / "it's a chat.safetensors"
    chat.say(f'/save "{file}"', "Saved to")
    assert file.is_file()
    chat.say("/clear", "Started over.")
    chat.say("/retry", "nothing has been said yet")
    chat.say(f"/load {tmp_path}/it\\'s\\ a\\ chat.safetensors", "Continuing with 1 turn", "> What is the anchor?", ANCHOR)
    chat.say(f"/load {DEMO / 'target' / 'config.json'}", "config.json")
    chat.say("/save", "needs the name of a file")
    chat.say("/retry", FIGURES)
    chat.say("/model nobody/nothing", "nobody/nothing")
    chat.say("/model demo none", "block_size auto (was 4)", "no drafter")
    chat.say("/retry", "plain")
    chat.say("/model", "demo; no drafter")

    chat.child.send("one\\\r" + "two" + ALT_ENTER + "three")
    chat.say("\x1b[200~\nfour\nfive\x1b[201~", FIGURES)
    chat.child.send("/sy")
    chat.until("show or change the system message")
    chat.child.send("\t")
    chat.shows("> /system")
    chat.say(" Be kind.", "system message: Be kind.")
    chat.child.send("/exit\r")
    assert chat.end() == 0
    history = Path(os.environ["XDG_CACHE_HOME"], "dflash-mlx", "chat", "history.json")
    assert "one\ntwo\nthree\nfour\nfive" in json.loads(history.read_text())
    assert history.stat().st_mode & 0o077 == 0


def test_ctrl_c_stops_what_is_going_on_and_twice_leaves() -> None:
    chat = Chat(SLOW)
    chat.until("/help", PROMPT)
    chat.child.send("long " * 50 + "\r")
    chat.until("reading the prompt")
    chat.child.send(CTRL_C)
    chat.until("the conversation is as before", PROMPT)
    chat.say("/retry", "nothing has been said yet")

    chat.child.send("What is a cycle?\r")
    chat.until("ahead")
    chat.child.send(CTRL_C)
    chat.until(PROMPT)
    chat.say("/think show", "no thinking")  # there is a reply

    chat.child.send("Go on\r")
    chat.until(FIGURES)
    chat.child.setwinsize(24, 50)
    chat.screen.resize(50, 24)
    chat.until("b4 · spec")
    chat.child.send(CTRL_C)
    chat.until("stopped", PROMPT)
    chat.child.send("What is the anchor?\rtyped meanwhile")
    assert "typed meanwhile" not in chat.until(PROMPT)
    chat.shows("> typed meanwhile")
    chat.child.send(CTRL_C)
    chat.shows(">")
    chat.child.send(CTRL_C)
    chat.until("Ctrl-C again", PROMPT)
    chat.child.send(CTRL_C)
    assert chat.end() == 130


def test_forty_columns_without_colours_and_a_context_that_fills_up(small: Path) -> None:
    pair = ("--model", str(small / "target"), "--drafter", str(small / "drafter"))
    chat = Chat(SLOW, *pair, "--max-tokens", "60", columns=40, rows=15, NO_COLOR="1")
    chat.until("\x1b[2m", "/help", PROMPT)
    assert "error: there is no command /x.\r\n\x1b[2m" in chat.say("/x", "/help lists them")
    chat.say("Was ist 日本語 👩‍👩‍👧 שלום?", "t/s")
    chat.say("word " * 300, "this message takes", "Shorten it.")
    chat.shows("word word")  # it stands at the prompt again
    chat.child.send(CTRL_C)
    while "% full" not in chat.say("What is the anchor?", "t/s"):
        pass
    while "is full" not in chat.say("What is the anchor?", "512"):
        pass
    chat.say("k")
    chat.shows("> What is the anchor?")
    chat.say("", "is full")
    chat.say("perhaps", "Type drop or keep.")
    chat.say("d", "forgotten", "t/s")
    assert not re.search(r"\x1b\[(\d+;)*[34][0-8](;\d+)*m", chat.screen.raw)  # no colour
    chat.child.close()  # the terminal is gone
    assert chat.child.signalstatus == signal.SIGHUP


@pytest.mark.parametrize(
    "typed, until", [("What is the anchor?\r", PROMPT), ("Go on\r", FIGURES)], ids=["at the prompt", "in the middle of a reply"]
)
def test_a_terminal_that_disappears_ends_the_chat_without_a_word_and_loses_nothing(typed: str, until: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + SLOW, *DEMO_CHAT],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    for text, awaited in (("", PROMPT), (typed, until)):
        os.write(ours, text.encode())
        shown = ""
        while awaited not in shown:
            shown += os.read(ours, 4096).decode(errors="replace")
    os.close(ours)
    _, err = process.communicate()
    assert process.returncode == 1
    assert len(err.decode().splitlines()) == 1  # the greeting
    there = left()
    assert there and (there.messages or there.unsaid)


def test_a_dumb_terminal_gets_no_escape_codes() -> None:
    chat = Chat(SLOW, TERM="dumb")
    for typed, expected in (
        ("", "note: demo; \n/help"),
        ("/undo\r", "error: there is nothing to undo.\nnote: Say something first."),
        ("What is \\\rthe anchor?\r", ANCHOR),
        ("/edit\r", "it was: What is\nthe anchor?\nedit> "),
        ("What is 3 + 4?\r", "The answer is 7."),
    ):
        chat.child.send(typed)
        chat.until(*expected.split("\n"))
    chat.until("> ")
    chat.child.send(CTRL_D)
    assert chat.end() == 0 and "\x1b" not in chat.screen.raw
