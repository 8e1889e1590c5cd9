"""The chat on a terminal: what is typed is answered or obeyed."""

from collections.abc import Callable
from contextlib import closing
from textwrap import shorten
from typing import TYPE_CHECKING

from dflash_mlx.errors import DFlashError

from .commands import Commands
from .conversation import Conversation
from .kept import Keeper, left
from .keyboard import Keyboard, Lines
from .reply import Reply
from .screen import complain, counted, show, tell
from .slash import parse
from .terminal import drop_typed, ignore_ctrl_c, is_there, silent_keys

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
        self._keeper = Keeper()

    def run(self) -> int:
        """Answers and obeys until the user leaves. Returns the exit code."""
        if self._conversation.turns:
            self._show_end()
        else:
            self._offer()
        code = self._obey()
        if code != 1 and is_there():
            self._keeper.drop()
        return code

    def _obey(self) -> int:
        while self._conversation.loaded:
            self._keep(self._draft)
            (draft, self._draft), (editing, self._editing) = (self._draft, ""), (self._editing, False)
            try:
                line = self._keyboard.ask(draft, editing)
            except EOFError:
                return 0
            except KeyboardInterrupt:
                if editing:
                    tell("Nothing was edited.")
                    continue
                if self._interrupted:
                    drop_typed()
                    return 130
                self._interrupted = True
                tell("Ctrl-C again leaves; /save FILE keeps the conversation.")
                continue
            self._interrupted = False
            try:
                command = parse(line)
                if command is None:
                    self._say(line.strip(), editing)
                elif command.name == "quit":
                    return 0
                else:
                    getattr(self._commands, command.name)(command.argument)
            except DFlashError as error:
                complain(error)
            except KeyboardInterrupt:
                tell("Stopped.")
        return 1  # neither another model could be loaded, nor the old one again

    def _keep(self, unsaid: str = "", growing: bool = False) -> None:
        session = self._conversation.session
        self._keeper.keep(session.messages, session.template, unsaid, growing)

    def _offer(self) -> None:
        """Asks whether to go on with a conversation that another chat has left."""
        if not (there := left()):
            return
        said = [message["content"] for message in there.messages if message["role"] == "user"] + [there.unsaid] * bool(
            there.unsaid
        )
        newest = shorten(said[-1] if said else "", 50, placeholder="...")
        tell(f"A chat of {there.when:%Y-%m-%d %H:%M} broke off. {counted(len(said), 'message')}, the newest: {newest}")
        wanted = self._keyboard.choose("Continue it? yes, or no to delete it: ", "yes", "no")
        if wanted is False:
            there.file.unlink(missing_ok=True)
            return
        try:
            if wanted:
                self._conversation.take_up(there.messages, there.template)
                self._keeper.take_over(there)
                self._put(there.unsaid, False)
                self._show_end()
                return
        except DFlashError as error:
            complain(error)
        tell("It is kept for the next chat.")

    def _put(self, message: str, editing: bool) -> None:
        """Puts a message at the next prompt as it is typed: with a blank before a slash, or it would be a command."""
        self._draft, self._editing = " " * message.startswith("/") + message, editing

    def _show_end(self) -> None:
        """Shows the newest message and its reply, if there are any."""
        turns = self._conversation.turns
        tell(f"Continuing with {counted(turns, 'turn')}{'; the newest:' if turns else '.'}")
        if turns:
            show("> " + self._conversation.newest().replace("\n", "\n  "))
            if self._conversation.session.messages[-1]["role"] == "assistant":
                self._new_reply(self._conversation.capacity).repeat(self._conversation.newest_reply()[1].strip("\n"))

    def _say(self, text: str, edit: bool) -> None:
        if not text:
            return
        conversation = self._conversation
        reply = self._new_reply(conversation.capacity)
        try:
            if conversation.full(text, edit) and not self._make_room(text, edit):
                self._put(text, edit)
                return
            chunks = conversation.answer(text, edit, reply.reading)
        except DFlashError:
            self._put(text, edit)  # to be changed, and not typed again
            raise
        last: Chunk | None = None
        self._keep(text)
        with silent_keys(reply.resumed), closing(chunks):
            try:
                for last in chunks:
                    reply.add(last)
                    self._keep(growing=True)
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
                "When it is full, the oldest turns can be dropped; /clear starts over."
            )
        self._warned = near
