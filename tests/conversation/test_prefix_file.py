"""Saved prefixes: what is loaded goes on as what was saved would have; what is no such file is refused in a sentence."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, SHALLOW, expected

import dflash_mlx as dm
from dflash_mlx.conversation import prefix_file, tensor_file
from dflash_mlx.conversation.prefix_file import Conversation
from dflash_mlx.decoding.prefix_cache import PrefixCache, branches
from dflash_mlx.kernels.gated_delta import Writes
from dflash_mlx.targets.gated_delta import replay
from dflash_mlx.targets.state import Due, RecurrentState
from dflash_mlx.targets.tree import Branch

load = cache(dm.load)
SILENCE = Conversation([], {})


def fixture_pair(target: str, drafter: str | None) -> dm.Pair:
    return load(CHECKPOINTS / target, drafter=CHECKPOINTS / drafter if drafter else None)


def prompt_of(target: str) -> list[int]:
    """Long enough to turn the rings over."""
    return [int(token) for i in range(3) for token in expected(target)[f"prompt{i}"]] * 4


def answer(pair: dm.Pair, prompt: list[int], cached: PrefixCache, **options: Any) -> tuple[Any, ...]:
    """Tokens, drafts, and how much of the prompt was not read."""
    options = {"max_tokens": 12, "block_size": 4 if pair.drafter else 1, "marks": (len(prompt) - 1,), **options}
    chunks = list(pair._stream(prompt, cache=cached, **options))
    tokens = [token for chunk in chunks for token in chunk.token_ids]
    return tokens, [chunk.drafted for chunk in chunks], chunks[-1].statistics.cached_prompt_tokens


def change_weights(folder: Path, change: Callable[[mx.array], mx.array]) -> None:
    """Changes the floating point weights of a model's folder."""
    file = folder / "model.safetensors"
    weights: dict[str, mx.array] = mx.load(str(file))  # type: ignore[assignment]
    weights = {name: change(w) if mx.issubdtype(w.dtype, mx.floating) else w for name, w in weights.items()}
    mx.eval(weights)
    mx.save_safetensors(str(file), weights, {"format": "mlx"})


def copy_of(pair: dm.Pair, cached: PrefixCache, file: Path) -> PrefixCache:
    """What a cache becomes in a file and back."""
    prefix_file.save(file, cached, pair._fingerprint(), SILENCE)
    loaded = PrefixCache(10**9)
    assert pair._load(file, loaded) == SILENCE
    return loaded


# targets with and without recurrent layers, drafters with and without rings
KINDS = [
    *(("target_qwen3", drafter) for drafter in ("dflash1_full", "dflash1_swa", None)),
    *(("target_qwen3_5", drafter) for drafter in ("dflash2_full", "dflash2_swa", None)),
]


@pytest.mark.parametrize("target, drafter", KINDS, ids=str)
def test_what_is_loaded_goes_on_as_what_was_saved(target: str, drafter: str | None, tmp_path: Path) -> None:
    pair, prompt, cached = fixture_pair(target, drafter), prompt_of(target), PrefixCache(10**9)
    tokens, *_ = answer(pair, prompt[:90], cached, marks=(20, 40, 89))
    loaded = copy_of(pair, cached, tmp_path / "prefix")
    assert loaded.token_ids == cached.token_ids == prompt[:90] + tokens[:-1]
    # on from the end, from inside, from the beginning
    for follows in ([*prompt[:90], *tokens, 7, 8], [*prompt[:50], 1, 2], prompt[:30], [5, 6]):
        assert answer(pair, follows, loaded) == answer(pair, follows, cached)


