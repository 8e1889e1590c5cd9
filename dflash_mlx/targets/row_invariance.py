"""Which of MLX's ops are row-invariant: whether the bits of a row's result are the same however many rows are computed.

Exact verification computes the rows of a block together where all ops of a sub-layer are, and one by one where not.
The table says what was seen on mlx 0.32.4: 1 row alone against the same row among 2 to 16, as slice and as array of its
own, float32, bfloat16 and float16, matmul to 9216 columns. `tests/targets/test_row_invariance.py` holds every "yes" of the
device it runs on against MLX as it is installed.
"""

import platform
from functools import cache
from typing import Literal, NamedTuple

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

from dflash_mlx.kernels import Kernels
from dflash_mlx.kernels.verify_matmul import kernel_for

Op = Literal[
    "matmul",
    "quantised matmul",
    "attention",  # scaled_dot_product_attention, boolean mask over the whole buffer
    "convolution",  # depthwise conv1d
    "norm",  # rms_norm
    "rope",
    "recurrence",  # mlx-lm's gated_delta_update
    "router",  # softmax, argpartition and the sums of a mixture of experts
    "gather",  # SwitchGLU
    "quantised gather",  # SwitchGLU, quantised
    "elementwise",  # compiled or not
]
# "reference": the BLAS that MLX's Linux wheels bring, which adds one product after the other.
# "other": Linux x86-64 with another BLAS in its place, preloaded or built in.
Backend = Literal["reference", "other", "metal", "unknown"]


class Entry(NamedTuple):
    """invariant: every row has the same bits alone and among others; seen: why this is known, or what was seen instead."""

    invariant: bool
    seen: str


def _yes(seen: str) -> Entry:
    return Entry(True, seen)


def _no(seen: str) -> Entry:
    return Entry(False, seen)


_OWN_LOOP = _yes("MLX's own loop, a row at a time; no difference seen")
_UNMEASURED = _no("not measured")

TABLE: dict[Backend, dict[Op, Entry]] = {
    "reference": {
        "matmul": _yes("no difference in 24 shapes; float32 adds in order of K, half precision is MLX's own loop"),
        "quantised matmul": _yes("no difference in 189 cases: affine 2 to 8 bits, mxfp4, mxfp8, nvfp4"),
        "attention": _yes("no difference in 108 cases: heads of 64 to 256, grouped queries; nor with a longer buffer"),
        "convolution": _OWN_LOOP,
        "norm": _OWN_LOOP,
        "rope": _OWN_LOOP,
        "recurrence": _yes("row after row by construction, the state in float32 between them; no difference seen"),
        "router": _OWN_LOOP,
        "gather": _yes("no difference, sorted (64 indices and more) or not; float32 only, MLX has no other on the CPU"),
        "quantised gather": _yes("no difference, sorted (64 indices and more) or not"),
        "elementwise": _yes("no difference at 1 to 1024 columns, compiled or not"),
    },
    "other": {
        "matmul": _no("OpenBLAS, float32: differs from 2 to 16 rows on, by shape, processor and number of threads"),
        "quantised matmul": _yes("no BLAS in it; no difference in 189 cases under OpenBLAS"),
        "attention": _no("its products are matmuls: OpenBLAS, float32, differs from 4 or 5 rows on"),
        "convolution": _OWN_LOOP,
        "norm": _OWN_LOOP,
        "rope": _OWN_LOOP,
        "recurrence": _yes("no matmul in it; row after row by construction"),
        "router": _OWN_LOOP,
        "gather": _no("OpenBLAS: differs once indices are sorted, as rows of one expert then share a matmul"),
        "quantised gather": _yes("no BLAS in it; no difference under OpenBLAS"),
        "elementwise": _yes("no difference at 1 to 1024 columns, compiled or not"),
    },
    "metal": {
        "matmul": _no("one row has a kernel of its own: float16 seen to differ at 3 rows on M1 Ultra and M5 Max (mlxcel#1182)"),
        "quantised matmul": _no(
            "the kernel goes by the number of rows, and they add in different orders (mlx#3473): from 2 rows on since the M3 "
            "and for all but affine modes, from 12 on seen on an M1 Ultra (mlxcel#1182)"
        ),
        "attention": _no(
            "the kernel goes by the number of rows and the buffer's length, and splits a long buffer by both (its source); "
            "equal at 3 rows over 67 keys on an M5 Max (mlxcel#1182)"
        ),
        "convolution": _UNMEASURED,
        "norm": _no("only this is known: equal at 3 rows of 5120 on an M5 Max (mlxcel#1182)"),
        "rope": _no("only this is known: equal at 3 rows of 128 on an M5 Max (mlxcel#1182)"),
        "recurrence": _no("not measured; row after row in one kernel by its source"),
        "router": _UNMEASURED,
        "gather": _no("not measured; sorted indices, from 64 on, have another kernel"),
        "quantised gather": _no("not measured; sorted indices, from 64 on, have another kernel"),
        "elementwise": _UNMEASURED,
    },
}

