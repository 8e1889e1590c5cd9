"""How a layer is stored, as bits, groups and a mode of MLX; and the named mixtures of them."""

from typing import NamedTuple

from dflash_mlx.errors import RequestError

# Of each mode of mx.quantize: the bits and the group sizes it has, the defaults first.
MODES = {
    "affine": ((4, 2, 3, 5, 6, 8), (64, 32, 128)),
    "mxfp4": ((4,), (32,)),
    "mxfp8": ((8,), (32,)),
    "nvfp4": ((4,), (16,)),
}
# What differs in a mixture from 4 bits, by the last part of a layer's name; None: the layer is kept as it is.
# "quality" spares what llama.cpp's and mlx-lm's mixtures spare, and what feeds the recurrent state.
RECIPES: dict[str, dict[str, int | None]] = {
    "4bit": {},
    "4bit-head8": dict.fromkeys(("lm_head", "embed_tokens"), 8),
    "4bit-gates": dict.fromkeys(("in_proj_a", "in_proj_b", "in_proj_ba")),
    "quality": dict.fromkeys(
        ("lm_head", "embed_tokens", "v_proj", "o_proj", "out_proj", "down_proj", "in_proj_a", "in_proj_b", "in_proj_ba", "fc"), 6
    ),
    "float": {},
}


class Storage(NamedTuple):
    """How `mx.quantize` stores a layer."""

    bits: int
    group_size: int
    mode: str

    def __str__(self) -> str:
        return f"{self.bits} bits" if self.mode == "affine" else self.mode


class Recipe(NamedTuple):
    """How each layer of a model is stored.

    Attributes:
        base: the storage of layers that `exceptions` does not name; None: every layer is kept as it is.
        exceptions: bits by the last part of a layer's name; None: the layer is kept as it is.
    """

    name: str
    base: Storage | None
    exceptions: dict[str, int | None]

    @property
    def precision(self) -> int:
        """Bits of the coarsest layers; of mxfp8, whose numbers have 4 digits, those that come as near; of floats, of bfloat16."""
        if self.base is None:
            return 9
        return 5 if self.base.mode == "mxfp8" else self.base.bits

    def storage(self, path: str) -> Storage | None:
        """How the layer at a path is stored; None: as it is."""
        bits = self.exceptions.get(path.rpartition(".")[2], self.base and self.base.bits)
        return self.base._replace(bits=bits) if self.base and bits else None


def read_recipe(name: str | None = None, bits: int | None = None, group_size: int | None = None, mode: str = "affine") -> Recipe:
    """The recipe that a user's options name.

    Raises:
        RequestError: a value MLX does not have, or options that contradict each other.
    """
    if not isinstance(mode, str) or mode not in MODES:
        raise RequestError(f"there is no mode {mode!r}.", f"Use one of {', '.join(MODES)}.")
    if name is not None and (not isinstance(name, str) or name not in RECIPES):
        raise RequestError(f"there is no recipe {name!r}.", f"Use one of {', '.join(RECIPES)}.")
    if name is not None and bits is not None:
        raise RequestError(f"the recipe {name} says itself how many bits a layer gets.", "Give bits or a recipe, not both.")
    if name is not None and mode != "affine":
        raise RequestError(
            f"the recipe {name} contradicts mode {mode}: recipes are affine.", "Leave out the mode, or the recipe."
        )
    if name == "float":
        if group_size is not None:
            raise RequestError("the recipe float has no groups.", "Leave out the group size.")
        return Recipe(name, None, {})
    (known_bits, known_groups), base = MODES[mode], Storage(bits or MODES[mode][0][0], group_size or MODES[mode][1][0], mode)
    for what, value, known in (("bits", bits, known_bits), ("group size", group_size, known_groups)):
        if value is not None and (type(value) is not int or value not in known):
            raise RequestError(f"mode {mode} has no {what} {value!r}.", f"Use {_either(known)}.")
    return Recipe(name or (f"{base.bits}bit" if mode == "affine" else mode), base, RECIPES.get(name or "", {}))


def _either(values: tuple[int, ...]) -> str:
    *most, last = map(str, sorted(values))
    return f"{', '.join(most)} or {last}" if most else last