def test_the_precision_is_kept(tmp_path: Path) -> None:
    for name in ("target_qwen3_5", "dflash2_swa"):
        shutil.copytree(CHECKPOINTS / name, tmp_path / name)
        change_weights(tmp_path / name, lambda weight: weight.astype(mx.bfloat16))
    pair, cached, prompt = dm.load(tmp_path / "target_qwen3_5", drafter=tmp_path / "dflash2_swa"), PrefixCache(10**9), [3, 1, 4]
    tokens, *_ = answer(pair, prompt, cached)
    loaded, follows = copy_of(pair, cached, tmp_path / "prefix"), prompt + tokens + prompt
    assert {array.dtype for array in loaded.checkpoints[0].arrays} == {mx.bfloat16, mx.float32}
    assert answer(pair, follows, loaded) == answer(pair, follows, cached)


def test_features_that_wait_for_a_draft_are_saved_too(tmp_path: Path) -> None:
    pair, prompt = fixture_pair("target_qwen3", "dflash1_full"), prompt_of("target_qwen3")
    cached = PrefixCache(0)
    reply = pair._stream(prompt[:60], cache=cached, marks=(59,), block_size=4)
    next(reply)
    assert cached.sequence and cached.sequence._waiting
    loaded = copy_of(pair, cached, tmp_path / "prefix")
    reply.close()
    alone = answer(pair, prompt[:60], PrefixCache(0))
    assert answer(pair, prompt[:60], loaded) == (*alone[:2], 59)


def test_saving_in_the_middle_of_an_answer_changes_nothing(tmp_path: Path) -> None:
    for target, drafter in (("target_qwen3", "dflash1_swa"), ("target_qwen3_5", "dflash2_swa")):
        pair, prompt, cached = fixture_pair(target, drafter), prompt_of(target)[:60], PrefixCache(10**9)
        said, drafted = [], []
        for chunk in pair._stream(prompt, cache=cached, marks=(59,), block_size=4, max_tokens=12):
            said += chunk.token_ids
            drafted.append(chunk.drafted)
            prefix_file.save(tmp_path / "prefix", cached, {}, SILENCE)
        assert (said, drafted) == answer(pair, prompt, PrefixCache(0))[:2]


def test_rows_that_are_due_are_written_first() -> None:
    mx.random.seed(1)
    rows, heads, size = 3, 2, 8
    writes = Writes(
        mx.random.normal((1, rows, heads, size)),
        mx.random.normal((1, rows, heads, size)),
        mx.random.uniform(shape=(1, rows, heads)),
        mx.random.uniform(shape=(1, rows, heads)),
    )
    conv_rows, before = mx.random.normal((1, 3 + rows, 12)), mx.random.normal((1, heads, size, size))
    state = RecurrentState(conv_rows[:, :3], before, Due(conv_rows, writes, Branch(range(2))))
    pair, cached = fixture_pair("target_qwen3_5", None), PrefixCache(10**9)
    answer(pair, [1, 2, 3], cached)
    cached.checkpoints[-1].recurrent[0].__dict__.update(state.__dict__)
    arrays = prefix_file._arrays(cached)
    last = len(cached.checkpoints) - 1
    assert mx.array_equal(arrays[f"{last}.target.0.conv"], conv_rows[:, 2:5])
    assert mx.array_equal(arrays[f"{last}.target.0.recurrent"], replay(Branch(range(2)), writes, before))


def test_only_what_is_held_is_written(tmp_path: Path) -> None:
    """What was taken back must not be found in the file."""
    pair, cached = fixture_pair("target_qwen3", None), PrefixCache(0)
    answer(pair, prompt_of("target_qwen3"), cached)
    answer(pair, [*prompt_of("target_qwen3")[:10], 1], cached, max_tokens=1)
    prefix_file.save(tmp_path / "prefix", cached, {}, SILENCE)
    arrays, _ = tensor_file.read(tmp_path / "prefix")
    assert {array.shape[2] for array in arrays.values()} == {11}


def test_a_small_budget_drops_the_oldest_places_of_a_file(tmp_path: Path) -> None:
    pair, cached = fixture_pair("target_qwen3_5", "dflash2_swa"), PrefixCache(10**9)
    prompt = prompt_of("target_qwen3_5")[:60]
    answer(pair, prompt, cached, marks=(20, 40))
    prefix_file.save(tmp_path / "prefix", cached, pair._fingerprint(), SILENCE)
    small = PrefixCache(0)
    pair._load(tmp_path / "prefix", small)
    assert [checkpoint.position for checkpoint in small.checkpoints] == [len(cached.token_ids)]
    assert answer(pair, prompt, small)[:2] == answer(pair, prompt, PrefixCache(0))[:2]


