"""The commands of a chat: what there is, and what a line asks for."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from dflash_mlx.errors import RequestError

# name: what it takes, what it does
COMMANDS = {
    "help": ("", "what there is to type"),
    "retry": ("", "answer the newest message again"),
    "edit": ("[TEXT]", "say something else instead of the newest message"),
    "undo": ("", "take the newest message and its reply back"),
    "clear": ("", "start anew, with the same system message"),
    "system": ("[TEXT]", "show or change the system message; none: no system message"),
    "think": ("[on|off|show]", "whether the model thinks first; show: what it thought last"),
    "set": ("[NAME VALUE]", "show or change the settings"),
    "copy": ("[N]", "copy the newest reply, or the code block N in it"),
    "stats": ("", "how the replies went, as a picture"),
    "save": ("FILE", "keep the conversation, and all that was read of it"),
    "load": ("FILE", "go on with a conversation that was kept"),
    "model": ("[NAME [DRAFTER]]", "show or change the model; the conversation goes on"),
    "quit": ("", "leave; so do Ctrl-D and, at an empty prompt, Ctrl-C twice"),
}
WORDS = {"think": ("on", "off", "show")}


class Command(NamedTuple):
    name: str
    argument: str


def parse(line: str) -> Command | None:
    """The command that a line is; None: it is something said to the model.

    Raises:
        RequestError: there is no such command, or it takes nothing.
    """
    if not line.startswith("/"):
        return None
    name, argument = (*line[1:].split(maxsplit=1), "", "")[:2]
    name, argument = name.lower(), argument.strip()
    if name not in COMMANDS:
        near = nearest(name, COMMANDS)
        raise RequestError(
            f"there is no command /{name}.",
            (f"Did you mean /{near}? " if near else "") + "/help lists them; a blank before the slash sends it to the model.",
        )
    if argument and not COMMANDS[name][0]:
        raise RequestError(f"/{name} takes nothing, not {argument!r}.", f"Type /{name} alone.")
    if not argument and COMMANDS[name][0] == "FILE":
        raise RequestError(f"/{name} needs the name of a file.", f"As in /{name} chat.safetensors.")
    return Command(name, argument)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of the words that was probably meant."""
    return next(iter(get_close_matches(word, list(words), n=1, cutoff=0.4)), None)


def help_text(columns: int) -> str:
    """All commands, and the keys, in so many columns."""
    lines = []
    for name, (takes, does) in COMMANDS.items():
        left = f"/{name} {takes}".strip()
        lines.append(f"{left:<26} {does}" if columns >= 90 else f"{left}\n  {does}")
    keys = "Enter sends; Alt-Enter, or \\ before Enter, begins a new line. Ctrl-C stops a reply and keeps what there is of it."
    return "\n".join([*lines, keys])
