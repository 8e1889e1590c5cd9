"""A request from prompt to last token, on recorded prompts and on the embedded pair."""

import json
import math
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS, SHALLOW, expected

import dflash_mlx as dm
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.tuning import calibration
from dflash_mlx.tuning.calibration import Way

load = cache(dm.load)


def fixture_pair(drafter: str | None = "dflash2_full") -> dm.Pair:
    return load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / drafter if drafter else None)


@pytest.fixture
def prompt() -> list[int]:
    return expected("target_qwen3_5")["prompt2"].tolist()


@pytest.fixture
def greedy() -> list[int]:
    return expected("target_qwen3_5")["greedy2"].tolist()


def test_chunks_join_to_the_generation(prompt: list[int], greedy: list[int]) -> None:
    pair = fixture_pair()
    chunks = list(pair.stream(prompt, max_tokens=60, block_size=8))
    whole = pair.generate(prompt, max_tokens=60, block_size=8)
    assert whole.token_ids == tuple(greedy[:60]) == tuple(t for c in chunks for t in c.token_ids)
    assert whole.text == "".join(c.text for c in chunks)
    assert [c.finish_reason for c in chunks] == [None] * (len(chunks) - 1) + ["length"] and whole.finish_reason == "length"


def test_a_chunk_tells_which_tokens_were_drafted(prompt: list[int], greedy: list[int]) -> None:
    first, *chunks = fixture_pair().stream(prompt, max_tokens=60, block_size=4)
    assert (first.token_ids, first.drafted, first.accepted) == ((greedy[0],), (), 0)
    at = 1
    for chunk in chunks:
        n = len(chunk.token_ids)
        assert chunk.token_ids[: chunk.accepted] == chunk.drafted[: chunk.accepted]
        assert list(chunk.token_ids) == greedy[at : at + n]
        if chunk.accepted < len(chunk.drafted):
            assert n == chunk.accepted + 1 and chunk.drafted[chunk.accepted] != chunk.token_ids[-1]
        assert "".join(chunk.pieces) == chunk.text and len(chunk.pieces) == n
        at += n


def test_statistics_agree_with_the_chunks(prompt: list[int]) -> None:
    chunks = list(fixture_pair().stream(prompt, max_tokens=61, block_size=4))
    cycles, figures = chunks[1:], chunks[-1].statistics
    assert (figures.prompt_tokens, figures.cached_prompt_tokens, figures.generated_tokens) == (len(prompt), 0, 61)
    assert figures.cycles == len(cycles) and figures.acceptance_length == pytest.approx(60 / len(cycles))
    for i, rate in enumerate(figures.acceptance_by_position):
        drafted = [c for c in cycles if len(c.drafted) > i]
        assert rate == pytest.approx(sum(c.accepted > i for c in drafted) / len(drafted))
    assert sum(figures.block_sizes.values()) == len(cycles) and max(figures.block_sizes) == 4
    assert figures.device_reads == len(chunks)
    assert (figures.mode, figures.mode_reason) == ("speculative", None)
    assert figures.time_to_first_token_s > 0 and figures.tokens_per_second > 0 and figures.prefill_tokens_per_second > 0
    assert figures.peak_memory_bytes > 0 and figures.plain_tokens_per_second is None


@pytest.mark.parametrize(("drafter", "block_size"), [(None, "auto"), (None, 1), ("dflash2_full", 1)])
def test_plain_decoding_says_that_it_is_plain_and_why(
    drafter: str | None, block_size: int, prompt: list[int], greedy: list[int]
) -> None:
    result = fixture_pair(drafter).generate(prompt, max_tokens=20, block_size=block_size)
    assert result.token_ids == tuple(greedy[:20])
    assert result.statistics.mode == "plain" and result.statistics.mode_reason
    assert result.statistics.acceptance_length == 1.0 and result.statistics.block_sizes == {1: 19}


def ends_at(pair: dm.Pair, token: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair.tokenizer, "eos_token_ids", frozenset([token]))


