"""Who is measured when, and what is noted of an answer."""

import time
from collections import Counter

import pytest

import dflash_mlx
from dflash_mlx.bench.run.measure import Answer, Question, Step, Way, engine_of, measure, plan

ANSWER = Answer((5, 6, 7), 2, 0.5, (2,), (1,), 0.1, 100.0, 10, None, None)


def questions(count: int) -> list[Question]:
    return [Question("chat", number, [number]) for number in range(count)]


def test_every_question_is_answered_in_all_ways_before_the_next_one() -> None:
    steps = plan({None: questions(3), 50: questions(2)}, (0.0, 0.7), (4, "auto"), rounds=2)
    assert len(steps) == (3 + 2) * 2 * 2 * 3
    groups = [steps[i : i + 3] for i in range(0, len(steps), 3)]
    for group in groups:
        assert {step.way.block_size for step in group} == {1, 4, "auto"}
        assert len({(step.question.number, step.round, step.seed, step.way.plain) for step in group}) == 1
    assert Counter((s.question.number, s.round, s.way) for s in steps).most_common(1)[0][1] == 1


def test_plain_decoding_is_measured_once_where_it_is_asked_for_too() -> None:
    assert [step.way.block_size for step in plan({None: questions(1)}, (0.0,), (1, 4), 1)] == [1, 4]


def test_each_way_comes_as_often_before_another_as_after_it_and_as_far() -> None:
    sizes = (1, 2, 4, 8)
    steps = plan({None: questions(8)}, (0.0,), sizes[1:], rounds=1)
    orders = [[step.way.block_size for step in steps[i : i + 4]] for i in range(0, len(steps), 4)]
    for one in sizes:
        for other in sizes:
            distances = Counter(order.index(one) - order.index(other) for order in orders)
            assert all(distances[d] == distances[-d] for d in distances)
    assert {order[0] for order in orders} == set(sizes)


def test_the_rounds_of_a_prompt_have_seeds_of_their_own() -> None:
    steps = plan({None: questions(3)}, (1.0,), (4,), rounds=4)
    assert len({step.seed for step in steps}) == 3 * 4


def test_a_way_is_warmed_up_once_by_a_short_answer_and_rest_comes_before_each_that_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[object] = []
    monkeypatch.setattr(time, "sleep", happened.append)

    def engine(prompt: list[int], way: Way, max_tokens: int, seed: int) -> Answer:
        happened.append((way.block_size, max_tokens))
        return ANSWER

    steps = plan({None: questions(2)}, (0.0,), (4,), rounds=1)
    runs = list(measure(engine, steps, 99, 2.5))
    assert happened == [(1, 16), 2.5, (1, 99), (4, 16), 2.5, (4, 99), 2.5, (4, 99), 2.5, (1, 99)]
    assert len(runs) == len(steps)


def test_a_run_says_which_answer_it_is() -> None:
    step = Step(Question("code", 3, [1, 2]), 1, Way(4, 0.0, 50), 9)
    [run] = measure(lambda *asked: ANSWER, [step], 99, 0)
    assert (run.category, run.prompt, run.round, run.way, run.prompt_tokens) == ("code", 3, 1, step.way, 2)
    assert (run.answer, run.answer.tokens_per_second) == (ANSWER, 2 / 0.5)


@pytest.mark.parametrize("tokens, seconds", [((5,), 0.0), ((5,), 0.1), ((5, 6), 0.0)])
def test_an_answer_without_decoding_has_no_speed(tokens: tuple[int, ...], seconds: float) -> None:
    assert ANSWER._replace(token_ids=tokens, decode_seconds=seconds).tokens_per_second is None


@pytest.fixture(scope="module")
def pair() -> dflash_mlx.Pair:
    return dflash_mlx.load("demo")


def test_a_pairs_answer_has_the_figures_of_its_statistics(pair: dflash_mlx.Pair) -> None:
    prompt = pair.tokenizer.encode("What is the anchor?")
    windows: list[tuple[float, float]] = []

    def joules(start: float, end: float) -> float:
        windows.append((start, end))
        return 3.0

    answer = engine_of(pair, "fast", joules)(prompt, Way(4, 0.0, None), 40, 0)
    expected = pair.generate(prompt, max_tokens=40, block_size=4, sampling=dflash_mlx.Sampling())
    assert (answer.token_ids, answer.cycles) == (expected.token_ids, expected.statistics.cycles)
    assert [k / d for k, d in zip(answer.accepted, answer.drafted)] == expected.statistics.acceptance_by_position
    assert answer.joules == 3.0 and [end - start for start, end in windows] == [answer.decode_seconds]
    assert 0 < answer.decode_seconds and 0 < answer.time_to_first_token_s


def test_memory_is_what_the_answer_took_and_not_what_was_there(pair: dflash_mlx.Pair) -> None:
    import mlx.core as mx

    engine, prompt = engine_of(pair, "fast", lambda start, end: None), pair.tokenizer.encode("What is the anchor?")
    engine(prompt, Way(1, 0.0, None), 8, 0)
    before = engine(prompt, Way(1, 0.0, None), 8, 0).peak_memory_bytes
    ballast = mx.zeros((64 * 2**20,), mx.uint8)
    mx.eval(ballast)
    assert engine(prompt, Way(1, 0.0, None), 8, 0).peak_memory_bytes == pytest.approx(before, rel=0.05)
    assert 0 < before < ballast.nbytes


def test_answers_at_a_temperature_are_repeatable_by_their_seed(pair: dflash_mlx.Pair) -> None:
    engine, prompt = engine_of(pair, "fast", lambda start, end: None), pair.tokenizer.encode("Tell me a story.")
    [one, same, other] = [engine(prompt, Way(1, 9.0, None), 12, seed).token_ids for seed in (1, 1, 2)]
    assert one == same != other
