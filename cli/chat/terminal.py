"""The terminal that the chat reads from: what is typed at the wrong time, Ctrl-Z, and its disappearance."""

import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress


class TerminalInput(Vt100Input):
    """A terminal's input that ends when the terminal is gone: prompt_toolkit itself would go on asking."""

    def read_keys(self) -> list[KeyPress]:
        """The keys typed since the last time."""
        keys = super().read_keys()
        if not keys and not is_there():
            self.stdin_reader.closed = True
        return keys


@contextmanager
def silent_keys(resumed: Callable[[], None]) -> Iterator[None]:
    """Keeps what is typed meanwhile for the next prompt, unseen: it would stand in the middle of the reply.

    Ctrl-C and Ctrl-Z work, and the shell gets its terminal as it was.

    Args:
        resumed: called after Ctrl-Z and `fg`, when the shell has written something where the cursor was.
    """
    if not is_there():
        yield
        return
    before, silent = termios.tcgetattr(sys.stdin), termios.tcgetattr(sys.stdin)
    silent[3] &= ~termios.ECHO
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGINT)}

    def resume(number: int, frame: FrameType | None) -> None:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
        resumed()

    def suspend(number: int, frame: FrameType | None) -> None:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
        signal.signal(signal.SIGTSTP, handlers[signal.SIGTSTP])
        signal.raise_signal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, suspend)
        resume(number, frame)  # where nobody could have resumed it, it was not stopped

    termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
    signal.signal(signal.SIGTSTP, suspend)
    signal.signal(signal.SIGCONT, resume)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if is_there():
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def ignore_ctrl_c() -> None:
    """Until the end of `silent_keys`, which was stopped by it once: a second one must not break off what ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def drop_typed() -> None:
    """Forgets what was typed and is not read yet: it was not meant for the shell."""
    if is_there():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def is_there() -> bool:
    """False: the terminal was closed."""
    try:
        termios.tcgetattr(sys.stdin)
    except (termios.error, OSError):
        return False
    return True
