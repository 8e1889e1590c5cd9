"""Metal kernels: one pair of files each, NAME.py (contract, plain-MLX reference, dispatch) and NAME.metal (the source).

Beside them what models compute by: joint `projections` and `buffers` that grow.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import mlx.core as mx

BODY = "// ---- body ----\n"
MAX_ROWS = 16  # of a pass that kernels serve
# "verify_matmul" is its exact form, "verify_matmul_fast" the other
NAMES = (
    "recurrent_inputs",
    "gated_delta",
    "verify_matmul",
    "verify_matmul_fast",
    "verify_attention",
    "inject_kv",
    "candidates",
)


EXACT = ("recurrent_inputs", "gated_delta", "verify_matmul")  # claim for every row the bits that MLX's ops give it alone


@dataclass(frozen=True)
class Kernels:
    """Which kernels the passes of a model use; by default none, and MLX's own ops do all the work.

    Attributes:
        rows: by name, the numbers of rows at which a kernel is used, where its contract covers the shapes.
        row_invariant: ops of MLX (`targets.row_invariance.Op`) that were seen to be so on this device.
        exact: kernels whose claim to MLX's bits was not seen to be wrong on this device: exact verification uses no others.
    """

    rows: Mapping[str, frozenset[int]] = field(default_factory=dict)
    row_invariant: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset(EXACT)

    def use(self, name: str, rows: int, exact: bool = False) -> bool:
        """Whether a kernel is used for so many rows; with `exact`, in a pass that must have MLX's bits."""
        return rows in self.rows.get(name, ()) and (not exact or name in self.exact)


def has_metal() -> bool:
    """Whether kernels can run here: ours and mlx-lm's."""
    return mx.default_device() == mx.gpu and mx.metal.is_available()


@cache
def source_of(name: str) -> str:
    """A hash of a kernel's files: NAME.py and whatever .metal files start with its name."""
    module = name.removesuffix("_fast")
    files = [Path(__file__).parent / f"{module}.py", *sorted(Path(__file__).parent.glob(f"{module}*.metal"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def source(name: str) -> tuple[str, str]:
    """Header and body of a kernel, as `mx.fast.metal_kernel` wants them."""
    header, mark, body = (Path(__file__).parent / f"{name}.metal").read_text(encoding="utf-8").partition(BODY)
    return (header, body) if mark else ("", header)


@cache
def metal_kernel(name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Callable[..., Any]:
    """The kernel of NAME.metal. `inputs` and `outputs` are tuples of names."""
    header, body = source(name)
    return mx.fast.metal_kernel(f"dflash_{name}", list(inputs), list(outputs), body, header)  # type: ignore[return-value]
