"""The chat on a terminal: what is typed is answered or obeyed."""

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import typer

from dflash_mlx.errors import DFlashError

from .commands import Commands
from .conversation import Conversation
from .keyboard import Keyboard, Lines
from .reply import Reply
from .screen import complain, counted, show, tell
from .slash import parse
from .terminal import drop_typed, ignore_ctrl_c, silent_keys

if TYPE_CHECKING:
    from dflash_mlx import Chunk

NEAR = 0.85  # of the context in use: time to say so


class Repl:
    """Reads messages and commands until the user leaves."""

    def __init__(self, conversation: Conversation, keyboard: Keyboard | Lines, new_reply: Callable[[int], Reply]) -> None:
        """new_reply: makes what shows a reply, for a context of so many tokens."""
        self._conversation, self._keyboard, self._new_reply = conversation, keyboard, new_reply
        self._commands = Commands(conversation, self._say, self._put, self._show_end)
        self._draft = ""  # what stands at the next prompt already
        self._editing = False  # whether what comes next takes the place of the newest message
        self._interrupted = False  # whether Ctrl-C came at the prompt, and nothing since
        self._warned = False

    def run(self) -> None:
        """Answers and obeys. Ends with Ctrl-D, /quit, or, by an exit code of its own, with Ctrl-C twice."""
        self._show_end()
        while self._conversation.loaded:
            (draft, self._draft), (editing, self._editing) = (self._draft, ""), (self._editing, False)
            try:
                line = self._keyboard.ask(draft, editing)
            except EOFError:
                return
            except KeyboardInterrupt:
                if editing:
                    tell("Nothing is edited.")
                    continue
                if self._interrupted:
                    drop_typed()
                    raise typer.Exit(130) from None
                self._interrupted = True
                tell("Ctrl-C again leaves; /save FILE keeps the conversation.")
                continue
            self._interrupted = False
            try:
                command = parse(line)
                if command is None:
                    self._say(line.strip(), editing)
                elif command.name == "quit":
                    return
                else:
                    getattr(self._commands, command.name)(command.argument)
            except DFlashError as error:
                complain(error)
            except EOFError:
                return
            except KeyboardInterrupt:
                tell("Stopped.")
        raise typer.Exit(1)  # neither another model could be loaded, nor the old one again

    def _put(self, message: str, editing: bool) -> None:
        """Puts a message at the next prompt as it is typed: with a blank before a slash, or it would be a command."""
        self._draft, self._editing = " " * message.startswith("/") + message, editing

    def _show_end(self) -> None:
        """Shows the newest message and its reply, if there are any."""
        if not self._conversation.turns:
            return
        tell(f"Going on with {counted(self._conversation.turns, 'turn')}; the newest:")
        show("> " + self._conversation.newest().replace("\n", "\n  "))
        if self._conversation.session.messages[-1]["role"] == "assistant":
            self._new_reply(self._conversation.capacity).repeat(self._conversation.newest_reply()[1].strip("\n"))

    def _say(self, text: str, edit: bool) -> None:
        if not text:
            return
        conversation = self._conversation
        if conversation.full(text, edit) and not self._make_room(text, edit):
            self._put(text, edit)
            return
        reply = self._new_reply(conversation.capacity)
        chunks = conversation.answer(text, edit, reply.reading)
        last: Chunk | None = None
        with silent_keys(reply.resumed), closing(chunks):
            try:
                for last in chunks:
                    reply.add(last)
            except KeyboardInterrupt:
                ignore_ctrl_c()
            finally:
                reply.finish(last.finish_reason or "cancelled" if last else "cancelled")
        if last:
            self._warn()
        else:
            tell("Stopped before the reply began: the conversation is as before.")

    def _make_room(self, text: str, edit: bool) -> bool:
        """Asks what to do about a message for which the context has no room."""
        tell(
            f"The context of {self._conversation.capacity} tokens is full.\n"
            "drop: forget the oldest turns until this fits. keep: forget nothing, and shorten the message or /clear."
        )
        if not self._keyboard.choose("drop or keep? ", "drop", "keep"):
            return False
        dropped = self._conversation.drop_oldest(text, edit)
        tell(f"{counted(dropped, 'turn')} forgotten, the oldest.")
        return True

    def _warn(self) -> None:
        """Says once that the context will soon be full."""
        conversation = self._conversation
        used = conversation.used
        near = used >= NEAR * conversation.capacity
        if near and not self._warned:
            tell(
                f"The context is {used / conversation.capacity:.0%} full ({used} of {conversation.capacity} tokens). "
                "When it is full, the oldest turns can be dropped; /clear starts anew."
            )
        self._warned = near
