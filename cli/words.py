"""Errors of the library, which speak to a caller of Python, in the words of where they are read."""

import re

from dflash_mlx.errors import DFlashError

from .help import GROUP_OF

VALUE = re.compile(rf"""\b({"|".join(GROUP_OF)})=(True|False|None|"[^"]*"|[\w.]*\w)""")
NAME = re.compile(rf"(?<![\w/=-])({'|'.join(name for name in GROUP_OF if '_' in name)}|temperature|seed)(?![\w/=])")
IN_THE_CHAT = {
    "drafter=None": "/model NAME none",
    "force=True": "`dflash-mlx chat --force`",
    "raw=True": "`dflash-mlx generate --raw`",
}


def on_the_command_line(error: DFlashError) -> tuple[str, str]:
    """Message and hint: `force=True` is --force, `drafter=None` is --drafter none, `max_kl must be` is --max-kl must be"""
    message = error.message
    if found := NAME.match(message):
        message = _flag(found[1]) + message[found.end() :]
    return message, NAME.sub(lambda found: _flag(found[1]), VALUE.sub(_option, error.hint))


def in_the_chat(error: DFlashError) -> tuple[str, str]:
    """Message and hint: `verify="fast"` is /set verify fast; what is not a setting is a command of its own."""
    from .chat.settings import SETTINGS

    def typed(found: re.Match[str]) -> str:
        setting = f"/set {found[1]} {_bare(found[2])}" if found[1] in SETTINGS else _option(found)
        return IN_THE_CHAT.get(found[0], setting)

    return error.message, VALUE.sub(typed, error.hint)


def _option(found: re.Match[str]) -> str:
    flag, value = _flag(found[1]), _bare(found[2])
    return {"True": flag, "False": f"--no-{flag[2:]}", "None": f"{flag} none"}.get(value, f"{flag} {value}")


def _flag(name: str) -> str:
    return "--" + {"thinking": "think"}.get(name, name).replace("_", "-")


def _bare(value: str) -> str:
    return value.strip('"')
