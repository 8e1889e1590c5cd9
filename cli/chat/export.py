"""A conversation as Markdown, for other programs and people."""

from collections.abc import Sequence

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
        raise RequestError(f"{path} already exists.", "Give the name of a new file.")
    with tensor_file.replacing(file) as stream:
        stream.write(text.encode())
