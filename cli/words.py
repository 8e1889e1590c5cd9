"""Errors of the library, which speak to a caller of Python, in the words of where they are read."""

import re

from dflash_mlx.errors import DFlashError

ARGUMENT = re.compile(r"""\b([a-z_]+)=(True|False|None|"[^"]*"|[\w.]+)""")
NAME = re.compile(r"([a-z]+(?:_[a-z]+)+) ")  # of an argument, where a message begins with it


def on_the_command_line(error: DFlashError) -> tuple[str, str]:
    """Message and hint: `force=True` is --force, `drafter=None` is --drafter none, `max_kl 7 ...` is --max-kl 7 ..."""
    message = error.message
    if found := NAME.match(message):
        message = f"--{found[1].replace('_', '-')} {message[found.end() :]}"
    return message, ARGUMENT.sub(_option, error.hint)


def in_the_chat(error: DFlashError) -> tuple[str, str]:
    """Message and hint: `verify="fast"` is /set verify fast; what is not a setting is an option of the command."""
    from .chat.settings import SETTINGS

    def setting(found: re.Match[str]) -> str:
        is_setting = found[1] in SETTINGS and found[2] not in ("True", "False", "None")
        return f"/set {found[1]} {_bare(found[2])}" if is_setting else _option(found)

    return error.message, ARGUMENT.sub(setting, error.hint)


def _option(found: re.Match[str]) -> str:
    name, value = found[1].replace("_", "-"), _bare(found[2])
    return {"True": f"--{name}", "False": f"--no-{name}", "None": f"--{name} none"}.get(value, f"--{name} {value}")


def _bare(value: str) -> str:
    return value.strip('"')
