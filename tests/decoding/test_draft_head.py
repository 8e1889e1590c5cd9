"""The part of the head that drafts are read from: which it is, what it gives, and that the answer does not depend on it."""

import random

import mlx.core as mx
import numpy as np
import pytest
from decoding.test_loop import decode, new_sequence, recorded_prompts
from fixture_data import CHECKPOINTS

from dflash_mlx.decoding import draft_head
from dflash_mlx.decoding.draft_head import ENOUGH, DraftHead
from dflash_mlx.decoding.sequence import Offer
from dflash_mlx.drafters.dflash import GREEDY
from dflash_mlx.targets import load_target

TARGETS = ["target_qwen3_5", "target_qwen3_5_4bit", "target_qwen3_5_tied", "target_qwen3_5_tied_4bit", "target_qwen3_4bit"]


@pytest.fixture(autouse=True)
def small_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded targets have 256 tokens."""
    monkeypatch.setattr(draft_head, "CUTS", (32, 64, 128, 224))


def head_of(name: str) -> DraftHead:
    return DraftHead(load_target(CHECKPOINTS / name))


def test_all_of_it_is_read_until_the_text_has_told_enough() -> None:
    head = head_of("target_qwen3_5")
    head.add([5] * (ENOUGH - 1))
    assert head.rows == 256
    head.add([5] * 2)
    assert head.rows == 32


@pytest.mark.parametrize(("most", "rows"), [(31, 32), (60, 64), (127, 128), (200, 256)])
def test_the_shortest_part_that_holds_the_text_is_read(most: int, rows: int) -> None:
    """224 of 256 are too many to be worth it."""
    rng, head = random.Random(0), head_of("target_qwen3_5")
    for _ in range(300):
        head.add([rng.randrange(most), rng.randrange(most)])
    assert head.rows == rows or len(set(range(32, most))) <= draft_head.RARER


def test_it_is_widened_when_the_text_goes_elsewhere_and_narrowed_when_it_comes_back() -> None:
    rng, head = random.Random(0), head_of("target_qwen3_5")
    widths = []
    for low, high, tokens in ((0, 32, 1000), (130, 256, 200), (0, 32, 6000)):
        for _ in range(tokens):
            head.add([rng.randrange(low, high)])
        widths.append(head.rows)
    assert widths == [32, 256, 32]


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_read_has_the_targets_logits_and_the_rest_none(name: str) -> None:
    target = load_target(CHECKPOINTS / name)
    head = DraftHead(target)
    hidden = mx.random.normal((1, 7, target.config.hidden_size), key=mx.random.key(1))
    assert mx.array_equal(head.lm_head(hidden), target.lm_head(hidden))
    head.add([3] * 2000 + [250, 240])
    assert head.rows == 32
    logits, wanted = np.array(head.lm_head(hidden)), np.array(target.lm_head(hidden))
    read = [*range(32), 240, 250]
    np.testing.assert_allclose(logits[..., read], wanted[..., read], rtol=1e-5, atol=1e-5)
    assert np.isneginf(np.delete(logits, read, axis=-1)).all()
    ids = mx.array([[1, 2]])
    assert mx.array_equal(head.embed(ids), target.embed(ids))


def test_the_newest_rarer_tokens_are_kept() -> None:
    head = head_of("target_qwen3_5")
    head.add([5] * 40_000 + list(range(100, 200)))
    head.rows = 32
    kept = np.isfinite(np.array(head.lm_head(mx.ones((1, 1, 64))))[0, 0]).nonzero()[0].tolist()
    assert kept == [*range(32), *range(200 - draft_head.RARER, 200)]


@pytest.mark.parametrize(("target", "drafter"), [("target_qwen3_5", "dflash2_full"), ("target_qwen3_4bit", "dflash1_full")])
def test_tokens_are_the_same_and_no_draft_is_outside(target: str, drafter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt, greedy = recorded_prompts(target)[0]
    monkeypatch.setattr(draft_head, "ENOUGH", 0)
    monkeypatch.setattr(draft_head, "MISSED", 1.0)  # narrow whatever it costs
    sequence = new_sequence(target, drafter)
    assert decode(sequence, prompt, 8, len(greedy))[0] == greedy
    assert sequence.head.rows == 32
    allowed = {*range(32), *greedy}
    for offer in (Offer(8), Offer(16, tree=True)):
        assert set(sequence.draft(mx.array(greedy[-1:], mx.int32), offer, GREEDY).ids.tolist()) <= allowed
