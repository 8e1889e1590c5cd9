"""The chat on a terminal: what is typed is answered or obeyed."""

import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import typer

from dflash_mlx.errors import DFlashError, RequestError

from .conversation import Conversation
from .figures import advice, picture
from .keyboard import Keyboard, Lines
from .reply import Reply, without_markers
from .screen import columns, tell
from .slash import WORDS, help_text, nearest, parse
from .terminal import drop_typed, ignore_ctrl_c, silent_keys

if TYPE_CHECKING:
    from dflash_mlx import Chunk

NEAR = 0.85  # of the context in use: time to say so


class Repl:
    """Reads messages and commands until the user leaves."""

    def __init__(self, conversation: Conversation, keyboard: Keyboard | Lines, new_reply: Callable[[int], Reply]) -> None:
        """new_reply: makes what shows a reply, for a context of so many tokens."""
        self._conversation, self._keyboard, self._new_reply = conversation, keyboard, new_reply
        self._draft = ""  # what stands at the next prompt already
        self._editing = False  # whether what comes next takes the place of the newest message
        self._interrupted = False  # whether Ctrl-C came at the prompt, and nothing since
        self._warned = False

    def run(self) -> None:
        """Answers and obeys. Ends with Ctrl-D, /quit, or, by an exit code of its own, with Ctrl-C twice."""
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
                    getattr(self, f"_{command.name}")(command.argument)
            except DFlashError as error:
                tell(f"{error.message}\n{error.hint}")
            except EOFError:
                return
            except KeyboardInterrupt:
                tell("Stopped.")
        raise typer.Exit(1)  # neither another model could be loaded, nor the old one again

    def _say(self, text: str, edit: bool = False) -> None:
        if not text:
            return
        conversation = self._conversation
        if conversation.full(text, edit) and not self._make_room(text, edit):
            self._draft, self._editing = _said(text), edit
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
        tell(f"The oldest {'turn is' if dropped == 1 else f'{dropped} turns are'} forgotten.")
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

    def _help(self, argument: str) -> None:
        tell(help_text(columns()))

    def _retry(self, argument: str) -> None:
        self._say(self._conversation.newest(), edit=True)

    def _edit(self, text: str) -> None:
        if text:
            self._say(text, edit=True)
        else:
            self._draft, self._editing = _said(self._conversation.newest()), True

    def _undo(self, argument: str) -> None:
        self._draft = _said(self._conversation.session.undo())
        tell("Taken back; it stands at the prompt.")

    def _clear(self, argument: str) -> None:
        self._conversation.clear()
        tell("Started anew.")

    def _system(self, text: str) -> None:
        session = self._conversation.session
        if text:
            session.system = None if text == "none" else text
        tell(f"system message: {session.system}" if session.system else "There is no system message.")

    def _think(self, word: str) -> None:
        if word == "show":
            tell(without_markers(self._conversation.last_thought()) or "The newest reply has no thinking.")
        elif word in ("on", "off"):
            self._conversation.think(word == "on")
            tell(f"The model {'thinks' if word == 'on' else 'does not think'} before it answers, from the next message on.")
        else:
            near = nearest(word, WORDS["think"])
            raise RequestError(
                f"/think {word} is not known." if word else "/think needs a word.",
                (f"Did you mean /think {near}? " if near else "") + "There are /think on, /think off and /think show.",
            )

    def _set(self, argument: str) -> None:
        name, value = (*argument.split(maxsplit=1), "", "")[:2]
        if value:
            self._conversation.set(name, value)
        for shown in [name] if name else self._conversation.settings:
            tell(f"{shown} {self._conversation.setting(shown)}")

    def _stats(self, argument: str) -> None:
        conversation = self._conversation
        if not conversation.replies:
            raise RequestError("there was no reply yet.", "Say something first.")
        replies = list(conversation.replies)
        tell(picture(replies, columns(), ascii_only=not _unicode()))
        temperature, drafter = conversation.settings["temperature"], conversation.pair.drafter is not None
        for sentence in advice(replies, temperature, conversation.thought / max(1, conversation.generated), drafter):
            tell(sentence)

    def _save(self, path: str) -> None:
        self._conversation.save(path)
        tell(f"Kept in {path}.")

    def _load(self, path: str) -> None:
        self._conversation.open(path)
        turns = sum(message["role"] == "user" for message in self._conversation.session.messages)
        tell(f"{turns} turn{'s' * (turns != 1)} from {path}.")

    def _model(self, argument: str) -> None:
        conversation = self._conversation
        if argument:
            name, drafter = (*argument.split(maxsplit=1), "auto", "")[:2]
            before = conversation.settings["block_size"]
            conversation.change_model(name, None if drafter == "none" else drafter)
            if (block_size := conversation.settings["block_size"]) != before:
                tell(f"block_size {block_size}, no longer {before}")
        tell(conversation.title)


def _said(message: str) -> str:
    """A message as it is typed: with a blank before a slash, or it would be a command."""
    return " " * message.startswith("/") + message


def _unicode() -> bool:
    """Whether the terminal's encoding knows what bars are made of."""
    try:
        "█".encode(sys.stderr.encoding)
        return True
    except UnicodeEncodeError:
        return False
