"""Metal kernels: one pair of files each, NAME.py (contract, plain-MLX reference, dispatch) and NAME.metal (the source)."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mlx.core as mx

BODY = "// ---- body ----\n"


def source(name: str) -> tuple[str, str]:
    """Header and body of a kernel, as `mx.fast.metal_kernel` wants them."""
    header, mark, body = (Path(__file__).parent / f"{name}.metal").read_text(encoding="utf-8").partition(BODY)
    return (header, body) if mark else ("", header)


@cache
def metal_kernel(name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Callable[..., Any]:
    """The kernel of NAME.metal. `inputs` and `outputs` are tuples of names."""
    header, body = source(name)
    return mx.fast.metal_kernel(f"dflash_{name}", list(inputs), list(outputs), body, header)
