"""Detokenisation, stop strings and prompts, against the tokenizers library decoding in one go."""

import random

import pytest
from fixture_data import CHECKPOINTS
from tokenizers import Tokenizer as Reference
from tokenizers.decoders import ByteLevel
from tokenizers.models import BPE

from dflash_mlx.errors import RequestError
from dflash_mlx.text import StopTexts, TextStream, Thinking, Tokenizer

FOLDER = CHECKPOINTS / "target_qwen3_5"
TEXTS = [
    "plain words",
    " leading and trailing ",
    "naïve café",
    "漢字かな交じり文",
    "🙂👩‍👩‍👧‍👦 flags 🇩🇪",
    "שלום עולם",
    "a\n\n\tb  c",
    "e\u0301",
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(FOLDER)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference.from_file(str(FOLDER / "tokenizer.json"))


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_join_to_the_text_and_none_is_broken(text: str, tokenizer: Tokenizer, reference: Reference) -> None:
    stream, ids = tokenizer.new_stream(), reference.encode(text).ids
    pieces = [stream.add(i) for i in ids]
    assert "".join(pieces) == reference.decode(ids)
    assert not any("\ufffd" in piece for piece in pieces)


def test_an_unfinished_character_at_the_end_is_dropped(tokenizer: Tokenizer, reference: Reference) -> None:
    ids = reference.encode("ab漢").ids
    stream = tokenizer.new_stream()
    assert "".join(map(stream.add, ids[:-1])) == "ab"


def test_bytes_that_are_no_character_become_one_mark_and_the_text_goes_on(tokenizer: Tokenizer, reference: Reference) -> None:
    ids = [reference.encode("漢").ids[0], *reference.encode("ok then").ids]
    stream = tokenizer.new_stream()
    assert "".join(stream.add(i) for i in ids) == "\ufffdok then"


@pytest.mark.parametrize("text", ["ab\ufffd", "\ufffd", "a\ufffd\ufffdb"])
def test_a_replacement_character_that_the_model_wrote_is_kept(text: str, tokenizer: Tokenizer, reference: Reference) -> None:
    stream = tokenizer.new_stream()
    assert "".join([*map(stream.add, reference.encode(text).ids), stream.flush()]) == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_cut_loses_the_unfinished_character_and_nothing_else(text: str, tokenizer: Tokenizer, reference: Reference) -> None:
    ids = reference.encode(text).ids
    for cut in range(len(ids)):
        stream = tokenizer.new_stream()
        got = "".join([*map(stream.add, ids[:cut]), stream.flush()])
        assert got == reference.decode(ids[:cut]).rstrip("\ufffd")


def test_output_of_lone_bytes_is_shown(tokenizer: Tokenizer, reference: Reference) -> None:
    lone, stream = reference.encode("漢").ids[0], tokenizer.new_stream()
    assert "".join(map(stream.add, [lone] * 100)) == "\ufffd" * 99


def test_a_token_that_ends_a_letter_and_begins_another_gives_the_first() -> None:
    backend = Reference(
        BPE({"à": 0, "¤": 1, "¾": 2, "à¤": 3, "¾à": 4}, [])
    )  # bytes e0 a4 be, as a byte-level vocabulary has them
    backend.decoder = ByteLevel()
    stream = TextStream(backend)
    assert [stream.add(3), stream.add(4), stream.flush()] == ["", "\u093e", ""]


def test_special_tokens_and_ids_outside_the_tokenizer_give_no_text(tokenizer: Tokenizer) -> None:
    stream = tokenizer.new_stream()
    assert [stream.add(i) for i in (240, 241, 243, 250, 255)] == [""] * 5


@pytest.mark.parametrize("stop", [("END",), ("xEND", "END"), ("E",), ("never", "END", "ND")])
def test_text_ends_before_the_earliest_stop_string_and_never_shows_part_of_it(
    stop: tuple[str, ...], tokenizer: Tokenizer, reference: Reference
) -> None:
    text = "an EN and an E, then xEND and more"
    wanted = text[: min(text.find(s) for s in stop if s in text)]
    stream, stops, out = tokenizer.new_stream(), StopTexts(stop), ""
    for i in reference.encode(text).ids:
        out += stops.add(stream.add(i))
        assert wanted.startswith(out)
        if stops.stopped:
            break
    assert stops.stopped and out == wanted


def test_what_looked_like_a_stop_string_is_given_back_at_the_end(tokenizer: Tokenizer, reference: Reference) -> None:
    stream, stops = tokenizer.new_stream(), StopTexts(["</answer>"])
    assert "".join([stops.add(stream.add(i)) for i in reference.encode("so </ans").ids]) == "so "
    assert stops.add("", last=True) == "</ans"


def test_stop_strings_hold_back_nothing_else(tokenizer: Tokenizer, reference: Reference) -> None:
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(rng.choice("ab") for _ in range(30))
        stop = "".join(rng.choice("ab") for _ in range(rng.randint(1, 6)))
        stream, stops, out = tokenizer.new_stream(), StopTexts([stop]), ""
        for i in reference.encode(text).ids:
            out += stops.add(stream.add(i))
            if stops.stopped:
                break
        out += "" if stops.stopped else stops.add("", last=True)
        assert out == text.split(stop)[0]


def test_text_goes_through_the_template_as_one_user_message(tokenizer: Tokenizer, reference: Reference) -> None:
    wanted = reference.encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n").ids
    assert tokenizer.encode("Hi") == wanted
    assert tokenizer.encode([{"role": "user", "content": "Hi"}]) == wanted


def test_raw_text_and_ids_go_to_the_model_as_they_are(tokenizer: Tokenizer, reference: Reference) -> None:
    assert tokenizer.encode("Hi <|im_end|>", raw=True) == reference.encode("Hi <|im_end|>").ids
    assert tokenizer.encode([5, 6, 7]) == [5, 6, 7]


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        " \n",
        [],
        [1, "a"],
        [{"content": "x"}],
        [True],
        5,
        None,
        {"role": "user"},
        "bad \udcff",
        b"bytes",
        [{"role": "user", "content": None}],
        [{"role": 5, "content": "x"}],
    ],
)
def test_impossible_prompts_are_refused(prompt: object, tokenizer: Tokenizer) -> None:
    with pytest.raises(RequestError):
        tokenizer.encode(prompt)  # type: ignore[arg-type]


