"""A cycle costs what `cycle_counts.json` says: counts, no clocks.

A change that alters a count belongs into one commit with the renewed table: `python tests/test_cycle_counts.py` writes it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import distributions
from pathlib import Path

import mlx.core as mx
import pytest
from metal_on_cpu import metal_kernel, recording

from dflash_mlx import kernels
from dflash_mlx.bench.roofline import counts
from dflash_mlx.bench.roofline.dispatches import ALL_KERNELS, GREEDY
from dflash_mlx.decoding.loop import run
from dflash_mlx.decoding.sampling import Sampler
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.kernels import Kernels, verify_attention
from dflash_mlx.targets.transformer import TransformerTarget
from dflash_mlx.tuning.calibration import TimedBlockSize

TABLE = Path(__file__).with_name("cycle_counts.json")
PAIR, ROWS = "a hybrid", 4
CONTEXT = counts.CONTEXTS[PAIR]
SCALARS = 64  # bytes of a buffer of sizes, positions or counts: how often it is read is the compiler's choice


def made_with() -> dict[str, str]:
    """What counts depend on besides our own work; ziglang compiles the kernels for the CPU."""
    names = ("mlx", "mlx-lm", "ziglang")
    return dict(sorted((found.name, found.version) for found in distributions() if found.name in names))


def moved_by_kernels() -> dict[str, int]:
    """Bytes that each kernel loads and stores in a cycle, as the harness counts them, and how often it is dispatched."""
    target, drafter = counts.pair_of(PAIR)
    target.use_kernels(ALL_KERNELS)
    drafter.use_kernels(ALL_KERNELS)
    sequence = TokenSequence(target, drafter)
    sequence.position = CONTEXT
    sampler = Sampler(GREEDY, target.config.vocab_size)
    found: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mx.fast, "metal_kernel", metal_kernel)
        patch.setattr(verify_attention, "FROM", CONTEXT)
        mx.disable_compile()  # the harness computes when it is called
        kernels.metal_kernel.cache_clear()
        try:
            cycles = run(sequence, mx.array([0], mx.int32), sampler, TimedBlockSize(ROWS), 10 * ROWS, len)
            next(cycles)
            with recording() as runs:
                next(cycles)
        finally:
            kernels.metal_kernel.cache_clear()
            mx.enable_compile()
    assert [finding for each in runs for finding in each.findings] == []
    for each in runs:
        buffers = [buffer for buffer in each.buffers.values() if buffer.size > SCALARS]
        cycle = f"{PAIR}, block of {ROWS}, {each.name.removeprefix('dflash_')}"
        found[f"{cycle}: dispatches"] += 1
        found[f"{cycle}: bytes loaded"] += sum(buffer.read for buffer in buffers)
        found[f"{cycle}: bytes stored"] += sum(buffer.written for buffer in buffers)
    return dict(found)


def differences(table: Mapping[str, int], now: Mapping[str, int]) -> Iterator[str]:
    """A line for each count that is not the table's."""
    for name in dict.fromkeys([*table, *now]):
        was, is_now = table.get(name, "not there"), now.get(name, "not there")
        if was != is_now:
            yield f"{name}: was {was}, is {is_now}"


def table() -> dict[str, int]:
    found: dict[str, int] = json.loads(TABLE.read_text(encoding="utf-8"))["counts"]
    return found


def of(cycle: counts.Cycle) -> dict[str, int]:
    """The table's lines of a cycle."""
    return {name: count for name, count in table().items() if name.startswith(f"{cycle}: ")}


def message(found: list[str], versions: Mapping[str, str]) -> str:
    """What somebody should know whose change made these differences; `versions` are those of the table."""
    hint = ["If this is meant, python tests/test_cycle_counts.py writes the table again, for the same commit."]
    if versions != made_with():
        hint.append(f"The table was made with {versions}, this is {made_with()}: it may be their doing.")
    return "\n".join(["cycles cost something else than before:", *found, *hint])


