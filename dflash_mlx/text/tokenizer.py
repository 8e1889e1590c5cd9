"""From a prompt to token ids: a model's tokenizer and its chat template."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from inspect import signature
from pathlib import Path
from typing import Any

import tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import render_jinja_template

from dflash_mlx.checkpoint import read_config, read_json
from dflash_mlx.errors import CheckpointError, ModelNotFoundError, RequestError
from dflash_mlx.text.answer import THINKING, TextStream

PIECES = 512  # of rendered prompts whose ids are kept: a conversation's messages are rendered again in every turn

Prompt = str | Sequence[dict[str, Any]] | Sequence[int]


class Tokenizer:
    """A model's tokenizer and chat template, and the ids that end its answers.

    Ids are those of tokenizer.json and nothing else: transformers puts the parts that it knows for a class or model type in
    the place of the file's own, and so gives other ids for many scripts (transformers#45920).

    Attributes:
        eos_token_ids: from generation_config.json, config.json and the tokenizer itself, all of them.
    """

    def __init__(self, folder: Path, config: dict[str, Any] | None = None) -> None:
        """Loads the tokenizer of a model folder, of which config.json may have been read already.

        Raises:
            ModelNotFoundError: the folder has no tokenizer.json.
            CheckpointError: it cannot be read.
        """
        if not (folder / "tokenizer.json").is_file():
            raise ModelNotFoundError(
                f"{folder} has no tokenizer.json.", "Get all of the model's files: the tokenizer belongs to them."
            )
        try:
            backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            backend.no_truncation()  # as some training left it in the file
            backend.no_padding()
            self._tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=backend)
            self._boundary = _boundary(backend)
            self._special = _special_tokens(folder)
            self._templates = _chat_templates(folder)
        except CheckpointError:
            raise
        except Exception as error:  # tokenizers names no narrower kind
            raise CheckpointError(
                f"the tokenizer in {folder} cannot be loaded ({error}).", "Get the model's files again."
            ) from error
        self._ids_of = lru_cache(PIECES)(partial(self._tokenizer.encode, add_special_tokens=False))
        self.eos_token_ids = _eos_token_ids(
            folder, read_config(folder) if config is None else config, backend.token_to_id(self._special.get("eos_token", ""))
        )

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
                return self._checked(lambda: self._tokenizer.encode(prompt), prompt)
            prompt = [{"role": "user", "content": prompt}]
        items: list[Any] = (
            list(prompt) if isinstance(prompt, Sequence) and not isinstance(prompt, bytes | bytearray | memoryview) else []
        )
        if items and all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            return items
        if not items or not all(
            isinstance(m, dict) and isinstance(m.get("role"), str) and isinstance(m.get("content"), str | list) for m in items
        ):
            raise RequestError(
                "the prompt is neither text, nor messages with role and content, nor token ids.",
                'Give text, [{"role": "user", "content": "..."}], or a list of whole numbers.',
            )
        if (chosen := self._template(template.get("tools"))) is None:
            raise RequestError("this model has no chat template.", "Send the text as it is, with raw=True.")
        items = [{**item, "content": _text_of(item["content"])} for item in items]
        texts = [text for item in items for text in (item["role"], item["content"]) if isinstance(text, str)]
        items = [{key: value for key, value in item.items() if value is not None} for item in items]
        variables = {"add_generation_prompt": True, **self._special, **template}

        def render() -> list[int]:
            [text], _ = render_jinja_template([items], chat_template=chosen, **variables)
            pieces = self._boundary.split(text) if self._boundary else [text]
            return [i for piece in pieces if piece for i in self._ids_of(piece)]

        return self._checked(render, *texts)

    def _template(self, tools: Any = None) -> str | None:
        return (self._templates.get("tool_use") if tools else None) or self._templates.get("default")

    def check_template(self, variables: Iterable[str]) -> None:
        """Raises RequestError where a name is not a variable that the chat template uses, or a setting of what applies it."""
        settings = {"prompt", "raw", "messages", "tokenize"} | signature(render_jinja_template).parameters.keys()
        settings -= {"tools", "documents"}
        for name in variables:
            if name == "enable_thinking" and not self.knows(name):
                raise RequestError("this model's chat template has no choice of thinking or not.", "Leave thinking out.")
            if name in settings or not self.knows(name):
                raise RequestError(f"{name} is not a variable of this model's chat template.", "Leave it out.")

    @staticmethod
    def _checked(encode: Any, *texts: str) -> list[int]:
        try:
            "".join(texts).encode()
            return list(encode())
        except UnicodeEncodeError as error:
            raise RequestError("the prompt has characters that are not valid UTF-8.", "Send text encoded as UTF-8.") from error
        except Exception as error:  # a template is a program: it can fail in any way
            raise RequestError(
                f"the model's chat template cannot render these messages ({error}).",
                "Check roles, contents and their order; or send text as it is, with raw=True.",
            ) from error

    def opens_thinking(self, prompt: list[int]) -> bool:
        """Whether a prompt ends in the middle of thinking: the template has written the opening marker."""
        return bool(self._tokenizer.decode(prompt[-8:], skip_special_tokens=False).rstrip().endswith(THINKING))

    def knows(self, variable: str) -> bool:
        """Whether the chat template uses a variable, like `enable_thinking`."""
        return variable.isidentifier() and re.search(rf"\b{variable}\b", self._template() or "") is not None

    def new_stream(self) -> TextStream:
        """An incremental decoder for one answer."""
        return TextStream(self._tokenizer.backend_tokenizer)


def _boundary(tokenizer: tokenizers.Tokenizer) -> re.Pattern[str] | None:
    """What parts a text into pieces whose ids do not depend on each other: added tokens; None: some reach beyond themselves."""
    added = [token for token in tokenizer.get_added_tokens_decoder().values() if not token.normalized]
    if not added or any(token.lstrip or token.rstrip or token.single_word for token in added):
        return None
    if tokenizer.pre_tokenizer and b"Metaspace" in tokenizer.pre_tokenizer.__getstate__():  # may look where a text begins
        return None
    longest_first = sorted((re.escape(token.content) for token in added), key=len, reverse=True)
    return re.compile(f"({'|'.join(longest_first)})")


def _text_of(content: Any) -> Any:
    """A message's content as the text that it is, also where it comes in parts."""
    if not isinstance(content, list):
        return content
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            kind = part.get("type") if isinstance(part, dict) else part
            raise RequestError(f"a message has a part {kind!r}, and only text can be read.", "Send parts of type text.")
    return "".join(part["text"] for part in content)


