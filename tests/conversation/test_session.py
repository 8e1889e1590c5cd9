"""Conversations: every turn says what it would say cold, and reads only what is new."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS, SHALLOW, expected

import dflash_mlx as dm
from dflash_mlx.conversation.session import Session
from dflash_mlx.decoding.prefix_cache import MOST, PrefixCache, common_length

QUESTIONS = (
    "What is the anchor?",
    "Leo buys 12 apples and eats 5.",
    "What is speculative decoding?",
    "Mia has 20 books and gives 3 away.",
    "Who are you?",
    "安 🙂 אבג",
)
# Old replies lose all before their last marker, as Qwen's lose their thinking; a prompt may end in the middle of it.
STRIPPING = """
{%- if mood %}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.role == "assistant" %}{{ m.content.split("\\n")[-1] }}{% else %}{{ m.content }}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
<think>
{% endif %}"""

load = cache(dm.load)


# As Qwen's: closed thoughts are dropped, others stay.
DROPPING = """
{%- if mood %}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content.split("</think>")[-1].lstrip("\n") if m.role == "assistant" else m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking %}<think>
{% endif %}{% endif %}"""


def with_template(template: str, folder: Path) -> dm.Pair:
    """The demo pair with another template."""
    folder = Path(shutil.copytree(SHALLOW, folder / "demo"))
    (folder / "target" / "chat_template.jinja").write_text(template)
    config = json.loads((folder / "target" / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (folder / "target" / "tokenizer_config.json").write_text(json.dumps(config))
    return dm.load(folder / "target", drafter=folder / "drafter")


@pytest.fixture(scope="module")
def stripping(tmp_path_factory: pytest.TempPathFactory) -> dm.Pair:
    """The demo pair with a template that drops thinking."""
    return with_template(STRIPPING, tmp_path_factory.mktemp("stripping"))


@pytest.fixture(scope="module")
def dropping(tmp_path_factory: pytest.TempPathFactory) -> dm.Pair:
    """The demo pair with a template that drops thinking which was closed."""
    return with_template(DROPPING, tmp_path_factory.mktemp("dropping"))


class Turn:
    """What a turn said, drafted and cost."""

    def __init__(self, chunks: list[dm.Chunk]) -> None:
        self.token_ids = [token for chunk in chunks for token in chunk.token_ids]
        self.drafted = [chunk.drafted for chunk in chunks]
        self.statistics = chunks[-1].statistics
        self.read = self.statistics.prompt_tokens - self.statistics.cached_prompt_tokens


def turn(chunks: Iterator[dm.Chunk]) -> Turn:
    return Turn(list(chunks))


HOW: dict[str, Any] = {"max_tokens": 24, "block_size": 4}


def cold(pair: dm.Pair, session: Session) -> Turn:
    """The newest turn by itself."""
    return turn(pair.stream(session._encode(session.messages[:-1]), **HOW))


def tokens(session: Session, text: str) -> int:
    return len(session._tokenizer.encode(text, raw=True))


LONG = "send send send send retry send edit send undo send retry send send"


@pytest.mark.parametrize("script", ("send send retry send edit send undo send", pytest.param(LONG, marks=pytest.mark.long)))
@pytest.mark.parametrize("template", ("its own", "stripping"))
def test_a_conversation_says_what_each_prompt_says_cold(template: str, script: str, request: pytest.FixtureRequest) -> None:
    pair = load(SHALLOW) if template == "its own" else request.getfixturevalue("stripping")
    session = pair.session(system="You are helpful.")
    for number, what in enumerate(script.split()):
        text = QUESTIONS[number % len(QUESTIONS)]
        if what == "undo":
            newest = next(m["content"] for m in reversed(session.messages) if m["role"] == "user")
            assert session.undo() == newest
            continue
        answered = turn(getattr(session, what)(*([] if what == "retry" else [text]), **HOW))
        alone = cold(pair, session)
        assert answered.token_ids == alone.token_ids
        assert answered.drafted == alone.drafted  # the drafter knows as much
        # what is new: the message and a few markers; the reply was read when it had ended
        newest = session.messages[-2]["content"]
        assert number == 0 or answered.read <= tokens(session, newest) + 16
        assert alone.statistics.cached_prompt_tokens == 0


def test_the_work_of_a_turn_does_not_grow(stripping: dm.Pair) -> None:
    session = stripping.session()
    read = [turn(session.send("What is the anchor?", **HOW)).read for _ in range(8)]
    assert set(read[1:]) == {read[1]} and read[1] <= read[0]


def test_a_changed_system_message_is_read_with_all_behind_it() -> None:
    pair = load(SHALLOW)
    session = pair.session(system="You are helpful.")
    for text in QUESTIONS[:2]:
        turn(session.send(text, **HOW))
    session.system = "You are terse."
    assert session.messages[0] == {"role": "system", "content": "You are terse."}
    answered = turn(session.send(QUESTIONS[2], **HOW))
    assert answered.token_ids == cold(pair, session).token_ids
    session.system = None
    assert session.system is None and session.messages[0]["role"] == "user"
    assert turn(session.send(QUESTIONS[3], **HOW)).token_ids == cold(pair, session).token_ids


@pytest.mark.parametrize("chunks", (1, 2, 5))
def test_a_stopped_reply_stays_as_far_as_it_came(chunks: int) -> None:
    pair = load(SHALLOW)
    session = pair.session()
    turn(session.send(QUESTIONS[0], **HOW))
    reply = session.send(QUESTIONS[2], **HOW)
    said = "".join(chunk.thinking + chunk.text for chunk in islice(reply, chunks))
    reply.close()  # type: ignore[attr-defined]
    assert session.messages[-1] == {"role": "assistant", "content": said}
    answered = turn(session.send(QUESTIONS[1], **HOW))
    assert answered.token_ids == cold(pair, session).token_ids
    assert answered.statistics.cached_prompt_tokens > 0


@pytest.mark.parametrize("opened", (False, True), ids=("by the model", "by the template"))
@pytest.mark.parametrize("closed", (False, True), ids=("cut by the limit", "closed"))
def test_a_thought_that_was_cut_does_not_stay_in_later_prompts(opened: bool, closed: bool, dropping: dm.Pair) -> None:
    session = dropping.session(thinking=opened)
    ids = dropping.tokenizer.encode(("" if opened else "<think>\n") + "Adding them, one by one", raw=True)
    prompt = session.prompt_tokens("2+2?")

    def think(tokens: mx.array, logits: mx.array) -> mx.array:
        return mx.where(mx.arange(logits.shape[-1]) == ids[(tokens.size - prompt) % len(ids)], 0.0, -1e9)[None]

    chunks = session.send("2+2?", sampling=dm.Sampling(), max_tokens=50 if closed else 6, logits_processors=[think])
    for number, _ in enumerate(chunks):
        if closed and number == 4:
            chunks.close()
    assert session.messages[-1]["content"].startswith("<think>\n") and "</think>" not in session.messages[-1]["content"]
    later = dropping.session(thinking=opened)
    later.messages = [session.messages[0], {"role": "assistant", "content": ""}]
    assert session.prompt_tokens("And 3+3?") == later.prompt_tokens("And 3+3?")


def test_a_new_turn_ends_a_reply_that_nobody_reads() -> None:
    pair = load(SHALLOW)
    session = pair.session()
    left = session.send(QUESTIONS[0], **HOW)
    next(left)
    assert turn(session.send(QUESTIONS[2], **HOW)).token_ids == cold(pair, session).token_ids
    assert list(left) == [] and len(session.messages) == 4


class Interrupts:
    """A progress or logits processor that is interrupted at its n-th call, as Ctrl-C would."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __call__(self, *arguments: Any) -> Any:
        self.at -= 1
        if self.at == 0:
            raise KeyboardInterrupt
        return arguments[-1]


