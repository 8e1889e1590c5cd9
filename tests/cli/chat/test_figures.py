"""Figures of replies in a line, as a picture, and in words."""

from dataclasses import replace

import pytest

from dflash_mlx import Statistics
from dflash_mlx.cli.chat.figures import acceptance, advice, picture, status_line

REPLY = Statistics(
    prompt_tokens=1200,
    cached_prompt_tokens=1150,
    generated_tokens=300,
    cycles=100,
    acceptance_length=2.99,
    acceptance_by_position=[0.9, 0.5, 0.25],
    block_sizes={2: 25, 4: 75},
    tokens_per_second=45.26,
    plain_tokens_per_second=15.0,
    peak_memory_bytes=17_300_000_000,
    mode="speculative",
)


def test_a_wide_terminal_gets_the_figures_in_words():
    assert status_line(REPLY, 4, 32768, 100) == (
        "45.3 tok/s · acceptance length 2.99 · block size 4 · speculative · context 1.5k/32.8k · 17.3 GB"
    )


def test_forty_columns_have_room_for_all_figures():
    assert status_line(REPLY, 4, 32768, 40) == "45.3 t/s τ2.99 b4 spec 1.5k/32.8k 17.3GB"


@pytest.mark.parametrize("columns", [20, 30, 40, 60, 100])
def test_plain_is_a_whole_word_or_left_out(columns):
    line = status_line(replace(REPLY, mode="plain"), 1, 32768, columns)
    assert len(line) <= columns and (" plain" in line if columns > 20 else "plai" not in line)


def test_no_status_line_is_wider_than_the_terminal():
    for columns in range(1, 110):
        line = status_line(REPLY, 4, 32768, columns, "stopped")
        assert len(line) <= columns and line.startswith("stopped"[:columns])


def test_the_picture_has_a_bar_for_each_place_size_and_speed():
    lines = picture([REPLY, REPLY], 40).splitlines()
    assert max(map(len, lines)) <= 60 and all(len(line) <= 40 for line in lines if "█" in line)
    assert [line.split()[0] for line in lines if "█" in line] == ["1", "2", "3", "2", "4", "1", "2", "plain"]
    assert any(line.startswith("2 █") and line.endswith(" 50%") for line in lines)
    assert lines[-1] == "prompts: 2400 tokens, 2300 of them read before"


def test_plain_decoding_is_estimated_only_beside_replies_that_had_drafts():
    plainly = replace(REPLY, acceptance_by_position=[], block_sizes={1: 299}, mode="plain")
    assert "plain" not in picture([plainly], 40)
    assert "plain" not in picture([REPLY, *8 * [plainly]], 40), "the picture shows the last 8 replies"
    assert "plain" in picture([REPLY, plainly], 40)
    assert "plain" in picture([replace(REPLY, mode="plain")], 40), "only its end was plain"


def test_the_picture_can_do_without_blocks():
    assert picture([REPLY], 40, ascii_only=True).isascii()


def test_a_reply_of_one_token_has_a_picture_too():
    assert picture([Statistics(prompt_tokens=3, generated_tokens=1)], 40) == "prompts: 3 tokens, 0 of them read before"


def test_acceptance_is_weighed_by_the_cycles_that_drafted_so_far():
    other = Statistics(cycles=25, acceptance_by_position=[0.1], block_sizes={2: 25})
    assert acceptance([REPLY, other]) == pytest.approx([(100 * 0.9 + 25 * 0.1) / 125, 0.5, 0.25])


@pytest.mark.parametrize(
    "change, temperature, thought, drafter, says",
    [
        ({}, 0.0, 0.0, True, "3.0 times as fast as plain decoding"),
        ({"acceptance_by_position": [0.4]}, 1.0, 0.0, True, "/set temperature 0"),
        ({"acceptance_by_position": [0.1]}, 0.0, 0.0, True, "another drafter"),
        ({"mode_reason": "no drafter was loaded"}, 0.0, 0.0, False, "/model NAME DRAFTER"),
        ({"mode_reason": "because"}, 0.0, 0.0, True, "because"),
        ({}, 0.0, 0.8, True, "80% of what was generated is thinking: /think off"),
    ],
)
def test_advice_follows_from_the_figures(change, temperature, thought, drafter, says):
    reply = Statistics(**vars(REPLY) | change)
    assert says in " ".join(advice([reply], temperature, thought, drafter))