ELSEWHERE = """
import sys
import mlx.core as mx
mx.set_default_device(mx.cpu)
import dflash_mlx
session = dflash_mlx.load(sys.argv[2]).session(load=sys.argv[1])
[*chunks] = session.send("Leo buys 12 apples and eats 5.", max_tokens=30, block_size=4)
statistics = chunks[-1].statistics
print([token for chunk in chunks for token in chunk.token_ids], statistics.cached_prompt_tokens, session.messages[:2])
"""


def test_another_process_goes_on(tmp_path: Path) -> None:
    session = load(SHALLOW).session(system="You are helpful.")
    list(session.send("What is the anchor?", max_tokens=30, block_size=4))
    session.save(tmp_path / "talk")
    other = subprocess.run([sys.executable, "-c", ELSEWHERE, tmp_path / "talk", SHALLOW], capture_output=True, text=True)
    chunks = list(session.send("Leo buys 12 apples and eats 5.", max_tokens=30, block_size=4))
    tokens = [token for chunk in chunks for token in chunk.token_ids]
    assert chunks[-1].statistics.cached_prompt_tokens > 20
    assert other.stdout == f"{tokens} {chunks[-1].statistics.cached_prompt_tokens} {session.messages[:2]}\n", other.stderr


# what a file may not be


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all that a file can have."""
    pair, cached = fixture_pair("target_qwen3_5", "dflash2_swa"), PrefixCache(10**9)
    answer(pair, prompt_of("target_qwen3_5")[:60], cached, marks=(20, 40))
    file = tmp_path_factory.mktemp("good") / "prefix"
    conversation = Conversation([{"role": "user", "content": "Hi"}], {"m": True})  # a word that the template has
    prefix_file.save(file, cached, pair._fingerprint(), conversation)
    return file


def refusal(file: Path) -> dm.DFlashError:
    with pytest.raises(dm.DFlashError) as refused:
        fixture_pair("target_qwen3_5", "dflash2_swa").session(load=file)
    assert refused.value.hint
    return refused.value


def rewritten(good: Path, file: Path, change: Callable[[dict[str, Any], dict[str, mx.array]], Any]) -> Path:
    arrays, metadata = tensor_file.read(good)
    header = json.loads(metadata["dflash_mlx"])
    change(header, arrays)
    tensor_file.write(file, arrays, {"dflash_mlx": json.dumps(header)})
    return file


def sets(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, mx.array]], None]:
    return lambda header, arrays: header.update({name: value})


def puts(name: str, change: Callable[[mx.array], mx.array]) -> Callable[[dict[str, Any], dict[str, mx.array]], None]:
    return lambda header, arrays: arrays.update({name: change(arrays[name])})


SOUND = {"a tensor with NaN": puts("target.3.keys", lambda keys: keys * mx.nan)}
DAMAGES = {
    "the tokens": sets("token_ids", [10**6]),
    "tokens of a wrong kind": sets("token_ids", [True, 1.5]),
    "tokens that are a word": sets("token_ids", "abc"),
    "no tokens, but tensors": sets("token_ids", []),
    "far too many tokens": sets("token_ids", [1] * 10**6),
    "fewer tokens": lambda header, arrays: header["token_ids"].pop(),
    "a checkpoint too far": sets("checkpoints", [20, 40, 60, 10**12]),
    "checkpoints out of order": sets("checkpoints", [40, 20, 59]),
    "a negative checkpoint": sets("checkpoints", [-5, 40, 59]),
    "no checkpoints": sets("checkpoints", []),
    "a checkpoint more": lambda header, arrays: header["checkpoints"].insert(0, 1),
    "checkpoints that are none": sets("checkpoints", {"a": 1}),
    "no drafter": sets("drafter", False),
    "a drafter of a wrong kind": sets("drafter", 1),
    "messages that are none": sets("messages", {"role": "user"}),
    "a message that is none": sets("messages", ["Hi"]),
    "a message with more": sets("messages", [{"role": "user", "content": "Hi", "more": "x"}]),
    "a content that is no text": sets("messages", [{"role": "user", "content": ["Hi"]}]),
    "a template that is none": sets("template", ["Hi"]),
    "variables that are settings": sets("template", {"prompt": "Hi"}),
    "another setting": sets("template", {"tokenize": False}),
    "a chat template": sets("template", {"chat_template": "{{ 1 }}"}),
    "a field more": sets("more", 1),
    "a field less": lambda header, arrays: header.pop("checkpoints"),
    "another format": sets("format", "other"),
    "a later version": sets("version", 2),
    "a version that is none": sets("version", {}),
    "no fingerprint": sets("fingerprint", None),
    "a tensor less": lambda header, arrays: arrays.pop("0.target.0.conv"),
    "a tensor more": lambda header, arrays: arrays.update(more=mx.zeros(1)),
    "a longer tensor": puts("target.3.keys", lambda keys: mx.concatenate([keys, keys], axis=2)),
    "a flat tensor": puts("target.3.values", lambda values: values.flatten()),
    "a ring of another size": puts("0.drafter.0.keys", lambda keys: keys[:, :, 1:]),
    "another dtype": puts("1.target.0.recurrent", lambda state: state.astype(mx.bfloat16)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_file_with_something_wrong_is_refused(damage: Any, good: Path, tmp_path: Path) -> None:
    refusal(rewritten(good, tmp_path / "bad", damage))


@pytest.mark.parametrize("change", SOUND.values(), ids=SOUND)
def test_numbers_are_not_looked_at(change: Any, good: Path, tmp_path: Path) -> None:
    fixture_pair("target_qwen3_5", "dflash2_swa").session(load=rewritten(good, tmp_path / "odd", change))


def test_a_header_of_another_kind_is_refused(good: Path, tmp_path: Path) -> None:
    arrays, _ = tensor_file.read(good)
    for metadata in ({}, {"dflash_mlx": "{"}, {"dflash_mlx": "[]"}, {"dflash_mlx": "[" * 10**5}, {"format": "mlx"}):
        tensor_file.write(tmp_path / "bad", arrays, metadata)
        assert isinstance(refusal(tmp_path / "bad"), dm.CheckpointError)


def test_bytes_that_are_wrong_never_get_further_than_a_refusal(good: Path, tmp_path: Path) -> None:
    pair, content, random = fixture_pair("target_qwen3_5", "dflash2_swa"), good.read_bytes(), np.random.default_rng(1)
    end = 8 + int.from_bytes(content[:8], "little")
    file = tmp_path / "bad"
    for at in (0, 1, 8, 100, end - 1, end, end + 1, len(content) - 1):
        file.write_bytes(content[:at])
        refusal(file)
    file.write_bytes(content + b"\0")
    refusal(file)
    for at in [*range(8), *random.integers(8, end, 150)]:
        changed = bytearray(content)
        changed[at] ^= 1 << random.integers(8)
        file.write_bytes(changed)
        try:
            pair.session(load=file)
        except dm.DFlashError as error:
            assert error.hint


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("Dear diary, " * 100)
    others = [tmp_path / name for name in ("empty", "folder", "text", "missing", "missing/too", "x" * 300, "null\0byte")]
    for other in [*others, CHECKPOINTS / "target_qwen3" / "model.safetensors", Path("/dev/null"), "~nobody/file", None, 3]:
        with pytest.raises((dm.RequestError, dm.CheckpointError)) as refused:
            load(SHALLOW)._load(other, PrefixCache(0))  # type: ignore[arg-type]
        assert refused.value.hint


def test_memory_is_asked_for_before_a_file_is_read(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dflash_mlx.loading.memory.available", lambda: 10**6)
    assert isinstance(refusal(good), dm.MemoryBudgetError)


# another pair


def other_pairs(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is not the demo pair any more, by what is said about it."""

    def changed(name: str, change: Callable[[Path], Any]) -> dict[str, Any]:
        copy = Path(shutil.copytree(SHALLOW, folder / name))
        change(copy)
        return {"target": copy / "target", "drafter": copy / "drafter"}

    def append(file: str, text: str) -> Callable[[Path], Any]:
        return lambda copy: (copy / file).write_text((copy / file).read_text() + text)

    def train(model: str) -> Callable[[Path], Any]:
        def change(copy: Path) -> None:
            content = bytearray((copy / model / "model.safetensors").read_bytes())
            end = 8 + int.from_bytes(content[:8], "little")
            [*_, last] = json.loads(content[8:end]).values()
            content[end + last["data_offsets"][0]] ^= 1  # one bit of one weight
            (copy / model / "model.safetensors").write_bytes(content)

        return change

    yield "different target", changed("trained", train("target"))
    yield "different target", changed("configured", append("target/config.json", "\n"))
    yield "different drafter", changed("drafter", train("drafter"))
    yield "different drafter", {"target": SHALLOW, "drafter": None}
    yield "chat template", changed("template", append("target/chat_template.jinja", " "))
    yield "chat template", changed("old template", lambda copy: (copy / "target/chat_template.json").write_text("{}"))


