"""dflash-mlx: the same answer, faster, by block-diffusion speculative decoding on MLX."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dflash_mlx.conversation.session import Session
    from dflash_mlx.decoding.sampling import Sampling
    from dflash_mlx.decoding.statistics import Statistics
    from dflash_mlx.errors import (
        CheckpointError,
        DFlashError,
        MemoryBudgetError,
        ModelNotFoundError,
        PairMismatchError,
        RequestError,
        UnsupportedModelError,
    )
    from dflash_mlx.generation import Chunk, Generation
    from dflash_mlx.loader import load
    from dflash_mlx.pair import Pair

__all__ = [
    "CheckpointError",
    "Chunk",
    "DFlashError",
    "Generation",
    "MemoryBudgetError",
    "ModelNotFoundError",
    "Pair",
    "PairMismatchError",
    "RequestError",
    "Sampling",
    "Session",
    "Statistics",
    "UnsupportedModelError",
    "__version__",
    "load",
]

_MODULES = ("errors", "decoding.sampling", "decoding.statistics", "generation", "conversation.session", "pair", "loader")


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    # a name is imported when it is first asked for: `dflash-mlx --help` must not wait a second for MLX and transformers
    if name == "__version__":
        return version("dflash-mlx")
    if name in __all__:
        for module in (
            "errors",
            "decoding.sampling",
            "decoding.statistics",
            "generation",
            "conversation.session",
            "pair",
            "loader",
        ):
            found = getattr(import_module(f"dflash_mlx.{module}"), name, None)
            if found is not None:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
