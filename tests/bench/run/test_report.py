"""Results as people and programs get them."""

import json
from dataclasses import replace

import pytest

from dflash_mlx.bench.run.measure import Answer, Run, Way
from dflash_mlx.bench.run.report import legend, markdown, remarks, run_record, summary_record, tables, text
from dflash_mlx.bench.run.summary import Figure, Summary

FIGURE = Figure(1234.5, 1200.25, 1299.75)
SUMMARY = Summary(
    category="documents",
    way=Way("auto", 0.7, 32768),
    prompts=12,
    plain_tokens_per_second=FIGURE,
    tokens_per_second=FIGURE,
    ratio=Figure(3.14159, 2.9, 3.3),
    acceptance_length=Figure(4.0, None, None),
    acceptance_by_position=(0.9,) * 15,
    plain_time_to_first_token_s=Figure(12.0, None, None),
    time_to_first_token_s=Figure(13.0, None, None),
    plain_prefill_tokens_per_second=FIGURE,
    prefill_tokens_per_second=FIGURE,
    memory_over_plain_bytes=1_234_000_000,
    same_answers=11,
    plain_joules_per_token=1.25,
    joules_per_token=0.5,
    plain_quartiles=(1000.0, 1400.0),
    quartiles=(1000.0, 1400.0),
)
ANSWER = Answer((5, 6, 7), 1, 0.5, (1, 1), (1, 0), 0.1, 90.0, 64, None, None)
RUN = Run("chat", Way(4, 0.0, None), 2, 1, 9, ANSWER)
HEADER = {
    "command": "dflash-mlx bench --model demo",
    "target": "demo",
    "drafter": "auto",
    "target_bytes": 2e6,
    "drafter_bytes": 1e6,
    "trained_block_size": 8,
    "kernels": {},
    "machine": {"device": "GPU of a Mac", "system": "macOS", "total_bytes": 16e9},
    "versions": {"mlx": "1.2.3"},
    "settings": {"max_tokens": 128, "rounds": 1, "cool_down_s": 1.0, "verify": "fast"},
}
END = {"complete": True, "answers": 2, "planned": 2, "warnings": ["it is hot."]}


def summaries() -> list[Summary]:
    """Wide values, and all that can vary varies."""
    return [SUMMARY, replace(SUMMARY, category="all", way=Way(16, 0.0, None))]


def test_all_that_can_vary_has_room_in_80_columns() -> None:
    lines = text(tables(summaries())).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("documents") for line in lines) == 3  # none is broken in two


def test_where_there_is_no_room_figures_are_whole_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    written = text(tables([replace(SUMMARY, category="数学" * 8), SUMMARY]))
    assert "…" not in written and written.count("3.14 (2.90-3.30)") == 2


def test_a_column_that_says_nothing_is_not_there() -> None:
    alone = replace(SUMMARY, way=Way(4, 0.0, None), joules_per_token=None, acceptance_by_position=())
    grids = tables([alone])
    assert [grid.titles for grid in grids] == [
        ("block", "plain", "tok/s", "spread", "ratio", "tau", "same"),
        ("block", "first token s", "prefill tok/s", "memory GB"),
    ]
    assert grids[0].rows == [("4", "1234", "1234", "1000-1400", "3.14 (2.90-3.30)", "4.00", "11/12")]
    [costs, *_] = tables([replace(alone, same_answers=None)])
    assert "same" not in costs.titles and not any(line.startswith("same") for line in legend([replace(alone, same_answers=None)]))


def test_without_an_interval_the_ratio_stands_alone() -> None:
    [speeds, *_] = tables([replace(SUMMARY, ratio=Figure(0.5, None, None))])
    assert speeds.rows[0][speeds.titles.index("ratio")] == "0.50"