def test_a_cycle_costs_what_the_table_says() -> None:
    found = list(differences(table(), dict(counts.counts()) | moved_by_kernels()))
    assert not found, message(found, json.loads(TABLE.read_text(encoding="utf-8"))["made with"])


@pytest.fixture(scope="module")
def pair() -> tuple[TransformerTarget, DFlash]:
    return counts.pair_of(PAIR)


Spoil = Callable[[pytest.MonkeyPatch, TransformerTarget], None]


def another_read(patch: pytest.MonkeyPatch, target: TransformerTarget) -> None:
    draft_ahead = TokenSequence.draft_ahead

    def slow(sequence: TokenSequence, *arguments: object) -> object:
        mx.eval(draft := draft_ahead(sequence, *arguments))  # type: ignore[arg-type]
        return draft

    patch.setattr(TokenSequence, "draft_ahead", slow)


def a_value_asked_for(patch: pytest.MonkeyPatch, target: TransformerTarget) -> None:
    head = target.lm_head

    def curious(hidden: mx.array, exact: bool = False) -> mx.array:
        logits = head(hidden, exact)
        logits.max().item()
        return logits

    patch.setattr(target, "lm_head", curious)


def a_copy(patch: pytest.MonkeyPatch, target: TransformerTarget) -> None:
    head = target.lm_head
    patch.setattr(target, "lm_head", lambda hidden, exact=False: mx.exp(head(hidden, exact)))


def a_kernel_less(patch: pytest.MonkeyPatch, target: TransformerTarget) -> None:
    rows = {name: served for name, served in ALL_KERNELS.rows.items() if name != "inject_kv"}
    patch.setattr(counts, "ALL_KERNELS", Kernels(rows, ALL_KERNELS.row_invariant))


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (another_read, "reads"),
        (a_value_asked_for, "reads"),
        (a_copy, "dispatches, head"),
        (a_kernel_less, "dispatches, injection"),
    ],
)
def test_what_makes_a_cycle_dearer_is_named(
    spoil: Spoil, named: str, pair: tuple[TransformerTarget, DFlash], monkeypatch: pytest.MonkeyPatch
) -> None:
    cycle = counts.Cycle(PAIR, ROWS, kernels=True)
    count = partial(counts.counts_of, cycle, *pair)
    assert list(differences(of(cycle), count())) == []
    spoil(monkeypatch, pair[0])
    found = list(differences(of(cycle), count()))
    assert any(line.startswith(f"{cycle}: {named}: was ") for line in found), found


def test_a_kernel_that_writes_twice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    source = kernels.source

    def twice(name: str) -> tuple[str, str]:
        header, body = source(name)
        return header, body + ("for (int i = 0; i < N; ++i) committed[at + i] = values[i];\n" if name == "gated_delta" else "")

    monkeypatch.setattr(kernels, "source", twice)
    was = {name: count for name, count in table().items() if name.endswith((" loaded", " stored"))}
    [line] = differences(was, {name: count for name, count in moved_by_kernels().items() if name in was})
    stored = f"{PAIR}, block of {ROWS}, gated_delta: bytes stored"
    states = 3 * 16 * 32 * 32 * 4  # of three layers: heads, values, keys, float32
    assert line == f"{stored}: was {was[stored]}, is {was[stored] + states}"


def test_other_versions_are_named() -> None:
    assert "made with" not in message(["a: was 1, is 2"], made_with())
    text = message(["a: was 1, is 2"], made_with() | {"mlx": "0.1"})
    assert "a: was 1, is 2" in text and "tests/test_cycle_counts.py" in text and "'mlx': '0.1'" in text


def test_lines_that_come_and_go_are_named() -> None:
    assert list(differences({"a": 1, "b": 2}, {"b": 2, "c": 3})) == ["a: was 1, is not there", "c: was not there, is 3"]


if __name__ == "__main__":
    mx.set_default_device(mx.cpu)
    renewed = {"made with": made_with(), "counts": dict(counts.counts()) | moved_by_kernels()}
    TABLE.write_text(json.dumps(renewed, indent=1) + "\n", encoding="utf-8")
