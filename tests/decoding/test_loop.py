"""The loop against plain decoding by mlx-lm (recorded), against other engines' loops (recorded), and inside a block."""

import itertools
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS, DEMO, expected, expected_json
from mlx_lm.generate import generate_step
from mlx_lm.utils import load_model
from tiny_qwen3_next import save_qwen3_next

from dflash_mlx.decoding import prefill as prefill_module
from dflash_mlx.decoding import sequence as sequence_module
from dflash_mlx.decoding.block_size import FixedBlockSize
from dflash_mlx.decoding.copies import Copies
from dflash_mlx.decoding.loop import BlockSizes, Cycle, run
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import Offer, TokenSequence
from dflash_mlx.drafters import Draft, load_drafter
from dflash_mlx.drafters.context import Context
from dflash_mlx.drafters.dflash import GREEDY, Chooser
from dflash_mlx.kernels.buffers import KVBuffer
from dflash_mlx.targets import Target, load_target, row_invariance

PAIRS = [("target_qwen3_5", f"dflash2_{kind}") for kind in ("full", "swa", "swa_bidir")]
PAIRS += [("target_qwen3", f"dflash1_{kind}") for kind in ("full", "swa", "swa_bidir")]
PAIRS += [("target_qwen3_5_4bit", "dflash2_full"), ("target_qwen3_4bit", "dflash1_full")]
FAMILIES = [
    f"target_{family}{suffix}" for family in ("qwen3", "qwen3_moe", "qwen3_5_tied", "qwen3_5_moe") for suffix in ("", "_4bit")
]

target_of, drafter_of = cache(load_target), cache(load_drafter)


def new_sequence(target: str, drafter: str | None) -> TokenSequence:
    return TokenSequence(target_of(CHECKPOINTS / target), drafter_of(CHECKPOINTS / drafter) if drafter else None)


def decode(
    sequence: TokenSequence, prompt: list[int], block_sizes: BlockSizes | int, max_tokens: int
) -> tuple[list[int], list[Cycle]]:
    """All tokens and the cycles that gave them."""
    policy = FixedBlockSize(block_sizes) if isinstance(block_sizes, int) else block_sizes
    sampler = greedy_sampler(sequence)
    anchor = prefill(sequence, prompt, sampler)
    tokens = anchor.tolist()
    cycles = list(run(sequence, anchor, sampler, policy, max_tokens - 1, len))
    return tokens + [t for cycle in cycles for t in cycle.token_ids], cycles


def go_on(sequence: TokenSequence, tokens: list[int], block_size: int, max_tokens: int) -> list[int]:
    """More tokens after those of which the sequence holds all but the last."""
    anchor, policy = mx.array(tokens[-1:], mx.int32), FixedBlockSize(block_size)
    return [t for cycle in run(sequence, anchor, greedy_sampler(sequence), policy, max_tokens, len) for t in cycle.token_ids]


def greedy_sampler(sequence: TokenSequence) -> Sampler:
    return Sampler(Sampling(), sequence.target.config.vocab_size)


def recorded_prompts(target: str) -> list[tuple[list[int], list[int]]]:
    data = expected(target)
    return [(data[f"prompt{i}"].tolist(), data[f"greedy{i}"].tolist()) for i in range(6)]


@pytest.mark.parametrize("prompts", [(2, 3), pytest.param((0, 1, 4, 5), marks=pytest.mark.long)], ids=str)  # of 1 and 87 tokens
@pytest.mark.parametrize(("target", "drafter"), PAIRS)
@pytest.mark.parametrize("block_size", [2, 4, 8])
def test_tokens_equal_mlx_lms_and_rounds_those_of_the_reference_loop(
    target: str, drafter: str, block_size: int, prompts: tuple[int, ...]
) -> None:
    by_source = expected_json("e2e_acceptance")["committed_per_round"][f"{target}+{drafter}"][str(block_size)]
    reference = by_source.get("zlab_torch") or by_source["zlab_concat"]
    recorded = recorded_prompts(target)
    for i in prompts:
        prompt, greedy = recorded[i]
        tokens, cycles = decode(new_sequence(target, drafter), prompt, block_size, 97)
        assert tokens == greedy[:97]
        if (drafter, block_size, i) == ("dflash2_swa_bidir", 2, 3):
            continue  # the recording's two references differ from each other here
        # the last rounds depend on how an engine cuts its budget
        assert [len(cycle.token_ids) for cycle in cycles][: len(reference[i]) - 2] == reference[i][:-2]