@pytest.mark.parametrize("block_size", [1, 2, 4, 8])
def test_an_end_of_sequence_token_ends_the_answer_wherever_it_falls(
    block_size: int, prompt: list[int], greedy: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = fixture_pair()
    for end in (0, 1, 2, 3, 5, 8, 11):
        ends_at(pair, greedy[end], monkeypatch)
        result = pair.generate(prompt, max_tokens=30, block_size=block_size)
        assert result.token_ids == tuple(greedy[: end + 1]) and result.finish_reason == "stop"
        without = pair.generate(prompt, max_tokens=max(1, end), block_size=1)
        assert result.text == (without.text if end else "")


@pytest.mark.parametrize("block_size", [1, 4, 8])
def test_a_stop_string_ends_the_answer_and_is_not_part_of_it(block_size: int, prompt: list[int]) -> None:
    pair = fixture_pair()
    text = pair.generate(prompt, max_tokens=24).text
    for start in range(0, len(text) - 6, 5):
        for length in (1, 4):
            stop = text[start : start + length]
            result = pair.generate(prompt, max_tokens=24, stop=[stop, "never in the text"], block_size=block_size)
            assert result.text == text[: text.find(stop)] and result.finish_reason == "stop"
            shorter = pair.generate(prompt, max_tokens=len(result.token_ids), block_size=1)
            assert shorter.token_ids == result.token_ids and stop in shorter.text


def test_one_stop_string_need_not_be_a_list(prompt: list[int]) -> None:
    pair = fixture_pair()
    text = pair.generate(prompt, max_tokens=50).text
    assert pair.generate(prompt, max_tokens=50, stop=text[5:8]).text == text[: text.find(text[5:8])]


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 4, 5, 9])
def test_max_tokens_is_exact(max_tokens: int, prompt: list[int], greedy: list[int]) -> None:
    result = fixture_pair().generate(prompt, max_tokens=max_tokens, block_size=8)
    assert result.token_ids == tuple(greedy[:max_tokens]) and result.finish_reason == "length"


def test_a_stopped_stream_leaves_nothing_behind(prompt: list[int], greedy: list[int]) -> None:
    pair = fixture_pair("dflash2_swa")
    stream = pair.stream(prompt, block_size=8)
    tokens = [t for _ in range(4) for t in next(stream).token_ids]
    stream.close()  # type: ignore[attr-defined]
    assert tokens == greedy[: len(tokens)]
    assert pair.generate(prompt, max_tokens=40).token_ids == tuple(greedy[:40])


def test_two_streams_of_one_pair_do_not_disturb_each_other(prompt: list[int], greedy: list[int]) -> None:
    other = expected("target_qwen3_5")
    pair = fixture_pair("dflash2_swa_bidir")
    one, two = pair.stream(prompt, max_tokens=40), pair.stream(other["prompt5"].tolist(), max_tokens=40)
    tokens: tuple[list[int], list[int]] = ([], [])
    for a, b in zip(one, two, strict=False):
        tokens[0].extend(a.token_ids)
        tokens[1].extend(b.token_ids)
    assert tokens[0] == greedy[: len(tokens[0])] and tokens[1] == other["greedy5"].tolist()[: len(tokens[1])]


@pytest.fixture(scope="module")
def small_context_pair(tmp_path_factory: pytest.TempPathFactory) -> dm.Pair:
    folder = Path(shutil.copytree(CHECKPOINTS / "target_qwen3_5", tmp_path_factory.mktemp("small") / "target"))
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["max_position_embeddings"] = 40
    (folder / "config.json").write_text(json.dumps(config))
    return dm.load(folder, drafter=CHECKPOINTS / "dflash2_swa")


@pytest.mark.parametrize("room", [1, 2, 3, 10])
def test_a_prompt_that_nearly_fills_the_context_is_answered_up_to_its_end(room: int, small_context_pair: dm.Pair) -> None:
    result = small_context_pair.generate([7] * (40 - room), max_tokens=50, block_size=8)
    assert len(result.token_ids) == room and result.finish_reason == "length"


