"""One request: what is asked, checked, and the answer to it, chunk by chunk."""

from dflash_mlx.generation.chunks import Chunk, Generation, generate_stream, read_ahead
from dflash_mlx.generation.request import (
    Options,
    check_block_size,
    check_flag,
    check_options,
    check_progress,
    check_template_options,
    check_verify,
    new_request,
)

__all__ = [
    "Chunk",
    "Generation",
    "Options",
    "check_block_size",
    "check_flag",
    "check_options",
    "check_progress",
    "check_template_options",
    "check_verify",
    "generate_stream",
    "new_request",
    "read_ahead",
]
