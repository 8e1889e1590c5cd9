"""Which kernels may be used on this device: checked against MLX's own ops and timed beside them, and what came of it.

A mark stands on disk while a kernel runs for the first time. Whoever finds one whose process has ended knows that the
kernel took it down, and leaves it alone until its source changes.
"""

import hashlib
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Literal

import mlx.core as mx
from mlx.utils import tree_flatten

from dflash_mlx import user_cache

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


@dataclass(frozen=True)
class Entry:
    """What is known of a kernel.

    Attributes:
        source: a hash of its files.
        result: "passed"; "slower" than MLX's op at all numbers of rows, or in whole cycles; "failed", with the error;
            "stalled": it took its process down; "checking": a mark.
        error: what went wrong, or why it is slower.
        exact: whether all results had the bits that are claimed.
        rows: the numbers of rows at which it was faster.
        microseconds: by rows: of all its calls in a pass, and of MLX's op instead; empty: it was not timed.
        confirmed: whether whole cycles kept their tokens and speed with it.
        process: which process left the mark.
    """

    source: str
    result: Literal["passed", "slower", "failed", "stalled", "checking"]
    error: str | None = None
    exact: bool = False
    rows: tuple[int, ...] = ()
    microseconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    confirmed: bool = False
    process: int | None = None


def has_metal() -> bool:
    """Whether kernels can run: nobody else asks."""
    return mx.default_device() == mx.gpu and mx.metal.is_available()


def machine() -> dict[str, str]:
    """What a kernel's speed and numbers depend on beside the model and its source."""
    system = f"macOS {platform.mac_ver()[0]}" if platform.system() == "Darwin" else platform.platform()
    chip = str(mx.device_info().get("device_name"))
    return {"chip": chip, "system": system, "mlx": version("mlx"), "dflash-mlx": version("dflash-mlx")}


@cache
def source_of(name: str) -> str:
    """A hash of a kernel's files: NAME.py and whatever .metal files start with its name."""
    module = name.removesuffix("_fast")
    files = [Path(__file__).parent / f"{module}.py", *sorted(Path(__file__).parent.glob(f"{module}*.metal"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


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
    """Checks a kernel at all of its shapes and, if `timed` and it passes, times it."""
    source = source_of(name)
    for case in cases:
        if wrong := check(case):
            return Entry(source, "failed", wrong)
    figures: dict[str, dict[str, float]] = {}
    try:
        exact = all(has_bits(case) for case in cases)
        if not timed:
            return Entry(source, "passed", exact=exact)
        for case in cases:
            of_rows = figures.setdefault(str(case.rows), {"kernel": 0.0, "mlx": 0.0})
            for side, of_call in zip(of_rows, microseconds(case)):
                of_rows[side] = round(of_rows[side] + case.count * of_call, 1)
    except Exception as error:
        return Entry(source, "failed", f"does not run: {type(error).__name__}: {error}"[:SHOWN])
    rows = tuple(int(rows) for rows, of_rows in figures.items() if of_rows["kernel"] * MARGIN < of_rows["mlx"])
    return Entry(source, "passed" if rows else "slower", None, exact, rows, figures)


class Record:
    """What is known of the kernels with one model on this machine: in memory, and in a file where the disk allows it."""

    def __init__(self, name: str, model: str) -> None:
        """
        Args:
            name: of the file.
            model: what else the results depend on, for people.
        """
        self.facts = machine() | {"model": model}
        key = hashlib.sha256(repr(self.facts).encode()).hexdigest()[:16]
        self.file = user_cache.folder("kernels") / f"{name}-{key}.json"
        content = user_cache.read(self.file)
        self._entries = _entries_in(content)
        row_invariant = content.get("row_invariant") if isinstance(content, dict) else None
        self.row_invariant: list[str] | None = row_invariant if _is_names(row_invariant) else None

    def known(self, name: str, source: str) -> Entry | None:
        """What is known of a kernel, or of anything else that was attempted, with this source."""
        entry = self._entries.get(name)
        if entry is None or entry.source != source or entry.result == "checking":
            return _stalled_in(self.file.parent, name, source)
        return entry

    @contextmanager
    def attempt(self, name: str, source: str) -> Iterator[None]:
        """Leaves a mark while something runs for the first time; `put` replaces it. An exception takes it away again."""
        before = dict(self._entries)
        self.put(**{name: Entry(source, "checking", process=os.getpid())})
        try:
            yield
        except BaseException:
            self._entries = before
            self.save()
            raise

    def put(self, **entries: Entry) -> None:
        """Notes results."""
        self._entries |= entries
        self.save()

    def save(self) -> None:
        """Writes the file."""
        entries = {name: asdict(entry) for name, entry in self._entries.items()}
        content = self.facts | {"row_invariant": self.row_invariant, "kernels": entries}
        user_cache.write(self.file, content, indent=1)


def _stalled_in(folder: Path, name: str, source: str) -> Entry | None:
    """A kernel that once took its process down, with whatever model."""
    for file in sorted(folder.glob("*.json")):
        entry = _entries_in(user_cache.read(file)).get(name)
        if entry is not None and entry.source == source:
            if entry.result == "stalled" or (entry.result == "checking" and not _is_running(entry.process)):
                return Entry(source, "stalled", f"it took its process down: see {file}; delete that file to try it again")
    return None


def _is_running(process: int | None) -> bool:
    """Whether a process that left a mark is still at work; one of our own number has left it before us."""
    if process is None or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _entries_in(content: object) -> dict[str, Entry]:
    """The entries of a file, but for what is damaged."""
    entries = content.get("kernels") if isinstance(content, dict) else None
    read = {name: _entry_of(entry) for name, entry in entries.items()} if isinstance(entries, dict) else {}
    return {name: entry for name, entry in read.items() if entry}


def _entry_of(content: object) -> Entry | None:
    try:
        entry = Entry(**content)  # type: ignore[arg-type]
        entry = replace(entry, rows=tuple(entry.rows))
        figures = [seconds for of_rows in entry.microseconds.values() for seconds in (of_rows["kernel"], of_rows["mlx"])]
        numbers = [*entry.rows, *map(int, entry.microseconds)]
    except (TypeError, AttributeError, KeyError, ValueError):
        return None
    sound = (
        entry.result in ("passed", "slower", "failed", "stalled", "checking")
        and isinstance(entry.source, str)
        and isinstance(entry.error, str | None)
        and isinstance(entry.process, int | None)
        and type(entry.confirmed) is type(entry.exact) is bool
        and all(type(figure) in (int, float) for figure in figures)
        and all(type(rows) is int and rows > 0 for rows in numbers)
    )
    return entry if sound else None


def _is_names(content: object) -> bool:
    return isinstance(content, list) and all(isinstance(name, str) for name in content)