@pytest.mark.parametrize("prompt", ["bad \udcff", [{"role": "system", "content": "\udcff"}, {"role": "user", "content": "x"}]])
@pytest.mark.parametrize("raw", [True, False])
def test_text_that_is_not_utf_8_is_called_so(prompt: object, raw: bool, tokenizer: Tokenizer) -> None:
    with pytest.raises(RequestError, match="UTF-8"):
        tokenizer.encode(prompt, raw)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "template", ["{{ 1 / 0 }}", "{{ raise_exception('a\\nb') }}", "{% for %}", "{{ messages[0].x.y }}", "{{ 'a'.index('z') }}"]
)
def test_a_template_that_fails_is_named_with_a_way_out(template: str, tmp_path) -> None:
    for file in FOLDER.glob("*.json"):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "chat_template.jinja").write_text(template)
    with pytest.raises(RequestError, match="chat template") as caught:
        Tokenizer(tmp_path).encode("Hi")
    assert "--raw" in caught.value.hint and "\n" not in str(caught.value)


def test_every_place_that_names_an_end_of_sequence_counts(tmp_path) -> None:
    for file in FOLDER.iterdir():
        if file.suffix in (".json", ".jinja"):
            (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [242, 7]}')
    assert Tokenizer(tmp_path).eos_token_ids == {240, 242, 7}


THOUGHTS = [  # a text, whether it begins in the middle of thinking, and its thinking
    ("Hello.", False, ""),
    ("<think>\nhm</think>\n\nHello.", False, "<think>\nhm</think>\n\n"),
    ("hm</think>\n\n    Hello.\n\nBye.", True, "hm</think>\n\n"),
    ("hm</think>\n", True, "hm</think>\n"),
    ("\n\nHello.", False, ""),
    ("\n<think>hm", False, "\n<think>hm"),
    ("hm", True, "hm"),
    ("Write <think> and </think>.", False, ""),
    ("a</think>b</think>c", True, "a</think>"),
    ("<th", False, ""),
    ("a</thi", True, "a</thi"),
    (" ", False, ""),
]


@pytest.mark.parametrize("text, opened, thinking", THOUGHTS, ids=repr)
def test_thinking_is_told_from_the_answer_however_the_text_is_cut(text: str, opened: bool, thinking: str) -> None:
    for size in range(1, len(text) + 1):
        split, parts = Thinking(opened), [text[i : i + size] for i in range(0, len(text), size)]
        told = [split.add(part, last=i == len(parts) - 1) for i, part in enumerate(parts)]
        assert ("".join(t for t, _ in told), "".join(a for _, a in told)) == (thinking, text.removeprefix(thinking))
