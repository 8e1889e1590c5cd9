"""How the turns of a conversation are to be: sampling, block size, thinking."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dflash_mlx.errors import DFlashError, MemoryBudgetError, RequestError

from ..options import DRAFTS, SAMPLING
from .slash import nearest

if TYPE_CHECKING:
    from dflash_mlx import Pair, Sampling
    from dflash_mlx.conversation.session import Session

SETTINGS = (*SAMPLING, "max_tokens", "block_size", "drafts", "verify", "effort")
EFFORT = "reasoning_effort"  # what templates that know it call it
THINKING = "enable_thinking"


class Settings:
    """The settings of a conversation. `model` is the name of its pair."""

    model: str
    pair: "Pair"
    session: "Session"
    _chosen: dict[str, Any]

    def think(self, wanted: bool) -> None:
        """Whether the model is to think before it answers. Raises RequestError where it has no such choice."""
        self._vary(THINKING, wanted, "choice of thinking or not")

    def thinks(self) -> bool:
        """Whether it does. Raises RequestError likewise."""
        self._check_known(THINKING, "choice of thinking or not")

        def prompt(**variables: Any) -> list[int]:
            return self.pair.tokenizer.encode("?", **{**self.session.template, **variables})

        return prompt() == prompt(**{THINKING: True})

    def choices(self, name: str) -> tuple[str, ...]:
        """What a setting can be, where that is one of a few words."""
        rows = self.pair.drafter.config.block_size if self.pair.drafter else 1
        widths = ("auto", *map(str, range(1, rows + 1)))
        few = {"verify": ("fast", "exact"), "block_size": widths, "drafts": DRAFTS, "seed": ("none",)}
        return few.get(name, ())

    def _vary(self, variable: str, value: object, what: str) -> None:
        self._check_known(variable, what)
        before = self.session.template
        self.session.template = {**before, variable: value}
        try:
            self.session.prompt_tokens("?")
        except BaseException:  # Ctrl-C too
            self.session.template = before
            raise

    def _check_known(self, variable: str, what: str) -> None:
        if not self.pair.tokenizer.knows(variable):
            raise RequestError(f"the chat template of {self.model} has no {what}.", "Leave it as it is.")

    @property
    def settings(self) -> dict[str, Any]:
        """All settings by name, as they are."""
        options = self._options
        sampling: Sampling = options.pop("sampling")
        effort = {"effort": self.session.template.get(EFFORT)} if self.pair.tokenizer.knows(EFFORT) else {}
        return {**{name: getattr(sampling, name) for name in SAMPLING}, **options, **effort}

    def setting(self, name: str) -> Any:
        """A setting as it is. Raises RequestError where there is none of this name."""
        if name not in SETTINGS:
            near = nearest(name, SETTINGS)
            hint = f"Did you mean {near}?" if near else f"There are {', '.join(SETTINGS)}."
            raise RequestError(f"there is no setting {name}.", hint)
        if name == "effort":
            self._check_known(EFFORT, "reasoning effort")
        return self.settings[name]

    def set(self, name: str, value: str) -> None:
        """Changes a setting, for the turns to come.

        Raises:
            RequestError: there is no such setting, or it cannot have this value.
        """
        self.setting(name)
        if name == "effort":
            self._vary(EFFORT, value, "reasoning effort")
            return
        before = self._chosen
        self._chosen = {**before, name: _value(value)}
        try:
            self._check()
        except DFlashError:
            self._chosen = before
            raise

    @property
    def _options(self) -> dict[str, Any]:
        """Arguments for the session's turns."""
        sampling = {name: value for name, value in self._chosen.items() if name in SAMPLING}
        others = {name: value for name, value in self._chosen.items() if name not in SAMPLING}
        return {"sampling": replace(self.pair.default_sampling, **sampling), **others}

    def _check(self) -> None:
        """Has the library check the settings."""
        with suppress(MemoryBudgetError):  # a turn asks for no more than there is room for
            self.pair.stream([{"role": "user", "content": "?"}], **self._options)


def _value(text: str) -> int | float | str | None:
    """What a text stands for, as Python has it."""
    if text.lower() == "none":
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