OPS: dict[type[nn.Module], tuple[Op, ...]] = {
    nn.Embedding: ("matmul",),  # as head
    nn.QuantizedEmbedding: ("quantised matmul",),
    nn.Linear: ("matmul", "elementwise"),
    nn.QuantizedLinear: ("quantised matmul", "elementwise"),
    nn.RMSNorm: ("norm",),
    nn.Conv1d: ("convolution",),
    SwitchLinear: ("gather", "router"),
    QuantizedSwitchLinear: ("quantised gather", "router"),
}


def ops_of(module: nn.Module, rows: int, dtype: mx.Dtype, kernels: Kernels, *more: Op) -> frozenset[Op]:
    """MLX's ops that a part of a model is made of in exact verification of `rows` rows of `dtype`: its modules' and `more`.

    Not among them: matmuls that our exact kernel does, and what was seen to be row-invariant on this device.
    """
    ours = kernels.use("verify_matmul", rows)
    kinds = {type(part) for part in module.modules() if not (ours and kernel_for(part, rows, dtype, exact=True))}
    return frozenset([*more, *(op for kind, ops in OPS.items() if kind in kinds for op in ops)]) - kernels.row_invariant


def rows_apart(*ops: Op) -> bool:
    """Whether exact verification must compute a sub-layer made of these ops row by row on the default device.

    Ask outside `mx.compile`: the first answer on a CPU takes a small matmul.
    """
    return not all(entry(op).invariant for op in ops)


def entry(op: Op) -> Entry:
    """What is known of an op on the default device."""
    return TABLE.get(backend(), {}).get(op, _UNMEASURED)


def backend() -> Backend:
    """Whose arithmetic the default device does; "unknown" where nothing was ever measured."""
    if mx.default_device() != mx.cpu:
        return "metal" if mx.metal.is_available() else "unknown"
    return _cpu()


@cache
def _cpu() -> Backend:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return "unknown"  # Accelerate on macOS: other code even where no BLAS is called
    return "reference" if _adds_in_order() else "other"


def _adds_in_order() -> bool:
    """Whether matmul adds one product after the other, for 1 row and for 8, as only the reference BLAS does.

    Nobody tells which BLAS is loaded, and comparing 1 row with 8 at one shape is not enough: OpenBLAS changes its kernel
    at other shapes on other processors.
    """
    with mx.stream(mx.cpu):
        x = mx.random.normal((8, 4096), key=mx.random.key(0))
        w = mx.random.normal((4, 4096), key=mx.random.key(1))
        in_order = mx.cumsum(x[:, None] * w, axis=-1)[..., -1]
        return bool(mx.array_equal(x @ w.T, in_order)) and bool(mx.array_equal(x[:1] @ w.T, in_order[:1]))
