"""A conversation as Markdown, for other programs and people."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dflash_mlx.conversation import tensor_file
from dflash_mlx.errors import RequestError
from dflash_mlx.text import Thinking


def as_markdown(messages: Sequence[dict[str, str]], model: str) -> str:
    """A heading for each message, and below it what was said, without the thinking."""
    names = {"system": "System", "user": "You", "assistant": model}
    parts = []
    for message in messages:
        text = message["content"]
        if message["role"] == "assistant":
            text = Thinking(False).add(text, last=True)[1]
        parts.append(f"## {names.get(message['role'], message['role'])}\n\n{text.strip(chr(10))}\n")
    return "\n".join(parts)


def write_new(path: str, text: str) -> None:
    """Writes a file for nobody else to read. Raises RequestError where there is one of this name, or it cannot be written."""
    file = tensor_file.find(path)
    if file.exists():
        raise RequestError(f"{path} exists: it stays as it is.", "Give the name of a new file.")
    try:
        with TemporaryDirectory(prefix=".dflash-mlx-", dir=file.parent) as folder:  # there is no half of a file
            part = Path(folder) / "part"
            part.touch(0o600)
            part.write_text(text, encoding="utf-8")
            part.replace(file)
    except OSError as error:
        raise RequestError(
            f"{path} cannot be written ({error.strerror}).", "Make room, or give a file where you may write."
        ) from error
