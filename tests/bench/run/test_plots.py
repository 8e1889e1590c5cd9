"""The picture of a benchmark: what it shows is what it was given, and it is there whole or not at all."""

import importlib.util
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

import pytest

from dflash_mlx.bench.run.measure import Way
from dflash_mlx.bench.run.plots import check_plot, plot
from dflash_mlx.bench.run.profile import Part, Profile
from dflash_mlx.bench.run.summary import Figure, Summary
from dflash_mlx.errors import RequestError

PROFILE = Profile(4, 1024, (Part("3 recurrent layers", 0.03, 6 * 10**9), Part("head", 0.004, 10**9)), 0.04, 0.002, 0.03, 250e9)
PASSES = {1: 0.02, 2: 0.022, 4: 0.03}


BLOCK4 = Way(4, 0.0, None)
BLOCK8 = Way(8, 0.0, None)
AUTO = Way("auto", 0.0, None)
NOT_SHOWN = Figure(7.0, None, None)

Panels = dict[str, Any]  # of matplotlib.axes.Axes
Draw = Callable[..., Panels]


def figure(median: float) -> Figure:
    return Figure(median, None, None)


def summary(category: str, way: Way = BLOCK4, ratio: Figure | None = None, kept: Sequence[float] = (0.9, 0.7, 0.5)) -> Summary:
    fields: dict[str, Any] = {field.name: NOT_SHOWN for field in fields_of(Summary)}
    fields |= {"category": category, "way": way, "ratio": ratio or Figure(1.5, 1.2, 1.8), "acceptance_by_position": tuple(kept)}
    return Summary(**fields)


@pytest.fixture
def draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draw:
    """Plots without rendering; gives the panels by the first word of their title."""
    drawing = pytest.importorskip("matplotlib.figure")
    drawn: list[Any] = []

    def keep(self: Any, part: Path, **_: object) -> None:
        drawn.append(self)
        part.touch()

    def draw(summaries: Sequence[Summary], passes: dict[int, float] | None = None, profile: Profile | None = None) -> Panels:
        plot(tmp_path / "plot.png", "a title", summaries, passes or {}, profile)
        return {axes.get_title("left").split()[0].strip(","): axes for axes in drawn[-1].axes}

    monkeypatch.setattr(drawing.Figure, "savefig", keep)
    return draw


