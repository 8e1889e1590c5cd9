"""A chat through pipes: each line of stdin is a message, and stdout gets the replies."""

import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from dflash_mlx.errors import DFlashError, RequestError

from ..answer import chunk_fields
from ..render import json_line, note, write
from .conversation import Conversation
from .reply import PlainReply

if TYPE_CHECKING:
    from dflash_mlx import Chunk


class JsonReply:
    """A reply as objects, one a line: one a cycle, and a last one with all of it."""

    def __init__(self, line: int, message: str) -> None:
        """line: the message's number on stdin."""
        self._about, self._chunks = {"line": line, "message": message}, list["Chunk"]()

    @property
    def begun(self) -> bool:
        """Whether there is any text."""
        return any(chunk.text.strip("\n") for chunk in self._chunks)

    def add(self, chunk: "Chunk") -> None:
        """Writes what one cycle added."""
        self._chunks.append(chunk)
        write(json_line({"type": "chunk", "line": self._about["line"], **chunk_fields(chunk)}))

    def finish(self, reason: str) -> None:
        """Writes the last object."""
        whole = {name: "".join(getattr(chunk, name) for chunk in self._chunks) for name in ("text", "thinking")}
        statistics = asdict(self._chunks[-1].statistics) if self._chunks else None
        write(json_line({"type": "reply", **self._about, **whole, "finish_reason": reason, "statistics": statistics}))


def answer_lines(conversation: Conversation, json: bool) -> bool:
    """Answers the lines of stdin. Returns whether all were answered.

    Args:
        json: stdout gets objects; with an `error`, too, for each line that was refused.
    """
    refused = False
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), 1):
        try:
            if text := _decoded(line):
                _answer(conversation, number, text, json)
        except DFlashError as error:
            if json:
                write(json_line({"type": "error", "line": number, "message": error.message, "hint": error.hint}))
            note(f"error: line {number}: {error.message}\n{error.hint}")
            refused = True
    return not refused


def _answer(conversation: Conversation, number: int, text: str, json: bool) -> None:
    if conversation.full(text):
        note(f"The context is full; oldest turns that are forgotten: {conversation.drop_oldest(text)}.")
    reply = JsonReply(number, text) if json else PlainReply(conversation.capacity, told=False)
    reason = "cancelled"
    with closing(conversation.answer(text)) as chunks:
        try:
            for chunk in chunks:
                reply.add(chunk)
                reason = chunk.finish_reason or reason
        finally:
            reply.finish(reason)
    if not reply.begun:
        cut = f", cut after {conversation.replies[-1].generated_tokens} tokens" if reason == "length" else ""
        if conversation.newest_reply()[0]:
            note(f"line {number}: the reply is nothing but thinking{cut}. Try --no-think, or a higher --max-tokens.")
        else:
            note(f"line {number}: the reply is empty{cut}.")


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise RequestError(f"byte 0x{line[error.start]:02x} is not UTF-8.", "Convert it first, for example with iconv.") from None
