"""The target's distribution against float64 numpy, and what a `Sampler` does with the text and its random key."""

import re
from collections import Counter
from dataclasses import replace
from io import StringIO

import mlx.core as mx
import numpy as np
import pytest
from sampling_reference import distribution, misfit

from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.drafters import Draft
from dflash_mlx.errors import RequestError

VOCAB = 200
TEXT = [7, 3, 150, 3, 42]
EMPTY = mx.array([], mx.int32)
WARM = Sampling(temperature=0.7)
SETTINGS = [
    WARM,
    Sampling(temperature=3.0),
    *(replace(WARM, top_k=k) for k in (1, 2, 10, VOCAB - 1, VOCAB, VOCAB + 1, 100_000)),
    *(replace(WARM, top_p=p) for p in (1e-9, 0.3, 0.9, 0.99)),
    *(replace(WARM, min_p=p) for p in (1e-6, 0.05, 0.5, 1.0)),
    *(replace(WARM, repetition_penalty=r) for r in (0.7, 1.3, 5.0)),
    *(replace(WARM, presence_penalty=r) for r in (-1.5, 0.4, 20.0)),
    replace(WARM, top_k=20, top_p=0.8),
    replace(WARM, top_k=50, min_p=0.1),
    replace(WARM, top_p=0.95, min_p=0.02),
    replace(WARM, top_k=20, top_p=0.95, min_p=0.05, repetition_penalty=1.2, presence_penalty=0.5),
]


def logits_of(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, (rows, VOCAB)).astype(np.float32)


def ours(sampling: Sampling, logits: mx.array, drafts: list[int], text: list[int] = TEXT) -> np.ndarray:
    sampler = Sampler(sampling, logits.shape[-1], text)
    p = sampler.distribution(sampler.adjust(mx.array(drafts, mx.int32), logits))
    assert p.dtype == mx.float32
    return np.array(p)


def assert_same(p: np.ndarray, wanted: np.ndarray) -> None:
    assert ((p > 0) == (wanted > 0)).all(), "the same tokens must be left"
    np.testing.assert_allclose(p, wanted, rtol=2e-5, atol=1e-9)


@pytest.mark.parametrize("sampling", SETTINGS, ids=str)
def test_p_is_what_numpy_makes_of_the_logits_row_by_row(sampling: Sampling) -> None:
    drafts = [9, 3, 10]
    for seed in range(5):
        logits = logits_of(4, seed)
        p = ours(sampling, mx.array(logits), drafts)
        for i in range(4):
            assert_same(p[i], distribution(logits[i], TEXT + drafts[:i], sampling))


@pytest.mark.parametrize("sampling", SETTINGS, ids=str)
def test_bfloat16_logits_are_shaped_in_float32_and_their_ties_stay_together(sampling: Sampling) -> None:
    logits = mx.array(logits_of(2)).astype(mx.bfloat16)
    exact = np.array(logits.astype(mx.float32))
    assert len(np.unique(exact[0])) < VOCAB, "rounding must have made ties"
    p = ours(sampling, logits, [9])
    for i in range(2):
        assert_same(p[i], distribution(exact[i], TEXT + [9][:i], sampling))


@pytest.mark.parametrize(
    ("sampling", "kept"),
    [
        (Sampling(1.0, top_k=2), [0, 1, 4]),  # the second and third best are equal
        (Sampling(1.0, top_k=1), [0]),
        (Sampling(1.0, top_p=0.6), [0, 1, 4]),  # 0.5 + 0.2 reach it, and there is another 0.2
        (Sampling(1.0, top_p=0.5), [0]),  # reached exactly
        (Sampling(1.0, top_k=2, top_p=0.65), [0, 1, 4]),  # three tie into the two, and 0.5 of their 0.9 is not enough
        (Sampling(1.0, top_k=2, top_p=0.5), [0]),  # here it is
        (Sampling(1.0, min_p=0.39), [0, 1, 4]),
        (Sampling(1.0, min_p=0.41), [0]),
        (Sampling(1.0, min_p=1.0), [0]),
    ],
    ids=str,
)
def test_ties_at_the_edge_of_a_filter_all_stay(sampling: Sampling, kept: list[int]) -> None:
    chances = np.array([0.5, 0.2, 0.04, 0.06, 0.2], np.float32)
    p = ours(sampling, mx.log(mx.array(chances))[None], [], [])[0]
    assert np.flatnonzero(p).tolist() == kept
    np.testing.assert_allclose(p[kept], chances[kept] / chances[kept].sum(), rtol=1e-5)


def test_equal_logits_are_all_kept_by_every_filter() -> None:
    for sampling in (Sampling(1.0, top_k=1), Sampling(1.0, top_p=1e-6), Sampling(1.0, min_p=1.0)):
        np.testing.assert_allclose(ours(sampling, mx.full((1, 8), -4.0), [], []), 1 / 8)