def test_a_file_of_another_pair_is_refused_with_what_differs(tmp_path: Path) -> None:
    load(SHALLOW).session(system="You are helpful.").save(tmp_path / "talk")
    same = shutil.copytree(SHALLOW, tmp_path / "same")
    assert dm.load(same).session(load=tmp_path / "talk").system == "You are helpful."
    for what, other in other_pairs(tmp_path):
        with pytest.raises(dm.RequestError, match=f"saved with .*{what}"):
            dm.load(**other).session(load=tmp_path / "talk")


def test_a_drafter_quantised_at_load_is_another_one(good: Path) -> None:
    pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_swa", drafter_bits=4)
    with pytest.raises(dm.RequestError, match="different drafter quantisation"):
        pair.session(load=good)


def test_bits_are_nothing_to_a_drafter_that_was_quantised_before(tmp_path: Path) -> None:
    load(SHALLOW).session(system="You are helpful.").save(tmp_path / "talk")
    assert dm.load(SHALLOW, drafter_bits=4).session(load=tmp_path / "talk").system == "You are helpful."


def test_models_that_have_gone_are_said_to_have(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SHALLOW, tmp_path / "demo"))
    session = dm.load(folder, drafter=None).session()
    shutil.rmtree(folder)
    with pytest.raises(dm.DFlashError):
        session.save(tmp_path / "talk")
    assert not (tmp_path / "talk").exists()


