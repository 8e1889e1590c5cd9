"""dflash-mlx: the same answer, faster, by block-diffusion speculative decoding on MLX."""

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
from dflash_mlx.pair import Pair, load

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
    "Statistics",
    "UnsupportedModelError",
    "load",
]