@pytest.mark.parametrize("block_size", [1, 3, 5, 6, 7])
def test_tokens_equal_mlx_lms_at_the_widths_between(block_size: int) -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[block_size % 6]
    for drafter in ("dflash2_full", "dflash2_swa"):
        assert decode(new_sequence("target_qwen3_5", drafter), prompt, block_size, 64)[0] == greedy[:64]


class ScriptedDrafter:
    """Drafts what the target is known to say, with mistakes in known places, so that every accepted count occurs."""

    config = SimpleNamespace(target_layer_ids=(0, 1), block_size=8)

    def __init__(self, prompt: list[int], greedy: list[int]) -> None:
        self.start, self.greedy, self.injected = len(prompt), greedy, 0

    def new_context(self) -> Context:
        return Context([])

    def inject(self, features: mx.array, context: Context, position: mx.array) -> None:
        assert position.item() <= self.injected, "features must arrive without a gap"
        self.injected = position.item() + features.shape[1]

    def draft(
        self, anchor: mx.array, context: Context, position: mx.array, block_size: int, target: Target, chooser: Chooser
    ) -> Draft:
        at = position.item() - self.start
        assert position.item() <= self.injected, "the features of all that is committed must be there"
        assert anchor.item() == self.greedy[at]
        known = enumerate(self.greedy[at + 1 : at + block_size], at)
        ids = [(t + (random.Random(place).random() < 0.2)) % 240 for place, t in known]
        return Draft(mx.array(ids + [0] * (block_size - 1 - len(ids)), mx.int32), None)


class Scheduled:
    """Block sizes as a test wants them, over and over."""

    def __init__(self, *block_sizes: int) -> None:
        self.coming = itertools.cycle(block_sizes)
        self.recorded: list[tuple[int, int, int]] = []

    def next(self, position: int) -> Offer:
        return Offer(next(self.coming))

    def record(self, block_size: int, accepted: int, seconds: float, position: int, copied: bool, chain: object) -> None:
        assert seconds > 0
        self.recorded.append((block_size, accepted, position))


class ScriptedCopies(Copies):
    """Copies what the target is known to say, with mistakes in known places."""

    def __init__(self, greedy: list[int]) -> None:
        super().__init__([0, 0, 0, 0])
        self.greedy, self.at = greedy, 1

    def add(self, tokens: Sequence[int]) -> None:
        assert list(tokens) == self.greedy[self.at : self.at + len(tokens)]
        self.at += len(tokens)

    def tokens(self, count: int) -> list[int]:
        known = self.greedy[self.at : self.at + count]
        return [(t + (random.Random(place).random() < 0.1)) % 240 for place, t in enumerate(known, self.at)] or [0]


class Mixed(Scheduled):
    """Copies of widths by chance, between drafts by the drafter."""

    def __init__(self, seed: int, *block_sizes: int) -> None:
        super().__init__(*block_sizes)
        self.random, self.copied = random.Random(seed), list[bool]()

    def copy(self, rate: float) -> int:
        return self.random.choice((1, 2, 4, 8, 16))

    def record(self, block_size: int, accepted: int, seconds: float, position: int, copied: bool, chain: object) -> None:
        super().record(block_size, accepted, seconds, position, copied, chain)
        self.copied.append(copied)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
@pytest.mark.parametrize(
    ("target", "drafter"), [*PAIRS[::3], ("target_qwen3_5", None), ("target_qwen3_5_moe", None), ("target_qwen3_4bit", None)]
)
def test_tokens_equal_mlx_lms_whatever_is_copied_between_drafts(target: str, drafter: str | None, seed: int) -> None:
    for prompt, greedy in recorded_prompts(target)[2:4]:
        sequence, sizes = new_sequence(target, drafter), Mixed(seed, *((1, 4, 8, 2) if drafter else (1,)))
        sampler, copies = greedy_sampler(sequence), ScriptedCopies(greedy)
        anchor = prefill(sequence, prompt, sampler)
        cycles = list(run(sequence, anchor, sampler, sizes, len(greedy) - 1, len, copies))
        assert anchor.tolist() + [t for cycle in cycles for t in cycle.token_ids] == greedy
        assert {True, False} == set(sizes.copied)
        assert max(cycle.accepted for cycle in cycles) > 8 and any(0 < cycle.accepted < len(cycle.drafted) for cycle in cycles)
        assert sequence.device_reads == len(cycles)


