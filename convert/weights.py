"""The weights of a result: read, quantised and written one by one, in files of a bounded size."""

from pathlib import Path

import mlx.core as mx

from dflash_mlx.checkpoint import Weights
from dflash_mlx.errors import CheckpointError

from .plan import Plan
from .recipes import Storage
from .write import Progress, write_json, writing

SHARD = 5 << 30  # bytes of a file of weights at most, as mlx-lm and the Hub have it
PIECE = 8 << 20  # bytes of a layer quantised at once: on the CPU, MLX needs up to 36 times as many for it


def write_weights(folder: Path, plan: Plan, progress: Progress) -> None:
    """Reads, quantises and writes the tensors of a plan one by one, and takes them out of it; at most one file is held.

    Args:
        progress: called with "writing", and the bytes of the result that are done and in all.

    Raises:
        CheckpointError: a tensor cannot be read, or holds NaN or infinity.
    """
    total, done, shards = plan.size, 0, _shards(plan)
    files: dict[str, str] = {}
    for number, names in enumerate(shards, 1):
        file = f"model-{number:05d}-of-{len(shards):05d}.safetensors" if len(shards) > 1 else "model.safetensors"
        made: Weights = {}
        for name in names:
            storage, size = plan.storage_of(name), plan.size_of(name)
            made |= _made(name, plan.tensors.pop(name), storage)
            mx.clear_cache()
            done += size
            progress("writing", done, total)
        files |= dict.fromkeys(made, file)
        with writing(folder):
            try:
                mx.save_safetensors(str(folder / file), made, {"format": "mlx"})
            except RuntimeError as error:
                raise OSError(str(error)) from error
    if len(shards) > 1:
        index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(files.items()))}
        with writing(folder):
            write_json(folder / "model.safetensors.index.json", index)


def _shards(plan: Plan) -> list[list[str]]:
    """The names of the tensors that go into each file."""
    shards: list[list[str]] = []
    room = 0
    for name in plan.tensors:
        size = plan.size_of(name)
        if not shards or size > room:
            shards.append([])
            room = SHARD
        shards[-1].append(name)
        room -= size
    return shards


def _made(name: str, weight: mx.array, storage: Storage | None) -> Weights:
    """What is stored for a tensor, computed."""
    try:
        mx.eval(weight)
    except RuntimeError as error:
        raise CheckpointError(f"{name} cannot be read ({error}).", "Get the model's files again.") from error
    made = {name: weight}
    if storage:
        step = max(1, PIECE * len(weight) // weight.nbytes)
        pieces = []
        for start in range(0, len(weight), step):
            piece = weight[start : start + step]
            _check_finite(name, piece)  # itself: what quantising makes of NaN can be finite
            pieces.append(mx.quantize(piece, storage.group_size, storage.bits, storage.mode))
            mx.eval(pieces[-1])
        path = name.removesuffix("weight")
        made = {f"{path}{part}": mx.concatenate(list(of)) for part, of in zip(("weight", "scales", "biases"), zip(*pieces))}
        mx.eval(made)
    for part in made.values():
        _check_finite(name, part)
    return made


def _check_finite(name: str, values: mx.array) -> None:
    if mx.issubdtype(values.dtype, mx.floating) and not mx.isfinite(values).all().item():
        raise CheckpointError(f"{name} holds NaN or infinity.", "Get the model's files again.")
