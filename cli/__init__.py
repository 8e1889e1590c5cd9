"""The command line `dflash-mlx`: text on stdout and only text, everything else on stderr."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line (by default on the process's own arguments) and ends with its exit code.

    0 done, 1 failed, 2 wrong usage or input, 130 interrupted.
    """
    # A stream that the caller closed (`2>&-`) is None in Python. Opening another file in its place also keeps
    # the free descriptor from being given to a model file. What is written to a closed stdout must fail, as text is lost.
    sys.stdin = sys.stdin or open(os.devnull)
    sys.stdout = sys.stdout or open(os.open(os.devnull, os.O_RDONLY), "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    with _silent_libraries():
        try:
            # Not at the top: Ctrl-C while these load must be quiet too.
            from dflash_mlx.errors import DFlashError

            from .app import app
            from .render import note, unwritten
            from .words import on_the_command_line

            try:
                app(arguments, prog_name="dflash-mlx")
            except DFlashError as error:
                note("error: {}\n{}".format(*on_the_command_line(error)))
                sys.exit(2)
            except OSError as error:
                try:
                    sys.stdout.flush()
                except OSError as again:  # it was stdout, of --help and the like
                    sys.exit(unwritten(again))
                note(f"error: {error}.\nCheck that the disk is not full and that the folder still exists.")
                sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(130)


@contextmanager
def _silent_libraries() -> Iterator[None]:
    """Keeps from users what libraries remark on a checkpoint or on each other, and leaves a caller's settings as they were."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)
