"""The commands of a chat: what there is, and what a line asks for."""

import re
import shlex
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from dflash_mlx.errors import RequestError

# name: what it takes, what it does
COMMANDS = {
    "help": ("", "show this"),
    "retry": ("", "answer the newest message again"),
    "edit": ("[TEXT]", "say something else instead of the newest message"),
    "undo": ("", "take the newest message and its reply back"),
    "clear": ("", "start over, with the same system message"),
    "system": ("[TEXT]", "show or change the system message; none: no message"),
    "think": ("[on|off|show]", "whether the model thinks first; what it thought last"),
    "set": ("[NAME [VALUE]]", "show or change the settings"),
    "copy": ("[N]", "copy the newest reply, or the code block N in it"),
    "stats": ("", "how the replies went, as a picture"),
    "save": ("FILE", "save conversation and cache (readable only by you)"),
    "load": ("FILE", "continue a saved conversation"),
    "export": ("FILE", "write the conversation as Markdown"),
    "model": ("[NAME [DRAFTER]]", "show or change the model; the conversation continues"),
    "quit": ("", "leave; so do Ctrl-D and, twice, Ctrl-C"),
}
ALIASES = {"exit": "quit", "bye": "quit", "new": "clear", "?": "help"}
THINK = ("on", "off", "show")
KEYS = (
    "Enter sends; Alt-Enter, or \\ before Enter, begins a new line.",
    "Ctrl-C stops a reply and keeps what there is of it. Ctrl-R searches messages.",
)
LEFT, WIDE = 26, 80  # columns of a command, and those from which on a line has room for what it does, too
# as a shell has them: with quotes and backslashes, also when they are still open
WORD = re.compile(r"""([^\s"'\\]|\\.?|"([^"\\]|\\.)*+"?|'[^']*+'?)++""", re.DOTALL)


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
    name, argument = ALIASES.get(name.lower(), name.lower()), argument.strip()
    if name not in COMMANDS:
        near = nearest(name, (*COMMANDS, *ALIASES))
        raise RequestError(
            f"there is no command /{name}.",
            (f"Did you mean /{near}? " if near else "") + "/help lists them; a blank before the slash sends it to the model.",
        )
    if argument and not COMMANDS[name][0]:
        raise RequestError(f"/{name} takes no argument (got {argument!r}).", f"Type /{name} alone.")
    if COMMANDS[name][0] == "FILE" and len(words(argument)) != 1:
        raise RequestError(
            f"/{name} {argument} names {len(words(argument))} files, not one."
            if argument
            else f"/{name} needs the name of a file.",
            "Put quotes around a name with blanks."
            if argument
            else f"As in /{name} chat.{'md' if name == 'export' else 'safetensors'}.",
        )
    return Command(name, argument)


def words(argument: str) -> list[str]:
    """The words of an argument, without quotes and backslashes. Raises RequestError where a quote has no end."""
    try:
        return shlex.split(argument)
    except ValueError:
        raise RequestError(
            f"{argument} has an unmatched quote or backslash.",
            "Put quotes around the whole name, or a backslash before each quote.",
        ) from None


def typed_words(argument: str) -> list[str]:
    """The words of an argument as they are typed. The last one may be unfinished, or, behind a blank, empty."""
    found = [word[0] for word in WORD.finditer(argument)]
    return found if found and argument.endswith(found[-1]) else [*found, ""]


def setting_name(typed: str) -> str:
    """A setting's name, also where it is typed as on the command line."""
    return typed.lstrip("-").replace("-", "_").lower()


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of the words that was probably meant."""
    return next(iter(get_close_matches(word, list(words), n=1, cutoff=0.4)), None)


def help_text(columns: int) -> str:
    """All commands, and the keys, in so many columns."""
    lines = []
    for name, (takes, does) in COMMANDS.items():
        left = f"/{name} {takes}".strip()
        lines.append(f"{left:<{LEFT}}{does}" if columns >= WIDE else f"{left}\n  {does}")
    return "\n".join([*lines, "", *KEYS])