@pytest.mark.parametrize("length", [40, 41, 500])
def test_a_prompt_longer_than_the_context_is_refused(length: int, small_context_pair: dm.Pair) -> None:
    with pytest.raises(dm.RequestError, match=f"{length} .*40"):
        small_context_pair.stream([7] * length)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"max_tokens": 2.5}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"block_size": 0}, "block_size"),
        ({"block_size": 9}, "block_size"),
        ({"block_size": "wide"}, "block_size"),
        ({"block_size": None}, "block_size"),
        ({"stop": ""}, "stop"),
        ({"stop": ["ok", ""]}, "stop"),
        ({"stop": [5]}, "stop"),
        ({"stop": 5}, "stop"),
        ({"verify": "odd"}, "verify"),
        ({"sampling": "greedy"}, "Sampling"),
        ({"sampling": 0}, "Sampling"),
        ({"sampling": dm.Sampling(temperature="hot")}, "temperature"),  # type: ignore[arg-type]
        ({"sampling": dm.Sampling(top_k=None)}, "top_k"),  # type: ignore[arg-type]
        ({"raw": True}, "raw"),
        ({"prompt": [{"role": "user", "content": "x"}], "raw": True}, "raw"),
        ({"sampling": dm.Sampling(temperature=-1)}, "temperature"),
        ({"sampling": dm.Sampling(temperature=math.nan)}, "temperature"),
        ({"sampling": dm.Sampling(top_k=2.5)}, "top_k"),  # type: ignore[arg-type]
        ({"sampling": dm.Sampling(temperature=True)}, "temperature"),
        ({"sampling": dm.Sampling(repetition_penalty=0)}, "repetition_penalty"),
        ({"sampling": dm.Sampling(presence_penalty=math.inf)}, "presence_penalty"),
        ({"sampling": dm.Sampling(temperature=10**400)}, "temperature"),
        ({"sampling": dm.Sampling(repetition_penalty=1e-39)}, "repetition_penalty"),
        ({"sampling": dm.Sampling(presence_penalty=-1e39)}, "presence_penalty"),
        ({"sampling": dm.Sampling(seed=1.5)}, "seed"),  # type: ignore[arg-type]
        ({"sampling": dm.Sampling(seed=-1)}, "seed"),
        ({"sampling": dm.Sampling(seed=2**64)}, "seed"),
        ({"logits_processors": max}, "logits_processors"),
        ({"logits_processors": [max, "min"]}, "logits_processors"),
        ({"sampling": dm.Sampling(top_p=0)}, "top_p"),
        ({"sampling": dm.Sampling(top_k=-1)}, "top_k"),
        ({"sampling": dm.Sampling(min_p=2)}, "min_p"),
        ({"prompt": ""}, "empty"),
        ({"prompt": [256]}, "256"),
        ({"prompt": [-1]}, "-1"),
    ],
)
def test_nonsense_is_refused_at_once_with_a_hint(arguments: dict, word: str) -> None:
    with pytest.raises(dm.RequestError, match=word) as caught:
        fixture_pair().stream(**({"prompt": [5, 6]} | arguments))
    assert caught.value.hint


def test_a_drafter_of_trained_size_1_decodes_plainly_and_says_so(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(CHECKPOINTS / "dflash2_full", tmp_path / "drafter"))
    config = json.loads((folder / "config.json").read_text())
    config["dflash_config"]["block_size"] = 1
    (folder / "config.json").write_text(json.dumps(config))
    statistics = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=folder).generate([5, 6], max_tokens=4).statistics
    assert (statistics.mode, statistics.mode_reason) == ("plain", "block_size is 1")


@pytest.mark.parametrize("drafter", [None, "auto"])
def test_an_answer_given_before_is_copied(drafter: str | None) -> None:
    pair, question = dm.load(SHALLOW / "target", drafter=drafter and SHALLOW / "drafter"), "What is 128 + 256?"
    said = [{"role": "user", "content": question}, {"role": "assistant", "content": pair.generate(question).text}]
    plain = pair.generate([*said, said[0]], block_size=1)
    copied = pair.generate([*said, said[0]], block_size=16, drafts="copy")
    assert plain.token_ids == copied.token_ids
    assert copied.statistics.acceptance_length > 6 and max(copied.statistics.block_sizes) == 16
    assert copied.statistics.mode == "speculative" and plain.statistics.mode == "plain"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drafts": "trees"}, "drafts 'trees' is not known"),
        ({"drafts": None}, "drafts None is not known"),
        ({"drafts": "copy", "block_size": 17}, "17 is more than the 16 of a copy"),
        ({"drafts": "copy", "block_size": 0}, "not a whole number"),
        ({"drafts": "chain", "block_size": 2}, "needs a drafter"),
    ],
    ids=str,
)
def test_drafts_that_there_are_not_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dm.RequestError, match=message):
        fixture_pair(None).stream([5], **options)


