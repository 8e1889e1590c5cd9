"""A pair, its streams and its sessions, used from several threads: what each says is what it says alone."""

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS, SHALLOW

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
    pair, file = dm.load(SHALLOW), tmp_path / "conversation.safetensors"
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


@pytest.mark.parametrize(
    "end, code",
    [("thread.join()", 0), ("raise SystemExit(7)", 7)],
    ids=["right after a thread has ended", "while a thread works"],
)
def test_a_process_ends_as_it_should(end: str, code: int) -> None:
    program = f"""
import threading, time, dflash_mlx as dm
pair = dm.load({str(SHALLOW)!r})
entered = threading.Event()
def work():
    for _ in range({1 if code == 0 else 10**6}):
        pair.generate("What is the drafter?", max_tokens=60, block_size=4)
        entered.set()
thread = threading.Thread(target=work, daemon=True)
thread.start(), entered.wait()
{end}
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == code


def test_sends_from_two_threads_do_not_mix() -> None:
    pair = dm.load(SHALLOW)
    alone = {text: "".join(c.text for c in pair.session().send(text, **OPTIONS)) for text in ("What is the anchor?", "Hi")}
    session, barrier = pair.session(), threading.Barrier(2)

    def said(text: str) -> str:
        barrier.wait()
        return "".join(chunk.text for chunk in session.send(text, **OPTIONS))

    for _ in range(10):
        session.messages = []
        with ThreadPoolExecutor(2) as pool:
            replies = dict(zip(alone, pool.map(said, alone)))
        first, second = (
            (message["content"] for message in session.messages if message["role"] == "user")
            if len(session.messages) == 4
            else (None, session.messages[0]["content"])
        )
        for text, reply in replies.items():  # the one that came first was stopped, or ended
            assert alone[text].startswith(reply) or text == second and first is not None


def test_what_calls_back_into_its_own_stream_is_told_so() -> None:
    pair = dm.load(SHALLOW)
    session = pair.session()
    caught = []

    def interfere(done: int, total: int) -> None:
        for call in (reply.close, session.undo, lambda: session.save("nowhere")):
            try:
                call()
            except dm.RequestError as error:
                caught.append(error.message)

    reply = session.send("Hi", progress=interfere, **OPTIONS)
    tokens = [token for chunk in reply for token in chunk.token_ids]
    assert tokens == list(answer_to(pair, "Hi")) and len(caught) >= 3
    assert set(caught) == {"a reply is under way, and this was called from within it."}


def answer_to(pair: dm.Pair, prompt: str) -> tuple[int, ...]:
    return pair.generate(prompt, **OPTIONS).token_ids


def test_an_error_in_another_thread_keeps_nothing_alive() -> None:
    pair, alive = dm.load(SHALLOW), list[weakref.ref[Any]]()

    class Payload:
        def __call__(self, tokens: mx.array, logits: mx.array) -> mx.array:
            raise ValueError

    def fail() -> None:
        payload = Payload()
        alive.append(weakref.ref(payload))
        with pytest.raises(ValueError):
            pair.generate("Hi", logits_processors=[payload], **OPTIONS)

    gc.disable()
    try:
        for _ in range(3):
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
        assert [reference() for reference in alive] == [None] * 3
    finally:
        gc.enable()


def test_a_dropped_stream_is_closed_without_waiting() -> None:
    pair = dm.load(SHALLOW)
    entered, go_on = threading.Event(), threading.Event()

    def wait(tokens: mx.array, logits: mx.array) -> mx.array:
        entered.set()
        assert go_on.wait(60)
        return logits

    dropped = pair.stream("Hi", **OPTIONS)
    next(dropped)
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(pair.generate, "Hi", logits_processors=[wait], **OPTIONS)
        assert entered.wait(60)
        del dropped  # while another thread is in a step
        go_on.set()
        assert busy.result().token_ids == answer_to(pair, "Hi")
