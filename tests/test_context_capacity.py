"""How long a conversation can become, and what its next prompt takes of that."""

from functools import cache

import pytest

import dflash_mlx as dm
from dflash_mlx import pair as pairs

load = cache(dm.load)


def test_the_model_limits_the_context_where_memory_does_not() -> None:
    pair = load("demo")
    assert pair.context_capacity == pair.target.config.max_position_embeddings


def test_memory_limits_the_context_where_the_model_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = dm.load("demo")
    room = pair._need(1500).total
    monkeypatch.setattr(pairs, "available", lambda: room)
    capacity = pair.context_capacity
    left = room - room // 10  # for checkpoints
    assert pair._need(capacity).total <= left < pair._need(capacity + 1).total


def test_force_asks_only_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "available", lambda: 0)
    pair = dm.load("demo", force=True)
    assert pair.context_capacity == pair.target.config.max_position_embeddings


def test_a_prompt_is_as_long_as_it_was_said_to_be() -> None:
    session = load("demo").session(system="You are helpful.")
    expected = session.prompt_tokens("What is the anchor?")
    [*_, last] = session.send("What is the anchor?", max_tokens=8, block_size=4)
    assert last.statistics.prompt_tokens == expected
    assert session.prompt_tokens("What is the anchor?", edit=True) == expected


def test_a_template_variable_can_change_between_turns() -> None:
    pair = load("demo")
    session = pair.session()
    assert pair.tokenizer.knows("enable_thinking") and not pair.tokenizer.knows("thinking")
    list(session.send("What is the anchor?", max_tokens=8, block_size=4))
    session.template["enable_thinking"] = True
    [first, *_] = session.send("What is 3 + 4?", max_tokens=8, block_size=4)
    assert first.thinking and not first.text