def test_block_size_without_a_drafter_is_refused() -> None:
    with pytest.raises(dm.RequestError, match="drafter"):
        fixture_pair(None).stream([5], block_size=4)


SAMPLED = dm.Sampling(temperature=0.9, top_p=0.95, top_k=30, repetition_penalty=1.05, seed=7)


@pytest.mark.parametrize("block_size", [1, 4, 8])
@pytest.mark.parametrize("drafter", ["dflash2_full", "dflash2_swa"])
def test_the_same_seed_gives_the_same_text_and_another_gives_another(drafter: str, block_size: int, prompt: list[int]) -> None:
    def tokens(seed: int | None) -> tuple[int, ...]:
        sampling = replace(SAMPLED, seed=seed)
        return fixture_pair(drafter).generate(prompt, max_tokens=20, sampling=sampling, block_size=block_size).token_ids

    assert tokens(7) == tokens(7) != tokens(8)
    assert tokens(None) != tokens(None)


@pytest.mark.parametrize("temperature", [0.6, 1.5])
def test_with_a_seed_drafted_text_is_plain_decodings(temperature: float, prompt: list[int]) -> None:
    """Bit for bit in exact mode, whatever drafts and however wide."""
    for seed in range(2):
        sampling = replace(SAMPLED, temperature=temperature, seed=seed)
        wanted = fixture_pair(None).generate(prompt, max_tokens=30, sampling=sampling, verify="exact").token_ids
        for drafter, block_size in product(("dflash2_full", "dflash2_swa"), (1, 2, 4, 8)):
            pair = fixture_pair(drafter)
            result = pair.generate(prompt, max_tokens=30, sampling=sampling, block_size=block_size, verify="exact")
            assert result.token_ids == wanted


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_keeps_drafts(seed: int) -> None:
    """As many as greedy decoding does, nearly: a drafter that agrees draws what the target draws."""
    pair, sampling = dm.load(SHALLOW), dm.Sampling(temperature=0.7, seed=seed)
    plain, drafted = (pair.generate("What is 128 + 256?", sampling=sampling, block_size=width) for width in (1, 8))
    assert drafted.token_ids == plain.token_ids
    assert drafted.statistics.acceptance_length > 3
    said = [{"role": "user", "content": "What is 128 + 256?"}, {"role": "assistant", "content": plain.text}]
    options = ({"block_size": 1}, {"block_size": 16, "drafts": "copy"}, {"block_size": "auto"})
    plain, *copied = (pair.generate([*said, said[0]], sampling=sampling, **option) for option in options)
    assert {result.token_ids for result in copied} == {plain.token_ids}
    assert copied[0].statistics.acceptance_length > 3


