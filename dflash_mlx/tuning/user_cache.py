"""The user's cache folder: what was measured or typed on this machine, kept as JSON for the next time, where the disk allows."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path


def folder(name: str) -> Path:
    """Where measurements of a kind are kept."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return Path(cache if os.path.isabs(cache) else os.path.expanduser("~/.cache")) / "dflash-mlx" / name


def read(file: Path) -> object:
    """What `write` wrote; None: there is nothing that can be read."""
    try:
        content: object = json.loads(file.read_text(encoding="utf-8"))
        return content
    except (OSError, ValueError, RecursionError):
        return None


def write(file: Path, content: object, indent: int | None = None, private: bool = False) -> None:
    """Puts a file in place at once, so that nobody finds half of it. A disk that allows nothing is no error.

    Args:
        private: nobody but the user may read it.
    """
    part = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.touch(0o600 if private else 0o666)  # the umask takes from that
        part.write_text(json.dumps(content, indent=indent) + "\n", encoding="utf-8")
        part.replace(file)
    except OSError:
        with suppress(OSError):
            part.unlink()
