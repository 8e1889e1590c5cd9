"""What Tab can make of a command that is being typed."""

import re
import shlex
from collections.abc import Iterable
from contextlib import suppress

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from dflash_mlx.loading.hub import DEMO
from dflash_mlx.loading.known_pairs import known_pairs

from .conversation import Conversation
from .settings import SETTINGS
from .slash import ALIASES, COMMANDS, THINK, setting_name, typed_words


class CommandCompleter(Completer):
    """Completes commands, settings and their values, models, and names of files."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the word before the cursor could become."""
        text = document.text_before_cursor
        command, blank, argument = text.partition(" ")
        if not text.startswith("/"):
            return
        if not blank:
            does_it = {name: does for name, (_, does) in COMMANDS.items()}
            for name, does in (does_it | {alias: does_it[name] for alias, name in ALIASES.items()}).items():
                if name.startswith(command[1:]):
                    yield Completion(f"/{name}", start_position=-len(command), display_meta=does)
            return
        name = ALIASES.get(command[1:], command[1:])
        *before, word = typed_words(argument.replace("=", " ", 1) if name == "set" else argument)
        for candidate in self._words(name, before):
            if candidate.startswith(word):
                yield Completion(candidate, start_position=-len(word))
        if (takes := COMMANDS.get(name, ("",))[0]) == "FILE" and not before or name == "model" and len(before) < 2:
            yield from _files(word, complete_event, only_folders=takes != "FILE")

    def _words(self, name: str, before: list[str]) -> Iterable[str]:
        """What a command takes behind the words before, where these are a few words."""
        match name, before:
            case "think", []:
                return THINK
            case "system", []:
                return ("none",)
            case "set", []:
                return SETTINGS
            case "set", [setting]:
                return self._conversation.choices(setting_name(setting))
            case "model", []:
                return (DEMO, *(pair.target for pair in known_pairs()))
            case "model", [_]:
                return ("auto", "none", *(pair.drafter for pair in known_pairs()))
        return ()


def _files(word: str, event: CompleteEvent, only_folders: bool) -> Iterable[Completion]:
    """Files whose names begin with a word as it is typed; what a shell would take for something else has a backslash."""
    path = ""
    for closed in ("", '"', "'"):
        with suppress(ValueError):
            path = "".join(shlex.split(word + closed))
            break
    for found in PathCompleter(expanduser=True, only_directories=only_folders).get_completions(Document(path), event):
        name = re.sub(r"""([\s"'\\])""", r"\\\1", path + found.text)
        yield Completion(name + "/" * found.display_text.endswith("/"), start_position=-len(word), display=found.display)
