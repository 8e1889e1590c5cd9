"""Drafts that are drawn: which scores are drawn from, and that q is what each token was really drawn from."""

import mlx.core as mx
import numpy as np
import pytest
from drafters.test_dflash import EmbeddingAndHead
from fixture_data import CHECKPOINTS, expected

from dflash_mlx.drafters import DFlash, Draft, load_drafter
from dflash_mlx.drafters.dflash import Chooser

WIDTH = 6
TEMPERATURE = 1.5


class Pair:
    """A drafter of the recordings with the first recorded features in its context."""

    def __init__(self, name: str) -> None:
        self.drafter: DFlash = load_drafter(CHECKPOINTS / name)
        self.target = EmbeddingAndHead(name)
        features = mx.array(expected(name[:7] + "_context")["ctx_0"])[None]
        rows = features.shape[1]
        self.context, self.position = self.drafter.new_context(rows + WIDTH), mx.array([rows], mx.int32)
        self.anchor = mx.array([9], mx.int32)
        self.drafter.inject(features, self.context, mx.array([0], mx.int32))

    def draft(self, chooser: Chooser) -> Draft:
        return self.drafter.draft(self.anchor, self.context, self.position, WIDTH, self.target, chooser)

    def hidden_and_logits(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the drafted rows, float64."""
        hidden = self.drafter.hidden(self.anchor, self.context, self.position, WIDTH, self.target)[:, 1:]
        return np.array(hidden[0], np.float64), np.array(self.drafter.logits(hidden, self.target)[0], np.float64)


class Drawing:
    """A `Chooser` that draws by a numpy generator. It notes what it was asked for."""

    temperature = TEMPERATURE

    def __init__(self, seed: int, vocab: int = 256) -> None:
        self.random, self.asked, self.vocab = np.random.default_rng(seed), [], vocab

    def luck(self, positions: mx.array) -> mx.array:
        return mx.zeros((positions.size, self.vocab))

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, mx.array]:
        self.asked.append((scores.shape, filtered))
        q = softmax(np.array(scores, np.float64) / TEMPERATURE)
        index = np.array([self.random.choice(q.shape[-1], p=row) for row in q.reshape(-1, q.shape[-1])])
        return mx.array(index.reshape(q.shape[:-1]), mx.int32), mx.array(q, mx.float32)


class AlwaysBest(Drawing):
    """Its q is no use to it."""

    def draw(self, scores: mx.array, filtered: bool, luck: mx.array | None) -> tuple[mx.array, mx.array]:
        return mx.argmax(scores, axis=-1).astype(mx.int32), mx.softmax(scores)


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def first() -> Pair:
    return Pair("dflash1_full")


@pytest.fixture(scope="module")
def second() -> Pair:
    return Pair("dflash2_full")


def test_dflash_draws_each_row_from_its_own_filtered_logits(first: Pair) -> None:
    _, logits = first.hidden_and_logits()
    drafted = set()
    for seed in range(20):
        drawing = Drawing(seed)
        draft = first.draft(drawing)
        assert drawing.asked == [(logits.shape, True)]
        assert draft.ids.shape == (WIDTH - 1,) and draft.ids.dtype == mx.int32 and draft.q.dtype == mx.float32
        np.testing.assert_allclose(np.array(draft.q), softmax(logits / TEMPERATURE), rtol=1e-4, atol=1e-7)
        drafted.add(tuple(draft.ids.tolist()))
    assert len(drafted) > 10


def test_dflash2_draws_each_row_given_the_token_it_drew_before(second: Pair) -> None:
    hidden, logits = second.hidden_and_logits()
    selector = second.drafter.candidate_selector
    before, after, projection = (
        np.array(table, np.float64)
        for table in (selector.predecessor_codebook, selector.successor_codebook, selector.hidden_projection.weight)
    )
    drafted = set()
    for seed in range(20):
        drawing = Drawing(seed)
        draft = second.draft(drawing)
        assert [filtered for _, filtered in drawing.asked] == [False] * (WIDTH - 1)
        assert draft.ids.shape == (WIDTH - 1,) and draft.ids.dtype == mx.int32 and draft.q.dtype == mx.float32
        ids, wanted, previous = draft.ids.tolist(), np.zeros_like(logits), second.anchor.item()
        for row, token in enumerate(ids):
            candidates = np.argsort(-logits[row])[: selector.top_k]
            scores = logits[row, candidates] + after[candidates] @ (before[previous] * (projection @ hidden[row]))
            wanted[row, candidates] = softmax(scores / TEMPERATURE)
            previous = token
        np.testing.assert_allclose(np.array(draft.q), wanted, rtol=1e-4, atol=1e-7)
        assert (wanted[np.arange(WIDTH - 1), ids] > 0).all(), "what was drawn must have had a chance"
        drafted.add(tuple(ids))
    assert len(drafted) > 10


def test_the_best_of_everything_is_the_greedy_draft(first: Pair, second: Pair) -> None:
    for pair in (first, second):
        always_best = pair.draft(AlwaysBest(0))
        greedy = pair.drafter.draft(pair.anchor, pair.context, pair.position, WIDTH, pair.target)
        assert greedy.q is None and greedy.ids.tolist() == always_best.ids.tolist()
