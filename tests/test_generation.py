"""A request from prompt to last token, on recorded prompts and on the embedded pair."""

import json
import math
import shutil
from functools import cache
from pathlib import Path

import pytest
from fixture_data import CHECKPOINTS, expected

import dflash_mlx as dm

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
    text = pair.generate(prompt, max_tokens=40).text
    for start in range(0, len(text) - 6, 5):
        for length in (1, 4):
            stop = text[start : start + length]
            result = pair.generate(prompt, max_tokens=40, stop=[stop, "never in the text"], block_size=block_size)
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
        ({"sampling": dm.Sampling(temperature=0.7)}, "greedily"),
        ({"sampling": dm.Sampling(repetition_penalty=1.1)}, "greedily"),
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


def test_block_size_without_a_drafter_is_refused() -> None:
    with pytest.raises(dm.RequestError, match="drafter"):
        fixture_pair(None).stream([5], block_size=4)