@pytest.mark.parametrize(
    "how, at", [*(("progress", at) for at in (1, 2, 3)), *(("logits_processors", at) for at in (1, 2, 9, 20))]
)
def test_an_interrupt_anywhere_leaves_a_session_that_goes_on(how: str, at: int) -> None:
    pair = load(SHALLOW)
    session = pair.session()
    turn(session.send(QUESTIONS[0], **HOW))
    interrupts = Interrupts(at)
    options = {"progress": interrupts} if how == "progress" else {"logits_processors": [interrupts]}
    said = ""
    try:
        for chunk in session.send(QUESTIONS[1], **HOW, **options):
            said += chunk.thinking + chunk.text
    except KeyboardInterrupt:
        assert session.messages[-1]["content"] == said or len(session.messages) == 2
    assert interrupts.at <= 0
    answered = turn(session.send(QUESTIONS[2], **HOW))
    assert answered.token_ids == cold(pair, session).token_ids
    assert answered.drafted == cold(pair, session).drafted


def test_an_interrupt_while_a_place_is_marked_leaves_a_session_that_can_be_saved(
    dropping: dm.Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = dropping.session()
    turn(session.send(QUESTIONS[0], **HOW))

    def interrupted(*_: Any) -> int:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("dflash_mlx.decoding.prefix_cache.nbytes_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(session.send(QUESTIONS[1], **HOW))
    session.save(tmp_path / "talk")
    loaded = dropping.session(load=tmp_path / "talk")
    assert turn(loaded.send(QUESTIONS[2], **HOW)).token_ids == cold(dropping, loaded).token_ids


@pytest.mark.parametrize("text", [b"x", 5, None, "", " \n", ["x"], [{"type": "text", "text": "hi"}]], ids=repr)
def test_only_text_can_be_said(text: Any) -> None:
    session = load(SHALLOW).session()
    for say in (session.send, session.edit):
        with pytest.raises(dm.RequestError, match="empty or not text|nothing to edit"):
            say(text)
    assert session.messages == []
    for system in (5, b"x", ["a"]):
        with pytest.raises(dm.RequestError, match="is not text"):
            session.system = system  # type: ignore[assignment]


def test_a_refused_turn_changes_nothing() -> None:
    session = load(SHALLOW).session()
    for call in (session.retry, session.undo, lambda: session.edit("x"), session.drop_oldest):
        with pytest.raises(dm.RequestError):
            call()
    with pytest.raises(dm.RequestError):
        session.send("x", block_size=99)
    with pytest.raises(dm.RequestError):
        session.send("x " * 5000)
    assert session.messages == []


def test_the_oldest_turn_can_be_dropped() -> None:
    pair = load(SHALLOW)
    session = pair.session(system="You are helpful.")
    for text in QUESTIONS[:3]:
        turn(session.send(text, **HOW))
    session.drop_oldest()
    assert [m["role"] for m in session.messages] == ["system", *["user", "assistant"] * 2]
    assert turn(session.send(QUESTIONS[3], **HOW)).token_ids == cold(pair, session).token_ids


def test_a_small_budget_costs_reading_but_no_word() -> None:
    pair = load(SHALLOW)
    session = pair.session(checkpoint_bytes=0)
    for text in QUESTIONS[:3]:
        assert turn(session.send(text, **HOW)).token_ids == cold(pair, session).token_ids
        assert len(session._cache.checkpoints) == 1
    retried = turn(session.retry(**HOW))
    assert retried.token_ids == cold(pair, session).token_ids


# targets with and without recurrent layers, drafters with and without rings
KINDS = [
    *(("target_qwen3", drafter) for drafter in ("dflash1_full", "dflash1_swa", None)),
    *(("target_qwen3_5", drafter) for drafter in ("dflash2_full", "dflash2_swa", None)),
]


@pytest.mark.parametrize("target, drafter", KINDS, ids=str)
def test_prompts_that_share_a_beginning_draft_and_answer_as_alone(target: str, drafter: str | None) -> None:
    pair = load(CHECKPOINTS / target, drafter=CHECKPOINTS / drafter if drafter else None)
    size = 4 if drafter else 1
    # long enough to turn the rings over
    base = [int(token) for i in range(3) for token in expected(target)[f"prompt{i}"]] * 4
    cached = PrefixCache(10**9)
    plans = [base[:60], base[:60] + [7, 8, 9], base[:90], base[:40] + [1, 2, 3, 4], base[:130], base[:130], [5, 6]]
    for plan in plans:
        known = list(cached.token_ids)
        marks = [position for position in (20, 40, 60, 90) if position <= len(plan)]
        answered = turn(pair._stream(plan, cache=cached, marks=marks, max_tokens=16, block_size=size))
        alone = turn(pair.stream(plan, max_tokens=16, block_size=size))
        assert answered.token_ids == alone.token_ids
        assert answered.drafted == alone.drafted
        common = common_length(known, plan[:-1])
        anywhere = target == "target_qwen3" and drafter != "dflash1_swa"
        usable = common if anywhere else max([m for m in (20, 40, 60, 90, len(known)) if m <= common], default=0)
        assert answered.statistics.cached_prompt_tokens >= usable


def test_a_session_that_began_without_drafter_reads_again_for_it() -> None:
    pair = load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
    cached, prompt = PrefixCache(10**9), [3, 1, 4, 1, 5]
    cached.enter(pair.target, None, False, prompt)
    sequence = cached.enter(pair.target, pair.drafter, False, prompt)
    assert sequence.drafter is pair.drafter and sequence.position == 0


def test_memory_does_not_grow_with_turns(stripping: dm.Pair) -> None:
    session = stripping.session(checkpoint_bytes=10**6)
    held = []
    for _ in range(30):
        turn(session.send("What is the anchor?", max_tokens=8, block_size=4))
        session.undo()
        mx.clear_cache()
        held.append(mx.get_active_memory())
    assert held[-1] <= 1.05 * held[5]


# saved sessions; what may be in a file, and what not: tests/conversation/test_prefix_file.py


def test_a_saved_conversation_goes_on_as_if_it_had_never_been_closed(stripping: dm.Pair, tmp_path: Path) -> None:
    open_, file = stripping.session(system="You are helpful.", mood="calm"), tmp_path / "talk"
    for text in QUESTIONS[:2]:
        turn(open_.send(text, **HOW))
    open_.save(file)
    loaded = stripping.session(load=file)
    assert (loaded.messages, loaded.template) == (open_.messages, {"mood": "calm"})
    for what in ("retry", "send", "edit"):
        text = [] if what == "retry" else [QUESTIONS[4]]
        said, same = (turn(getattr(session, what)(*text, **HOW)) for session in (open_, loaded))
        assert (said.token_ids, said.drafted, said.read) == (same.token_ids, same.drafted, same.read)
    assert open_.messages == loaded.messages


def test_what_is_given_takes_the_place_of_what_was_saved(dropping: dm.Pair, tmp_path: Path) -> None:
    pair = dropping
    session = pair.session(system="You are helpful.", thinking=True, mood="calm")
    turn(session.send(QUESTIONS[0], **HOW))
    session.save(tmp_path / "talk")
    loaded = pair.session(load=tmp_path / "talk", system="You are terse.", thinking=False)
    assert loaded.template == {"enable_thinking": False, "mood": "calm"}
    assert loaded.messages == [{"role": "system", "content": "You are terse."}, *session.messages[1:]]
    assert turn(loaded.send(QUESTIONS[1], **HOW)).token_ids == cold(pair, loaded).token_ids


def test_saving_ends_a_reply_that_is_still_going_on(tmp_path: Path) -> None:
    session = load(SHALLOW).session()
    reply = session.send(QUESTIONS[0], **HOW)
    said = next(reply)
    session.save(tmp_path / "talk")
    assert list(reply) == []
    loaded = load(SHALLOW).session(load=tmp_path / "talk")
    assert loaded.messages[-1] == {"role": "assistant", "content": said.thinking + said.text}
    assert turn(loaded.send(QUESTIONS[2], **HOW)).token_ids == turn(session.send(QUESTIONS[2], **HOW)).token_ids


@pytest.mark.parametrize("content", [b"my notes", b"", b"\x08" + bytes(100)], ids=repr)
def test_another_file_than_a_saved_one_is_not_replaced(content: bytes, tmp_path: Path) -> None:
    file, session = tmp_path / "notes.txt", load(SHALLOW).session()
    file.write_bytes(content)
    with pytest.raises(dm.RequestError, match="is not a saved conversation, so it is not replaced"):
        session.save(file)
    assert file.read_bytes() == content
    for _ in range(2):
        session.save(tmp_path / "talk")


def test_a_conversation_of_which_nothing_was_read_can_be_saved(tmp_path: Path) -> None:
    load(SHALLOW).session(system="You are helpful.").save(tmp_path / "talk")
    loaded = load(SHALLOW).session(load=tmp_path / "talk")
    assert loaded.system == "You are helpful."
    assert turn(loaded.send(QUESTIONS[0], **HOW)).token_ids == cold(load(SHALLOW), loaded).token_ids


def test_a_session_interrupted_while_it_read_saves_what_is_sound(tmp_path: Path) -> None:
    pair = load(SHALLOW)
    session = pair.session()
    turn(session.send(QUESTIONS[0], **HOW))
    with pytest.raises(KeyboardInterrupt):
        turn(session.send(QUESTIONS[1], **HOW, logits_processors=[Interrupts(6)]))
    session.save(tmp_path / "talk")
    loaded = pair.session(load=tmp_path / "talk")
    answered = turn(loaded.send(QUESTIONS[2], **HOW))
    assert answered.token_ids == cold(pair, loaded).token_ids
    assert answered.statistics.cached_prompt_tokens > 0


@pytest.mark.parametrize("wrong", ({"prompt": "x"}, {"tokenize": False}, {"chat_template": "x"}), ids=str)
def test_settings_are_no_variables_of_the_template(wrong: dict[str, Any]) -> None:
    with pytest.raises(dm.RequestError):
        load(SHALLOW).session(**wrong)


def test_variables_that_no_file_can_hold_are_refused(dropping: dm.Pair, tmp_path: Path) -> None:
    session = dropping.session(mood=object())
    with pytest.raises(dm.RequestError, match="cannot be saved"):
        session.save(tmp_path / "talk")
    assert not (tmp_path / "talk").exists()


def test_checkpoints_do_not_pile_up(stripping: dm.Pair) -> None:
    session = stripping.session(system="You are helpful.")
    for number in range(14):
        turn(session.send(f"{number}?", max_tokens=4, block_size=4))
    places = [checkpoint.position for checkpoint in session._cache.checkpoints]
    assert len(places) == MOST and places[0] < 20, "the first stays: it ends the system message"
    session.drop_oldest()
    cached = turn(session.send("Who are you?", **HOW)).statistics.cached_prompt_tokens
    assert cached >= places[0]


def test_exact_verification_takes_over_no_row_that_was_verified_fast(stripping: dm.Pair) -> None:
    session = stripping.session()
    turn(session.send(QUESTIONS[0], **HOW))
    prompt = session._encode(session.messages[:1])
    cached = [turn(session.send(text, **HOW, verify=verify)).statistics.cached_prompt_tokens for text, verify in EXACTLY]
    # the reply was read once more, as a prompt is: of the first turn all is exact
    assert cached[0] > len(prompt) and cached[1] > cached[0]
    reused = PrefixCache(10**9)
    base = list(range(3, 40))
    texts = []
    for verify in ("fast", "exact", "exact"):
        text = base + [token for text in texts for token in text]
        chunks = list(stripping._stream(text, cache=reused, max_tokens=20, block_size=4, verify=verify))
        known = chunks[-1].statistics.cached_prompt_tokens
        assert known == {0: 0, 1: 0, 2: len(text) - 1}[len(texts)]
        texts.append([token for chunk in chunks for token in chunk.token_ids])


EXACTLY = ((QUESTIONS[2], "exact"), (QUESTIONS[1], "exact"))


def test_what_is_read_ahead_fits_into_the_context_and_can_be_saved(
    stripping: dm.Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session = stripping.session()
    limit = len(session._encode([{"role": "user", "content": QUESTIONS[0]}])) + 6
    monkeypatch.setattr(stripping.target, "config", replace(stripping.target.config, max_position_embeddings=limit))
    assert turn(session.send(QUESTIONS[0], **HOW)).statistics.generated_tokens == 6
    assert len(session._cache.token_ids) <= limit
    session.save(tmp_path / "full")
    assert stripping.session(load=tmp_path / "full").messages == session.messages


def test_a_template_that_refuses_the_next_turn_does_not_spoil_this_one(
    stripping: dm.Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, encode = stripping.session(), stripping.tokenizer.encode

    def strict(prompt: Any, *rest: Any, **template: Any) -> list[int]:
        if sum(isinstance(message, dict) for message in prompt) > 2:
            raise dm.RequestError("too many messages.", "Begin anew.")
        return encode(prompt, *rest, **template)

    monkeypatch.setattr(stripping.tokenizer, "encode", strict)
    assert turn(session.send(QUESTIONS[0], **HOW)).token_ids
    with pytest.raises(dm.RequestError, match="too many"):
        session.send(QUESTIONS[1], **HOW)
