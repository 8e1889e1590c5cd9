"""What `dflash-mlx doctor` tells of a loaded pair: its kernels, what cycles cost here, how far blocks are from plain decoding."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .machine import Check
from .render import Progress

if TYPE_CHECKING:
    from dflash_mlx import Pair
    from dflash_mlx.decoding.costs import Costs
    from dflash_mlx.tuning.parity import Parity
    from dflash_mlx.tuning.record import Entry

PROMPTS = (
    "The three states of matter are",
    "def fibonacci(n):\n",
    "Question: A train goes 120 km in 90 minutes. How fast is it? Let us think step by step.\nAnswer:",
)
TOKENS = 24  # compared a prompt
BLOCK_SIZE = 4  # that is compared
SHOWN = 300  # characters of an error
NO_PROMPTS = "not compared: the tokenizer makes no tokens of any of the texts"


def load_pair(name: str, drafter: str, kernels: Any, progress: Progress) -> "Pair":
    """A pair; the target alone where no drafter is known for it. One that is known or named and cannot be had is an error."""
    import dflash_mlx

    drafter_or_none = None if drafter == "none" else drafter
    return dflash_mlx.load(name, drafter=drafter_or_none, kernels=kernels, progress=progress.loading)


def pair_checks(pair: "Pair", plain: bool) -> Iterator[Check]:
    """Kernels, costs, parity, and advice. plain: whether no drafter was wanted."""
    yield from _kernels(pair)
    with Progress(quiet=False) as progress:
        costs = pair.calibrate("fast", progress.measuring)
        exact = pair.calibrate("exact", progress.measuring)
    for verify, measured in (("fast", costs), ("exact", exact)):
        if measured:
            yield _costs(pair, verify, measured)
    prompts = prompts_of(pair)
    if prompts:
        with Progress(quiet=False) as progress:
            reports = compare(pair, prompts, (BLOCK_SIZE,), TOKENS, progress)
        yield from map(_parity, reports)
    else:
        reports = []
        yield Check("parity", NO_PROMPTS, False)
    yield Check("advice", " ".join(_advice(pair, plain, costs, exact, reports)))


def prompts_of(pair: "Pair") -> list[list[int]]:
    """The texts to compare behind, but for those that are no tokens at all to this tokenizer."""
    return [ids for ids in (pair.tokenizer.encode(prompt, raw=True) for prompt in PROMPTS) if ids]


def compare(
    pair: "Pair", prompts: list[list[int]], block_sizes: tuple[int, ...], tokens: int, progress: Progress
) -> "list[Parity]":
    """Verification in blocks held against plain decoding, fast and exact."""
    from dflash_mlx.tuning.parity import parity

    return parity(pair.target, prompts, block_sizes, tokens, progress.comparing, ("fast", "exact"))


def _kernels(pair: "Pair") -> Iterator[Check]:
    """A line for each kernel that was looked at or does not cover the pair's shapes."""
    from dflash_mlx.kernels import NAMES

    choice = pair.kernels
    if choice.file is None:
        yield Check("kernels", "none in use: MLX's own operations do the work")
        return
    for name in NAMES:
        used = sorted(choice.kernels.rows.get(name, ()))
        not_covered = "; ".join(choice.not_covered.get(name, ()))
        entry = choice.entries.get(name)
        if entry is None and not not_covered:
            continue
        value = _of_entry(entry, used) if entry else "does not apply to this pair's shapes"
        if entry and entry.result != "failed" and name in choice.kernels.rows and not entry.exact and name in _exact_names():
            value += "; not in exact verification: other bits than MLX's op"
        if not_covered:
            value += f"; not covered: {not_covered}"
        wrong = entry is not None and entry.result in ("failed", "stalled")
        figures = {"used_at_rows": used, "not_covered": list(choice.not_covered.get(name, ()))}
        yield Check(f"kernel {name}", value, not wrong, figures | (asdict(entry) if entry else {}))


def _exact_names() -> tuple[str, ...]:
    from dflash_mlx.kernels import EXACT

    return EXACT


def _of_entry(entry: "Entry", used: list[int]) -> str:
    compared = "; ".join(
        f"{rows} rows {of_rows['kernel'] / 1e3:.2f} ms, MLX {of_rows['mlx'] / 1e3:.2f} ms"
        for rows, of_rows in entry.microseconds.items()
    )
    error = " ".join((entry.error or "").split())
    error = error if len(error) <= SHOWN else f"{error[:SHOWN]} ..."
    if entry.result in ("failed", "stalled"):
        return f"{entry.result}, MLX's own operation is used instead: {error}"
    if entry.result == "slower" and not used:
        return f"passed, not used: slower than MLX's op ({error or compared})"
    if not used:
        return "passed, not used"
    return f"passed, used at {_ranges(used)} rows" + (f" (a pass: {compared})" if compared else "")


def _ranges(numbers: list[int]) -> str:
    """[1, 2, 3, 6] -> "1-3, 6"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _costs(pair: "Pair", verify: str, costs: "Costs") -> Check:
    widths = sorted({width for width, _, _ in costs.points})
    ms = {width: costs.seconds(width, 0) * 1e3 for width in widths}
    value = ", ".join(f"{width} {'row' if width == 1 else 'rows'} {ms[width]:.1f} ms" for width in widths)
    return Check(f"cost of a cycle, {verify}", value, figures={str(width): round(ms[width], 3) for width in widths})


def _parity(report: "Parity") -> Check:
    value = f"{report.differing} of {report.rows} rows in blocks of {report.block_size} choose another token than plain decoding"
    if report.differing:
        value += f", where its two best logits are at most {report.largest_gap:.2g} apart"
    value += f"; logits differ by at most {report.largest_difference:.2g}"
    ok = report.verify == "fast" or report.largest_difference == 0
    return Check(f"parity, {report.verify}", value, ok, asdict(report))


def _advice(pair: "Pair", plain: bool, costs: "Costs | None", exact: "Costs | None", reports: "list[Parity]") -> Iterator[str]:
    from dflash_mlx.decoding.block_size import Policy
    from dflash_mlx.tuning.record import marks_of

    if pair.drafter and costs and exact:
        trained = pair.drafter.config.block_size
        policy, width = Policy(costs, trained), min(BLOCK_SIZE, trained)
        pays = "Speculation pays here."
        if not policy.speculative:
            yield f"Speculation hardly pays here ({policy.reason})."
        elif exact.seconds(width, 0) <= 1.05 * costs.seconds(width, 0):
            yield f"{pays} Exact verification costs no more than fast: use --verify exact."
        elif Policy(exact, trained).speculative:
            yield f"{pays} Exact verification costs more than fast and can still pay: use --verify exact if every bit matters."
        else:
            yield f"{pays} Exact verification is no faster than plain decoding here: use --verify fast."
    elif plain:
        yield "Without a drafter, decoding is plain."
    elif pair.drafter is None:
        yield "No drafter is known for this target: give one with --drafter, or choose a known pair (dflash-mlx models)."
    if any(report.verify == "exact" and report.largest_difference for report in reports):
        yield "Exact verification is not exact here: please report this with the output of doctor --json."
    if pair.kernels.file:
        yield f"To try the kernels again, delete {pair.kernels.file}."
    stalled = [marks_of(name, entry.source) for name, entry in pair.kernels.entries.items() if entry.result == "stalled"]
    if stalled:
        yield f"To try a stalled one again, delete {' and '.join(map(str, stalled))}."
