"""Between text and token ids: chat template, incremental detokenisation, stop strings."""

import re
from collections.abc import Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from tokenizers.decoders import DecodeStream
from transformers import AutoTokenizer

from dflash_mlx.checkpoint import read_config, read_json
from dflash_mlx.errors import CheckpointError, ModelNotFoundError, RequestError

THINKING, ANSWER = "<think>", "</think>"  # the markers between which Qwen models think, before they answer
Prompt = str | Sequence[dict[str, str]] | Sequence[int]


class Tokenizer:
    """A model's tokenizer and chat template, and the ids that end its answers.

    Attributes:
        eos_token_ids: from generation_config.json, config.json and the tokenizer itself, all of them.
    """

    def __init__(self, folder: Path) -> None:
        """Loads the tokenizer of a model folder.

        Raises:
            ModelNotFoundError: the folder has no tokenizer.json.
            CheckpointError: it cannot be read.
        """
        if not (folder / "tokenizer.json").is_file():
            raise ModelNotFoundError(
                f"{folder} has no tokenizer.json.", "Get all of the model's files: the tokenizer belongs to them."
            )
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # the library names no narrower kind
            raise CheckpointError(
                f"the tokenizer in {folder} cannot be loaded ({error}).", "Get the model's files again."
            ) from error
        self.eos_token_ids = _eos_token_ids(folder, self._tokenizer.eos_token_id)

    def encode(self, prompt: Prompt, raw: bool = False, **template: Any) -> list[int]:
        """Token ids of a prompt.

        Args:
            prompt: text (one user message), messages with `role` and `content`, or token ids, used as they are.
            raw: text goes to the model as it is, without the chat template.
            template: further variables of the chat template, like `enable_thinking`.

        Raises:
            RequestError: the prompt is empty, of another form, no UTF-8 text, or refused by the template.
        """
        if isinstance(prompt, str):
            if not prompt.strip():
                raise RequestError("the prompt is empty.", "Say something to the model.")
            if raw:
                return self._checked(lambda: self._tokenizer.encode(prompt, verbose=False), prompt)
            prompt = [{"role": "user", "content": prompt}]
        items: list[Any] = (
            list(prompt) if isinstance(prompt, Sequence) and not isinstance(prompt, bytes | bytearray | memoryview) else []
        )
        if items and all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            return items
        if not items or not all(
            isinstance(m, dict) and isinstance(m.get("role"), str) and m.get("content") is not None for m in items
        ):
            raise RequestError(
                "the prompt is neither text, nor messages with role and content, nor token ids.",
                'Give text, [{"role": "user", "content": "..."}], or a list of whole numbers.',
            )
        if self._tokenizer.chat_template is None:
            raise RequestError(
                "this model has no chat template.", "Send the text as it is: raw=True, or --raw on the command line."
            )
        texts = [text for item in items for text in (item["role"], item["content"]) if isinstance(text, str)]
        options = {"add_generation_prompt": True, **template}
        return self._checked(lambda: self._tokenizer.apply_chat_template(items, return_dict=False, **options), *texts)

    def check_template(self, variables: Iterable[str]) -> None:
        """Raises RequestError where a name is no variable of the chat template, but a setting of what applies it."""
        settings = {"prompt", "raw", *signature(self._tokenizer.apply_chat_template).parameters} - {"tools", "documents"}
        for name in variables:
            if name in settings:
                raise RequestError(f"{name} is no variable of the chat template.", "Leave it out.")

    @staticmethod
    def _checked(encode: Any, *texts: str) -> list[int]:
        try:
            "".join(texts).encode()
            return list(encode())
        except UnicodeEncodeError as error:
            raise RequestError("the prompt holds characters that are no UTF-8 text.", "Send text encoded as UTF-8.") from error
        except Exception as error:  # a template is a program: it can fail in any way
            raise RequestError(
                f"the model's chat template cannot render these messages ({error}).",
                "Check roles, contents and their order; or send text as it is: raw=True, --raw on the command line.",
            ) from error

    def opens_thinking(self, prompt: list[int]) -> bool:
        """Whether a prompt ends in the middle of thinking: the template has written the opening marker."""
        return bool(self._tokenizer.decode(prompt[-8:]).rstrip().endswith(THINKING))

    def knows(self, variable: str) -> bool:
        """Whether the chat template uses a variable, like `enable_thinking`."""
        return re.search(rf"\b{variable}\b", str(self._tokenizer.chat_template)) is not None

    def new_stream(self, stop: Sequence[str] = ()) -> "TextStream":
        """An incremental decoder for one answer."""
        return TextStream(self._tokenizer.backend_tokenizer, stop)


class TextStream:
    """Token ids in, text out as soon as it is certain: no broken characters, nothing that belongs to a stop string.

    Special tokens give no text.
    """

    def __init__(self, tokenizer: Any, stop: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._decoder = DecodeStream(skip_special_tokens=True)
        self._stop = tuple(stop)
        self._held = ""
        self.stopped = False

    def add(self, token: int) -> str:
        """The text that a token makes certain. Once a stop string is complete, `stopped` is true."""
        text = self._held + (self._decoder.step(self._tokenizer, token) or "")
        found = [at for at in (text.find(s) for s in self._stop) if at >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = max((_overlap(text, s) for s in self._stop), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def flush(self) -> str:
        """At the end: what was held back because a stop string might have begun. An unfinished character is dropped."""
        held, self._held = self._held, ""
        return held


class Thinking:
    """Tells thinking from answer in a text that comes in pieces. The markers belong to the thinking."""

    def __init__(self, thinking: bool) -> None:
        """thinking: whether the text begins in the middle of it."""
        self._thinking, self._began = thinking, thinking
        self._held = ""

    def add(self, text: str, last: bool = False) -> tuple[str, str]:
        """What has become certain with a piece of text: thinking and answer. With the `last` piece all of it is."""
        text, thinking = self._held + text, ""
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
            self._thinking = False
        self._held = ""
        return thinking, text


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` with which `stop` begins."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


def _eos_token_ids(folder: Path, of_tokenizer: int | None) -> frozenset[int]:
    config = read_config(folder)
    places = [config, config.get("text_config") or {}]
    if (folder / "generation_config.json").is_file():
        places.append(read_json(folder / "generation_config.json"))
    found: list[Any] = [of_tokenizer]
    for place in places:
        ids = place.get("eos_token_id")
        found += ids if isinstance(ids, list) else [ids]
    return frozenset(i for i in found if type(i) is int)
