"""Asks before a large download, where somebody is there to answer."""

import sys

import typer

from dflash_mlx.errors import RequestError

from .render import note

GB = 10**9
LARGE = GB  # what is smaller is fetched without a question
BYTES_PER_MINUTE = 100e6 / 8 * 60  # at 100 Mbit/s


def ask_to_download(model: str | None, drafter: str | None, yes: bool) -> None:
    """Says what loading a pair, or one of the two, would download, and asks. Without a terminal, and with yes, nothing is asked.

    Raises:
        RequestError: the answer was no.
    """
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from dflash_mlx.loading.hub import to_download

    parts = to_download(model, drafter)
    size = sum(parts.values())
    if size < LARGE:
        return
    for name, part in parts.items():
        note(f"to download: {name}, {part / GB:.1f} GB")
    minutes = max(1, round(size / BYTES_PER_MINUTE))
    if not _agreed(f"Download {size / GB:.1f} GB, about {minutes} min at 100 Mbit/s? [Y/n] "):
        raise RequestError(
            "nothing was downloaded.", "`dflash-mlx models` says what each model needs. The demo model needs no download."
        )


def _agreed(question: str) -> bool:
    typer.echo(question, err=True, nl=False)
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("y", "yes") or answer == "\n"
