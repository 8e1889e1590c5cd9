"""A saved prefix: all that a cache holds, in a file, so that another process goes on where this one left.

It is a safetensors file. Its metadata has a JSON object: format and version, the fingerprint of the pair, the tokens, the
positions of the checkpoints, how many rows are exact, the conversation. Its tensors, where N is a layer and C the number of
a checkpoint:

    target.N.keys, target.N.values: of attention layers, `[1, kv_heads, tokens, head_dim]`
    drafter.N.keys, drafter.N.values: of the drafter's full layers, likewise
    C.target.N.conv, C.target.N.recurrent: of recurrent layers, as in `RecurrentState`, with nothing due
    C.drafter.N.keys, C.drafter.N.values: of the drafter's sliding layers, `[1, kv_heads, ring, head_dim]`

A file may come from anywhere: nothing in it is believed before it is checked.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import mlx.core as mx

from dflash_mlx.conversation import tensor_file
from dflash_mlx.conversation.tensor_file import Arrays
from dflash_mlx.decoding.prefix_cache import PrefixCache, nbytes_of
from dflash_mlx.decoding.sequence import Checkpoint, TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import CheckpointError, RequestError
from dflash_mlx.kernels.buffers import KVBuffer
from dflash_mlx.targets import Target
from dflash_mlx.targets.gated_delta import settle
from dflash_mlx.targets.state import AttentionState, RecurrentState

KEY, FORMAT, VERSION = "dflash_mlx", "prefix", 1


class Conversation(NamedTuple):
    """What was said, as messages with `role` and `content`, and the variables of the chat template."""

    messages: list[dict[str, str]]
    template: dict[str, Any]


def save(path: str | Path, cache: PrefixCache, fingerprint: Mapping[str, Any], conversation: Conversation) -> None:
    """Writes what a cache holds. The file is there when it is whole; until then, what was there before stays.

    Raises:
        RequestError: it cannot be written there, another file than a saved one is there, or a variable of the template is
            nothing that JSON knows.
    """
    file, saved = tensor_file.find(path), False
    with suppress(ValueError):  # no such file, or it is damaged
        saved = KEY in tensor_file.read(file)[1]
    if file.exists() and not saved:
        raise RequestError(f"{path} is not a saved conversation, so it is not replaced.", "Give the name of a new file.")
    header = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": fingerprint,
        "token_ids": cache.token_ids,
        "checkpoints": [checkpoint.position for checkpoint in cache.checkpoints],
        "exact_rows": cache.exact_rows,
        "drafter": bool(cache.sequence and cache.sequence.drafter),
        **conversation._asdict(),
    }
    try:
        metadata = {KEY: json.dumps(header)}
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(
            f"a variable of the chat template cannot be saved ({error}).", "Use text, numbers, lists and objects for them."
        ) from error
    tensor_file.write(file, _arrays(cache), metadata)


def load(
    path: str | Path,
    cache: PrefixCache,
    fingerprint: Mapping[str, Any],
    target: Target,
    drafter: DFlash | None,
    check_room: Callable[[int, int], None],
) -> Conversation:
    """Reads a file that `save` wrote.

    Args:
        cache: a new one, which gets what the saved one held.
        fingerprint: of the pair.
        check_room: called with the tokens and the bytes of the checkpoints, before they are read; raises where they do not fit.

    Raises:
        RequestError: there is no such file, or it was saved with another pair.
        CheckpointError: it is damaged, or none of ours.
        what `check_room` raises.
    """
    file = tensor_file.find(path)
    if not file.exists():
        raise RequestError(f"there is no file {path}.", "Check the name.")
    try:
        arrays, metadata = tensor_file.read(file)
        saved = _header(file, metadata, fingerprint)
        saved.check(target, drafter)
        sequence = TokenSequence(target, drafter if saved.drafter else None)
        checkpoints = _fill(sequence, saved, arrays) if saved.token_ids else []
        if arrays:
            raise ValueError(f"{len(arrays)} tensors too many")
        if saved.token_ids:
            cache.restore(sequence, saved.token_ids, checkpoints, saved.exact_rows)
            check_room(len(saved.token_ids), nbytes_of(cache.checkpoints))
            _read(sequence, cache.checkpoints)
    except (TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(
            f"{path} is damaged, or was not saved by dflash-mlx ({error}).",
            "Give one that dflash-mlx wrote, or the name of a new one.",
        ) from error
    return Conversation(saved.messages, saved.template)


class _Saved(NamedTuple):
    """The header, but for what says where it is from."""

    token_ids: list[int]
    checkpoints: list[int]
    exact_rows: int
    drafter: bool
    messages: list[dict[str, str]]
    template: dict[str, Any]

    def check(self, target: Target, drafter: DFlash | None) -> None:
        """Raises ValueError for what no cache of these models holds."""
        size, most = target.config.vocab_size, target.config.max_position_embeddings
        lists = all(isinstance(value, list) for value in (self.token_ids, self.checkpoints, self.messages))
        if not lists or not all(type(i) is int and 0 <= i < size for i in self.token_ids) or len(self.token_ids) > most:
            raise ValueError("its tokens are not this model's")
        places = self.checkpoints
        if not all(type(place) is int for place in places) or places != sorted({i for i in places if i > 0}):
            raise ValueError("its checkpoints are out of order")
        if type(self.exact_rows) is not int or not 0 <= self.exact_rows <= len(self.token_ids):
            raise ValueError("it has more exact rows than rows")
        if type(self.drafter) is not bool or (self.drafter and not drafter):
            raise ValueError("it has another drafter")
        if not isinstance(self.template, dict) or not all(map(_is_message, self.messages)):
            raise ValueError("its messages are not a conversation")


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict) and value.keys() == {"role", "content"} and all(isinstance(text, str) for text in value.values())
    )


def _header(file: Path, metadata: Mapping[str, str], fingerprint: Mapping[str, Any]) -> _Saved:
    """The header of a file of this version, saved with this pair. Raises TypeError or ValueError where it is none of ours."""
    try:
        header = json.loads(metadata.get(KEY, "null"))
    except RecursionError as error:
        raise ValueError("its header is nested too deep") from error
    if not isinstance(header, dict) or header.pop("format", None) != FORMAT:
        raise ValueError("dflash-mlx did not write it")
    version, theirs = header.pop("version", None), header.pop("fingerprint", None)
    if version != VERSION:
        raise RequestError(
            f"{file} has format version {version}, this dflash-mlx reads version {VERSION}.",
            "Give the name of a new file.",
        )
    for part, ours in fingerprint.items():
        if not isinstance(theirs, dict) or theirs.get(part) != ours:
            raise RequestError(
                f"{file} was saved with a different {part}.",
                "Load the pair that it was saved with, or give the name of a new file.",
            )
    return _Saved(**header)


def _arrays(cache: PrefixCache) -> Arrays:
    """What the file holds of a cache, by name. Buffers are not copied yet."""
    arrays: Arrays = {}
    if not cache.sequence or not cache.token_ids:
        return arrays
    cache.sequence.settle()
    for name, buffer in _buffers(cache.sequence):
        arrays |= _named(name, buffer.keys[:, :, : len(cache.token_ids)], buffer.values[:, :, : len(cache.token_ids)])
    for number, checkpoint in enumerate(cache.checkpoints):
        for i, state in checkpoint.recurrent.items():
            settle(state)
            arrays |= {f"{number}.target.{i}.conv": state.conv, f"{number}.target.{i}.recurrent": state.recurrent}
        for i, ring in checkpoint.rings.items():
            arrays |= _named(f"{number}.drafter.{i}", *ring)
    return arrays


def _named(name: str, keys: mx.array, values: mx.array) -> Arrays:
    return {f"{name}.keys": keys, f"{name}.values": values}


def _buffers(sequence: TokenSequence) -> Iterator[tuple[str, KVBuffer]]:
    """The buffers that have a row for every position, with their names."""
    for i, state in enumerate(sequence.state.layers):
        if isinstance(state, AttentionState):
            yield f"target.{i}", state
    for i, context in enumerate(sequence.context.layers if sequence.context else ()):
        if context.window is None:
            yield f"drafter.{i}", context


def _fill(sequence: TokenSequence, saved: _Saved, arrays: Arrays) -> list[Checkpoint]:
    """Puts into a new sequence what the file has for it, taking it from `arrays`; nothing is read yet."""
    rows, recurrent, rings = len(saved.token_ids), sequence.state.recurrent, sequence.context.rings if sequence.context else {}

    def take(name: str, like: mx.array, rows: int | None = None) -> mx.array:
        array = arrays.pop(name, None)
        shape = like.shape if rows is None else (*like.shape[:2], rows, like.shape[3])
        if array is None or array.shape != shape or array.dtype != like.dtype:
            found = f"{array.dtype} {array.shape}" if array is not None else "missing"
            raise ValueError(f"{name} is {found}, not {like.dtype} {shape}")
        return array

    if saved.checkpoints[-1:] != ([] if sequence.anywhere else [rows]):
        raise ValueError("its last checkpoint is not at its end")
    for name, buffer in _buffers(sequence):
        buffer.keys = take(f"{name}.keys", buffer.keys, rows)
        buffer.values = take(f"{name}.values", buffer.values, rows)
    checkpoints = []
    for number, position in enumerate(saved.checkpoints):
        states = {
            i: RecurrentState(
                take(f"{number}.target.{i}.conv", state.conv), take(f"{number}.target.{i}.recurrent", state.recurrent)
            )
            for i, state in recurrent.items()
        }
        turned = {
            i: [take(f"{number}.drafter.{i}.{what}", array) for what, array in zip(("keys", "values"), ring)]
            for i, ring in rings.items()
        }
        checkpoints.append(Checkpoint(position, states, turned))
    sequence.go_back(checkpoints[-1] if checkpoints else Checkpoint(rows, {}, {}))
    return checkpoints


def _read(sequence: TokenSequence, checkpoints: Sequence[Checkpoint]) -> None:
    """Reads what was taken from a file, a layer at a time: for a moment, each is there twice."""
    for _, buffer in _buffers(sequence):
        buffer.reserve(sequence.position)
        mx.eval(buffer.arrays)
    mx.eval(sequence.arrays, [checkpoint.arrays for checkpoint in checkpoints])
