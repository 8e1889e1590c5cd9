"""How results are told: as records for JSON lines, as tables for a terminal, as Markdown for an issue. See docs/bench.md."""

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .measure import Answer, Run, Way
from .summary import Figure, Summary, first_difference

SCHEMA = 1
LONGEST_NAME = 16  # characters of a category
WIDEST = 1000  # columns of a table, which hardly takes more than 80


class Grid(NamedTuple):
    """A table of texts; the first columns, which name things, stand to the left."""

    titles: tuple[str, ...]
    rows: list[tuple[str, ...]]
    names: int


def run_record(run: Run, plain: Run | None) -> dict[str, Any]:
    """A run for JSON.

    Args:
        plain: plain decoding of the same prompt in the same round; None: it is that itself, or there is none.
    """
    at = first_difference(plain.answer.token_ids, run.answer.token_ids) if plain else None
    known = plain is not None and run.way.temperature == 0
    return {
        "type": "run",
        **_flat(run),
        "tokens_per_second": run.answer.tokens_per_second,
        "same_as_plain": at is None if known else None,
        "differs_at": at if known else None,
    }


def summary_record(summary: Summary) -> dict[str, Any]:
    """A summary for JSON."""
    return {
        "type": "summary",
        **{name: value._asdict() if isinstance(value, Figure) else value for name, value in _flat(summary).items()},
    }


def _flat(result: Run | Summary) -> dict[str, Any]:
    """Its fields, and in place of way and answer theirs."""
    fields: dict[str, Any] = {}
    for name, value in vars(result).items():
        fields |= value._asdict() if isinstance(value, Way | Answer) else {name: value}
    return fields


def tables(summaries: Sequence[Summary]) -> list[Grid]:
    """Speeds; what else it costs; how often drafts were kept. Only columns that say something."""
    keys = _keys(summaries)
    speeds: dict[str, Callable[[Summary], str]] = {
        "plain": lambda s: _rate(s.plain_tokens_per_second.median),
        "tok/s": lambda s: _rate(s.tokens_per_second.median),
        "spread": lambda s: "-".join(f"{speed:.0f}" for speed in s.quartiles) if s.prompts > 1 else "",
        "ratio": lambda s: _interval(s.ratio),
        "tau": lambda s: f"{s.acceptance_length.median:.2f}",
        "same": lambda s: "" if s.same_answers is None else f"{s.same_answers}/{s.prompts}",
    }
    scale, unit = (1e9, "GB") if max(abs(s.memory_over_plain_bytes) for s in summaries) >= 1e9 else (1e6, "MB")
    costs: dict[str, Callable[[Summary], str]] = {
        "first token s": lambda s: f"{s.plain_time_to_first_token_s.median:.3f} / {s.time_to_first_token_s.median:.3f}",
        "prefill tok/s": lambda s: f"{s.plain_prefill_tokens_per_second.median:.0f} / {s.prefill_tokens_per_second.median:.0f}",
        f"memory {unit}": lambda s: f"{s.memory_over_plain_bytes / scale:+.1f}",
    }
    if any(s.joules_per_token is not None for s in summaries):
        costs["J/token"] = lambda s: f"{_joules(s.plain_joules_per_token)} / {_joules(s.joules_per_token)}"
    kept = {"kept by position, %": lambda s: " ".join(f"{100 * rate:.0f}" for rate in s.acceptance_by_position)}
    drafted = [s for s in summaries if s.acceptance_by_position]
    if not any(s.same_answers is not None for s in summaries):
        del speeds["same"]
    grids = [_grid(keys, speeds, summaries), _grid(keys, costs, summaries)]
    return [*grids, _grid(keys, kept, drafted)] if drafted else grids


def text(grids: Sequence[Grid]) -> str:
    """The tables for a terminal, as wide as they are: one that is narrower wraps lines, and cuts no figure."""
    console = Console(file=io.StringIO(), width=WIDEST)
    for number, grid in enumerate(grids):
        if number:
            console.print()
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
        for column, title in enumerate(grid.titles):
            table.add_column(Text(title), justify="left" if _left(grid, column) else "right")
        for row in grid.rows:
            table.add_row(*map(Text, row))
        console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def legend(summaries: Sequence[Summary]) -> list[str]:
    """What the columns mean, those that are there."""
    lines = [
        "plain, tok/s: tokens a second after the first, by plain decoding and in this way; median prompt",
        "spread: between these lies the middle half of the prompts",
        "ratio: times plain's speed, median prompt and its 95% interval (from 6 prompts on)",
        "tau: tokens a cycle (acceptance length)",
    ]
    if any(s.same_answers is not None for s in summaries):
        lines.append("same: prompts with the same answer, token by token, as by plain decoding")
    lines.append("a / b: plain decoding / this way; memory: how much more at the peak, with the drafter")
    if any(s.acceptance_by_position for s in summaries):
        lines.append("kept by position: of the first, second, ... drafts of a block")
    return lines


