"""Quantised matmul for the few rows of a block, reading every weight, scale and bias once, however many rows there are.

    y = x @ dequantise(w).T        dequantise(w)[n, k] = scales[n, k // group_size] * q[n, k] + biases[n, k // group_size]

in MLX's own layout: x `[..., rows, K]`, w uint32 `[N, K * bits / 32]` (q of `bits` bits, the first in the lowest ones),
scales and biases `[N, K / group_size]`. There are two Metal kernels:

- *exact* (verify_matmul.metal): the bits of a row are those that MLX's `qmv_fast` gives it when it is alone, so exact
  verification decides as plain decoding does, ours and mlx-lm's. MLX takes that kernel for one row where N is a multiple of
  8 and K one of 512; elsewhere it has others, of which it chooses by version, and there is no exact form.
- *fast* (verify_matmul_fast.metal): 8x8 matrices, for which 8 rows cost what one does. Its additions have another order than
  one row alone has in `qmv_fast`.
"""

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.kernels import MAX_ROWS, Kernels, metal_kernel
from dflash_mlx.kernels.projections import as_module

SPLIT = 4  # SIMD groups that share the K of the same outputs in the fast form
INPUTS = ("x", "w", "scales", "biases")


def covers(
    rows: int, outputs: int, inputs: int, bits: int, group_size: int, dtype: mx.Dtype, scales: mx.Dtype, exact: bool = False
) -> bool:
    """Whether a Metal kernel serves a matmul of `rows` rows `[rows, inputs]` of `dtype`.

    Args:
        scales: the dtype of scales and biases: as x, or anything with float32 x. MLX would give other pairs another dtype.
        exact: which of the two.
    """
    return (
        1 <= rows <= MAX_ROWS
        and bits in (4, 8)
        and group_size in (32, 64, 128)
        and inputs % group_size == 0
        and dtype in (mx.bfloat16, mx.float16, mx.float32)
        and scales in (mx.bfloat16, mx.float16, mx.float32)
        and dtype in (scales, mx.float32)
        and (not exact or (outputs % 8 == 0 and inputs % 512 == 0))
    )


def kernel_for(layer: nn.Module, rows: int, dtype: mx.Dtype, exact: bool = False) -> str | None:
    """The name of the kernel that serves a layer for `rows` rows of `dtype`: see `verify_linear`; None: there is none."""
    if not isinstance(layer, nn.QuantizedLinear | nn.QuantizedEmbedding) or layer.mode != "affine":
        return None
    outputs, inputs = layer["scales"].shape[0], layer["scales"].shape[1] * layer.group_size
    covered = covers(rows, outputs, inputs, layer.bits, layer.group_size, dtype, layer["scales"].dtype, exact)
    return ("verify_matmul" if exact else "verify_matmul_fast") if covered else None


def verify_linear(layer: nn.Module, x: mx.array, exact: bool = False) -> mx.array:
    """A quantised linear layer, or an embedding as head, by the kernel that `kernel_for` names: x `[..., rows, inputs]`."""
    w, scales, biases = (layer[name] for name in ("weight", "scales", "biases"))
    y = verify_matmul_metal(x, w, scales, biases, layer.bits, layer.group_size, exact)
    return y + layer["bias"] if "bias" in layer else y


def project(layer: nn.Module, x: mx.array, kernels: Kernels, exact: bool = False) -> mx.array:
    """A linear layer, or an embedding as head, over `[..., rows, inputs]`: by a kernel that is in use, or as the module it is.

    Args:
        exact: a row shall have the bits that it has alone. One that is alone is MLX's.
    """
    rows = x.size // x.shape[-1]
    name = kernel_for(layer, rows, x.dtype, exact) if rows > 1 else None
    if name and kernels.use(name, rows):
        return verify_linear(layer, x, exact)
    return as_module(layer, x)


def verify_matmul_reference(x: mx.array, w: mx.array, scales: mx.array, biases: mx.array, bits: int, group_size: int) -> mx.array:
    """As `verify_matmul_metal`, by MLX's own op. On MLX's CPU backend that adds up in x's dtype: coarse in half precision."""
    return mx.quantized_matmul(x, w, scales, biases, transpose=True, group_size=group_size, bits=bits)


def verify_matmul_metal(
    x: mx.array,
    w: mx.array,
    scales: mx.array,
    biases: mx.array,
    bits: int,
    group_size: int,
    exact: bool = False,
) -> mx.array:
    """x @ dequantise(w).T, `[..., rows, N]` of x's dtype, by the exact or the fast kernel.

    Args:
        x: `[..., rows, K]`, all of its rows together `MAX_ROWS` at most.
        w, scales, biases: as in the module's docstring; views of a larger matrix's rows are not copied.
    """
    outputs, inputs = w.shape[0], x.shape[-1]
    rows = x.size // inputs
    template = [("T", x.dtype), ("ROWS", rows), ("BITS", bits), ("GROUP", group_size)]
    name, threads, threadgroup = "verify_matmul", outputs // 4 * 32, 64
    if not exact:
        template.append(("SPLIT", SPLIT))
        name, threads, threadgroup = "verify_matmul_fast", (outputs + 31) // 32 * 32 * SPLIT, 32 * SPLIT
    (y,) = metal_kernel(name, INPUTS, ("y",))(
        inputs=[x.reshape(rows, inputs), w, scales, biases],
        template=template,
        grid=(threads, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=[(rows, outputs)],
        output_dtypes=[x.dtype],
    )
    return y.reshape(*x.shape[:-1], outputs)