@pytest.mark.parametrize("sampling", SETTINGS, ids=str)
def test_tokens_that_a_processor_forbids_stay_forbidden(sampling: Sampling) -> None:
    """With only three tokens allowed, fewer than most of the filters would keep."""
    logits = np.full((1, VOCAB), -np.inf, np.float32)
    logits[0, [3, 77, 101]] = [1.0, 2.0, 0.5]
    p = ours(sampling, mx.array(logits), [])
    assert_same(p[0], distribution(logits[0], TEXT, sampling))
    assert set(np.flatnonzero(p)) <= {3, 77, 101}


@pytest.mark.parametrize("temperature", [1e-300, 1e-30, 1e-4, 1e4, 1e30])
def test_extreme_temperatures_give_probabilities(temperature: float) -> None:
    p = ours(Sampling(temperature), mx.array(logits_of(1)), [])
    assert np.isfinite(p).all() and abs(p.sum() - 1) < 1e-5
    if temperature < 1e-3:
        assert p.max() == 1
    if temperature > 1e3:
        np.testing.assert_allclose(p, 1 / VOCAB, rtol=0.01)


def test_without_a_temperature_the_best_penalised_token_is_taken() -> None:
    sampling = Sampling(repetition_penalty=1.5, presence_penalty=0.3)
    changed = 0
    for seed in range(40):
        logits = logits_of(3, seed)
        best = logits.argmax(-1)
        text, drafts = [int(best[0])], [int(best[1]), int(best[2])]
        wanted = [
            int(distribution(row, text + drafts[:i], replace(sampling, temperature=1.0)).argmax()) for i, row in enumerate(logits)
        ]
        verdict = Sampler(sampling, VOCAB, text).accept(Draft(mx.array(drafts, mx.int32), None), mx.array(logits))
        assert verdict.tokens.tolist() == wanted
        changed += wanted != best.tolist()
    assert changed > 10, "the penalties must have decided"


def test_penalties_see_every_token_that_was_added() -> None:
    sampling = Sampling(1.0, presence_penalty=2.0)
    logits = logits_of(2)
    sampler = Sampler(sampling, VOCAB, [1, 2])
    sampler.add([50])
    sampler.add([])
    sampler.add([60, 61])
    p = np.array(sampler.distribution(sampler.adjust(mx.array([9], mx.int32), mx.array(logits))))
    for i in range(2):
        assert_same(p[i], distribution(logits[i], [1, 2, 50, 60, 61] + [9][:i], sampling))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_processors_get_the_whole_text_before_each_row_one_after_the_other(temperature: float) -> None:
    calls: list[tuple[str, list[int]]] = []

    def first(tokens: mx.array, logits: mx.array) -> mx.array:
        assert tokens.dtype == mx.int32 and logits.shape == (1, 6) and logits.dtype == mx.bfloat16
        calls.append(("first", tokens.tolist()))
        logits[:, tokens] = -mx.inf  # in place, as mlx-lm's own processors work
        return logits

    def second(tokens: mx.array, logits: mx.array) -> mx.array:
        assert mx.isinf(logits[0, tokens]).all()
        calls.append(("second", tokens.tolist()))
        return logits.at[:, 5].add(100)

    sampler = Sampler(Sampling(temperature, seed=1), 6, [0, 1], (first, second))
    sampler.add([2])
    logits = mx.zeros((3, 6), mx.bfloat16)
    verdict = sampler.accept(Draft(mx.array([5, 3], mx.int32), None), logits)
    assert calls == [(name, [0, 1, 2, 5, 3][: 3 + i]) for i in range(3) for name in ("first", "second")]
    assert verdict.accepted.item() in (1, 2) and verdict.tokens.tolist()[0] == 5
    assert (logits == 0).all(), "the target's own logits must not change"
    single = mx.zeros((1, 6), mx.bfloat16)
    sampler.accept(Draft(EMPTY, None), single)
    assert (single == 0).all()


def test_processors_come_before_penalties_and_temperature() -> None:
    logits = logits_of(1)
    sampling = Sampling(0.5, repetition_penalty=2.0, top_k=30)
    sampler = Sampler(sampling, VOCAB, TEXT, (lambda tokens, row: row + 1.0,))
    p = np.array(sampler.distribution(sampler.adjust(EMPTY, mx.array(logits))))[0]
    assert_same(p, distribution(logits[0] + 1, TEXT, sampling))


def graph(*outputs: mx.array) -> Counter[str]:
    """How often each operation leads to the outputs."""
    text = StringIO()
    mx.export_to_dot(text, *outputs)
    return Counter(re.findall(r'label ?= ?"(\w+)"', text.getvalue()))


