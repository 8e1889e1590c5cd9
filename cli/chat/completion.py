"""What Tab can make of a command that is being typed."""

from collections.abc import Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from .conversation import SETTINGS
from .slash import COMMANDS, WORDS


class CommandCompleter(Completer):
    """Completes commands, and what some of them take."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the word before the cursor could become."""
        text = document.text_before_cursor
        first, blank, word = text.partition(" ")
        if not text.startswith("/"):
            return
        if not blank:
            words, word = tuple(f"/{name}" for name in COMMANDS), first
        else:
            words = {"/think": WORDS["think"], "/set": SETTINGS}.get(first, ())
        for candidate in words:
            if candidate.startswith(word):
                does = COMMANDS[candidate[1:]][1] if not blank else ""
                yield Completion(candidate, start_position=-len(word), display_meta=does)