@cache
def mlx_lm_greedy(folder: Path, prompt: tuple[int, ...], tokens: int) -> list[int]:
    model, _ = load_model(folder)
    return [int(token) for token, _ in generate_step(mx.array(prompt), model, max_tokens=tokens)]


WIDTHS = [(4,), (1, 1, 1, 4, 8, 2, 1, 7), *(pytest.param((n,), marks=pytest.mark.long) for n in (2, 3, 5, 6, 7, 8))]


@pytest.mark.parametrize("block_sizes", WIDTHS, ids=str)
@pytest.mark.parametrize("target", FAMILIES)
def test_exact_verification_equals_plain_decoding_over_500_tokens(target: str, block_sizes: tuple[int, ...]) -> None:
    prompt = recorded_prompts(target)[1][0]
    greedy = mlx_lm_greedy(CHECKPOINTS / target, tuple(prompt), 500)
    sequence = TokenSequence(target_of(CHECKPOINTS / target), ScriptedDrafter(prompt, greedy), exact=True)  # type: ignore[arg-type]
    tokens, cycles = decode(sequence, prompt, Scheduled(*block_sizes), 500)
    assert tokens == greedy
    assert {c.accepted for c in cycles if c.block_size == max(block_sizes)} >= set(range(min(4, max(block_sizes))))


@pytest.mark.parametrize("target", FAMILIES)
def test_rows_apart_equal_plain_decoding_too(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_invariance, "backend", lambda: "unknown")
    for width, (prompt, greedy) in zip((2, 5, 8), recorded_prompts(target)):
        sequence = TokenSequence(target_of(CHECKPOINTS / target), ScriptedDrafter(prompt, greedy), exact=True)  # type: ignore[arg-type]
        assert decode(sequence, prompt, FixedBlockSize(width), 100)[0] == greedy[:100]


@pytest.mark.parametrize("block_size", [4, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 8))])
def test_exact_verification_equals_plain_decoding_on_the_demo_pair(block_size: int) -> None:
    prompt = [5, 300, 41, 200, 17, 90]
    greedy = mlx_lm_greedy(DEMO / "target", tuple(prompt), 300)  # the buffers grow once
    sequence = TokenSequence(target_of(DEMO / "target"), drafter_of(DEMO / "drafter"), exact=True)
    assert decode(sequence, prompt, Scheduled(block_size, block_size, 1), 300)[0] == greedy


def test_a_block_in_exact_mode_ends_where_the_buffers_grow() -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[0]
    sequence = TokenSequence(target_of(CHECKPOINTS / "target_qwen3_5"), None, exact=True)
    prefill(sequence, (prompt * 20)[:252], greedy_sampler(sequence))
    assert sequence.widest == 4
    sequence.reserve(4)
    assert sequence.state.layers[3].capacity == 256  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def next_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen3_next(tmp_path_factory.mktemp("next"))


@pytest.mark.parametrize("width", [1, 4, 8, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3, 5, 6, 7))])
def test_qwen3_next_equals_mlx_lm_over_128_tokens(width: int, next_folder: Path) -> None:
    for prompt in ([5, 9, 200, 17], [61], list(range(40, 90))):
        greedy = mlx_lm_greedy(next_folder, tuple(prompt), 128)
        drafter = ScriptedDrafter(prompt, greedy) if width > 1 else None
        assert decode(TokenSequence(target_of(next_folder), drafter), prompt, width, 128)[0] == greedy  # type: ignore[arg-type]


@pytest.mark.parametrize("target", FAMILIES)
def test_every_family_decodes_plainly_as_mlx_lm(target: str) -> None:
    for prompt, greedy in recorded_prompts(target)[:3]:
        assert decode(new_sequence(target, None), prompt, 1, 128)[0] == greedy


READS = ("tolist", "item", "__bool__", "__int__", "__float__", "__index__", "__array__", "__dlpack__", "__repr__")


