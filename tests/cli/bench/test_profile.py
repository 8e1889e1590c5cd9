"""`dflash-mlx bench profile`, on the demo pair."""

import json
from collections.abc import Callable

import pytest
from command import Result

from dflash_mlx.bench.roofline import bandwidth
from dflash_mlx.bench.run.profile import Part, Profile
from dflash_mlx.cli.bench import profile as bench_profile

Run = Callable[..., Result]
PARTS = ["draft block", "draft head", "draft choice", "3 recurrent layers", "1 attention layer", "head", "accept", "injection"]


@pytest.fixture(autouse=True)
def little_memory_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "BYTES", 2**24)


def test_people_get_a_table_in_80_columns(run: Run) -> None:
    result = run("bench", "profile", "--model", "demo", "--context", "40")
    lines = result.out.splitlines()
    assert result.code == 0 and max(map(len, lines)) <= 80
    for part in [*PARTS, "commit", "all parts, in turn", "a cycle in the loop"]:
        assert sum(line.startswith(f"{part} ") for line in lines) == 1
    assert "blocks of 4 after 40 tokens" in result.out and "caches" in result.out


def test_programs_get_an_object_a_part_and_one_of_the_cycle(run: Run) -> None:
    result = run("bench", "profile", "--model", "demo", "--context", "40", "--block-size", "2", "--json")
    *parts, cycle = map(json.loads, result.out.splitlines())
    assert [part["part"] for part in parts] == [*PARTS, "commit"] and {part["type"] for part in parts} == {"part"}
    assert (cycle["type"], cycle["block_size"], cycle["context"]) == ("cycle", 2, 40)
    assert cycle["bytes"] == sum(part["bytes"] for part in parts)
    assert cycle["floor_seconds"] == cycle["bytes"] / cycle["bandwidth"]
    assert cycle["parts_seconds"] == pytest.approx(sum(part["seconds"] for part in parts))


def test_without_a_drafter_it_is_a_plain_step(run: Run) -> None:
    result = run("bench", "profile", "--model", "demo", "--context", "40", "--drafter", "none")
    assert result.code == 0 and "a plain step after 40 tokens" in result.out and "draft" not in result.out


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--block-size", "9"), "--block-size 9 is more than the 8 this drafter was trained for"),
        (("--drafter", "none", "--block-size", "2"), "--block-size 2 needs a drafter"),
        (("--context", "1000k"), "a context of 1024000 tokens"),
        (("--block-size", "0"), "--block-size 0 is not a number from 1 up"),
        (("--context", "much"), "--context much is not a number"),
    ],
)
def test_what_cannot_be_measured_is_said(run: Run, arguments: tuple[str, ...], why: str) -> None:
    result = run("bench", "profile", "--model", "demo", *arguments)
    assert result.code == 2 and why in result.err and result.out == ""


def found(rows: int, cycle: float, host: float = 0.002) -> Profile:
    parts = (Part("16 attention layers", 0.03, 4 * 10**9), Part("head", 0.01, 10**9), Part("commit", 0.0, 0))
    return Profile(rows, 512, parts, cycle, host, plain_step_seconds=0.04, bandwidth=200e9)


def test_the_table_tells_shares_and_how_far_the_floor_is() -> None:
    lines = bench_profile._table(found(4, 0.05)).splitlines()
    assert lines[1].split() == ["16", "attention", "layers", "30.00", "60%", "4000.0", "20.00", "1.5"]
    assert lines[3].split() == ["commit", "0.00", "0%", "-", "-", "-"]
    assert lines[-3].split()[-5:] == ["40.00", "80%", "5000.0", "25.00", "1.6"]
    assert lines[-2].split()[-5:] == ["50.00", "100%", "5000.0", "25.00", "2.0"]
    assert lines[-1].split()[-5:] == ["2.00", "4%", "-", "-", "-"]


def test_remarks_say_when_blocks_pay_and_what_is_between_parts_and_cycle() -> None:
    remarks = "\n".join(bench_profile._remarks(found(4, 0.05)))
    assert "10.00 ms of Python and waits" in remarks and "pay from 1.25 committed tokens on" in remarks
    assert "40.0 tokens/s x acceptance length; this is 50% of it" in remarks
    assert "caches" not in remarks
    overlapping = "\n".join(bench_profile._remarks(found(2, 0.035)))
    assert "the parts take 5.00 ms more alone" in overlapping
    assert "cannot pay" in "\n".join(bench_profile._remarks(found(2, 0.09)))
    plain = "\n".join(bench_profile._remarks(found(1, 0.05)))
    assert "40.0 tokens/s; this is 50% of it" in plain


def test_on_metal_it_tells_how_to_capture(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("bench", "profile", "--model", "demo", "--context", "40", "--block-size", "1")
    assert "MTL_CAPTURE_ENABLED" not in run(*arguments).err
    monkeypatch.setattr(bench_profile, "_has_metal", lambda: True)
    told = run(*arguments).err
    assert "MTL_CAPTURE_ENABLED=1" in told and "mx.metal.start_capture" in told and "mx.metal.stop_capture" in told
