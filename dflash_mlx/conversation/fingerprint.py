"""Which models a pair is made of, without reading them whole: whether a saved prefix is of this pair or of another one."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from dflash_mlx.checkpoint import weight_files
from dflash_mlx.errors import CheckpointError

Fingerprint = dict[str, str | int | None]
SAMPLE = 1024  # bytes of each tensor: a model that was trained further differs in nearly all of them


def fingerprint(target: Path, drafter: Path | None, drafter_bits: int | None) -> Fingerprint:
    """What identifies a pair, by the part that it tells apart. Takes some hundredths of a second, however large the models.

    Args:
        target, drafter: folders that were loaded.
        drafter_bits: what the drafter was quantised to while it was loaded; None: it was not.

    Raises:
        CheckpointError: the files are not there any more, or others than those that were loaded.
    """
    try:
        patterns = ("tokenizer*.json", "*.jinja", "special_tokens_map.json", "chat_template.json")
        texts = (path for pattern in patterns for path in target.glob(pattern))
        return {
            "target": _digest(_model(target)),
            "drafter": _digest(_model(drafter)) if drafter else None,
            "drafter quantisation": drafter_bits,
            "tokenizer or chat template": _digest(path.read_bytes() for path in sorted(texts)),
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"the model's files have changed since they were loaded ({error}).", "Get the model's files again, and start again."
        ) from error


def _model(folder: Path) -> Iterator[bytes]:
    """config.json, and of all files of weights the names, the sizes, the headers and the beginning of each tensor."""
    yield (folder / "config.json").read_bytes()
    for file in weight_files(folder):
        yield f"{file.name} {file.stat().st_size}".encode()
        with file.open("rb") as stream:
            header = stream.read(int.from_bytes(stream.read(8), "little"))
            yield header
            for name, tensor in json.loads(header).items():
                if name != "__metadata__":
                    stream.seek(8 + len(header) + tensor["data_offsets"][0])
                    yield stream.read(SAMPLE)


def _digest(pieces: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(len(piece).to_bytes(8, "little") + piece)
    return whole.hexdigest()