# writing


@pytest.mark.parametrize("failure", (OSError(28, "No space left on device"), KeyboardInterrupt()), ids=("full disk", "Ctrl-C"))
@pytest.mark.parametrize("there", (True, False))
def test_what_cannot_be_written_leaves_what_was_there(
    failure: BaseException, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, file = load(SHALLOW).session(), tmp_path / "talk"
    list(session.send("What is the anchor?", max_tokens=4, block_size=4))
    if there:
        load(SHALLOW).session(system="Before.").save(file)
    before = file.read_bytes() if there else b""

    def fail(descriptor: int) -> None:
        raise failure

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(dm.RequestError if isinstance(failure, OSError) else KeyboardInterrupt):
        session.save(file)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == ([("talk", before)] if there else [])
    monkeypatch.undo()
    session.save(file)
    assert load(SHALLOW).session(load=file).messages == session.messages


def test_a_file_that_is_too_large_is_a_sentence(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    session = load(SHALLOW).session()
    list(session.send("What is the anchor?", max_tokens=4, block_size=4))
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        with pytest.raises(dm.RequestError, match="too large"):
            session.save(tmp_path / "talk")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_where_nothing_can_be(tmp_path: Path) -> None:
    session = load(SHALLOW).session()
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "missing" / "talk", tmp_path / "file" / "talk", "/dev/null", "/proc/talk", ""):
        with pytest.raises(dm.RequestError) as refused:
            session.save(place)
        assert refused.value.hint
    assert not Path("/dev/null").is_file()


def test_a_new_file_is_for_nobody_else_and_permissions_stay(tmp_path: Path) -> None:
    session, file = load(SHALLOW).session(), tmp_path / "talk"
    session.save(file)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    session.save(file)
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "talk")
    load(SHALLOW).session().save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "talk").is_file()


