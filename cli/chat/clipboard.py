"""The clipboard: the terminal's own, also at the other end of ssh, and the Mac's."""

import base64
import os
import shutil
import subprocess
import sys

from prompt_toolkit.utils import is_dumb_terminal

from dflash_mlx.errors import RequestError


def copy(text: str) -> None:
    """Puts a text on the clipboard: with pbcopy where there is one, and by the terminal's control sequence (OSC 52).

    Nobody knows whether a terminal obeys that: Apple's does not, and most others do.

    Raises:
        RequestError: there is neither.
    """
    pbcopy = shutil.which("pbcopy")
    if pbcopy:
        subprocess.run([pbcopy], input=text.encode(), check=False, env={**os.environ, "LC_ALL": "en_US.UTF-8"})
    terminal = next((stream for stream in (sys.stdout, sys.stderr) if stream.isatty()), None)
    if terminal and not is_dumb_terminal():
        terminal.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
        terminal.flush()
    elif not pbcopy:
        raise RequestError("this terminal has no clipboard.", "/export FILE.md writes the conversation into a file.")