def remarks(runs: Sequence[Run]) -> list[str]:
    """What else there is to say of these runs."""
    lines = []
    short = sum(run.answer.tokens_per_second is None for run in runs)
    if short:
        lines.append(f"answers of one token, which have no speed: {short} of {len(runs)}")
    for size in dict.fromkeys(run.way.block_size for run in runs if run.way.block_size != 1):
        of_size = [run.answer.mode_reason for run in runs if run.way.block_size == size]
        kinds = [re.sub(r"\d+", "", reason or "") for reason in of_size]  # the figures in them differ
        [(kind, count)] = Counter(kinds).most_common(1)
        reason = of_size[kinds.index(kind)]
        if reason:
            lines.append(f"block size {size}: {reason} ({count} of {len(of_size)} answers)")
    return lines


def markdown(header: dict[str, Any], end: dict[str, Any], summaries: Sequence[Summary], remarks: Sequence[str]) -> str:
    """The tables with what has to be known of them, to be pasted into an issue.

    Args:
        header, end: the first and the last record.
        remarks: what else there is to say of the runs.
    """
    machine, settings = header["machine"], header["settings"]
    facts = [
        f"{header['target']}, {header['target_bytes'] / 1e6:.0f} MB; drafter {header['drafter']}, "
        f"{header['drafter_bytes'] / 1e6:.0f} MB, blocks of up to {header['trained_block_size']}",
        f"{machine['device']}, {machine['total_bytes'] / 1e9:.1f} GB, {machine['system']}",
        ", ".join(f"{package} {version}" for package, version in header["versions"].items()),
        f"kernels: {', '.join(header['kernels']) or 'none'}",
        f"answers of up to {settings['max_tokens']} tokens, rounds: {settings['rounds']}, "
        f"rest before each: {settings['cool_down_s']:g} s, verification: {settings['verify']}",
        *remarks,
        *(f"warning: {warning}" for warning in end["warnings"]),
    ]
    if not end["complete"]:
        facts.append(f"**interrupted: {end['answers']} of {end['planned']} answers**")
    parts = [f"### `{header['command']}`", "\n".join(f"- {fact}" for fact in facts)]
    for grid in tables(summaries) if summaries else ():
        sides = ["---" if _left(grid, column) else "---:" for column in range(len(grid.titles))]
        rows = [grid.titles, sides, *grid.rows]
        parts.append("\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows))
    if summaries:
        parts.append("\n".join(f"- {line}" for line in legend(summaries)))
    return "\n\n".join(parts) + "\n"


def _left(grid: Grid, column: int) -> bool:
    return column < grid.names or grid.titles[column].startswith("kept")


def _keys(summaries: Sequence[Summary]) -> dict[str, Callable[[Summary], str]]:
    """What tells the rows apart."""
    keys: dict[str, Callable[[Summary], str]] = {}
    if len({s.category for s in summaries}) > 1:
        keys["category"] = lambda s: _name(s.category)
    if any(s.way.context is not None for s in summaries):
        keys["context"] = lambda s: "as is" if s.way.context is None else str(s.way.context)
    if any(s.way.temperature for s in summaries):
        keys["temp"] = lambda s: f"{s.way.temperature:g}"
    return keys | {"block": lambda s: str(s.way.block_size)}


def _grid(
    keys: dict[str, Callable[[Summary], str]], columns: dict[str, Callable[[Summary], str]], summaries: Sequence[Summary]
) -> Grid:
    cells = keys | columns
    return Grid(tuple(cells), [tuple(cell(summary) for cell in cells.values()) for summary in summaries], len(keys))


def _name(category: str) -> str:
    """What somebody's file calls a category may be anything."""
    name = "".join(c if c.isprintable() else "?" for c in category)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _rate(rate: float) -> str:
    return f"{rate:.1f}" if rate < 1000 else f"{rate:.0f}"


def _interval(figure: Figure) -> str:
    between = "" if figure.low is None else f" ({figure.low:.2f}-{figure.high:.2f})"
    return f"{figure.median:.2f}{between}"


def _joules(joules: float | None) -> str:
    return "?" if joules is None else f"{joules:.3g}"
