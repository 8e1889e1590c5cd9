"""A conversation with what belongs to it: the loaded pair, the settings of its turns, how its replies went. No terminal here."""

import gc
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dflash_mlx.errors import RequestError
from dflash_mlx.text import Thinking

from .settings import Settings

if TYPE_CHECKING:
    from dflash_mlx import Chunk, Pair, Statistics

REPLY = 256  # tokens that a reply must have room for; fewer where it may not have so many, or the context is tiny
REMEMBERED = 50  # replies whose figures are kept


class Conversation(Settings):
    """A session that can change its model and its settings.

    Attributes:
        model, drafter: their names; drafter None: plain decoding.
        pair: what is loaded under these names.
        session: the turns so far.
        capacity: how many tokens prompt and reply can have together.
        replies: figures of the newest replies.
        thought, generated: tokens of this model's replies that were thinking, and all.
    """

    def __init__(
        self,
        load: "Callable[[str, str | None, Callable[[], None]], Pair]",
        model: str,
        drafter: str | None,
        chosen: dict[str, Any],
        system: str | None,
        thinking: bool | None,
        file: str | None = None,
    ) -> None:
        """
        Args:
            load: loads a target and a drafter, and calls a function once it is clear that there are such models, before it
                takes memory for them.
            chosen: settings that were chosen, by their names in `SETTINGS`; for others, the checkpoint's defaults apply.
            system: the system message.
            thinking: see `Pair.session`.
            file: a conversation that `save` kept, to continue.
        """
        self._load, self._chosen = load, chosen
        self.model, self.drafter = model, drafter
        self._enter(load(model, drafter, lambda: None))
        self.session = self.pair.session(system=system, load=file)
        if thinking is not None:
            self.think(thinking)
        self.session.prompt_tokens("?")
        self._check()

    def _enter(self, pair: "Pair") -> None:
        self.pair, self.capacity = pair, pair.context_capacity
        self.replies: deque[Statistics] = deque(maxlen=REMEMBERED)
        self.thought = self.generated = 0

    def answer(self, text: str, edit: bool = False, progress: Callable[[int, int], None] | None = None) -> "Generator[Chunk]":
        """Says something and answers it, or with `edit` says it instead of the newest message. As `Session.send`."""
        options = {**self._options, "progress": progress}
        options["max_tokens"] = min(options["max_tokens"], max(1, self.capacity - self.session.prompt_tokens(text, edit)))
        return self._count(self.session.edit(text, **options) if edit else self.session.send(text, **options))

    def _count(self, chunks: "Iterator[Chunk]") -> "Generator[Chunk]":
        """Notes how a reply goes."""
        last: Chunk | None = None
        try:
            for last in chunks:
                self.thought += len(last.token_ids) if last.thinking else 0
                yield last
        finally:
            chunks.close()  # type: ignore[attr-defined]
            if last:
                self.replies.append(last.statistics)
                self.generated += last.statistics.generated_tokens

    def full(self, text: str, edit: bool = False) -> bool:
        """Whether a message leaves no room for a reply, because of what was said before.

        Raises:
            RequestError: it would leave none in a new conversation.
        """
        if self.session.prompt_tokens(text, edit) <= self._longest_prompt:
            return False
        if (alone := self.session.prompt_tokens(text, alone=True)) > self._longest_prompt:
            raise RequestError(f"this message takes {alone} tokens; the context has {self.capacity}.", "Shorten it.")
        return True

    def drop_oldest(self, text: str, edit: bool = False) -> int:
        """Forgets the oldest turns until a message takes no more than three quarters of the context; returns how many.

        Not only until it fits: the next message would be too long again, and all that remains would be read again each time.
        """
        dropped, most = 0, min(self._longest_prompt, self.capacity * 3 // 4)
        with suppress(RequestError):  # there is no older one
            while self.session.prompt_tokens(text, edit) > most:
                if edit or self.turns > 1:
                    self.session.drop_oldest()
                else:
                    self.session.undo()
                dropped += 1
        return dropped

    @property
    def _longest_prompt(self) -> int:
        """The tokens of a prompt that leaves room for a reply."""
        return self.capacity - min(REPLY, self.capacity // 4, self._options["max_tokens"])

    @property
    def loaded(self) -> bool:
        """False: neither another model could be loaded, nor the old one again."""
        return hasattr(self, "pair")

    @property
    def title(self) -> str:
        """What is loaded, in a few words."""
        words, drafter = self.pair.without_drafter or "no drafter", self.pair.drafter
        if drafter:
            words = f"drafter {self.drafter}, blocks of up to {drafter.config.block_size}"
        return f"{self.model}; {words}; context {self.capacity} tokens"

    @property
    def used(self) -> int:
        """Tokens that the newest reply and its prompt take."""
        return self.replies[-1].prompt_tokens + self.replies[-1].generated_tokens if self.replies else 0

    @property
    def turns(self) -> int:
        """How many messages of the user there are."""
        return sum(message["role"] == "user" for message in self.session.messages)

    def newest_reply(self) -> tuple[str, str]:
        """The newest reply: its thinking, markers included, and its answer. Both are empty where there is none."""
        replies = [message["content"] for message in self.session.messages if message["role"] == "assistant"]
        return Thinking(False).add(replies[-1], last=True) if replies else ("", "")

    def newest(self) -> str:
        """The user's newest message. Raises RequestError where there is none."""
        for message in reversed(self.session.messages):
            if message["role"] == "user":
                return message["content"]
        raise RequestError("nothing has been said yet.", "Say something first.")

    def clear(self) -> None:
        """Starts over, with the same system message and variables of the template."""
        self.session = self.pair.session(system=self.session.system, **self.session.template)

    def save(self, path: str) -> None:
        """Keeps the conversation in a file. As `Session.save`."""
        self.session.save(path)

    def open(self, path: str) -> None:
        """Goes on with a conversation that `Session.save` kept."""
        self.session = self.pair.session(load=path)

    def take_up(self, messages: list[dict[str, str]], template: dict[str, Any]) -> None:
        """Goes on with a conversation from elsewhere, which is read again. Raises RequestError where the template refuses it.

        Args:
            template: variables of the chat template, if this one knows them.
        """
        session = self.pair.session(**{name: value for name, value in template.items() if self.pair.tokenizer.knows(name)})
        session.messages = messages
        session.prompt_tokens("?")
        self.session = session

    def change_model(self, model: str, drafter: str | None) -> None:
        """Goes on with another pair, which reads the conversation again. If that fails, with the one before, loaded again.

        A block size that the other one does not have becomes "auto".

        Raises:
            DFlashError: the other one cannot be loaded, or its chat template refuses the conversation.
        """
        messages, template, chosen = self.session.messages, self.session.template, self._chosen
        released = False

        def release() -> None:
            # there may not be memory for both
            nonlocal released
            import mlx.core as mx

            released = True
            for name in ("pair", "session"):
                vars(self).pop(name, None)
            gc.collect()
            mx.clear_cache()

        def enter(pair: "Pair") -> None:
            self._enter(pair)
            self.take_up(messages, template)

        try:
            enter(self._load(model, drafter, release))
            rows = self.pair.drafter.config.block_size if self.pair.drafter else 1
            if self._chosen["block_size"] != "auto" and self._chosen["block_size"] > rows:
                self._chosen = {**chosen, "block_size": "auto"}
            self._check()
        except BaseException as error:  # Ctrl-C too
            if released:
                traceback.clear_frames(error.__traceback__)  # they hold what was loaded
                release()
                self._chosen = chosen
                enter(self._load(self.model, self.drafter, lambda: None))
            raise
        self.model, self.drafter = model, drafter
