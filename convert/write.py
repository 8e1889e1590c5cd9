"""The result on disk: made in a temporary folder beside the goal, which it replaces whole when it is complete.

At every moment the goal is what it was before, or complete. What a killed run leaves behind, the next run removes.
"""

import ctypes
import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from dflash_mlx.errors import MemoryBudgetError, RequestError

GB = 10**9
SUMS, RECORD = "SHA256SUMS", "conversion.json"
COPIED = ["generation_config.json", "tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab.json"]
COPIED += ["merges.txt", "*.jinja", "chat_template.json", "additional_chat_templates/*.jinja", "LICENSE*", "NOTICE*"]
MADE = ["config.json", "model*.safetensors", "model.safetensors.index.json", "README.md", RECORD, SUMS, *COPIED]
MADE += [".DS_Store"]  # by macOS, in every folder that it has shown
SPARE = 64 << 20  # bytes of disk for everything but the weights

Progress = Callable[[str, int, int], None]
Parts = tuple[str, ...]  # the folders below the goal that a conversion makes
ALONE, PAIR = ("",), ("target", "drafter")


def check_goal(goal: Path, overwrite: bool, parts: Parts, kept: list[Path]) -> None:
    """Raises RequestError where a result must not be put: over anything but a result of the same parts, or over what is used.

    Args:
        kept: folders that the conversion reads.
    """
    if not goal.exists():
        return
    if not overwrite:
        raise RequestError(f"{goal} exists.", "Choose another folder, or use overwrite=True to replace it.")
    if foreign := _foreign(goal, parts):
        what = "a model" if parts == ALONE else "a pair's target/ and drafter/"
        raise RequestError(f"{foreign} does not belong to {what}.", f"Choose another folder: {goal} is not replaced.")
    for folder in kept:
        if any(place.samefile(goal) for place in (folder.resolve(), *folder.resolve().parents)):
            raise RequestError(f"{goal} holds {folder}, which is needed.", "Choose another folder for the result.")


def _foreign(folder: Path, parts: Parts) -> Path | None:
    """The first entry that no conversion into these parts makes; of a folder without weights any."""
    if not folder.is_dir():
        return folder
    entries = sorted(folder.iterdir())
    for entry in entries:
        if parts != ALONE and entry.name in parts:
            if found := _foreign(entry, ALONE):
                return found
        elif parts != ALONE or not _is_made(entry):
            return entry
    weighty = parts != ALONE or any(folder.glob("model*.safetensors"))
    return None if weighty or not entries else entries[0]


def _is_made(entry: Path) -> bool:
    """Whether an entry of a model's folder is what a conversion makes there."""
    if entry.is_dir():
        return entry.name == "additional_chat_templates" and all(file.suffix == ".jinja" for file in entry.iterdir())
    return entry.is_file() and any(fnmatchcase(entry.name, pattern) for pattern in MADE)


@contextmanager
def replacing(goal: Path, overwrite: bool, parts: Parts, size: int) -> Iterator[Path]:
    """A temporary folder that becomes `goal` when the block ends well, and vanishes when it does not.

    Args:
        goal: an absolute path without links.
        size: bytes of the weights to come.

    Raises:
        MemoryBudgetError: the disk has no room; the same error as for a download that does not fit.
        RequestError: the folder exists or cannot be written, or another conversion writes it.
    """
    temporary, replaced = (goal.with_name(f".{goal.name}.{state}") for state in ("converting", "replaced"))
    absent: list[Path] = []
    try:
        with writing(goal):
            absent += (folder for folder in goal.parents if not folder.exists())
            goal.parent.mkdir(parents=True, exist_ok=True)
        with _locked(goal):
            try:
                with writing(goal):
                    _clean_up(temporary, replaced, goal)
                    check_goal(goal, overwrite, parts, [])
                    _check_disk(goal, size)
                    temporary.mkdir()
                yield temporary
                with writing(goal):
                    _sync_tree(temporary)
                    check_goal(goal, overwrite, parts, [])  # once more: others had time to put something there
                    _put(temporary, replaced, goal)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
    except BaseException:
        with suppress(OSError):  # not made, or of use to somebody else
            for folder in absent:
                folder.rmdir()
        raise


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Makes a RequestError of an OSError. Only for what writes: what is read, and the caller's functions, fail otherwise."""
    try:
        yield
    except OSError as error:
        raise RequestError(
            f"{place} cannot be written ({error.strerror or error}).",
            "Make room or fix the permissions there, or choose another folder.",
        ) from error


@contextmanager
def _locked(goal: Path) -> Iterator[None]:
    """Holds a lock for the goal, which ends with this process, however that ends.

    It is on a file of its own, because the folders change places. Only who holds it removes the file.
    """
    path = goal.with_name(f".{goal.name}.lock")
    with writing(goal):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with writing(goal):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                ours = os.path.samestat(os.fstat(file), path.stat())
            except (BlockingIOError, FileNotFoundError):
                ours = False
        if not ours:  # locked, or removed just now by whoever had locked it
            raise RequestError(f"another conversion is writing {goal}.", "Wait for it, or choose another folder.")
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
    finally:
        os.close(file)


def _clean_up(temporary: Path, replaced: Path, goal: Path) -> None:
    """Removes what a killed run left, and puts back what it had moved aside and not replaced."""
    if temporary.exists():
        shutil.rmtree(temporary)
    if replaced.exists() and not goal.exists():
        replaced.rename(goal)
    elif replaced.exists():
        shutil.rmtree(replaced)


def _check_disk(goal: Path, size: int) -> None:
    free = shutil.disk_usage(goal.parent).free
    if free < size + SPARE:
        raise MemoryBudgetError(
            f"{goal} will need {size / GB:.2f} GB of disk, {free / GB:.2f} GB are free.",
            "Make room, choose another disk, or fewer bits.",
        )


def _put(temporary: Path, replaced: Path, goal: Path) -> None:
    """The temporary folder takes the goal's place, and what was there is removed."""
    if not goal.exists():
        temporary.rename(goal)
        _sync(goal.parent)
        return
    try:
        _exchange(temporary, goal)
        former = temporary
    except (OSError, AttributeError):  # a file system or C library without it; `_clean_up` knows the moment between
        try:
            goal.rename(replaced)
            temporary.rename(goal)
        except BaseException:
            if not goal.exists():
                replaced.rename(goal)
            raise
        former = replaced
    _sync(goal.parent)
    shutil.rmtree(former, ignore_errors=True)


def _exchange(one: Path, other: Path) -> None:
    """Swaps two folders in one step: renamex_np (macOS) or renameat2 (Linux), which Python does not have."""
    libc = ctypes.CDLL(None, use_errno=True)
    paths = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = libc.renamex_np(*paths, 2)  # RENAME_SWAP
    else:
        failed = libc.renameat2(-100, paths[0], -100, paths[1], 2)  # AT_FDCWD, RENAME_EXCHANGE
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _sync_tree(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):  # what is in a folder before the folder
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(file: Path, content: object) -> None:
    """Writes JSON for people."""
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_sums(folder: Path) -> None:
    """Writes the SHA-256 of every file of a folder, as `sha256sum --check` reads them."""
    lines = []
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    (folder / SUMS).write_text("".join(lines))
