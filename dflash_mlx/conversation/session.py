"""Many turns with one model: each reads only what is new in its prompt."""

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from dflash_mlx.conversation import prefix_file
from dflash_mlx.decoding.device import Device, Turns
from dflash_mlx.decoding.prefix_cache import PrefixCache, common_length
from dflash_mlx.errors import RequestError
from dflash_mlx.generation import Chunk, Options, check_options, check_template_options, read_ahead
from dflash_mlx.text import THINKING, Tokenizer, closed

Message = dict[str, str]

P = ParamSpec("P")
T = TypeVar("T")


def _in_turn(method: "Callable[Concatenate[Session, P], T]") -> "Callable[Concatenate[Session, P], T]":
    """A method that is a turn at the device: what another thread asks of the session comes before or after it."""

    @wraps(method)
    def turn(self: "Session", *arguments: P.args, **options: P.kwargs) -> T:
        return self._device.do(partial(method, self, *arguments, **options))

    return turn


class Session:
    """A conversation. Get one from `Pair.session`.

    A chat template does not simply go on where the last reply ended: it drops old thinking, for example. So every turn is
    rendered whole, and read from where it parts from what was read before, or from the last checkpoint before that place;
    and at the end of a reply it is read once more, as it will stand in later prompts.

    Attributes:
        messages: the conversation so far, the system message first if there is one. A reply that was stopped is in it as far
            as it was handed out, thinking included.
        template: variables of the chat template, like `enable_thinking`, for the prompts to come.
    """

    def __init__(
        self,
        device: Device,
        stream: Callable[..., Generator[Chunk]],
        tokenizer: Tokenizer,
        cache: PrefixCache,
        conversation: prefix_file.Conversation,
        fingerprint: Callable[[], Mapping[str, Any]],
    ) -> None:
        """
        Args:
            stream: answers token ids: `Pair.stream` with a cache and marks in the prompt, and no turns at the device.
            conversation: what was said already, and variables of the chat template.
            fingerprint: gives that of the pair.
        """
        self._device, self._stream, self._tokenizer, self._cache = device, stream, tokenizer, cache
        self._fingerprint = fingerprint
        self.template: dict[str, Any] = dict(conversation.template)
        self.messages: list[Message] = list(conversation.messages)
        self._reply: Generator[Chunk] | None = None

    @_in_turn
    def send(self, text: str, **options: Unpack[Options]) -> Generator[Chunk]:
        """Says something and answers it, a chunk a cycle. Closing the generator stops the reply and keeps what there is of it,
        and so does whatever is asked of the session before its end.

        Args:
            options: as for `Pair.stream`, but `system`, `thinking`, `raw` and `prompt_cache`.

        Raises:
            RequestError, MemoryBudgetError: at once, as `Pair.stream` does; the conversation is as before.
        """
        return self._answer("send", [*self.messages, _said(text)], options)

    @_in_turn
    def retry(self, **options: Unpack[Options]) -> Generator[Chunk]:
        """Answers the newest message of the user again, instead of the reply it has. As `send`."""
        return self._answer("retry", self.messages[: self._newest("retry") + 1], options)

    @_in_turn
    def edit(self, text: str, **options: Unpack[Options]) -> Generator[Chunk]:
        """Says something else instead of the newest message of the user, and answers it. As `send`."""
        return self._answer("edit", [*self.messages[: self._newest("edit")], _said(text)], options)

    @_in_turn
    def undo(self) -> str:
        """Takes back the newest message of the user and its reply. Returns the message."""
        self._stop()
        newest = self._newest("undo")
        text = self.messages[newest]["content"]
        self.messages = self.messages[:newest]
        return text

    @_in_turn
    def drop_oldest(self) -> None:
        """Forgets the oldest message of the user and its reply: what follows needs less context."""
        self._stop()
        users = self._users()
        if len(users) < 2:
            raise RequestError("there is no older turn to drop.", "Clear the conversation, or shorten the message.")
        self.messages = self.messages[: users[0]] + self.messages[users[1] :]

    @_in_turn
    def save(self, path: str | Path) -> None:
        """Writes the conversation and all that was read of it into a file, for `Pair.session(load=path)` in another process.

        A reply that is still going on ends first. The file is there when it is whole; what was there before stays until then.

        Raises:
            RequestError: it cannot be written there, another file than a saved one is there, or a variable of the chat template
                is nothing that JSON knows.
            CheckpointError: the model's files have changed since they were loaded.
        """
        self._stop()
        conversation = prefix_file.Conversation(self.messages, self.template)
        prefix_file.save(path, self._cache, self._fingerprint(), conversation)

    @property
    def system(self) -> str | None:
        """The system message."""
        return self.messages[0]["content"] if self.messages and self.messages[0]["role"] == "system" else None

    @system.setter
    @_in_turn
    def system(self, text: str | None) -> None:
        check_template_options(text, None)
        self._stop()
        rest = self.messages[self.system is not None :]
        self.messages = rest if text is None else [{"role": "system", "content": text}, *rest]

    def prompt_tokens(self, text: str, edit: bool = False, alone: bool = False) -> int:
        """How long the prompt would be that says something, or with `edit` says it instead of the newest message.

        Args:
            alone: it is said behind the system message, as if nothing had been said before.
        """
        if alone:
            messages = self.messages[: self.system is not None]
        else:
            messages = self.messages[: self._newest("edit")] if edit else self.messages
        return len(self._encode([*messages, _said(text)]))

    def _answer(self, function: str, messages: list[Message], options: Options) -> Generator[Chunk]:
        check_options(f"Session.{function}", options, but=("system", "thinking", "raw"))
        self._stop()
        self._tokenizer.check_template(self.template)
        prompt = self._encode(messages)
        stream = self._stream(prompt, cache=self._cache, marks=self._marks(messages, prompt), **options)
        self._reply = Turns(self._device, self._follow(stream, messages, self._tokenizer.opens_thinking(prompt)))
        return self._reply

    def _follow(self, stream: Generator[Chunk], messages: list[Message], thinking: bool) -> Generator[Chunk]:
        text = THINKING + "\n" if thinking else ""
        try:
            for chunk in stream:
                text += chunk.thinking + chunk.text
                self.messages = [*messages, {"role": "assistant", "content": text}]
                yield chunk
        finally:
            stream.close()
        self._read_ahead()

    def _read_ahead(self) -> None:
        """Reads the reply as the template will show it from now on, while the user reads it: without the thinking, mostly."""
        with suppress(RequestError):  # a template that will refuse the next turn says so when it comes
            following = [self._encode([*self.messages, {"role": "user", "content": text}]) for text in "ab"]
            read_ahead(self._cache, following[0][: common_length(*following)])

    def _stop(self) -> None:
        """Ends a reply that nobody has read to its end."""
        if self._reply:
            self._reply.close()

    def _encode(self, messages: list[Message], **template: Any) -> list[int]:
        replies = [
            {**message, "content": closed(message["content"])} if message["role"] == "assistant" else message
            for message in messages
        ]
        return self._tokenizer.encode(replies, **self.template, **template)

    def _marks(self, messages: list[Message], prompt: list[int]) -> list[int]:
        """Where later prompts may part from this one: behind the system message, before and behind the newest message."""
        first = next(i for i, message in enumerate(messages) if message["role"] == "user")
        others = [self._encode([*messages[:i], _other(messages[i])]) for i in {first, len(messages) - 1}]
        others.append(self._encode(messages, add_generation_prompt=False))
        return sorted({common_length(prompt, other) for other in others} - {0})

    def _users(self) -> list[int]:
        return [i for i, message in enumerate(self.messages) if message["role"] == "user"]

    def _newest(self, what: str) -> int:
        """The place of the user's newest message."""
        if users := self._users():
            return users[-1]
        raise RequestError(f"there is nothing to {what}.", "Say something first.")


def _said(text: object) -> Message:
    """A message of the user."""
    if not isinstance(text, str) or not text.strip():
        raise RequestError("the message is empty or not text.", "Say something to the model.")
    return {"role": "user", "content": text}


def _other(message: Message) -> Message:
    """A message that begins otherwise."""
    return {**message, "content": "b" if message["content"].lstrip().startswith("a") else "a"}
