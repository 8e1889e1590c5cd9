"""A chat through pipes: each line of stdin is a message, and stdout gets the replies."""

import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from dflash_mlx.errors import DFlashError, RequestError

from ..answer import JsonLines
from ..render import json_line, note, write
from ..words import on_the_command_line
from .conversation import Conversation
from .reply import PlainReply

if TYPE_CHECKING:
    from dflash_mlx import Chunk


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
            message, hint = on_the_command_line(error)
            if json:
                write(json_line({"type": "error", "line": number, "message": message, "hint": hint}))
            note(f"error: line {number}: {message}\n{hint}")
            refused = True
    return not refused


def _answer(conversation: Conversation, number: int, text: str, json: bool) -> None:
    if conversation.full(text):
        note(f"The context is full; oldest turns that are forgotten: {conversation.drop_oldest(text)}.")
    objects, plain = JsonLines(line=number), PlainReply(conversation.capacity, told=False)
    add: Callable[[Chunk], None] = objects.chunk if json else plain.add
    last: Chunk | None = None
    with closing(conversation.answer(text)) as chunks:
        try:
            for last in chunks:
                add(last)
        finally:
            reason = last.finish_reason or "cancelled" if last else "cancelled"
            if json:
                objects.finish(reason, last.statistics if last else None)
            else:
                plain.finish(reason)
    if last and not conversation.newest_reply()[1].strip("\n"):
        tokens = f"thinking used up all {last.statistics.generated_tokens} tokens"
        why = f": {tokens}. Raise --max-tokens, or try --no-think" if reason == "length" else ""
        note(f"line {number}: there is no answer{why}.")


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise RequestError(f"byte 0x{line[error.start]:02x} is not UTF-8.", "Convert it first, for example with iconv.") from None
