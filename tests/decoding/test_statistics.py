"""Counting, against figures worked out by hand."""

import pytest

from dflash_mlx.decoding.loop import Cycle
from dflash_mlx.decoding.statistics import Recorder


def test_rates_follow_from_the_cycles() -> None:
    recorder = Recorder(10, None)
    recorder.first()
    for cycle in (Cycle([1, 2, 3], [1, 2, 9], 2), Cycle([4], [8, 8, 8], 0), Cycle([5, 6], [5], 1)):
        recorder.cycle(cycle)
    figures = recorder.statistics(device_reads=4)
    assert (figures.prompt_tokens, figures.generated_tokens, figures.cycles, figures.device_reads) == (10, 7, 3, 4)
    assert figures.acceptance_length == pytest.approx(6 / 3)
    assert figures.acceptance_by_position == pytest.approx([2 / 3, 1 / 2, 0 / 2])
    assert figures.block_sizes == {2: 1, 4: 2}
    assert (figures.mode, figures.mode_reason, figures.plain_tokens_per_second) == ("speculative", None, None)


def test_nothing_generated_gives_zeros_not_errors() -> None:
    figures = Recorder(3, "block_size is 1").statistics(device_reads=0)
    assert (figures.generated_tokens, figures.acceptance_length, figures.tokens_per_second) == (0, 0.0, 0.0)
    assert (figures.mode, figures.mode_reason) == ("plain", "block_size is 1")
