"""A pair, its streams and its sessions, used from several threads: what each says is what it says alone."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS

import dflash_mlx as dm

PAIRS = [("target_qwen3", "dflash1_full"), ("target_qwen3_5", "dflash2_swa")]
OPTIONS: dict[str, Any] = {"max_tokens": 24, "block_size": 4, "sampling": dm.Sampling()}
PROMPT, OTHER = [5, 6, 7], [9, 8, 7, 6, 5]

T = TypeVar("T")


def in_a_thread(function: Callable[[], T]) -> T:
    """What a function gives in a thread of its own, which then ends."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.fixture(params=PAIRS, ids=lambda names: names[0])
def pair(request: pytest.FixtureRequest) -> dm.Pair:
    target, drafter = request.param
    return dm.load(CHECKPOINTS / target, drafter=CHECKPOINTS / drafter)


def answer(pair: dm.Pair, prompt: list[int] = PROMPT) -> tuple[int, ...]:
    return pair.generate(prompt, **OPTIONS).token_ids


def test_another_thread_gets_the_same_answer(pair: dm.Pair) -> None:
    assert in_a_thread(lambda: answer(pair)) == answer(pair) == in_a_thread(lambda: answer(pair))


def test_a_pair_loaded_in_a_thread_that_has_ended_serves_others(pair: dm.Pair) -> None:
    loaded = in_a_thread(lambda: dm.load(CHECKPOINTS / "target_qwen3", drafter=CHECKPOINTS / "dflash1_full"))
    alone = dm.load(CHECKPOINTS / "target_qwen3", drafter=CHECKPOINTS / "dflash1_full")
    assert answer(loaded) == in_a_thread(lambda: answer(loaded)) == answer(alone)


def test_every_step_of_a_stream_may_be_another_threads(pair: dm.Pair) -> None:
    stream, tokens = pair.stream(PROMPT, **OPTIONS), list[int]()
    step = 0
    while chunk := (next(stream, None) if step % 3 == 0 else in_a_thread(lambda: next(stream, None))):
        tokens += chunk.token_ids
        step += 1
    assert tuple(tokens) == answer(pair) and step > 3


def test_requests_that_overlap_get_their_own_answers(pair: dm.Pair) -> None:
    alone = [answer(pair, prompt) for prompt in (PROMPT, OTHER)]
    sampled = pair.generate(PROMPT, **{**OPTIONS, "sampling": dm.Sampling(temperature=1.0, seed=3)}).token_ids
    with ThreadPoolExecutor(6) as pool:
        greedy = [pool.submit(answer, pair, prompt) for prompt in (PROMPT, OTHER) * 2]
        drawn = pool.submit(pair.generate, PROMPT, **{**OPTIONS, "sampling": dm.Sampling(temperature=1.0, seed=3)})
        here = pair.stream(OTHER, **OPTIONS)
        tokens = [token for chunk in here for token in chunk.token_ids]
    assert [future.result() for future in greedy] == alone * 2
    assert drawn.result().token_ids == sampled and tuple(tokens) == alone[1]


def test_a_stream_can_be_closed_while_another_thread_is_in_a_step(pair: dm.Pair) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def wait(tokens: mx.array, logits: mx.array) -> mx.array:
        entered.set()
        assert go_on.wait(60)
        return logits

    stream = pair.stream(PROMPT, **OPTIONS, logits_processors=[wait])
    with ThreadPoolExecutor(2) as pool:
        step = pool.submit(next, stream)
        assert entered.wait(60)
        closing = pool.submit(stream.close)
        go_on.set()
        assert step.result().token_ids and closing.result() is None
    assert next(stream, None) is None


def test_coroutines_step_streams_in_threads(pair: dm.Pair) -> None:
    async def tokens_of(prompt: list[int]) -> tuple[int, ...]:
        stream, tokens = pair.stream(prompt, **OPTIONS), list[int]()
        while chunk := await asyncio.to_thread(next, stream, None):
            tokens += chunk.token_ids
        return tuple(tokens)

    async def both() -> list[tuple[int, ...]]:
        return await asyncio.gather(tokens_of(PROMPT), tokens_of(OTHER))

    assert asyncio.run(both()) == [answer(pair, PROMPT), answer(pair, OTHER)]


def test_a_session_goes_from_thread_to_thread(tmp_path: Path) -> None:
    pair, file = dm.load("demo"), tmp_path / "conversation.safetensors"
    here = pair.session()
    said = [
        [token for chunk in here.send(text, **OPTIONS) for token in chunk.token_ids] for text in ("Hi", "What is the anchor?")
    ]
    there = in_a_thread(pair.session)
    for text, tokens in zip(("Hi", "What is the anchor?"), said):
        assert [t for c in in_a_thread(lambda text=text: list(there.send(text, **OPTIONS))) for t in c.token_ids] == tokens
    in_a_thread(lambda: there.save(file))
    again = in_a_thread(lambda: pair.session(load=file))
    assert [token for chunk in again.retry(**OPTIONS) for token in chunk.token_ids] == said[1]


def test_what_goes_wrong_in_another_thread_is_raised_there(pair: dm.Pair) -> None:
    with pytest.raises(dm.RequestError, match="returned"):
        in_a_thread(lambda: pair.generate(PROMPT, **OPTIONS, logits_processors=[lambda tokens, logits: None]))  # type: ignore[list-item]
    assert in_a_thread(lambda: answer(pair)) == answer(pair)


def test_a_process_ends_well_right_after_its_threads() -> None:
    program = """
import threading, dflash_mlx as dm
pair = dm.load("demo")
thread = threading.Thread(target=lambda: pair.generate("Hi", max_tokens=8, block_size=4))
thread.start(), thread.join()
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