def test_small_memory_is_in_mb_and_less_than_plain_has_a_minus() -> None:
    [_, costs, *_] = tables([replace(SUMMARY, memory_over_plain_bytes=-2_500_000)])
    assert costs.rows[0][costs.titles.index("memory MB")] == "-2.5"


def test_markdown_has_a_heading_facts_and_whole_tables() -> None:
    written = markdown(HEADER, END, summaries(), [])
    assert written.startswith("### `dflash-mlx bench --model demo`\n")
    assert "\n- GPU of a Mac, 16.0 GB, macOS\n" in written and "\n- warning: it is hot.\n" in written
    rows = [line for line in written.splitlines() if line.startswith("|")]
    assert len(rows) == 3 * 4
    for table in (rows[:4], rows[4:8], rows[8:]):
        assert len({row.count("|") for row in table}) == 1
    assert "interrupted" not in written


def test_an_interrupted_run_is_marked_in_markdown_with_or_without_results() -> None:
    end = END | {"complete": False, "answers": 1}
    assert "**interrupted: 1 of 2 answers**" in markdown(HEADER, end, summaries(), [])
    assert "- nothing was drafted" in markdown(HEADER, end, summaries(), ["nothing was drafted"])
    assert "**interrupted: 1 of 2 answers**" in markdown(HEADER, end, [], [])


@pytest.mark.parametrize("name, shown", [("a|b", "a&#124;b"), ("x\x1b[2Jy\nz", "x?[2Jy?z"), ("n" * 40, "n" * 13 + "...")])
def test_a_category_of_any_name_breaks_no_table(name: str, shown: str) -> None:
    both = [replace(SUMMARY, category=name), SUMMARY]
    assert f"| {shown} |" in markdown(HEADER, END, both, [])
    assert "\x1b" not in text(tables(both))


def test_markup_in_a_name_is_text() -> None:
    assert "[red]" in text(tables([replace(SUMMARY, category="[red]"), SUMMARY]))


@pytest.mark.parametrize(
    "tokens, temperature, same, at",
    [((5, 6, 7), 0.0, True, None), ((5, 9, 7), 0.0, False, 1), ((5, 6), 0.0, False, 2), ((5, 9, 7), 0.7, None, None)],
)
def test_a_runs_record_says_whether_and_where_it_differs(
    tokens: tuple[int, ...], temperature: float, same: bool | None, at: int | None
) -> None:
    run = replace(RUN, way=Way(4, temperature, None))
    record = run_record(run, replace(run, way=run.way.plain, answer=ANSWER._replace(token_ids=tokens)))
    assert (record["same_as_plain"], record["differs_at"]) == (same, at)


def test_a_run_that_has_nothing_to_be_held_against_says_neither() -> None:
    record = run_record(RUN, None)
    assert (record["same_as_plain"], record["differs_at"]) == (None, None)
    assert (record["block_size"], record["prompt"], record["round"], record["tokens_per_second"]) == (4, 2, 1, 4.0)


def test_a_summarys_record_is_flat_and_its_figures_are_named() -> None:
    record = json.loads(json.dumps(summary_record(SUMMARY)))
    assert record["ratio"] == {"median": 3.14159, "low": 2.9, "high": 3.3}
    assert (record["block_size"], record["temperature"], record["context"]) == ("auto", 0.7, 32768)
    assert record["quartiles"] == [1000.0, 1400.0]


def test_remarks_tell_of_answers_without_speed_and_of_the_commonest_reason() -> None:
    reasons = ["96% would be needed", "97% would be needed", None]
    runs = [replace(RUN, answer=ANSWER._replace(mode_reason=reason)) for reason in reasons]
    short = ANSWER._replace(token_ids=(5,), mode_reason="block_size is 1")
    runs += [replace(RUN, way=RUN.way.plain, answer=short)]
    assert remarks(runs) == [
        "answers of one token, which have no speed: 1 of 4",
        "block size 4: 96% would be needed (2 of 3 answers)",
    ]
    assert remarks([RUN]) == []
