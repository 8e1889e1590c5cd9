"""What is known of the kernels on this machine: in memory, and in the user's cache folder where the disk allows it.

While a kernel is tried for the first time, a file stands for it that its process has locked. Whoever finds one that nobody
holds knows that a process ended there. Once may be somebody's impatience; after the second time, with no success between
them, the kernel is left alone until its source changes.
"""

import fcntl
import hashlib
import json
import platform
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import mlx.core as mx

from dflash_mlx.tuning import user_cache

DEATHS = 2  # of processes that tried a kernel, after which it is not tried again


@dataclass(frozen=True)
class Entry:
    """What is known of a kernel.

    Attributes:
        source: a hash of its files.
        result: "passed"; "slower" than MLX's op at all numbers of rows, or in whole cycles; "failed", with the error;
            "stalled": processes ended while it was tried (never in the file: see `Record.attempt`).
        error: what went wrong, or why it is slower.
        exact: whether all results had the bits that are claimed.
        rows: the numbers of rows at which it was faster.
        microseconds: by rows: of all its calls in a pass, and of MLX's op instead; empty: it was not timed.
        confirmed: whether whole cycles kept their tokens and speed with it.
    """

    source: str
    result: Literal["passed", "slower", "failed", "stalled"]
    error: str | None = None
    exact: bool = False
    rows: tuple[int, ...] = ()
    microseconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    confirmed: bool = False


def machine() -> dict[str, str]:
    """What a kernel's speed and numbers depend on beside the model and its source."""
    system = f"macOS {platform.mac_ver()[0]}" if platform.system() == "Darwin" else platform.platform()
    chip = str(mx.device_info().get("device_name"))
    return {"chip": chip, "system": system, "mlx": version("mlx"), "dflash-mlx": version("dflash-mlx")}


class Record:
    """What is known of the kernels with one model on this machine."""

    def __init__(self, name: str, model: str) -> None:
        """
        Args:
            name: of the file.
            model: what else the results depend on, for people.
        """
        self.facts = machine() | {"model": model}
        key = hashlib.sha256(repr(self.facts).encode()).hexdigest()[:16]
        self.file = user_cache.folder("kernels") / f"{name}-{key}.json"
        content = user_cache.read(self.file)
        self._entries = _entries_in(content)
        self._own: dict[str, Entry] = {}
        self.row_invariant = _row_invariant_in(content)

    def known(self, name: str, source: str) -> Entry | None:
        """What is known of a kernel, or of anything else that was attempted, with this source."""
        folder = marks_of(name, source)
        if sum(map(_is_left, folder.glob("*.json"))) >= DEATHS:
            return Entry(source, "stalled", f"the process ended twice while trying it: delete {folder} to try it again")
        entry = self._entries.get(name)
        return entry if entry and entry.source == source else None

    @contextmanager
    def attempt(self, name: str, source: str) -> Iterator[None]:
        """Leaves a mark, for all models, unless what runs meanwhile comes to an end of some kind: an exception is one.

        The lock is what tells: it goes with its process, whatever that ended by, and each thread has its own.
        """
        try:
            folder = marks_of(name, source)
            folder.mkdir(parents=True, exist_ok=True)
            mark = tempfile.NamedTemporaryFile("w", dir=folder, suffix=".json", delete=False)
        except OSError:
            yield
            return
        with mark:
            try:
                with suppress(OSError):  # a disk without locks, or without room
                    fcntl.flock(mark, fcntl.LOCK_EX)
                    json.dump(self.facts, mark, indent=1)
                    mark.flush()
                yield
                with suppress(OSError):
                    for left in filter(_is_left, folder.glob("*.json")):
                        left.unlink()
            finally:
                with suppress(OSError):
                    Path(mark.name).unlink()

    def put(self, **entries: Entry) -> None:
        """Notes results."""
        self._own |= entries
        self._entries |= entries
        self.save()

    def save(self) -> None:
        """Writes the file: what other processes have written meanwhile stays."""
        content = user_cache.read(self.file)
        if self.row_invariant is None:
            self.row_invariant = _row_invariant_in(content)
        entries = {name: asdict(entry) for name, entry in (_entries_in(content) | self._own).items()}
        user_cache.write(self.file, self.facts | {"row_invariant": self.row_invariant, "kernels": entries}, indent=1)


def marks_of(name: str, source: str) -> Path:
    """The folder of the marks that attempts have left."""
    return user_cache.folder("kernels") / "tried" / f"{name}-{source}"


def _is_left(mark: Path) -> bool:
    """Whether nobody holds a mark any more."""
    try:
        with mark.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
    except OSError:  # held, or gone meanwhile
        return False


def _entries_in(content: object) -> dict[str, Entry]:
    """The entries of a file, but for what is damaged."""
    entries = content.get("kernels") if isinstance(content, dict) else None
    read = {name: _entry_of(entry) for name, entry in entries.items()} if isinstance(entries, dict) else {}
    return {name: entry for name, entry in read.items() if entry}


def _entry_of(content: object) -> Entry | None:
    try:
        entry = Entry(**content)  # type: ignore[arg-type]
        entry = replace(entry, rows=tuple(entry.rows))
        figures = [seconds for of_rows in entry.microseconds.values() for seconds in (of_rows["kernel"], of_rows["mlx"])]
        numbers = [*entry.rows, *map(int, entry.microseconds)]
    except (TypeError, AttributeError, KeyError, ValueError):
        return None
    sound = (
        entry.result in ("passed", "slower", "failed")
        and isinstance(entry.source, str)
        and isinstance(entry.error, str | None)
        and type(entry.confirmed) is type(entry.exact) is bool
        and all(type(figure) in (int, float) for figure in figures)
        and all(type(rows) is int and rows > 0 for rows in numbers)
    )
    return entry if sound else None


def _row_invariant_in(content: object) -> list[str] | None:
    names = content.get("row_invariant") if isinstance(content, dict) else None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None
