"""What the commands of a chat do."""

import re
import sys
from collections.abc import Callable

from dflash_mlx.errors import RequestError

from . import clipboard
from .conversation import Conversation
from .export import as_markdown, write_new
from .figures import advice, picture
from .markdown import code_blocks
from .reply import without_markers
from .screen import DIM, columns, counted, show, tell
from .slash import THINK, help_text, nearest, setting_name, words


class Commands:
    """Methods named as in `slash.COMMANDS`, where it stands what they do; their argument is what was typed behind the name."""

    def __init__(
        self,
        conversation: Conversation,
        say: Callable[[str, bool], None],
        put: Callable[[str, bool], None],
        show_end: Callable[[], None],
    ) -> None:
        """
        Args:
            say: says something to the model; True: instead of the newest message.
            put: puts a message at the next prompt; True: it will take the place of the newest one.
            show_end: shows the newest message and its reply.
        """
        self._conversation, self._say, self._put, self._show_end = conversation, say, put, show_end

    def help(self, argument: str) -> None:
        show(help_text(columns()))

    def retry(self, argument: str) -> None:
        self._say(self._conversation.newest(), True)

    def edit(self, text: str) -> None:
        if text:
            self._say(text, True)
        else:
            self._put(self._conversation.newest(), True)

    def undo(self, argument: str) -> None:
        self._put(self._conversation.session.undo(), False)
        tell("Taken back; it is at the prompt again.")

    def clear(self, argument: str) -> None:
        self._conversation.clear()
        tell("Started over.")

    def system(self, text: str) -> None:
        session = self._conversation.session
        if text:
            session.system = None if text == "none" else text
        tell(f"system message: {session.system}" if session.system else "There is no system message.")

    def think(self, word: str) -> None:
        if word == "show":
            if thought := without_markers(self._conversation.newest_reply()[0]):
                show(thought, DIM)
            else:
                tell("The newest reply has no thinking.")
            return
        if word not in ("", "on", "off"):
            near = nearest(word, THINK)
            meant = f"Did you mean /think {near}? " if near else ""
            raise RequestError(f"/think {word} is not a choice.", f"{meant}Type /think on, /think off or /think show.")
        if word:
            self._conversation.think(word == "on")
        does = "thinks" if self._conversation.thinks() else "does not think"
        tell(f"The model {does} before it answers{', from the next message on' if word else ''}.")

    def set(self, argument: str) -> None:
        name, value = (*re.split(r"\s*=\s*|\s+", argument, maxsplit=1), "")[:2]
        name = setting_name(name)
        if value:
            self._conversation.set(name, value)
        for shown in [name] if name else self._conversation.settings:
            setting = self._conversation.setting(shown)
            show(f"{shown} {'none' if setting is None else setting}")

    def copy(self, number: str) -> None:
        reply = self._conversation.newest_reply()[1].strip("\n")
        if not reply:
            raise RequestError("there is no reply to copy.", "Say something first.")
        what, blocks = "the newest reply", code_blocks(reply)
        if number:
            if not number.isdecimal() or not 0 < int(number) <= len(blocks):
                there = f"It has {len(blocks)}, counted from 1." if blocks else "It has none: /copy alone copies the reply."
                raise RequestError(f"the newest reply has no code block {number}.", there)
            what, reply = f"code block {number}", blocks[int(number) - 1].rstrip("\n")
        clipboard.copy(reply)
        tell(f"Copied {what}, {counted(reply.count(chr(10)) + 1, 'line')}.")

    def stats(self, argument: str) -> None:
        conversation = self._conversation
        if not conversation.replies:
            raise RequestError("there is no reply yet.", "Say something first.")
        replies = list(conversation.replies)
        show(picture(replies, columns(), ascii_only=not _unicode()))
        temperature, drafter = conversation.settings["temperature"], conversation.pair.drafter is not None
        for sentence in advice(replies, temperature, conversation.thought / max(1, conversation.generated), drafter):
            show(sentence)

    def save(self, argument: str) -> None:
        [path] = words(argument)
        self._conversation.save(path)
        tell(f"Saved to {path}.")

    def load(self, argument: str) -> None:
        [path] = words(argument)
        self._conversation.open(path)
        self._show_end()

    def export(self, argument: str) -> None:
        [path] = words(argument)
        self._conversation.newest()  # there is something
        write_new(path, as_markdown(self._conversation.session.messages, self._conversation.model))
        tell(f"Written to {path}.")

    def model(self, argument: str) -> None:
        conversation = self._conversation
        names = words(argument)
        if len(names) > 2:
            raise RequestError(
                f"/model {argument} has {len(names)} names.", "Give a model and a drafter, those with blanks in quotes."
            )
        if names:
            name, drafter = (*names, "auto")[:2]
            before = conversation.settings["block_size"]
            conversation.change_model(name, None if drafter == "none" else drafter)
            if (block_size := conversation.settings["block_size"]) != before:
                tell(f"block_size {block_size} (was {before})")
        tell(conversation.title)


def _unicode() -> bool:
    """Whether the terminal's encoding knows what bars are made of."""
    try:
        "█".encode(sys.stderr.encoding)
        return True
    except UnicodeEncodeError:
        return False
