"""What belongs to a conversation: its pair, its settings, its context."""

import json
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from fixture_data import DEMO

import dflash_mlx as dm
from dflash_mlx.cli.chat.conversation import Conversation

QUESTION = "What is the anchor?"


def load(model: str, drafter: str | None, found: Callable[[], None]) -> dm.Pair:
    return dm.load(model, drafter, progress=lambda stage, done, total: found() if stage == "target" else None)


def conversation(model: str = "demo", drafter: str | None = "auto", **chosen: object) -> Conversation:
    return Conversation(load, model, drafter, {"max_tokens": 60, "block_size": 4, "verify": "fast", **chosen}, None, None)


def say(conversation: Conversation, text: str, edit: bool = False) -> str:
    return "".join(chunk.thinking + chunk.text for chunk in conversation.answer(text, edit))


def copy(folder: Path, **config: object) -> tuple[str, str]:
    """The demo pair with changes in its target's config.json."""
    shutil.copytree(DEMO, folder)
    file = folder / "target" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))
    return str(folder / "target"), str(folder / "drafter")


@pytest.fixture(scope="module")
def shared() -> Conversation:
    """For tests that leave its settings as they were."""
    return conversation()


@pytest.fixture
def small(tmp_path: Path) -> Conversation:
    """With a context of 512 tokens."""
    return conversation(*copy(tmp_path / "small", max_position_embeddings=512))


def test_another_model_reads_the_conversation_anew_and_the_old_one_is_gone_before() -> None:
    chat = conversation()
    say(chat, QUESTION)
    old, said = weakref.ref(chat.pair), chat.session.messages
    alive = []

    def watch(model: str, drafter: str | None, found: Callable[[], None]) -> dm.Pair:
        def tell() -> None:
            found()
            alive.append(old())

        return load(model, drafter, tell)

    chat._load = watch
    chat.change_model("demo", None)
    assert alive == [None] and chat.session.messages == said
    assert chat.settings["block_size"] == "auto"  # 4 rows need a drafter
    say(chat, "What is a cycle?")
    assert chat.replies[-1].mode == "plain" and chat.replies[-1].cached_prompt_tokens == 0


def test_a_name_that_leads_nowhere_leaves_the_pair_as_it_is() -> None:
    chat = conversation()
    pair, session = chat.pair, chat.session
    with pytest.raises(dm.DFlashError):
        chat.change_model("nobody/nothing", "auto")
    assert chat.pair is pair and chat.session is session and chat.model == "demo"


def test_a_model_that_cannot_be_loaded_brings_the_old_one_back(tmp_path: Path) -> None:
    chat = conversation()
    before = say(chat, QUESTION)
    target, drafter = copy(tmp_path / "broken", hidden_size=200)
    with pytest.raises(dm.DFlashError):
        chat.change_model(target, drafter)
    assert chat.model == "demo" and say(chat, QUESTION, edit=True) == before


@pytest.mark.parametrize(
    "template, says",
    [
        (None, "no chat template"),
        (
            "{%- if messages[0].role == 'system' %}{{ raise_exception('no system message, please') }}{% endif %}",
            "no system message",
        ),
    ],
    ids=("none", "refuses the system message"),
)
def test_a_template_that_cannot_go_on_brings_the_old_model_back(tmp_path: Path, template: str | None, says: str) -> None:
    target, drafter = copy(tmp_path / "other")
    file = Path(target) / "chat_template.jinja"
    file.write_text(template + file.read_text()) if template else file.unlink()
    chat = conversation()
    chat.session.system = "You are helpful."
    before, others, alive = say(chat, QUESTION), [], []

    def watch(model: str, drafter: str | None, found: Callable[[], None]) -> dm.Pair:
        alive.extend(other() for other in others)
        pair = load(model, drafter, found)
        others.append(weakref.ref(pair))
        return pair

    chat._load = watch
    with pytest.raises(dm.RequestError, match=says):
        chat.change_model(target, drafter)
    assert chat.model == "demo" and chat.settings["block_size"] == 4 and chat.session.system == "You are helpful."
    assert alive == [None]  # there may not be memory for both
    assert say(chat, QUESTION, edit=True) == before


def test_a_system_message_that_the_template_refuses_is_noticed_at_once(tmp_path: Path) -> None:
    target, drafter = copy(tmp_path / "refusing")
    file = Path(target) / "chat_template.jinja"
    file.write_text("{%- if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}" + file.read_text())
    with pytest.raises(dm.RequestError, match="cannot render"):
        Conversation(load, target, drafter, {"max_tokens": 60, "block_size": 4, "verify": "fast"}, "You are helpful.", None)


def test_a_conversation_without_any_model_says_so(tmp_path: Path) -> None:
    target, drafter = copy(tmp_path / "gone")
    chat = conversation(target, drafter)
    shutil.rmtree(target)
    with pytest.raises(dm.DFlashError):
        chat.change_model(*copy(tmp_path / "broken", hidden_size=200))
    assert not chat.loaded