@pytest.fixture
def strict() -> Iterator[None]:
    """matplotlib has nothing to complain of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def texts(svg: Path) -> list[str]:
    """What stands in a picture: matplotlib draws letters as paths and leaves the text as a comment."""
    return re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"), re.DOTALL)


def labels(axes: Any) -> list[str]:
    legend = axes.get_legend()
    assert legend
    return [text.get_text() for text in legend.get_texts()]


def names(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def bars(axes: Any) -> list[float]:
    return [patch.get_width() for patch in axes.patches]


def test_four_panels_show_all_there_is(draw: Draw) -> None:
    assert list(draw([summary("chat")], PASSES, PROFILE)) == ["Speed-up", "Acceptance", "Cost", "A"]


def test_what_is_not_known_is_left_out(draw: Draw) -> None:
    assert list(draw([summary("chat", kept=())])) == ["Speed-up"]
    assert list(draw([summary("chat")])) == ["Speed-up", "Acceptance"]
    assert list(draw([summary("chat")], {}, PROFILE)) == ["Speed-up", "Acceptance", "A"]
    assert list(draw([summary("chat")] * 60, PASSES)) == ["Speed-up", "Acceptance", "Cost"]


def test_bars_are_as_long_as_the_ratios(draw: Draw) -> None:
    ways = (BLOCK4, BLOCK8)
    ratios = {("chat", ways[0]): 1.25, ("code", ways[0]): 2.0, ("chat", ways[1]): 0.75, ("code", ways[1]): 3.0}
    panel = draw([summary(category, way, figure(ratio)) for (category, way), ratio in ratios.items()])["Speed-up"]
    assert names(panel) == ["chat", "code"] and labels(panel) == ["block 4", "block 8"]
    placed = {
        (round(patch.get_y() + patch.get_height() / 2), patch.get_facecolor()): patch.get_width() for patch in panel.patches
    }
    assert len(placed) == 4  # a colour a way in each category's place
    assert [width for (place, _), width in placed.items() if place == 0] == [1.25, 0.75]
    assert [width for (place, _), width in placed.items() if place == 1] == [2.0, 3.0]
    assert {text.get_text() for text in panel.texts} == {"1.25×", "2.00×", "0.75×", "3.00×"}
    assert [list(line.get_xdata()) for line in panel.lines] == [[1.0, 1.0]]  # plain decoding, and no interval


def test_intervals_reach_from_low_to_high(draw: Draw) -> None:
    panel = draw([summary("chat", ratio=Figure(1.5, 1.1, 1.7)), summary("code", ratio=figure(2.0))])["Speed-up"]
    assert [list(line.get_xdata()) for line in panel.lines] == [[1.1, 1.7], [1.0, 1.0]]
    assert "95% interval" in panel.get_title("left")


@pytest.mark.parametrize(
    ("ways", "words"),
    [
        ([BLOCK4, AUTO], ["block 4", "automatic block"]),
        ([BLOCK4, Way(4, 0.7, None)], ["block 4, temperature 0", "block 4, temperature 0.7"]),
        ([BLOCK4, Way(4, 0.0, 8192)], ["block 4, prompts as they are", "block 4, context 8192"]),
    ],
)
def test_ways_are_named_by_what_tells_them_apart(draw: Draw, ways: list[Way], words: list[str]) -> None:
    assert labels(draw([summary("chat", way) for way in ways])["Speed-up"]) == words


def test_acceptance_is_of_the_way_that_drafts_most(draw: Draw) -> None:
    short, long = (0.5,), (0.9, 0.6)
    panel = draw([summary(c, way, kept=kept) for c in ("chat", "all") for way, kept in ((BLOCK4, short), (BLOCK8, long))])[
        "Acceptance"
    ]
    assert [list(line.get_ydata()) for line in panel.lines] == [[0.9, 0.6]] * 2
    assert labels(panel) == ["chat", "all"] and "(block 8)" in panel.get_title("left")


def test_of_many_categories_the_best_and_the_worst_are_named(draw: Draw) -> None:
    many = [summary(f"c{number}", kept=(0.9 - number / 40, 0.4)) for number in range(20)]
    panel = draw([*many, summary("all", kept=(0.7, 0.4))])["Acceptance"]
    assert labels(panel) == ["c0", "c19", "all", "18 others"]
    assert len(panel.lines) == 21


def test_a_pass_is_shown_in_ms_and_relative_to_one_row(draw: Draw) -> None:
    panel = draw([summary("chat")], {4: 0.03, 1: 0.02, 2: 0.022})["Cost"]
    (line,) = panel.lines
    assert list(line.get_xdata()) == [1, 2, 4]
    assert list(line.get_ydata()) == pytest.approx([20, 22, 30])
    (beside,) = panel.child_axes
    assert beside.get_ylabel() == "times one row"
    beside._set_lims()
    assert beside.get_ylim() == pytest.approx([limit / 20 for limit in panel.get_ylim()])


def test_parts_of_a_cycle_stand_beside_their_floor(draw: Draw) -> None:
    panel = draw([summary("chat")], {}, PROFILE)["A"]
    assert names(panel) == ["3 recurrent layers", "head", "Python, meanwhile"]
    assert bars(panel) == pytest.approx([30, 4, 2, 24, 4, 0])  # 6 GB and 1 GB at 250 GB/s; Python moves none
    assert "40.0, at least 28.0; plain step: 30.0" in panel.get_xlabel()


def test_names_of_any_kind_are_drawn_without_complaint(tmp_path: Path, strict: None, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("matplotlib")
    odd = ["中文问答", "code 🙂", "$5$ and \\frac", "_hidden", "", "two\nlines", "x" * 200, "\ud800", "\x00null", "<&>"]
    plot(tmp_path / "odd.svg", "数学 $x^2$", [summary(name) for name in odd], PASSES, PROFILE)
    shown = texts(tmp_path / "odd.svg")
    assert {"code ?", "$5$ and \\frac", "_hidden", "category 5", "two lines", "x" * 23 + "…", "category 8"} <= set(shown)
    assert "中文问答" in shown or "category 1" in shown  # as this system's fonts have it
    assert not caplog.records


def test_twenty_categories_in_three_ways_fit(tmp_path: Path, strict: None) -> None:
    pytest.importorskip("matplotlib")
    ways = (BLOCK4, BLOCK8, AUTO)
    plot(
        tmp_path / "many.png", "many", [summary(f"category number {n}", way) for n in range(20) for way in ways], PASSES, PROFILE
    )
    assert (tmp_path / "many.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_the_same_results_draw_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.SVG"):
        plot(tmp_path / name, "same", [summary("chat", ratio=figure(1.5))], {}, None)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.SVG").read_bytes()


def test_settings_of_matplotlib_stay_as_they_were(draw: Draw) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    draw([summary("chat")], PASSES, PROFILE)
    assert dict(matplotlib.rcParams) == before


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = pytest.importorskip("matplotlib.figure")

    def fill_the_disk(self: object, part: Path, **_: object) -> None:
        part.write_text("half")
        raise OSError(28, "No space left on device")

    (tmp_path / "plot.png").write_text("the old one")
    monkeypatch.setattr(drawing.Figure, "savefig", fill_the_disk)
    with pytest.raises(RequestError, match="No space left on device"):
        plot(tmp_path / "plot.png", "new", [summary("chat")], {}, None)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("plot.png", "the old one")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plot.pdf", "neither PNG nor SVG"),
        ("plot", "neither PNG nor SVG"),
        ("missing/plot.png", "does not exist"),
        ("taken.png", "is a folder"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(RequestError, match=message):
        check_plot(tmp_path / name)


def test_a_missing_matplotlib_is_told_with_the_way_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RequestError) as caught:
        check_plot(tmp_path / "plot.png")
    assert "pip install matplotlib" in caught.value.hint
