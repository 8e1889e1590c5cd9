"""The rules by which drafts stay: counted, over many keys, against their closed forms."""

import mlx.core as mx
import numpy as np
import pytest
from sampling_reference import misfit

from dflash_mlx.decoding.acceptance import Verdict, accept_equal, accept_sampled, draw_by_weight
from dflash_mlx.drafters import Draft

DRAWS = 50_000
KEYS = mx.random.split(mx.random.key(0), DRAWS)
EMPTY = mx.array([], mx.int32)


def distributions(rows: int, vocab: int, seed: int) -> np.ndarray:
    """Random ones, float32 `[rows, vocab]`, about a third of them zeros."""
    random = np.random.default_rng(seed)
    weights = random.exponential(size=(rows, vocab)) * (random.random((rows, vocab)) > 0.3)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def verdicts(draft: Draft, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tokens `[DRAWS, rows]` and accepted counts `[DRAWS]` of one draft under all keys."""
    tokens, accepted = mx.vmap(lambda key: tuple(accept_sampled(draft, mx.array(p), key))[:2])(KEYS)
    return np.array(tokens), np.array(accepted)[:, 0]


def test_drafts_stay_until_the_target_disagrees_and_its_own_token_follows() -> None:
    tokens = mx.array([4, 2, 5, 0], mx.int32)
    for drafts, accepted in (([4, 2, 5], 3), ([4, 2, 1], 2), ([4, 0, 5], 1), ([3, 2, 5], 0)):
        verdict = accept_equal(mx.array(drafts, mx.int32), tokens)
        assert verdict.accepted.tolist() == [accepted] and verdict.tokens.tolist()[: accepted + 1] == [4, 2, 5, 0][: accepted + 1]
    verdict = accept_equal(EMPTY, tokens[:1])
    assert (verdict.tokens.tolist(), verdict.accepted.tolist()) == ([4], [0])


def test_draws_have_the_frequency_of_their_weights() -> None:
    weights = np.array([0.5, 0, 3, 1e-3, 0, 1.5], np.float32)
    drawn = np.array(mx.vmap(lambda key: draw_by_weight(mx.array(weights), key))(KEYS))
    assert misfit(np.bincount(drawn, minlength=6), weights / weights.sum(dtype=np.float64)) < 1
    assert misfit(np.bincount(drawn, minlength=6), np.array([0.5, 0, 2.9, 1e-3, 0, 1.6]) / 5.001) > 1


def test_a_token_of_weight_zero_is_never_drawn_and_a_tiny_one_is() -> None:
    weights = mx.zeros((1000, 50))
    weights[:, 17] = 1e-45
    assert (draw_by_weight(weights, mx.random.key(3)) == 17).all()


# 3 drafts of 3 tokens: luck and draw are of one size, and would be the same numbers if they had one key
@pytest.mark.parametrize(("seed", "vocab"), [(0, 6), (1, 6), (2, 6), (5, 3)])
def test_how_many_stay_and_what_follows_fit_the_closed_form(seed: int, vocab: int) -> None:
    p, q = distributions(4, vocab, seed), distributions(3, vocab, seed + 100)
    ids = q.argmax(-1) if seed else np.array([np.flatnonzero(row)[0] for row in q])
    tokens, accepted = verdicts(Draft(mx.array(ids, mx.int32), mx.array(q)), p)
    wanted, reach = np.zeros((4, vocab)), 1.0  # of (drafts kept, own token)
    for i, token in enumerate(ids):
        stays = min(1.0, float(p[i, token]) / float(q[i, token]))
        missing = np.maximum(0, p[i].astype(float) - q[i])
        wanted[i] = reach * (1 - stays) * missing / max(missing.sum(), 1e-30)
        reach *= stays
    wanted[3] = reach * p[3]
    counts = np.zeros((4, vocab))
    np.add.at(counts, (accepted, tokens[np.arange(DRAWS), accepted]), 1)
    assert misfit(counts, wanted / wanted.sum()) < 1
    for kept in range(1, 4):
        assert (tokens[accepted >= kept, :kept] == ids[:kept]).all()


def test_drafts_drawn_from_q_come_out_distributed_as_p() -> None:
    p, q = distributions(2, 8, 5), distributions(1, 8, 6)

    def first_token(key: mx.array) -> mx.array:
        draw_key, key = mx.random.split(key)
        ids = draw_by_weight(mx.array(q), draw_key)
        return accept_sampled(Draft(ids, mx.array(q)), mx.array(p), key).tokens[0]

    counts = np.bincount(np.array(mx.vmap(first_token)(KEYS)), minlength=8)
    assert misfit(counts, p[0] / p[0].sum(dtype=np.float64)) < 1


def test_a_draft_that_was_not_drawn_stays_with_the_targets_probability() -> None:
    p = distributions(3, 6, 8)
    ids = p.argmax(-1)[:2]
    tokens, accepted = verdicts(Draft(mx.array(ids, mx.int32), None), p)
    a, b = float(p[0, ids[0]]), float(p[1, ids[1]])
    assert misfit(np.bincount(accepted, minlength=3), np.array([1 - a, a * (1 - b), a * b])) < 1
    assert misfit(np.bincount(tokens[:, 0], minlength=6), p[0] / p[0].sum(dtype=np.float64)) < 1
    assert (tokens[accepted == 0, 0] != ids[0]).all()


def test_without_drafts_the_token_is_drawn_from_p() -> None:
    p = distributions(1, 6, 9)
    tokens, accepted = verdicts(Draft(EMPTY, None), p)
    assert tokens.shape == (DRAWS, 1) and not accepted.any()
    assert misfit(np.bincount(tokens[:, 0], minlength=6), p[0] / p[0].sum(dtype=np.float64)) < 1


def sure(*tokens: int) -> mx.array:
    """Distributions that have all on one token each, of 4."""
    return mx.eye(4)[mx.array(tokens)]


@pytest.mark.parametrize(
    ("ids", "q", "p", "kept"),
    [
        ([2, 1], None, sure(2, 1, 3), [2, 1, 3]),  # sure of the same: everything stays
        ([2, 1], sure(2, 1), sure(2, 1, 3), [2, 1, 3]),
        ([2, 1], sure(2, 1), sure(0, 1, 3), [0]),  # sure of something else: nothing does
        ([2, 1], None, sure(2, 0, 3), [2, 0]),
        ([2, 1], mx.full((2, 4), 0.25), sure(2, 0, 3), [2, 0]),
        ([3], mx.zeros((1, 4)), sure(1, 2), [1]),  # a q of 0 on a draft: no division by it
    ],
)
def test_certainties_decide_whatever_the_key(ids: list[int], q: mx.array | None, p: mx.array, kept: list[int]) -> None:
    for seed in range(200):
        tokens, accepted, _ = accept_sampled(Draft(mx.array(ids, mx.int32), q), p, mx.random.key(seed))
        assert tokens.tolist()[: accepted.item() + 1] == kept and accepted.item() == len(kept) - 1


def test_where_rounding_leaves_nothing_missing_the_token_comes_from_p() -> None:
    """q is above p everywhere, as float32 may have it: a rejection then has no residual to draw from."""
    p = np.array([[0.3, 0.3, 0, 0.3], [0, 0, 1, 0]], np.float32)
    q = mx.array([[0.6, 0.3, 0.0, 0.3]])
    tokens, accepted = verdicts(Draft(mx.array([0], mx.int32), q), p)
    assert misfit(np.bincount(accepted), np.array([0.5, 0.5])) < 1
    assert misfit(np.bincount(tokens[accepted == 0, 0], minlength=4), np.array([1, 1, 0, 1]) / 3) < 1


def test_a_verdict_is_of_int32_and_of_the_blocks_width() -> None:
    for drafts in range(4):
        ids = mx.zeros((drafts,), mx.int32)
        for verdict in (
            accept_equal(ids, mx.zeros((drafts + 1,), mx.int32)),
            accept_sampled(Draft(ids, mx.full((drafts, 5), 0.2)), mx.full((drafts + 1, 5), 0.2), mx.random.key(0)),
        ):
            assert isinstance(verdict, Verdict)
            assert (verdict.tokens.shape, verdict.tokens.dtype) == ((drafts + 1,), mx.int32)
            assert (verdict.accepted.shape, verdict.accepted.dtype) == ((1,), mx.int32)