@pytest.mark.parametrize(
    "name, value, says",
    [
        ("temperature", "warm", "temperature 'warm' is not a number"),
        ("top_p", "7", "top_p must be above 0 and at most 1"),
        ("top_k", "1.5", "top_k 1.5 is not a whole number"),
        ("seed", "-1", "seed must be from 0 to"),
        ("max_tokens", "none", "max_tokens None is not a whole number"),
        ("block_size", "99", "block_size 99 is more than the 8"),
        ("verify", "maybe", "verify 'maybe' is not known"),
        ("verbosity", "1", "there is no setting verbosity"),
        ("effort", "high", "has no reasoning effort"),
    ],
)
def test_a_wrong_setting_is_refused_in_the_librarys_words(name: str, value: str, says: str, shared: Conversation) -> None:
    before = shared.settings
    with pytest.raises(dm.RequestError, match=says):
        shared.set(name, value)
    assert shared.settings == before


@pytest.mark.parametrize("name, says", (("verbosity", "there is no setting verbosity"), ("effort", "has no reasoning effort")))
def test_a_setting_that_is_none_is_not_shown_either(name: str, says: str, shared: Conversation) -> None:
    with pytest.raises(dm.RequestError, match=says):
        shared.setting(name)


def test_a_right_setting_counts_from_the_next_turn_on(shared: Conversation) -> None:
    shared.set("max_tokens", "3")
    shared.set("seed", "none")
    say(shared, QUESTION)
    assert shared.replies[-1].generated_tokens == 3
    shared.set("max_tokens", "60")


def test_effort_is_a_variable_of_the_template(tmp_path: Path) -> None:
    target, drafter = copy(tmp_path / "effort")
    template = Path(target) / "chat_template.jinja"
    template.write_text("{{- reasoning_effort }}" + template.read_text())
    chat = conversation(target, drafter)
    chat.set("effort", "high")
    assert chat.settings["effort"] == chat.session.template["reasoning_effort"] == "high"
    chat.clear()
    assert chat.settings["effort"] == "high"


def test_only_a_saved_conversation_is_replaced(shared: Conversation, tmp_path: Path) -> None:
    notes, empty = tmp_path / "notes", tmp_path / "empty"
    notes.write_text("precious")
    empty.touch()
    for file in (notes, empty, DEMO / "target" / "model.safetensors"):
        before = file.read_bytes()
        with pytest.raises(dm.RequestError, match="not a saved conversation"):
            shared.save(str(file))
        assert file.read_bytes() == before
    for _ in range(2):
        shared.save(str(tmp_path / "talk"))
    shared.open(str(tmp_path / "talk"))


def test_a_conversation_in_a_folder_that_is_missing_is_a_wrong_name(shared: Conversation, tmp_path: Path) -> None:
    with pytest.raises(dm.RequestError, match="there is no folder .* Check the name"):
        shared.open(str(tmp_path / "missing" / "talk"))


def test_thinking_can_be_switched_on_in_the_middle(shared: Conversation) -> None:
    shared.think(True)
    say(shared, "What is 3 + 4?")
    assert shared.newest_reply()[0].startswith("<think>") and shared.thought > 0
    shared.think(False)
    say(shared, QUESTION)
    assert not shared.newest_reply()[0] and "anchor" in shared.newest_reply()[1]


def test_old_turns_go_when_the_context_is_full(small: Conversation) -> None:
    small.session.system = "You are helpful."
    while not small.full(QUESTION):
        say(small, QUESTION)
    turns = len(small.session.messages) // 2
    assert 0 < small.drop_oldest(QUESTION) < turns
    assert not small.full(QUESTION) and small.session.system == "You are helpful."
    assert say(small, QUESTION)


def test_what_is_too_long_by_itself_is_refused_and_nothing_goes(small: Conversation) -> None:
    say(small, QUESTION)
    said = small.session.messages
    for edit in (False, True):
        with pytest.raises(dm.RequestError, match="takes .* tokens; the context has 512"):
            small.full("word " * 300, edit)
    assert small.session.messages == said


def test_ctrl_c_while_a_message_is_counted_takes_nothing(small: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    while not small.full(QUESTION):
        say(small, QUESTION)
    said, encode, counted = list(small.session.messages), small.session._encode, []

    def interrupted(messages: list[dict[str, str]], **template: object) -> list[int]:
        counted.append(len(messages))
        if len(messages) == 1:
            raise KeyboardInterrupt
        return encode(messages, **template)

    monkeypatch.setattr(small.session, "_encode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small.full(QUESTION)
    assert counted == [len(said) + 1, 1] and small.session.messages == said


def test_the_only_turn_goes_too_where_a_message_needs_its_room(small: Conversation) -> None:
    say(small, "word " * 120)
    assert small.full("word " * 120)
    assert small.drop_oldest("word " * 120) == 1 and small.session.messages == []