def test_greedy_decoding_adds_one_argmax_and_the_count() -> None:
    logits, drafts = mx.array(logits_of(4)), mx.array([1, 2, 3], mx.int32)
    verdict = Sampler(Sampling(top_p=0.5, top_k=3, min_p=0.2), VOCAB, TEXT).accept(Draft(drafts, None), logits)
    operations = graph(verdict.tokens, verdict.accepted)
    assert operations["ArgReduce"] == 1
    assert set(operations) <= {"ArgReduce", "Squeeze", "AsType", "Slice", "Equal", "CumProd", "Sum"}


def draws(sampler: Sampler, times: int = 20, length: int = 0) -> list[list[int]]:
    """Drafts, and what becomes of them, at so many positions from `length`, the text's, on."""
    logits = mx.array(logits_of(3))
    texts = []
    for _ in range(times):
        ids, q = sampler.draw(logits[:2] * 0.8, True, sampler.luck(length + mx.arange(2)))
        verdict = sampler.accept(Draft(ids, q), logits)
        sampler.add([0])
        length += 1
        texts.append(ids.tolist() + verdict.tokens.tolist() + verdict.accepted.tolist())
    return texts


def test_the_same_seed_gives_the_same_text_and_another_one_another() -> None:
    sampling = Sampling(temperature=1.0, top_k=50, seed=11)
    mx.random.seed(1)
    first = draws(Sampler(sampling, VOCAB))
    mx.random.seed(2)
    assert draws(Sampler(sampling, VOCAB)) == first, "mx.random's global state must have no say"
    assert draws(Sampler(replace(sampling, seed=12), VOCAB)) != first
    for seed in (0, 2**32, 2**64 - 1):
        assert draws(Sampler(replace(sampling, seed=seed), VOCAB)) == draws(Sampler(replace(sampling, seed=seed), VOCAB)) != first


def test_without_a_seed_no_two_requests_are_alike() -> None:
    texts = []
    for _ in range(3):
        mx.random.seed(0)
        texts.append(draws(Sampler(Sampling(temperature=1.0), VOCAB)))
    assert texts[0] != texts[1] != texts[2] != texts[0]


def test_nothing_is_drawn_from_mlxs_global_random_state() -> None:
    mx.random.seed(5)
    before = [array.tolist() for array in mx.random.state]
    draws(Sampler(Sampling(temperature=1.0, top_p=0.9, repetition_penalty=1.1), VOCAB, TEXT), length=len(TEXT))
    assert [array.tolist() for array in mx.random.state] == before


def test_no_random_number_is_used_twice() -> None:
    sampler = Sampler(Sampling(temperature=1.0, seed=3), VOCAB)
    texts = draws(sampler, 60)
    assert len({tuple(text) for text in texts}) > 50


def test_a_drafter_draws_from_the_q_it_records() -> None:
    scores, sampler = mx.array(logits_of(1)[0, :8]), Sampler(Sampling(temperature=2.0, top_k=3, seed=4), VOCAB)
    x = np.array(scores, np.float64)
    for filtered in (True, False):
        wanted = distribution(x, [], Sampling(2.0, top_k=3 if filtered else 0))
        index, q = sampler.draw(mx.broadcast_to(scores, (20_000, 8)), filtered, sampler.luck(mx.arange(20_000))[:, :8])
        assert index.dtype == mx.int32 and q is not None and q.dtype == mx.float32
        assert_same(np.array(q[0]), wanted)
        assert misfit(np.bincount(np.array(index), minlength=8), wanted) < 1


def test_at_temperature_zero_a_drafter_takes_the_best() -> None:
    scores = mx.array(logits_of(5))
    index, q = Sampler(Sampling(top_k=3, presence_penalty=1.0), VOCAB, TEXT).draw(scores, True, None)
    assert q is None and index.dtype == mx.int32 and index.tolist() == np.array(scores).argmax(-1).tolist()


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_processor_forces_a_token_by_making_it_infinite(temperature: float) -> None:
    def force(tokens: mx.array, logits: mx.array) -> mx.array:
        logits[:, 5] = mx.inf
        return logits

    sampler = Sampler(Sampling(temperature=temperature, top_p=0.9, seed=1), 8, [1], [force])
    drafts = Draft(mx.array([5, 5, 2], mx.int32), None)
    verdict = sampler.accept(drafts, mx.random.normal((4, 8), key=mx.random.key(0)))
    assert verdict.accepted.tolist() == [2] and verdict.tokens.tolist()[:3] == [5, 5, 5]


@pytest.mark.parametrize(
    "wrong", [None, [0.0] * 8, mx.zeros(8), mx.zeros((1, 9)), mx.zeros((1, 7)), mx.zeros((2, 8)), mx.zeros((1, 1, 8))], ids=repr
)
def test_what_a_processor_returns_must_be_logits(wrong: object) -> None:
    sampler = Sampler(Sampling(), 8, [1], [lambda tokens, logits: wrong])  # type: ignore[list-item,return-value]
    with pytest.raises(RequestError, match="logits processor"):
        sampler.accept(Draft(mx.array([3], mx.int32), None), mx.zeros((2, 8)))
