"""A safetensors file that the user names: put in place at once when it is whole, believed only as far as it is sound."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import mlx.core as mx
from safetensors import SafetensorError, safe_open

from dflash_mlx.errors import RequestError

DTYPES = {mx.float32: "F32", mx.bfloat16: "BF16", mx.float16: "F16"}

Arrays = dict[str, mx.array]


def find(path: str | Path) -> Path:
    """The file that a path means. Raises RequestError where it can be none, and where no file could be put there."""
    try:
        file = Path(os.path.realpath(Path(path).expanduser()))
        if file.is_file():
            return file
        if file.exists():
            raise RequestError(f"{path or repr(path)} is not a file.", "Give a file name.")
        if not file.parent.is_dir():
            raise RequestError(f"there is no folder {file.parent}.", "Check the name.")
        if not os.access(file.parent, os.W_OK | os.X_OK):
            raise RequestError(f"the folder {file.parent} cannot be written to.", "Give a file in another one.")
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # a name too long, no such user, a null byte, no path
        raise RequestError(f"{path!r} is not a file name ({error}).", "Give a file name.") from error
    return file


def read(file: Path) -> tuple[Arrays, dict[str, str]]:
    """The tensors of a file, not read yet, and its metadata. Raises ValueError where it is damaged, or none."""
    try:
        with safe_open(file, framework="numpy"):  # checks their places against the file's size, before MLX believes them
            pass
        return mx.load(str(file), format="safetensors", return_metadata=True)  # type: ignore[return-value]
    except (SafetensorError, OSError, RuntimeError) as error:
        raise ValueError(str(error)) from error


def write(file: Path, arrays: Arrays, metadata: Mapping[str, str]) -> None:
    """Writes floating point arrays. Until the file is whole, what was there before stays.

    A new file is for nobody else to read: it may hold what somebody said. One that is there keeps its permissions.

    `mx.save_safetensors` would first make a copy of every array that is a part of another one: of whole contexts.

    Raises:
        RequestError: there is no room, or no permission.
    """
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": DTYPES[array.dtype], "shape": array.shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with replacing(file) as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            stream.write(memoryview(mx.contiguous(array).view(mx.uint8)))  # type: ignore[arg-type]


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """A stream whose content takes the file's place at once, when it is whole and on the disk."""
    try:
        # a folder of its own beside the file: on the same disk, and gone whatever happens
        with TemporaryDirectory(prefix=".dflash-mlx-", dir=file.parent) as folder:
            part = Path(folder) / "part"
            mode = S_IMODE(file.stat().st_mode) if file.exists() else 0o600
            with part.open("wb") as stream:
                os.fchmod(stream.fileno(), mode)
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(file)
    except OSError as error:
        raise RequestError(
            f"{file} cannot be written ({error.strerror}).", "Make room, or give a file where you may write."
        ) from error