@pytest.mark.parametrize("settings", [Sampling(), Sampling(temperature=0.8, top_p=0.9, presence_penalty=0.5, seed=1)])
@pytest.mark.parametrize("drafter", ["dflash2_full", "dflash2_swa", None])
def test_one_device_read_a_cycle(drafter: str | None, settings: Sampling, monkeypatch: pytest.MonkeyPatch) -> None:
    sequence = new_sequence("target_qwen3_5", drafter)
    sampler = Sampler(settings, sequence.target.config.vocab_size)
    anchor = prefill(sequence, recorded_prompts("target_qwen3_5")[0][0], sampler)
    policy = Scheduled(4, 4, 1, 1, 8) if drafter else Scheduled(1)
    cycles = run(sequence, anchor, sampler, policy, 300, len)
    next(cycles)
    reads = []
    for name in READS:
        method = getattr(mx.array, name)
        monkeypatch.setattr(mx.array, name, lambda *args, _method=method, _name=name: (reads.append(_name), _method(*args))[1])
    for name in ("eval", "synchronize"):
        monkeypatch.setattr(mx, name, lambda *args, _name=name: reads.append(_name))
    before = sequence.device_reads
    for count in range(1, 40):
        next(cycles)
        assert reads == ["tolist"] * count
    assert sequence.device_reads == before + 39


@pytest.mark.parametrize("drafter", ["dflash2_full", "dflash2_swa", "dflash2_swa_bidir"])
@pytest.mark.parametrize("queue", [1, 5, 512])
def test_drafts_after_plain_cycles_are_those_of_a_context_that_was_never_behind(
    drafter: str, queue: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequence_module, "QUEUE", queue)
    prompt, greedy = recorded_prompts("target_qwen3_5")[2]
    _, cycles = decode(new_sequence("target_qwen3_5", drafter), prompt, Scheduled(*[1] * 12, 8, 1, 1, 4), 100)
    at = 1
    for c in cycles:
        if c.block_size > 1:
            whole = new_sequence("target_qwen3_5", drafter)
            prefill(whole, prompt + greedy[: at - 1], greedy_sampler(whole))
            drafts = whole.draft(mx.array(greedy[at - 1 : at], mx.int32), Offer(8 if c.block_size > 4 else 4), GREEDY).ids
            assert drafts.tolist()[: c.block_size - 1] == c.drafted
        at += len(c.token_ids)


