"""An answer's text as it grows: whole characters, what was thought before it, the text that ends it."""

from codecs import getincrementaldecoder
from collections.abc import Sequence
from functools import cache
from typing import Any

THINKING, ANSWER = "<think>", "</think>"  # the markers between which Qwen models think, before they answer


class TextStream:
    """Token ids in, text out as soon as it is certain: whole characters only. Special tokens give no text.

    A token of a byte-level vocabulary stands for bytes, each written as one of 256 printable characters (GPT-2's table).
    """

    def __init__(self, tokenizer: Any) -> None:
        """tokenizer: of the `tokenizers` library, with a byte-level vocabulary."""
        self._token, self._added = tokenizer.id_to_token, tokenizer.get_added_tokens_decoder()
        self._bytes, self._decoder = _byte_characters(), getincrementaldecoder("utf-8")("replace")

    def add(self, token: int) -> str:
        """The text that a token makes certain."""
        if token in self._added:
            added = self._added[token]
            return self._decoder.decode(b"" if added.special else added.content.encode())
        text = self._token(token) or ""  # a model may have more ids than its tokenizer
        try:
            return self._decoder.decode(bytes(self._bytes[character] for character in text))
        except KeyError:
            return self._decoder.decode(text.encode())

    def flush(self) -> str:
        """At the end: an unfinished character is dropped."""
        self._decoder.reset()
        return ""


class StopTexts:
    """Text in, text out up to the first stop text; nothing is given out that may belong to one."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop, self._held = tuple(stop), ""
        self.stopped = False

    def add(self, text: str, last: bool = False) -> str:
        """What has become certain with a piece of text; with the `last` one all of it. A complete stop text sets `stopped`."""
        text = self._held + text
        found = [at for at in (text.find(s) for s in self._stop) if at >= 0]
        self.stopped = bool(found)
        end = min(found) if found else len(text) - (0 if last else max((_overlap(text, s) for s in self._stop), default=0))
        self._held = "" if found else text[end:]
        return text[:end]


class Thinking:
    """Tells thinking from answer in a text that comes in pieces. Markers and the line breaks behind them are thinking."""

    def __init__(self, thinking: bool) -> None:
        """thinking: whether the text begins in the middle of it."""
        self._thinking, self._began, self._ended = thinking, thinking, False
        self._held = ""

    def add(self, text: str, last: bool = False) -> tuple[str, str]:
        """What has become certain with a piece of text: thinking and answer. With the `last` piece all of it is."""
        text, thinking = self._held + text, ""
        self._held = ""
        if not self._began:  # only a marker at the very beginning opens it
            begun = text.lstrip()
            if THINKING.startswith(begun) and len(begun) < len(THINKING) and not last:
                self._held = text
                return "", ""
            self._began, self._thinking = True, begun.startswith(THINKING)
        if self._thinking:
            end = text.find(ANSWER)
            if end < 0:
                keep = 0 if last else _overlap(text, ANSWER)
                self._held = text[len(text) - keep :]
                return text[: len(text) - keep], ""
            thinking, text = text[: end + len(ANSWER)], text[end + len(ANSWER) :]
            self._thinking, self._ended = False, True
        if self._ended:
            answer = text.lstrip("\n")
            thinking, text = thinking + text[: len(text) - len(answer)], answer
            self._ended = not answer
        return thinking, text


def closed(content: str) -> str:
    """A reply whose thinking has an end: one that was stopped meanwhile gets the marker."""
    thinks = content.lstrip().startswith(THINKING) and ANSWER not in content
    return f"{content}\n{ANSWER}\n\n" if thinks else content


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` with which `stop` begins."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


@cache
def _byte_characters() -> dict[str, int]:
    """GPT-2's table: a byte that prints stands for itself, the others follow from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (byte for byte in range(0x100) if byte not in plain)
    return {chr(byte): byte for byte in plain} | {chr(0x100 + i): byte for i, byte in enumerate(others)}
