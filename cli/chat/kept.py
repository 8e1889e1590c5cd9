"""The conversation that is going on, kept in the user's cache folder: for the next chat, where this one has no proper end."""

import os
import re
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from dflash_mlx.tuning import user_cache

PAUSE = 2  # seconds between two times that a growing reply is kept


class Left(NamedTuple):
    """What a chat that had no proper end has left.

    Attributes:
        template: variables of the chat template.
        unsaid: a message that was not answered yet.
    """

    file: Path
    when: datetime
    messages: list[dict[str, str]]
    template: dict[str, Any]
    unsaid: str


class Keeper:
    """Keeps the conversation of this process, for nobody else to read."""

    def __init__(self) -> None:
        self._file = user_cache.folder("chat") / f"unfinished-{os.getpid()}.json"
        self._kept: object = None
        self._next = 0.0

    def keep(self, messages: list[dict[str, str]], template: dict[str, Any], unsaid: str = "", growing: bool = False) -> None:
        """Takes the place of what was kept before.

        Args:
            growing: there is more to come soon: not every time.
        """
        if growing and time.monotonic() < self._next:
            return
        content = {"messages": messages, "template": template, "unsaid": unsaid}
        if content == self._kept:
            return
        self._kept, self._next = content, time.monotonic() + PAUSE
        if messages or unsaid:
            user_cache.write(self._file, content, private=True)
        else:
            self.drop()

    def take_over(self, left: Left) -> None:
        """What another chat has left is from now on kept by this one."""
        with suppress(OSError):
            left.file.replace(self._file)

    def drop(self) -> None:
        """Keeps nothing more: this chat has come to its end."""
        with suppress(OSError):
            self._file.unlink()


def left() -> Left | None:
    """The newest conversation that a chat has left which had no proper end."""
    found = []
    for file in user_cache.folder("chat").glob("unfinished-*.json"):
        process = re.fullmatch(r"unfinished-(\d{1,9})", file.stem)
        if not process or _runs(int(process[1])):
            continue
        with suppress(OSError):
            when = datetime.fromtimestamp(file.stat().st_mtime)
            match user_cache.read(file):
                case {"messages": list(messages), "template": dict(template), "unsaid": str(unsaid)} if all(
                    isinstance(message, dict)
                    and {*map(type, message.values())} == {str}
                    and {"role", "content"} == message.keys()
                    for message in messages
                ):
                    found.append(Left(file, when, messages, template, unsaid))
    return max(found, key=lambda one: one.when, default=None)


def _runs(process: int) -> bool:
    if process == os.getpid():  # it had the same number
        return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
