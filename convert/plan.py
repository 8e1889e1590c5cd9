"""What a conversion will write, known from names and shapes alone: what `--dry-run` prints, and the writer works off."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from dflash_mlx.checkpoint import Weights
from dflash_mlx.errors import RequestError

from .recipes import MODES, Recipe, Storage

# Of a layer: whether the recipe decides on it, or the storage that its family prescribes.
Choice = Callable[[str, nn.Module], bool | Storage]
DTYPES = ("bfloat16", "float16", "float32")


class Row(NamedTuple):
    """The tensors of one kind: how many of the source's, how they are stored, their bytes in the result, and their weights."""

    kind: str
    tensors: int
    stored: str
    bytes: int
    weights: int


def bits_per_weight(rows: list[Row]) -> float:
    """Bits of a weight on average, scales and what is not quantised included."""
    return 8 * sum(row.bytes for row in rows) / sum(row.weights for row in rows)


@dataclass
class Plan:
    """What a conversion will write.

    Attributes:
        tensors: by their names in the result, lazy and not quantised yet; the writer takes them out one by one.
        storage: the layers that are quantised, by path: `PATH.weight` becomes `.weight`, `.scales` and, affine, `.biases`.
        config: what will be config.json.
    """

    tensors: Weights
    storage: dict[str, Storage]
    config: dict[str, Any]

    @property
    def rows(self) -> list[Row]:
        """The tensors by kind, largest first."""
        rows: dict[tuple[str, str], Row] = {}
        for name, tensor in self.tensors.items():
            storage = self.storage_of(name)
            stored = str(storage) if storage else str(tensor.dtype).removeprefix("mlx.core.")
            kind = kind_of(name)
            _, count, _, size, weights = rows.get((kind, stored), Row(kind, 0, stored, 0, 0))
            rows[kind, stored] = Row(kind, count + 1, stored, size + self.size_of(name), weights + tensor.size)
        return sorted(rows.values(), key=lambda row: -row.bytes)

    @property
    def size(self) -> int:
        """Bytes of all tensors in the result."""
        return sum(map(self.size_of, self.tensors))

    def storage_of(self, name: str) -> Storage | None:
        """How a tensor is quantised; None: it is kept."""
        return self.storage.get(name.removesuffix(".weight")) if name.endswith(".weight") else None

    def size_of(self, name: str) -> int:
        """Bytes of a tensor in the result, scales and biases included."""
        tensor, storage = self.tensors[name], self.storage_of(name)
        if storage is None:
            return tensor.nbytes
        a_group = 2 * tensor.dtype.size if storage.mode == "affine" else 1
        return tensor.size * storage.bits // 8 + tensor.size // storage.group_size * a_group


def kind_of(name: str) -> str:
    """What a tensor or layer is, wherever it stands: "self_attn.q_proj" for "model.layers.3.self_attn.q_proj.weight"."""
    return re.sub(r"^(language_model\.)?(model\.)?(layers\.\d+\.)?", "", name.removesuffix(".weight"))


def check_dtype(dtype: str | None) -> None:
    """Raises RequestError where a conversion cannot be to such a type."""
    if dtype is not None and dtype not in DTYPES:
        raise RequestError(f"there is no dtype {dtype!r} to convert to.", f"Use {', '.join(DTYPES)}.")


def new_plan(
    model: nn.Module,
    config: dict[str, Any],
    recipe: Recipe,
    dtype: str | None,
    choice: Choice,
    casts: Callable[[str], bool] = lambda name: True,
) -> Plan:
    """The plan for a model that holds its lazy, unquantised weights.

    Args:
        config: its config.json, without quantisation.
        dtype: one of `DTYPES`, the type of what is not quantised, scales included; None: as `config` says, else as it is.
        choice: which layers are quantised.
        casts: whether a tensor takes on `dtype`.

    Raises:
        RequestError: a layer's rows that the group size does not divide.
    """
    config = {**config, "text_config": dict(config["text_config"])} if "text_config" in config else dict(config)
    places = [config, config["text_config"]] if "text_config" in config else [config]
    named = [(place, key) for place in places for key in ("torch_dtype", "dtype") if place.get(key) in DTYPES]
    wanted = dtype or next((place[key] for place, key in named), None)
    for place, key in named:
        place[key] = wanted
    tensors: Weights = dict(tree_flatten(model.parameters()))
    if wanted is not None:
        tensors = {name: w.astype(getattr(mx, wanted)) if casts(name) else w for name, w in tensors.items()}
    storage = _storages(model, recipe, choice)
    if recipe.base:
        config["quantization"] = recipe.base._asdict() | {path: s._asdict() for path, s in storage.items() if s != recipe.base}
        config["quantization_config"] = config["quantization"]  # for the Hub's model tree, as mlx-lm writes it
    return Plan(tensors, storage, config)


def _storages(model: nn.Module, recipe: Recipe, choice: Choice) -> dict[str, Storage]:
    storages: dict[str, Storage] = {}
    lengths: dict[str, int] = {}
    layers: dict[str, nn.Module] = dict(tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module))
    for path, layer in layers.items():
        storage, chosen = recipe.storage(path), choice(path, layer)
        if storage and chosen:
            lengths[path] = length = layer.weight.shape[-1]
            if isinstance(chosen, Storage):
                storage = _prescribed(path, chosen, length)
            storages[path] = storage
    for path, storage in storages.items():
        if lengths[path] % storage.group_size:
            raise RequestError(
                f"{path} has rows of {lengths[path]} weights, which groups of {storage.group_size} do not divide.",
                _what_divides(set(lengths.values()), storage.mode),
            )
    return storages


def _prescribed(path: str, storage: Storage, length: int) -> Storage:
    """The storage that a family prescribes, in groups that divide the rows: the prescribed ones if they do."""
    for group_size in (storage.group_size, *MODES[storage.mode][1]):
        if length % group_size == 0:
            return storage._replace(group_size=group_size)
    raise RequestError(
        f"{path} has rows of {length} weights, which no groups divide; its family stores it in {storage.bits} bits.",
        "Use the recipe float.",
    )


def _what_divides(lengths: set[int], mode: str) -> str:
    """The hint: what would work for all layers."""
    sizes = {name: [size for size in sorted(sizes) if not any(n % size for n in lengths)] for name, (_, sizes) in MODES.items()}
    if sizes[mode]:
        return f"Use a group size of {' or '.join(map(str, sizes[mode]))}."
    others = [f"mode {name} (groups of {found[0]})" for name, found in sizes.items() if found]
    return f"Use {' or '.join(others or ['the recipe float'])}: mode {mode} has no group size that divides all layers."
