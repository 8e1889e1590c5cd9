"""Which kernels a pair uses: those that passed their check on this device and make its cycles faster.

Each kernel is compared and timed at the pair's own shapes (`kernel_cases`, `judge`). Then whole cycles decide,
which know of submission, of compiled layers and of what one op's speed means for the next: all kernels that were faster
together, and if that fails one after the other. What came of it is kept on disk.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import mlx.core as mx

from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import RequestError
from dflash_mlx.kernels import NAMES, Kernels, has_metal, source_of
from dflash_mlx.targets import Target
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.judge import SHOWN, Case, judge
from dflash_mlx.tuning.kernel_cases import cases_of
from dflash_mlx.tuning.record import Entry, Record
from dflash_mlx.tuning.row_check import row_invariant_ops
from dflash_mlx.tuning.whole_cycles import compare_cycles, compare_passes, use_kernels

Wanted = Literal["auto", "mlx"] | Sequence[str]

DRAFTING = ("inject_kv", "candidates")  # plain decoding does not see these, nor does any answer
EXACT_ONLY = ("verify_matmul",)  # no pass of fast verification sees it
LONG_ONLY = ("verify_attention",)  # no pass behind a short context sees it


@dataclass(frozen=True)
class Choice:
    """What was chosen, and why.

    Attributes:
        kernels: in use.
        entries: what is known of each kernel that was looked at.
        not_covered: by name, the shapes of the pair that its contract does not cover.
        file: where the results are kept; None: nothing was measured.
        news: kernels that were found failing just now, with the error.
    """

    kernels: Kernels = field(default_factory=Kernels)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    not_covered: Mapping[str, Sequence[str]] = field(default_factory=dict)
    file: Path | None = None
    news: Mapping[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str | None:
        """Which kernels are not used because something is wrong with them; None: there are none."""
        wrong = [f"{name} {entry.result}" for name, entry in self.entries.items() if entry.result in ("failed", "stalled")]
        return f"MLX's own op instead of a Metal kernel: {', '.join(wrong)} (dflash-mlx doctor tells why)" if wrong else None


def check_wanted(wanted: object) -> None:
    """Raises RequestError for what cannot be asked for: unknown kernels, or any where there is no Metal."""
    if wanted in ("auto", "mlx"):
        return
    if isinstance(wanted, str) or not isinstance(wanted, Sequence) or not wanted:
        raise RequestError(f"kernels {wanted!r} is not auto, mlx or names.", f"The kernels are {', '.join(NAMES)}.")
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        raise RequestError(f"there is no kernel {unknown[0]!r}.", f"The kernels are {', '.join(NAMES)}.")
    if not has_metal():
        raise RequestError(
            f"kernel {wanted[0]} needs Metal, and there is none here.", "Leave kernels out: MLX's ops do the work."
        )


def choose(
    target: Target,
    drafter: DFlash | None,
    wanted: Wanted = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Chooses the kernels of a pair. Target and drafter compute by MLX's ops afterwards: who asks applies the choice.

    Args:
        wanted: "auto": what is known to be faster, measured now if it is not known; "mlx": none; names: those, faster or
            not, wherever they cover the shapes and pass their check.
        progress: called with steps done and in all, if it comes to measuring.

    Raises:
        RequestError: see `check_wanted`.
    """
    check_wanted(wanted)
    if wanted == "mlx" or not has_metal():
        return Choice()
    assert isinstance(target, TransformerTarget)  # as all are
    return _Search(target, drafter, progress or (lambda done, total: None)).choice(None if wanted == "auto" else wanted)


