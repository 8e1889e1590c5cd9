"""One picture of a benchmark: speed-up, acceptance, cost of a pass, and where a cycle's time goes.

matplotlib is optional: it is imported here, inside, and never through pyplot, which would keep figures and settings of its own.
"""

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dflash_mlx.errors import RequestError

from .glyphs import available_fonts, category_names, legible_in, shorter
from .summary import ALL, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .measure import Way
    from .profile import Profile

# Okabe and Ito's colours, which colour-blind people tell apart
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933")
MARKERS = "os^Dv<P"
INK, QUIET = "#222222", "#BBBBBB"
DPI = 150
LONGEST_TITLE = 120  # characters
MANY_BARS = 18  # that stand in a panel as high as the others
Panel = Callable[["Axes"], None]
Colour = str | tuple[float, float, float, float]


def check_plot(path: Path) -> None:
    """Raises RequestError where `plot` could not write such a file: to be asked before measuring."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise RequestError(f"the plot {path} is neither PNG nor SVG.", "Give it a name that ends in .png or .svg.")
    if path.is_dir():
        raise RequestError(f"the plot {path} is a folder.", "Give it another name.")
    if not path.parent.is_dir():
        raise RequestError(
            f"the plot {path} is to go into a folder that does not exist.", "Make the folder, or name another one."
        )
    if not os.access(path.parent, os.W_OK):
        raise RequestError(f"the plot {path} is to go into a folder that is not writable.", "Name another folder.")
    if importlib.util.find_spec("matplotlib") is None:
        raise RequestError("plots are drawn by matplotlib, which is not installed.", "Install it: pip install matplotlib.")


def plot(path: Path, title: str, summaries: Sequence[Summary], passes: Mapping[int, float], profile: "Profile | None") -> None:
    """Draws the results into a PNG or SVG file, whole or not at all. What is not known is left out, panel by panel.

    Args:
        path: where to; replaced if it is there.
        summaries: at least one; their order is the picture's.
        passes: seconds of one target pass, by rows.
    Raises:
        RequestError: as `check_plot`, or the file cannot be written.
    """
    check_plot(path)
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    fonts = available_fonts()
    legible = legible_in(fonts)
    names = category_names([summary.category for summary in summaries], legible)
    bars = len(summaries) + len(names) / 2

    panels: list[Panel] = [lambda axes: _speed_up(axes, summaries, names)]
    if any(summary.acceptance_by_position for summary in summaries):
        panels.append(lambda axes: _acceptance(axes, summaries, names))
    if passes:
        panels.append(lambda axes: _passes(axes, passes))
    if profile is not None:
        panels.append(lambda axes: _cycle(axes, profile))

    with matplotlib.rc_context(_settings(fonts)):
        rows = _layout(len(panels), tall=bars > MANY_BARS)
        height = max(3.7 * len(rows), 1.5 + 0.21 * bars)
        figure = Figure((6.5 * len(rows[0]), 0.5 + height), DPI, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
        figure.suptitle(legible(shorter(title, LONGEST_TITLE)), x=0.015, ha="left", fontsize=14)  # bold Chinese is rare
        axes: dict[int, Axes] = figure.subplot_mosaic(rows)
        for number, panel in enumerate(panels):
            panel(axes[number])

        format = path.suffix.lower()[1:]
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            figure.savefig(part, format=format, metadata={"Date": None} if format == "svg" else None)
            part.replace(path)
        except OSError as error:
            raise RequestError(f"the plot {path} cannot be written: {error.strerror}.", "Name another file.") from error
        finally:
            with suppress(OSError):
                part.unlink()


def _layout(panels: int, tall: bool) -> list[list[int]]:
    """Which panel stands where, by rows. A tall first one has the left column for itself."""
    if panels == 1:
        return [[0]]
    if tall or panels == 2:
        return [[0, panel] for panel in range(1, panels)]
    return [[0, 1], [2, panels - 1]]


def _speed_up(axes: "Axes", summaries: Sequence[Summary], names: Mapping[str, str]) -> None:
    """Bars of the ratio to plain decoding with its interval: a group a category, a colour a way."""
    ways = list(dict.fromkeys(summary.way for summary in summaries))
    colours = _colours(len(ways))
    labels = _way_labels(ways)
    thickness = min(0.8, 0.2 + 0.2 * len(names)) / len(ways)
    places = {category: place for place, category in enumerate(names)}
    furthest = 1.0
    for way, colour in zip(ways, colours):
        for summary in (summary for summary in summaries if summary.way == way):
            y = places[summary.category] + (ways.index(way) - (len(ways) - 1) / 2) * thickness
            median, low, high = summary.ratio
            axes.barh(y, median, thickness * 0.9, color=colour)
            end = median
            if low is not None and high is not None:
                axes.plot([low, high], [y, y], color=INK, linewidth=1.2, marker="|", markersize=5)
                end = max(median, high)
            _figure(axes, f"{median:.2f}×", end, y)
            furthest = max(furthest, end)
    axes.axvline(1.0, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xlim(0, furthest * 1.15)
    axes.set_yticks(range(len(names)), list(names.values()))
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_xlabel("times the speed of plain decoding")
    intervals = any(summary.ratio.low is not None for summary in summaries)
    axes.set_title("Speed-up" + (", median and its 95% interval" if intervals else ""))
    _legend_below(axes, colours, labels)


def _acceptance(axes: "Axes", summaries: Sequence[Summary], names: Mapping[str, str]) -> None:
    """Lines of how often a draft is kept, by its position; of the way that drafts the most positions."""
    ways = list(dict.fromkeys(summary.way for summary in summaries))
    way = max(summaries, key=lambda summary: len(summary.acceptance_by_position)).way
    rates = {s.category: s.acceptance_by_position for s in summaries if s.way == way and s.acceptance_by_position}
    single = sorted((category for category in rates if category != ALL), key=lambda category: sum(rates[category]))
    coloured = [category for category in rates if category != ALL]
    if len(coloured) > len(COLOURS):  # told apart by nobody: the extremes stand for them
        coloured = [single[-1], single[0]]
    for category in single:
        if category not in coloured:
            axes.plot(range(1, len(rates[category]) + 1), rates[category], color=QUIET, linewidth=1)
    styles = {category: (colour, marker, 1.5) for category, colour, marker in zip(coloured, COLOURS, MARKERS)}
    if ALL in rates:
        styles[ALL] = (INK, "o", 2.4)
    handles = []
    for category, (colour, marker, width) in styles.items():
        positions = range(1, len(rates[category]) + 1)
        handles += axes.plot(positions, rates[category], color=colour, marker=marker, markersize=5, linewidth=width)
    labels = [names[category] for category in styles]
    if len(single) > len(coloured):
        from matplotlib.lines import Line2D

        handles.append(Line2D([], [], color=QUIET, linewidth=1))
        labels.append(f"{len(single) - len(coloured)} others")
    axes.legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5))
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:.0%}")
    axes.set_xticks(_thinned(range(1, max(map(len, rates.values())) + 1)))
    axes.margins(x=0.06)
    axes.grid(axis="y")
    axes.set_xlabel("position in the block")
    axes.set_ylabel("drafts kept")
    axes.set_title("Acceptance by position" + (f" ({_way_labels(ways)[ways.index(way)]})" if len(ways) > 1 else ""))


def _passes(axes: "Axes", passes: Mapping[int, float]) -> None:
    """What one pass of the target costs, by its rows: in ms, and beside it relative to one row."""
    widths = sorted(passes)
    axes.plot(widths, [passes[width] * 1000 for width in widths], color=COLOURS[0], marker="o", markersize=5, linewidth=2)
    axes.set_ylim(0, max(passes.values()) * 1000 * 1.08)
    axes.set_xticks(_thinned(widths))
    axes.grid(axis="y")
    axes.set_xlabel("rows in the pass")
    axes.set_ylabel("ms")
    axes.set_title("Cost of a target pass")
    if 1 in passes:
        one = passes[1] * 1000
        beside = axes.secondary_yaxis("right", functions=(partial(_scaled, factor=1 / one), partial(_scaled, factor=one)))
        beside.set_ylabel("times one row")
        beside.spines["right"].set_visible(False)
        beside.tick_params(length=0)


def _scaled(values: Any, factor: float) -> Any:
    return values * factor


def _cycle(axes: "Axes", profile: "Profile") -> None:
    """Bars of a cycle's parts: what they take, beside what moving their bytes takes at least."""
    parts = [(part.name, part.seconds, part.bytes / profile.bandwidth) for part in profile.parts]
    parts.append(("Python, meanwhile", profile.host_seconds, 0.0))
    places = range(len(parts))
    axes.barh([y - 0.2 for y in places], [seconds * 1000 for _, seconds, _ in parts], 0.36, color=COLOURS[0])
    axes.barh([y + 0.2 for y in places], [least * 1000 for _, _, least in parts], 0.36, color=QUIET)
    for y, (_, seconds, _) in enumerate(parts):
        _figure(axes, f"{seconds * 1000:.1f}", seconds * 1000, y - 0.2)
    axes.set_yticks(places, [name for name, _, _ in parts])
    axes.set_ylim(len(parts) - 0.4, -0.6)
    axes.margins(x=0.1)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    cycle, floor, step = (1000 * t for t in (profile.cycle_seconds, profile.floor_seconds, profile.plain_step_seconds))
    axes.set_xlabel(f"ms (whole cycle: {cycle:.1f}, at least {floor:.1f}; plain step: {step:.1f})")
    what = "plain step" if profile.rows == 1 else f"cycle of {profile.rows} rows"
    axes.set_title(f"A {what} after {profile.context} tokens, by parts")
    _legend_below(axes, [COLOURS[0], QUIET], ["measured", f"its bytes at {profile.bandwidth / 1e9:.0f} GB/s"])