# prompt caches


@pytest.mark.parametrize("target, drafter", KINDS, ids=str)
def test_a_prompt_cache_gives_the_same_answer_without_reading(target: str, drafter: str | None, tmp_path: Path) -> None:
    pair, file, size = fixture_pair(target, drafter), tmp_path / "cache", 4 if drafter else 1
    prompt = prompt_of(target)[:90]

    def ask(prompt: list[int], **options: Any) -> tuple[Any, ...]:
        chunks = list(pair.stream(prompt, max_tokens=9, block_size=size, **options))
        return chunks[-1].statistics.cached_prompt_tokens, [(chunk.token_ids, chunk.drafted) for chunk in chunks]

    first = ask(prompt, prompt_cache=file)
    assert first == ask(prompt)
    written = file.read_bytes()
    assert ask(prompt, prompt_cache=file) == (89, first[1])
    for end in (1, 60):  # tokens that differ
        other = [*prompt[:-end], *range(end)]
        cached, said = ask(other, prompt_cache=str(file))
        assert cached >= 90 - 8 * max(end, 8) and said == ask(other)[1]
    assert file.read_bytes() == written  # it stays as it is


def test_a_prompt_cache_is_there_as_soon_as_the_prompt_is_read(tmp_path: Path) -> None:
    pair = load(SHALLOW)
    reply = pair.stream("What is the anchor?", prompt_cache=tmp_path / "cache", block_size=4)
    assert not (tmp_path / "cache").exists()
    next(reply)
    reply.close()  # type: ignore[attr-defined]
    again = pair.generate("What is the anchor?", prompt_cache=tmp_path / "cache", block_size=4)
    assert again.statistics.cached_prompt_tokens == again.statistics.prompt_tokens - 1


def test_a_session_and_a_prompt_cache_can_share_a_file(tmp_path: Path) -> None:
    pair = load(SHALLOW)
    result = pair.generate("What is the anchor?", prompt_cache=tmp_path / "cache", max_tokens=9, block_size=4)
    session = pair.session(load=tmp_path / "cache")
    assert session.messages == []
    chunks = list(session.send("What is the anchor?", max_tokens=9, block_size=4))
    assert chunks[-1].statistics.cached_prompt_tokens == result.statistics.prompt_tokens - 1
    session.save(tmp_path / "talk")
    result = pair.generate("What is the anchor?", prompt_cache=tmp_path / "talk", max_tokens=9, block_size=4)
    assert result.statistics.cached_prompt_tokens > 0


def test_a_prompt_cache_has_no_place_in_a_session(tmp_path: Path) -> None:
    with pytest.raises(dm.RequestError):
        load(SHALLOW).session().send("Hi", prompt_cache=tmp_path / "cache")


def test_a_refused_prompt_cache_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "foreign").write_text("x" * 100)
    for place in (tmp_path / "foreign", tmp_path / "missing" / "cache", tmp_path):
        with pytest.raises(dm.DFlashError):
            load(SHALLOW).stream("Hi", prompt_cache=place)


def test_prompts_of_any_length_have_places_to_part() -> None:
    assert branches(1) == []
    assert branches(2) == [1]
    assert branches(10_000) == [10_000 - 4096, 10_000 - 512, 10_000 - 64, 10_000 - 8, 10_000 - 1]