class _Search:
    """One pair's search for kernels."""

    def __init__(self, target: TransformerTarget, drafter: DFlash | None, progress: Callable[[int, int], None]) -> None:
        self._target, self._drafter, self._progress = target, drafter, progress
        self._cases: dict[str, list[Case]] = {name: [] for name in NAMES}
        not_covered: dict[str, dict[str, None]] = {}
        for name, found in cases_of(target, drafter):
            if isinstance(found, str):
                not_covered.setdefault(name, {})[found] = None
            else:
                self._cases[name].append(found)
        self._not_covered = {name: list(shapes) for name, shapes in not_covered.items()}
        shapes = [(case.kernel, case.what, case.rows, case.count) for cases in self._cases.values() for case in cases]
        key = hashlib.sha256(repr((shapes, not_covered)).encode()).hexdigest()[:16]
        config = target.config
        model = f"{config.model_type}, {config.num_hidden_layers} layers of {config.hidden_size}, shapes {key}"
        self._record = Record(config.model_type, model)
        self._entries: dict[str, Entry] = {}
        self._news: dict[str, str] = {}

    def choice(self, names: Sequence[str] | None) -> Choice:
        """The choice of `names`, or by speed."""
        for name in NAMES if names is None else names:
            if self._cases[name]:
                self._entries[name] = self._look_at(name, timed=names is None)
        if self._record.row_invariant is None:
            self._record.row_invariant = sorted(row_invariant_ops(self._target))
            self._record.save()
        if names is None:
            self._confirm()
            kernels = self._kernels([name for name, entry in self._entries.items() if entry.confirmed])
        else:
            passed = [name for name, entry in self._entries.items() if entry.result in ("passed", "slower")]
            kernels = self._at({name: self._possible(name) for name in passed})
        return Choice(kernels, self._entries, self._not_covered, self._record.file, self._news)

    def _look_at(self, name: str, timed: bool) -> Entry:
        source = source_of(name)
        known = self._record.known(name, source)
        if known and (known.microseconds or not timed or known.result in ("failed", "stalled")):
            return known
        self._progress(NAMES.index(name), len(NAMES) + 1)
        with self._record.attempt(name, source):
            entry = judge(name, self._cases[name], timed)
            mx.clear_cache()  # of what was computed with
            if name in EXACT_ONLY and entry.result != "failed" and not entry.exact:
                entry = replace(entry, result="failed", error="wrong numbers: not the bits that MLX's op gives one row")
            self._record.put(**{name: entry})
        if entry.error:
            self._news[name] = entry.error
        return entry

    def _confirm(self) -> None:
        """Lets whole cycles decide about kernels that were faster and that they have not decided about."""
        faster = [name for name, entry in self._entries.items() if entry.result == "passed"]
        confirmed = [name for name in faster if self._entries[name].confirmed]
        used = self._kernels(faster).rows
        new = [name for name in faster if name not in confirmed and used[name]]
        if not new:
            return
        self._progress(len(NAMES), len(NAMES) + 1)
        alone = sorted(new, key=self._gain, reverse=True)
        together = [name for name in new if name not in EXACT_ONLY + LONG_ONLY]
        source = hashlib.sha256("".join(source_of(name) for name in (*confirmed, *together)).encode()).hexdigest()[:16]
        if together and not self._record.known("together", source):
            if self._try("together", source, confirmed, together).result == "passed":
                self._settle({name: replace(self._entries[name], confirmed=True) for name in together})
                confirmed += together
                alone = [name for name in alone if name not in together]
        for name in alone:
            entry = self._try(name, self._entries[name].source, confirmed, [name])
            if entry.result == "passed":
                confirmed.append(name)
                entry = replace(self._entries[name], confirmed=True)
            else:
                entry = replace(self._entries[name], result=entry.result, error=entry.error)
            self._settle({name: entry})

    def _try(self, what: str, source: str, before: Sequence[str], new: Sequence[str]) -> Entry:
        """Whole cycles with the new kernels beside those without them, under a mark."""
        without, kernels = self._kernels(before), self._kernels([*before, *new])
        with self._record.attempt(what, source):
            try:
                if what in LONG_ONLY and self._drafter:
                    against = compare_passes(self._target, self._drafter, without, kernels)
                else:
                    against = compare_cycles(self._target, self._drafter, without, kernels, exact=what in EXACT_ONLY)
                entry = Entry(source, against.result, against.why) if against else Entry(source, "passed")
            except Exception as error:  # a compiler's message, or whatever else comes instead of tokens
                why = f"does not run in whole cycles: {type(error).__name__}: {error}"
                entry = Entry(source, "failed", why[:SHOWN])
            finally:
                use_kernels(self._target, self._drafter, Kernels())
            if what == "together":
                self._record.put(together=entry)
        return entry

    def _settle(self, entries: dict[str, Entry]) -> None:
        self._entries |= entries
        self._record.put(**entries)
        self._news |= {name: entry.error for name, entry in entries.items() if entry.result == "failed" and entry.error}

    def _kernels(self, names: Sequence[str]) -> Kernels:
        """These kernels, at the numbers of rows where they were faster and those that are nearest to one of them."""
        rows: dict[str, frozenset[int]] = {}
        for name in names:
            timed, faster = sorted({case.rows for case in self._cases[name] if case.timed}), self._entries[name].rows
            nearest = {row: min(timed, key=lambda seen: abs(seen - row)) for row in self._possible(name)}
            rows[name] = frozenset(row for row, seen in nearest.items() if seen in faster)
        return self._at(rows)

    def _at(self, rows: Mapping[str, frozenset[int]]) -> Kernels:
        exact = frozenset(name for name, entry in self._entries.items() if entry.exact)
        return Kernels(rows, frozenset(self._record.row_invariant or ()), exact)

    def _possible(self, name: str) -> frozenset[int]:
        """Numbers of rows at which it was compared. Plain decoding's one row keeps MLX's bits."""
        compared = frozenset(case.rows for case in self._cases[name])
        return compared if name in DRAFTING or self._entries[name].exact else compared - {1}

    def _gain(self, name: str) -> float:
        """Microseconds a pass, at the number of rows where it is most."""
        return max(of_rows["mlx"] - of_rows["kernel"] for of_rows in self._entries[name].microseconds.values())