def _figure(axes: "Axes", text: str, x: float, y: float) -> None:
    """At a bar's end."""
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    axes.annotate(text, (x, y), (5, 0), textcoords="offset points", va="center", fontsize=7.5, bbox=ground)


def _legend_below(axes: "Axes", colours: Sequence[Colour], labels: Sequence[str]) -> None:
    """Under the axis and its label, where it hides nothing and takes no width."""
    from matplotlib.patches import Patch
    from matplotlib.transforms import ScaledTranslation

    assert axes.figure is not None
    lower = axes.transAxes + ScaledTranslation(0, -0.45, axes.figure.dpi_scale_trans)  # inches
    columns = 1 if max(map(len, labels)) > 24 else min(len(labels), 3)
    handles = [Patch(color=colour) for colour in colours]
    axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=lower, ncols=columns, borderaxespad=0)


def _thinned(ticks: Sequence[int]) -> Sequence[int]:
    """At most twelve of them, evenly."""
    return ticks[:: -(-len(ticks) // 12)]


def _colours(count: int) -> list[Colour]:
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    from matplotlib import colormaps

    return [colormaps["viridis"](number / (count - 1)) for number in range(count)]


def _way_labels(ways: Sequence["Way"]) -> list[str]:
    """A way in words: its block size, and what else is not the same for all of them."""
    labels = []
    for way in ways:
        words = ["automatic block" if way.block_size == "auto" else f"block {way.block_size}"]
        if len({other.temperature for other in ways}) > 1:
            words.append(f"temperature {way.temperature:g}")
        if len({other.context for other in ways}) > 1:
            words.append("prompts as they are" if way.context is None else f"context {way.context}")
        labels.append(", ".join(words))
    return labels


def _settings(fonts: Sequence[str]) -> dict[str, object]:
    """Of matplotlib, while the picture is drawn."""
    return {
        "font.family": list(fonts),
        "font.size": 9,
        "text.color": INK,
        "text.parse_math": False,  # a category may be called "$5$"
        "text.usetex": False,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlelocation": "left",
        "axes.titlesize": 10.5,
        "axes.titlepad": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": "#E5E5E5",
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
        "svg.hashsalt": "dflash-mlx",  # the same results draw the same file
    }