def test_a_seed_gives_the_same_text_with_automatic_block_sizes_too(prompt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
    monkeypatch.setattr(calibration, "cached", lambda file: Costs([(1, 0, 1.0), (8, 0, 1.1)]))
    results = [pair.generate(prompt, max_tokens=60, sampling=SAMPLED) for _ in range(2)]
    assert len({result.token_ids for result in results}) == 1
    assert len({tuple(result.statistics.block_sizes.items()) for result in results}) == 1
    assert max(results[0].statistics.block_sizes) > 1


def test_temperature_0_is_greedy_whatever_the_filters(prompt: list[int], greedy: list[int]) -> None:
    sampling = dm.Sampling(top_p=0.5, top_k=3, min_p=0.2, seed=5)
    assert fixture_pair().generate(prompt, max_tokens=40, sampling=sampling, block_size=4).token_ids == tuple(greedy[:40])


def test_penalties_without_temperature_give_the_same_text_at_every_width(prompt: list[int], greedy: list[int]) -> None:
    sampling = dm.Sampling(repetition_penalty=1.3, presence_penalty=0.4)
    texts = {
        fixture_pair().generate(prompt, max_tokens=40, sampling=sampling, block_size=width).token_ids for width in (1, 2, 4, 8)
    }
    assert len(texts) == 1 and texts != {tuple(greedy[:40])}


@pytest.mark.parametrize("block_size", [1, 4, 8])
def test_a_logits_processor_sees_the_text_and_has_its_way(block_size: int, prompt: list[int], greedy: list[int]) -> None:
    banned, seen = greedy[3], []

    def ban(tokens: mx.array, logits: mx.array) -> mx.array:
        seen.append(tokens.tolist())
        logits[:, banned] = -mx.inf
        return logits

    result = fixture_pair().generate(prompt, max_tokens=50, logits_processors=[ban], block_size=block_size)
    plain = fixture_pair(None).generate(prompt, max_tokens=50, logits_processors=[ban])
    assert result.token_ids == plain.token_ids and banned not in result.token_ids
    texts = {tuple(prompt) + result.token_ids[:n] for n in range(50)}
    assert texts <= set(map(tuple, seen))


def test_sampling_is_as_the_checkpoint_says_where_the_request_does_not(tmp_path: Path, prompt: list[int]) -> None:
    folder = Path(shutil.copytree(CHECKPOINTS / "target_qwen3_5", tmp_path / "target"))
    file = folder / "generation_config.json"

    def default(**config: object) -> dm.Sampling:
        file.write_text(json.dumps(config))
        return dm.load(folder, drafter=None).default_sampling

    file.unlink(missing_ok=True)
    assert dm.load(folder, drafter=None).default_sampling == dm.Sampling()
    qwen = {"temperature": 0.6, "top_p": 0.95, "top_k": 20}
    assert default(do_sample=True, **qwen, eos_token_id=2) == dm.Sampling(**qwen)
    assert default(do_sample=True) == dm.Sampling(temperature=1.0)
    assert default(**qwen) == default(do_sample=False, **qwen) == dm.Sampling()
    assert default(repetition_penalty=1.1, temperature=None) == dm.Sampling(repetition_penalty=1.1)
    pair = dm.load(folder, drafter=None)
    asked = pair.generate(prompt, max_tokens=30, sampling=dm.Sampling(repetition_penalty=1.1))
    assert pair.generate(prompt, max_tokens=30).token_ids == asked.token_ids
    assert default(do_sample=True, top_k=-1) == dm.Sampling(temperature=1.0)
    assert default(do_sample=True, top_k=20.0).top_k == 20
    assert default(do_sample="false", **qwen) == dm.Sampling()
    for broken in ({"temperature": -1.0}, {"top_p": 7}, {"top_k": "many"}):
        with pytest.raises(dm.CheckpointError, match="generation_config"):
            default(do_sample=True, **broken)


def test_exact_verification_is_accepted(prompt: list[int], greedy: list[int]) -> None:
    assert fixture_pair().generate(prompt, max_tokens=40, verify="exact", block_size=8).token_ids == tuple(greedy[:40])


def test_costs_are_measured_once_and_kept(prompt: list[int], greedy: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []
    monkeypatch.setenv("XDG_CACHE_HOME", tempfile.mkdtemp())
    calibrate = calibration.calibrate
    undisturbed = True
    monkeypatch.setattr(
        calibration, "calibrate", lambda *a: (measured.append(a[2]), calibrate(*a)._replace(undisturbed=undisturbed))[1]
    )
    for _ in range(2):  # in memory, then on disk
        pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
        for _ in range(2):
            assert pair.generate(prompt, max_tokens=20).token_ids == tuple(greedy[:20])
    assert measured == [False]
    undisturbed = False
    pair.generate(prompt, max_tokens=20, verify="exact")
    pair.calibrate("exact")
    assert measured == [False, True]
    dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full").calibrate("exact")
    assert measured == [False, True, True], "what was disturbed must not be kept on disk"
    dm.load(CHECKPOINTS / "target_qwen3_5", drafter=None).calibrate()  # nothing to measure
    statistics = pair.generate(prompt, max_tokens=20).statistics
    assert statistics.plain_tokens_per_second is not None and statistics.plain_tokens_per_second > 0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "[" * 99_999,
        '{"points": []}',
        '{"points": [[1, 0, 1e308], [4, 0, 2]]}',
        '{"points": [[1, 0, -1], [4, 0, 2]]}',
        '{"points": "x"}',
    ],
)
def test_damaged_costs_on_disk_are_measured_again(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "costs.json"
    file.write_text(content)
    assert calibration.cached(file) is None
    calibration.save(Costs([(1, 0, 1.0), (4, 0, 1.5)]), file)
    assert calibration.cached(file).seconds(4, 0) == 1.5  # type: ignore[union-attr]
    assert [path.name for path in tmp_path.iterdir()] == ["costs.json"]
    calibration.save(Costs([(1, 0, 1.0), (4, 0, 1.5)]), file / "below" / "a_file.json")  # cannot be: no error either


def test_where_speculation_cannot_pay_the_drafter_does_not_run(prompt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
    monkeypatch.setattr(calibration, "cached", lambda file: Costs([(1, 0, 1.0), (8, 0, 9.0)]))
    monkeypatch.setattr(pair.drafter, "inject", None)
    statistics = pair.generate(prompt, max_tokens=40).statistics
    assert statistics.block_sizes == {1: 39} and statistics.mode == "plain"
    assert statistics.mode_reason == "a cycle of 2 rows costs 2.1x a plain step on this machine"
    assert statistics.plain_tokens_per_second == pytest.approx(1.0)


def test_a_wide_pass_that_seems_cheaper_than_a_narrow_one_was_disturbed() -> None:
    pair = fixture_pair()
    assert pair.drafter
    calm = {Way(1): [0.02, 0.021], Way(2): [0.022, 0.0225], Way(4): [0.03, 0.05, 0.031]}
    assert calibration._calibration(pair.target, pair.drafter, False, calm).undisturbed
    for disturbed in (calm | {Way(1): [0.06, 0.06]}, calm | {Way(2): [0.022, 0.04]}):
        found = calibration._calibration(pair.target, pair.drafter, False, disturbed)
        assert not found.undisturbed
        assert found.costs.seconds(1, 0) <= found.costs.seconds(2, 0) <= found.costs.seconds(4, 0)


def test_the_first_chunk_says_already_how_decoding_goes_on(prompt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    pair = dm.load(CHECKPOINTS / "target_qwen3_5", drafter=CHECKPOINTS / "dflash2_full")
    monkeypatch.setattr(calibration, "cached", lambda file: Costs([(1, 0, 1.0), (8, 0, 1.1)]))
    statistics = pair.generate(prompt, max_tokens=1).statistics
    assert (statistics.mode, statistics.mode_reason) == ("speculative", None)
    with pytest.raises(dm.RequestError, match="verify"):
        pair.calibrate("exakt")  # type: ignore[arg-type]


def says(pair: dm.Pair, prompt: list[int], reply: str) -> Callable[[mx.array, mx.array], mx.array]:
    """Has a pair say what it is told to."""
    ids = [*pair.tokenizer.encode(reply, raw=True), *pair.tokenizer.eos_token_ids]

    def force(tokens: mx.array, logits: mx.array) -> mx.array:
        wanted = ids[min(tokens.size - len(prompt), len(ids) - 1)]
        return mx.where(mx.arange(logits.shape[-1]) == wanted, 0.0, -1e9)[None]

    return force


@pytest.mark.parametrize(
    "reply, stop, thinking, text",
    [
        ("<think>\nOne.\n\nTwo.\n</think>\n\nHello!\n\nBye", "\n\n", "<think>\nOne.\n\nTwo.\n</think>\n\n", "Hello!"),
        ("<think>\nI will say Hello.\n</think>\n\nOh, Hello", "Hello", "<think>\nI will say Hello.\n</think>\n\n", "Oh, "),
        ("<think>\nStill here", "here", "<think>\nStill here", ""),
        ("Now. Stop here", "Stop", "", "Now. "),
        ("Now. Sto", "Stop", "", "Now. Sto"),
    ],
)
@pytest.mark.parametrize("block_size", [1, 8])
def test_a_stop_text_ends_the_answer_not_the_thinking(reply: str, stop: str, thinking: str, text: str, block_size: int) -> None:
    pair = load("demo")
    prompt = pair.tokenizer.encode("hi")
    options: dict[str, Any] = {"sampling": dm.Sampling(), "block_size": block_size, "max_tokens": 100}
    done = pair.generate(prompt, stop=stop, logits_processors=[says(pair, prompt, reply)], **options)
    assert (done.thinking, done.text, done.finish_reason) == (thinking, text, "stop")
