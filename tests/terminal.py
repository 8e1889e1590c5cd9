"""A terminal to look at, and the chat on one."""

import os
import sys
import time
from collections.abc import Callable

import pexpect
import pyte

LONGEST = 60  # seconds to wait for a text
PROMPT = "\x1b[?2004h"  # what prompt_toolkit begins with, wherever the prompt stands
FIGURES = "tok/s"  # in the line below a reply

# The chat, where a reply to "Go on" never ends, long messages are not read to their end, and the session does not come to an
# end reading ahead after "What is a cycle?": there is always something to interrupt.
SLOW = """
import time
from dflash_mlx.cli import main, render
from dflash_mlx.cli.chat.conversation import Conversation
from dflash_mlx.cli.chat.reply import LiveReply
from dflash_mlx.conversation import session

answer, reading, read_ahead = Conversation.answer, LiveReply.reading, session.read_ahead
newest = ""

def answer_on(self, text, *arguments):
    global newest
    newest = text
    self.eos = getattr(self, "eos", self.pair.tokenizer.eos_token_ids)
    self.pair.tokenizer.eos_token_ids = frozenset() if text == "Go on" else self.eos
    return answer(self, text, *arguments)

def read(self, done, total):
    reading(self, done, total)
    if "long" in newest:
        time.sleep(100)

def read_on(*arguments):
    if newest == "What is a cycle?":
        render.note("ahead")
        time.sleep(100)
    read_ahead(*arguments)

Conversation.answer, LiveReply.reading, session.read_ahead = answer_on, read, read_on
main()
"""


class Screen:
    """What a terminal shows of what is written to it, and what has scrolled out of it."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], object] = lambda text: None) -> None:
        """answer: takes what the terminal itself says, like where its cursor is."""
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._screen.write_process_input = answer
        self._stream = pyte.Stream(self._screen)
        self.raw = ""

    def feed(self, text: str) -> None:
        """Shows what was written."""
        self.raw += text
        # pyte leaves out what it does not know; this one it would print
        self._stream.feed(text.replace("\x1b[>4;2m", ""))

    def resize(self, columns: int, rows: int) -> None:
        """Makes the terminal another size; lines are cut, not broken."""
        self._screen.resize(rows, columns)

    @property
    def lines(self) -> list[str]:
        """All lines from the first that scrolled away, without the blanks at their ends."""
        above = ["".join(row[x].data for x in range(self._screen.columns)) for row in self._screen.history.top]
        shown = [line.rstrip() for line in [*above, *self._screen.display]]
        while shown and not shown[-1]:
            shown.pop()
        return shown


class Chat:
    """`dflash-mlx chat` on a terminal."""

    def __init__(
        self, script: str, *arguments: str, columns: int = 80, rows: int = 24, shell: bool = False, **environment: str
    ) -> None:
        """shell: it is started from a shell, whose prompt is `shell$ `."""
        command = [sys.executable, "-c", script, "chat", "--model", "demo", "--block-size", "4", *arguments]
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.child = pexpect.spawn(
            *(("/bin/sh", ["-i"]) if shell else (command[0], command[1:])),
            dimensions=(rows, columns),
            env={**inherited, "TERM": "xterm-256color", "PS1": "shell$ ", "SCRIPT": script, **environment},
            encoding="utf-8",
            timeout=LONGEST,
        )
        self.screen = Screen(columns, rows, self.child.send)
        self._seen = 0
        if shell:
            command[2] = "$SCRIPT"
            self.until("shell$ ")
            self.child.send(" ".join(f'"{word}"' for word in command) + "\r")

    def say(self, text: str, *expected: str) -> str:
        """Types a line; returns what is written until these texts have come, and the next prompt."""
        self.child.send(text + "\r")
        return self.until(*expected, PROMPT)

    def shows(self, text: str) -> None:
        """Waits until the screen shows a text."""
        deadline = time.monotonic() + LONGEST
        while text not in "\n".join(self.screen.lines):
            assert time.monotonic() < deadline, "\n".join([f"no {text!r} in", *self.screen.lines])
            self._read()

    def until(self, *expected: str) -> str:
        """Reads until these texts have come, in this order; returns what was written since the last time."""
        start = at = self._seen
        deadline = time.monotonic() + LONGEST
        for text in expected:
            while (found := self.screen.raw.find(text, at)) < 0:
                assert time.monotonic() < deadline, f"no {text!r} in {self.screen.raw[start:]!r}"
                self._read()
            at = found + len(text)
        self._seen = at
        return self.screen.raw[start:at]

    def _read(self) -> None:
        try:
            self.screen.feed(self.child.read_nonblocking(1 << 16, timeout=0.05))
        except pexpect.TIMEOUT:
            pass

    def end(self) -> int | None:
        """Reads to the end; returns the exit code."""
        try:
            while True:
                self.screen.feed(self.child.read_nonblocking(1 << 16, timeout=LONGEST))
        except pexpect.EOF:
            self.child.wait()
            return self.child.exitstatus
