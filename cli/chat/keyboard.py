"""What the user types: several lines, the history of earlier chats, completion of commands."""

import sys
from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import ConditionalKeyBindings, KeyBindings, KeyBindingsBase, KeyPressEvent
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.output import create_output

from dflash_mlx.tuning import user_cache

from .completion import CommandCompleter
from .conversation import Conversation
from .screen import tell
from .terminal import TerminalInput

KEPT, LONGEST = 1000, 10_000  # messages in the history, and characters of one


class Keyboard:
    """Asks the user for messages."""

    def __init__(self, conversation: Conversation) -> None:
        """conversation: whose settings and models Tab knows."""
        self._editing = False
        self._prompt: PromptSession[str] = PromptSession(
            "> ",
            multiline=True,
            prompt_continuation=lambda width, line, wrapped: " " * width,
            history=_Messages(),
            completer=CommandCompleter(conversation),
            # room for the list of completions is kept free only then
            complete_while_typing=Condition(lambda: self._prompt.default_buffer.text.startswith("/")),
            reserve_space_for_menu=5,
            key_bindings=_bindings(lambda: self._editing),
            input_processors=[TabsProcessor(char1=" ", char2=" ")],
            enable_suspend=True,
            input=TerminalInput(sys.stdin),
            output=create_output(always_prefer_tty=True),  # stderr, where stdout is none
        )

    def ask(self, default: str = "", editing: bool = False) -> str:
        """The next message.

        Args:
            default: what stands there already.
            editing: it takes the place of the newest one.

        Raises:
            EOFError: Ctrl-D, or the terminal is gone.
            KeyboardInterrupt: Ctrl-C, where nothing was typed or `editing`.
        """
        self._editing = editing
        return self._prompt.prompt(_question(editing), default=default)

    def choose(self, question: str, yes: str, no: str) -> bool | None:
        """Which of two words the user types, or begins to type; None: Ctrl-C or Ctrl-D."""
        prompt: PromptSession[str] = PromptSession(
            question, enable_suspend=True, input=self._prompt.input, output=self._prompt.output
        )
        return _choice(prompt.prompt, yes, no)


class Lines:
    """Asks likewise where the terminal can only show text: a line is a message, unless it ends with a backslash."""

    def ask(self, default: str = "", editing: bool = False) -> str:
        """As `Keyboard.ask`, but the default can only be shown."""
        if default:
            tell(f"it was: {default}")
        question = _question(editing)
        lines = [self._line(question)]
        while lines[-1].endswith("\\"):
            lines[-1:] = [lines[-1][:-1], self._line(" " * len(question))]
        return "\n".join(lines)

    def choose(self, question: str, yes: str, no: str) -> bool | None:
        """As `Keyboard.choose`."""
        return _choice(lambda: self._line(question), yes, no)

    def _line(self, question: str) -> str:
        sys.stderr.write(question)
        sys.stderr.flush()
        if not (line := sys.stdin.readline()):
            raise EOFError
        return line.rstrip("\n")


def _choice(ask: Callable[[], str], yes: str, no: str) -> bool | None:
    try:
        while not (word := ask().strip().lower()) or not (yes.startswith(word) or no.startswith(word)):
            tell(f"Type {yes} or {no}.")
    except (EOFError, KeyboardInterrupt):
        return None
    return yes.startswith(word)


def _question(editing: bool) -> str:
    return "edit> " if editing else "> "


class _Messages(History):
    """What was typed in earlier chats, the newest first; kept in the user's cache folder, for nobody else to read."""

    def __init__(self) -> None:
        super().__init__()
        self.file = user_cache.folder("chat") / "history.json"

    def load_history_strings(self) -> Iterable[str]:
        """The history, the newest first."""
        return reversed(self._kept())

    def store_string(self, string: str) -> None:
        """Adds a message to what is there, by now maybe from other chats too."""
        if len(string) <= LONGEST:
            user_cache.write(self.file, [*self._kept(), string][-KEPT:], private=True)

    def _kept(self) -> list[str]:
        kept = user_cache.read(self.file)
        return [text for text in kept if isinstance(text, str)] if isinstance(kept, list) else []


def _bindings(editing: Callable[[], bool]) -> KeyBindingsBase:
    bindings = KeyBindings()

    @bindings.add("enter")
    def send(event: KeyPressEvent) -> None:
        buffer: Buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @bindings.add("tab")
    def complete(event: KeyPressEvent) -> None:
        buffer: Buffer = event.current_buffer
        if buffer.complete_state and len(buffer.complete_state.completions) > 1:
            buffer.complete_next()
            return
        found = list(buffer.completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
        if len(found) == 1:  # at once, and for good: the next Tab does not take it back
            buffer.cancel_completion()
            buffer.apply_completion(found[0])
        elif found:
            buffer.start_completion(insert_common_part=True)

    @bindings.add("c-c")
    def stop(event: KeyPressEvent) -> None:
        if event.current_buffer.text and not editing():
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return ConditionalKeyBindings(bindings, has_focus(DEFAULT_BUFFER))  # in a search, prompt_toolkit's own apply