def _read_if_there(file: Path) -> dict[str, Any]:
    return read_json(file) if file.is_file() else {}


def _special_tokens(folder: Path) -> dict[str, str]:
    """Special tokens by the names that templates use, like `eos_token`."""
    config = _read_if_there(folder / "tokenizer_config.json")
    places = [_read_if_there(folder / "special_tokens_map.json"), config, config.get("extra_special_tokens")]
    said = {name: token for place in places if isinstance(place, dict) for name, token in place.items() if token}
    texts = {name: token.get("content") if isinstance(token, dict) else token for name, token in said.items()}
    return {name: text for name, text in texts.items() if name.endswith("_token") and isinstance(text, str)}


def _chat_templates(folder: Path) -> dict[str, str]:
    """The chat templates by name, of the first place that has any; transformers' order, then where processors have theirs."""
    files = {file.stem: file for file in folder.glob("additional_chat_templates/*.jinja")}
    files["default"] = folder / "chat_template.jinja"
    templates = _filled({name: file.read_text(encoding="utf-8-sig") for name, file in files.items() if file.is_file()})
    for name in ("tokenizer_config.json", "chat_template.json"):
        if "default" not in templates:
            found = _read_if_there(folder / name).get("chat_template") or {}
            if isinstance(found, list):
                found = {template["name"]: template["template"] for template in found}
            templates = _filled({"default": found} if isinstance(found, str) else found) | templates
    return templates


def _filled(templates: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in templates.items() if text and text.strip()}


def _eos_token_ids(folder: Path, config: dict[str, Any], of_tokenizer: int | None) -> frozenset[int]:
    places = [config, config.get("text_config") or {}, _read_if_there(folder / "generation_config.json")]
    found: list[Any] = [of_tokenizer]
    for place in places:
        ids = place.get("eos_token_id")
        found += ids if isinstance(ids, list) else [ids]
    return frozenset(i for i in found if type(i) is int)
