"""Counting, against figures worked out by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from dflash_mlx.decoding.block_size import FixedBlockSize, Policy
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.decoding.loop import Cycle
from dflash_mlx.decoding.statistics import Recorder


def after(reads: int) -> Any:
    """A sequence after so many reads."""
    return SimpleNamespace(device_reads=reads, position=1000)


def test_rates_follow_from_the_cycles() -> None:
    recorder = Recorder(10)
    recorder.first()
    for cycle in (Cycle([1, 2, 3], [1, 2, 9], 2), Cycle([4], [8, 8, 8], 0), Cycle([5, 6], [5], 1)):
        recorder.cycle(cycle)
    figures = recorder.statistics(after(reads=4), FixedBlockSize(4))
    assert (figures.prompt_tokens, figures.generated_tokens, figures.cycles, figures.device_reads) == (10, 7, 3, 4)
    assert figures.acceptance_length == pytest.approx(6 / 3)
    assert figures.acceptance_by_position == pytest.approx([2 / 3, 1 / 2, 0 / 2])
    assert figures.block_sizes == {2: 1, 4: 2}
    assert (figures.mode, figures.mode_reason, figures.plain_tokens_per_second) == ("speculative", None, None)


def test_nothing_generated_gives_zeros_not_errors() -> None:
    figures = Recorder(3).statistics(after(reads=0), FixedBlockSize(1))
    assert (figures.generated_tokens, figures.acceptance_length, figures.tokens_per_second) == (0, 0.0, 0.0)
    assert (figures.mode, figures.mode_reason) == ("plain", "block_size is 1")


def test_plain_speed_is_the_policys_estimate_where_there_is_one() -> None:
    policy = Policy(Costs([(1, 0, 0.5), (8, 0, 9.0), (1, 1000, 0.75)]), 8)
    figures = Recorder(3).statistics(after(reads=0), policy)
    assert figures.plain_tokens_per_second == pytest.approx(1 / 0.75)
    assert figures.mode == "plain" and figures.mode_reason is not None and "plain: " not in figures.mode_reason


def test_drafts_behind_a_stop_do_not_count_as_tried() -> None:
    recorder = Recorder(3)
    recorder.first()
    for cycle in (Cycle([1, 2, 3, 4], [1, 2, 3], 3), Cycle([5], [5, 6, 7], 1)):  # the second one stops at its first token
        recorder.cycle(cycle)
    assert recorder.statistics(after(reads=3), FixedBlockSize(4)).acceptance_by_position == [1.0, 1.0, 1.0]
