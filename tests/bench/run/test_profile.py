"""Parts of a cycle, timed alone: they are those that bytes are counted of, and measuring them changes nothing."""

from functools import cache
from itertools import count, islice

import pytest
from fixture_data import CHECKPOINTS
from metal_on_cpu import Run

import dflash_mlx
from dflash_mlx.bench.roofline import bandwidth
from dflash_mlx.bench.roofline.traffic import cycle_traffic
from dflash_mlx.bench.run import profile
from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import load_drafter
from dflash_mlx.errors import RequestError
from dflash_mlx.kernels import MAX_ROWS, NAMES, Kernels
from dflash_mlx.targets import load_target
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.calibration import TimedBlockSize


@cache
def demo() -> dflash_mlx.Pair:
    return dflash_mlx.load("demo", kernels="mlx")


@pytest.fixture(autouse=True)
def little_memory_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "BYTES", 2**24)


def test_the_parts_of_a_profile_are_those_whose_bytes_are_counted() -> None:
    seen: list[tuple[int, int]] = []
    found = profile.profile(demo(), 4, 40, lambda done, total: seen.append((done, total)))
    counted = cycle_traffic(demo().target, demo().drafter, 4, 40)  # type: ignore[arg-type]
    assert [(part.name, part.bytes) for part in found.parts] == [(part.part, part.bytes) for part in counted]
    assert all(part.seconds > 0 for part in found.parts)
    assert found.bytes == sum(part.bytes for part in counted)
    assert found.floor_seconds == found.bytes / found.bandwidth
    assert found.parts_seconds == sum(part.seconds for part in found.parts)
    assert [done for done, _ in seen] == list(range(seen[-1][1] + 1))


def test_a_plain_step_has_no_drafts_and_is_the_cycle() -> None:
    found = profile.profile(demo(), 1, 40)
    assert [part.name for part in found.parts] == ["18 recurrent layers", "6 attention layers", "head", "accept", "commit"]
    assert found.plain_step_seconds == found.cycle_seconds


@pytest.mark.parametrize("context", [30, 300])
@pytest.mark.parametrize("of, drafter_name", [("qwen3", "dflash1_full"), ("qwen3_5", "dflash2_swa")])
def test_measuring_parts_leaves_no_trace(of: str, drafter_name: str, context: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "READ", 64)
    target, drafter = load_target(CHECKPOINTS / f"target_{of}"), load_drafter(CHECKPOINTS / drafter_name)
    assert isinstance(target, TransformerTarget)
    answers = []
    for measured in (False, True):
        sequence, sampler = TokenSequence(target, drafter), Sampler(Sampling(), target.config.vocab_size)
        anchor = profile._fill(sequence, context, sampler)
        assert sequence.position == context
        sequence.reserve(20)
        if measured:
            parts = [part for _ in range(2) for part, _ in profile._round(target, drafter, sequence, anchor, 4, sampler)]
            counted = [part.part for part in cycle_traffic(target, drafter, 4, context)]
            assert sorted(parts) == sorted(2 * counted)
        cycles = run(sequence, anchor, sampler, TimedBlockSize(4), 20, len)
        answers.append([cycle[:2] for cycle in islice(cycles, 4)])
    assert answers[0] == answers[1]


def test_parts_are_measured_with_kernels_too(runs: list[Run]) -> None:
    pair = dflash_mlx.load("demo", kernels="mlx")
    target, drafter = pair.target, pair.drafter
    assert isinstance(target, TransformerTarget) and drafter
    kernels = Kernels({name: frozenset(range(1, MAX_ROWS + 1)) for name in NAMES})
    target.use_kernels(kernels)
    drafter.use_kernels(kernels)
    answers = []
    for measured in (False, True):
        sequence, sampler = TokenSequence(target, drafter), Sampler(Sampling(), target.config.vocab_size)
        anchor = profile._fill(sequence, 12, sampler)
        sequence.reserve(20)
        if measured:
            [*profile._round(target, drafter, sequence, anchor, 4, sampler)]
        answers.append([cycle[:2] for cycle in islice(run(sequence, anchor, sampler, TimedBlockSize(4), 20, len), 2)])
    assert answers[0] == answers[1]
    assert not runs or {"dflash_gated_delta", "dflash_inject_kv", "dflash_candidates"} <= {run.name for run in runs}


def test_a_long_context_is_zeros_but_for_its_end() -> None:
    target = load_target(CHECKPOINTS / "target_qwen3")
    sequence = TokenSequence(target, None)
    profile._fill(sequence, profile.READ + 10, Sampler(Sampling(), 256))
    keys = sequence.state.layers[0].arrays[0]
    start = profile.READ + 10 - profile.TAIL
    assert not keys[:, :, :start].any() and keys[:, :, start : profile.READ + 10].any(axis=-1).all()


def test_passes_of_all_widths_are_timed() -> None:
    target = demo().target
    assert isinstance(target, TransformerTarget)
    passes = profile.pass_seconds(target, (1, 3, 16), 40)
    assert list(passes) == [1, 3, 16] and all(seconds > 0 for seconds in passes.values())


@pytest.mark.parametrize(
    "rows, context, why",
    [
        (17, 40, "block_size 17 is more than the 8"),
        (0, 40, "block_size 0 is not a whole number of 1 or more"),
        (4, 10**7, "a context of 10000000 tokens"),
        (4, 0, "a context of 0 tokens"),
    ],
)
def test_what_cannot_be_measured_is_refused_before(rows: int, context: int, why: str) -> None:
    with pytest.raises(RequestError, match=why):
        profile.profile(demo(), rows, context, lambda done, total: pytest.fail("began"))


def test_blocks_need_a_drafter() -> None:
    with pytest.raises(RequestError, match="block_size 4 needs a drafter"):
        profile.profile(dflash_mlx.load("demo", drafter=None, kernels="mlx"), 4, 40)


def test_bandwidth_is_what_was_read_by_the_seconds_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()
    monkeypatch.setattr(bandwidth.time, "perf_counter", lambda: next(ticks) / 4)
    assert bandwidth.measured_bandwidth() == 4 * 2**24
