"""Which kernels may be used on this device: checked against MLX's own ops and timed beside them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from dflash_mlx.kernels import source_of
from dflash_mlx.tuning.record import Entry

CALLS = 6  # of a chain
ROUNDS = 3  # of chains, each side in turn; one more before them compiles
MARGIN = 1.02  # a kernel must be this much faster
ROUNDING = {mx.float32: 2.0**-13, mx.float16: 2.0**-9, mx.bfloat16: 2.0**-6}  # relative to the largest number: sums of many
SHOWN = 2000  # characters of an error: a compiler's message

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A kernel at one of the shapes that a model's passes have.

    Attributes:
        kernel: its name.
        what: the shapes, for people.
        rows: of the pass.
        count: how often a pass does it.
        inputs: makes arguments, several of them with weights or buffers of their own, which no cache can hold all of.
        ours: the kernel.
        mlx: what MLX's ops would do instead, for the clock.
        link: (arguments, outputs of the call before) -> arguments that depend on them: no call can start early.
        reference: what the kernel must give but for rounding; None: `mlx`.
        bits: what it claims to give bit by bit; None: nothing is claimed.
        timed: whether it is one of those by which speed is judged; the others are compared only.
    """

    kernel: str
    what: str
    rows: int
    count: int
    inputs: Callable[[], Sequence[Arguments]]
    ours: Callable[..., Any]
    mlx: Callable[..., Any]
    link: Callable[[Arguments, Any], Arguments]
    reference: Callable[..., Any] | None = None
    bits: Callable[..., Any] | None = None
    timed: bool = True


def check(case: Case) -> str | None:
    """Compares a kernel with its reference. Returns what is wrong."""
    try:
        arguments = case.inputs()[0]
        wrong = _compare(case.ours(*arguments), (case.reference or case.mlx)(*arguments))
    except Exception as error:  # a compiler's message, or whatever else comes instead of numbers
        return f"does not run ({case.what}, {case.rows} rows): {type(error).__name__}: {error}"[:SHOWN]
    return f"wrong numbers ({case.what}, {case.rows} rows): {wrong}" if wrong else None


def has_bits(case: Case) -> bool:
    """Whether a kernel claims MLX's bits, and has them."""
    if case.bits is None:
        return False
    arguments = case.inputs()[0]
    pairs = zip(tree_flatten(case.ours(*arguments)), tree_flatten(case.bits(*arguments)), strict=True)
    return all(mx.array_equal(a, b).item() for (_, a), (_, b) in pairs)  # type: ignore[arg-type]


def _compare(ours: Any, theirs: Any) -> str | None:
    a: mx.array
    b: mx.array
    for (place, a), (_, b) in zip(tree_flatten(ours), tree_flatten(theirs), strict=True):  # type: ignore[assignment]
        where = f"output {place}" if place else "output"
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{where} is {a.dtype} {a.shape}, not {b.dtype} {b.shape}"
        if a.dtype not in ROUNDING:
            if not mx.array_equal(a, b).item():
                return f"{where} differs"
            continue
        a, b, rounding = a.astype(mx.float32), b.astype(mx.float32), ROUNDING[a.dtype]
        error, most = mx.abs(a - b).max().item(), mx.abs(b).max().item()
        if not error <= rounding * most:  # type: ignore[operator]  # NaN too is wrong
            return f"{where} is off by {error:.3g}, of numbers up to {most:.3g}"
    return None


def microseconds(case: Case) -> tuple[float, float]:
    """What a call takes by the kernel and by MLX's op: medians of dependent chains, in turn."""
    inputs = case.inputs()
    seconds: dict[Callable[..., Any], list[float]] = {case.ours: [], case.mlx: []}
    for turn in range(ROUNDS + 1):
        for function, times in seconds.items():
            mx.eval(inputs)
            start = time.perf_counter()
            mx.eval(_chain(case, function, inputs))
            if turn:
                times.append(time.perf_counter() - start)
    ours, theirs = (median(times) / CALLS * 1e6 for times in seconds.values())
    return ours, theirs


def _chain(case: Case, function: Callable[..., Any], inputs: Sequence[Arguments]) -> list[Any]:
    outputs = [function(*inputs[0])]
    for call in range(1, CALLS):
        outputs.append(function(*case.link(inputs[call % len(inputs)], outputs[-1])))
    return outputs


def judge(name: str, cases: Sequence[Case], timed: bool) -> Entry:
    """Checks a kernel at all of its shapes and, if `timed` and it passes, times it at some of them."""
    source = source_of(name)
    for case in cases:
        if wrong := check(case):
            return Entry(source, "failed", wrong)
    figures: dict[str, dict[str, float]] = {}
    try:
        exact = all(has_bits(case) for case in cases)
        if not timed:
            return Entry(source, "passed", exact=exact)
        for case in [case for case in cases if case.timed]:
            of_rows = figures.setdefault(str(case.rows), {"kernel": 0.0, "mlx": 0.0})
            for side, of_call in zip(of_rows, microseconds(case)):
                of_rows[side] = round(of_rows[side] + case.count * of_call, 1)
    except Exception as error:
        return Entry(source, "failed", f"does not run: {type(error).__name__}: {error}"[:SHOWN])
    rows = tuple(int(rows) for rows, of_rows in figures.items() if of_rows["kernel"] * MARGIN < of_rows["mlx"])
    return Entry(source, "passed" if rows else "slower", None, exact, rows, figures)