@pytest.mark.parametrize("drafter", ["dflash2_full", "dflash2_swa"])
def test_no_row_is_written_past_a_buffers_end(drafter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write, ends = KVBuffer.write, []

    def checked(buffer: KVBuffer, keys: mx.array, values: mx.array, position: mx.array) -> None:
        ends.append((position.item() + keys.shape[2], buffer.capacity))
        write(buffer, keys, values, position)

    def uncompiled(function: Any) -> Any:
        return function

    monkeypatch.setattr(mx, "compile", uncompiled)
    target, own_drafter = load_target(CHECKPOINTS / "target_qwen3_5"), load_drafter(CHECKPOINTS / drafter)
    monkeypatch.setattr(KVBuffer, "write", checked)
    prompt, greedy = recorded_prompts("target_qwen3_5")[3]
    for length in range(238, 258, 5):
        sequence = TokenSequence(target, own_drafter)
        decode(sequence, (prompt * 9)[:length], Scheduled(8, 8, 1, 3), 30)
    assert ends and all(end <= capacity for end, capacity in ends)
    assert {capacity for _, capacity in ends} >= {256, 512}


def test_a_caller_that_fails_leaves_the_sequence_at_what_was_handed_out() -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[2]
    sequence = new_sequence("target_qwen3_5", "dflash2_swa")
    sampler, tokens = greedy_sampler(sequence), []
    anchor = prefill(sequence, prompt, sampler)

    def take(ids: list[int]) -> int:
        if len(tokens) > 15:
            raise KeyboardInterrupt
        tokens.extend(ids)
        return len(ids)

    with pytest.raises(KeyboardInterrupt):
        list(run(sequence, anchor, sampler, FixedBlockSize(8), 90, take))
    tokens = [*anchor.tolist(), *tokens]
    assert tokens + go_on(sequence, tokens, 4, 30) == greedy[: len(tokens) + 30]


@pytest.mark.parametrize("taken", [1, 2, 3])
def test_a_stop_inside_a_block_leaves_what_was_handed_out_and_nothing_more(taken: int) -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[2]
    sequence = new_sequence("target_qwen3_5", "dflash2_full")
    sampler = greedy_sampler(sequence)
    anchor, tokens = prefill(sequence, prompt, sampler), []
    for cycle in run(sequence, anchor, sampler, FixedBlockSize(8), 127, lambda ids: min(taken, len(ids))):
        tokens += cycle.token_ids
        assert cycle.accepted <= len(cycle.token_ids) <= taken
        assert sequence.position == len(prompt) + len(tokens)
        if len(tokens) > 40:
            break
    assert [*anchor.tolist(), *tokens] == greedy[: 1 + len(tokens)]
    # go on from there: the state is the one of plain decoding, in target and drafter
    assert go_on(sequence, tokens, 4, 30) == greedy[1 + len(tokens) : 31 + len(tokens)]


def test_closing_the_loop_leaves_the_sequence_usable() -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[4]
    sequence = new_sequence("target_qwen3_5", "dflash2_swa")
    sampler = greedy_sampler(sequence)
    anchor = prefill(sequence, prompt, sampler)
    cycles = run(sequence, anchor, sampler, FixedBlockSize(4), 100, len)
    tokens = [t for _ in range(5) for t in next(cycles).token_ids]
    cycles.close()
    assert [*anchor.tolist(), *tokens, *go_on(sequence, tokens, 8, 20)] == greedy[: 21 + len(tokens)]


def test_no_cycle_commits_more_than_the_budget() -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[2]
    for budget in range(1, 12):
        tokens, _ = decode(new_sequence("target_qwen3_5", "dflash2_full"), prompt, 8, budget)
        assert tokens == greedy[:budget]


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 8, 64])
def test_the_size_of_prefill_chunks_changes_neither_tokens_nor_drafts(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt, greedy = recorded_prompts("target_qwen3_5")[3]
    whole = decode(new_sequence("target_qwen3_5", "dflash2_swa_bidir"), prompt, 8, 40)
    monkeypatch.setattr(prefill_module, "CHUNK", chunk)
    tokens, cycles = decode(new_sequence("target_qwen3_5", "dflash2_swa_bidir"), prompt, 8, 40)
    assert tokens == greedy[:40] and cycles == whole[1]


def test_prefill_tells_its_progress() -> None:
    told: list[tuple[int, int]] = []
    sequence = new_sequence("target_qwen3_5", None)
    prefill(sequence, list(range(200)) * 6, greedy_sampler(sequence), lambda done, total: told.append((done, total)))
    assert told == [(0, 1200), (512, 1200), (1024, 1200), (1200, 1200)]


@pytest.mark.parametrize("drafter", ["dflash2_full", "dflash1_full"])
def test_buffers_are_written_in_place(drafter: str) -> None:
    sequence = new_sequence("target_qwen3_5" if "2" in drafter else "target_qwen3", drafter)
    sequence.reserve(40_000)
    assert sequence.context
    sequence.context.reserve(40_000)
    sampler = greedy_sampler(sequence)
    anchor = prefill(sequence, [5, 9, 200], sampler)
    for block_size in (1, 2):
        cycles = run(sequence, anchor, sampler, FixedBlockSize(block_size), 100, len)
        next(cycles)
        mx.reset_peak_memory()
        before = mx.get_active_memory()
        for _ in range(10):
            anchor = mx.array(next(cycles).token_ids[-1:], mx.int32)
        cycles.close()
        # less than one buffer: what comes and goes are the scores of a row or two
        assert mx.get_peak_memory() - before < min(buffer.nbytes for buffer in sequence.context.arrays)


def test_features_that_wait_do_not_pile_up_while_the_drafter_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence_module, "QUEUE", 128)
    sequence = new_sequence("target_qwen3_5", "dflash2_swa")
    assert sequence.context
    sequence.reserve(1000)
    sequence.context.reserve(1000)
    sampler = greedy_sampler(sequence)
    anchor = prefill(sequence, [5, 9, 200], sampler)
    held = []
    for done, _ in enumerate(run(sequence, anchor, sampler, FixedBlockSize(1), 640, len)):
        if done % 128 == 20 and done > 128:
            mx.synchronize()
            held.append(mx.get_active_memory())
    assert len(held) == 4 and max(held) - min(held) < 100_000  # 384 tokens of features are 0.3 MB
