"""Detokenisation, stop strings and prompts, against the tokenizers library decoding in one go."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from fixture_data import CHECKPOINTS
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Reference
from transformers import AutoTokenizer

from dflash_mlx.errors import CheckpointError, RequestError
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
    # bytes e0 a4 be, as a byte-level vocabulary writes them
    backend = Reference(models.BPE({"à": 0, "¤": 1, "¾": 2, "à¤": 3, "¾à": 4}, []))
    backend.decoder = decoders.ByteLevel()
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


def test_ids_of_a_rendered_prompt_are_those_of_its_text_in_one_piece(tokenizer: Tokenizer, reference: Reference) -> None:
    rng, parts = (
        random.Random(1),
        [*TEXTS, "<|im_end|>", "<|im_start|>", "<think>", "</think>", "<|im_", "\n", " ", "<|im_start|>\n"],
    )
    for _ in range(200):
        messages = [{"role": "user", "content": "".join(rng.choices(parts, k=6))} for _ in range(3)]
        text = "".join(f"<|im_start|>user\n{message['content']}<|im_end|>\n" for message in messages) + "<|im_start|>assistant\n"
        assert tokenizer.encode(messages) == reference.encode(text, add_special_tokens=False).ids


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
    assert "raw=True" in caught.value.hint and "\n" not in str(caught.value)


def test_every_place_that_names_an_end_of_sequence_counts(tmp_path) -> None:
    for file in FOLDER.iterdir():
        if file.suffix in (".json", ".jinja"):
            (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [242, 7]}')
    assert Tokenizer(tmp_path).eos_token_ids == {240, 242, 7}


SCRIPTS = [
    "เขียนอย่างไรได้บ้าง",
    "مَرْحَبًا بِكَ",
    "हिन्दी में लिखिए",
    "cafe\u0301 naïve",
    "a  b\n\n c 12345",
    "<|im_end|>x<tool> y",
    " \u00a0z",
]


def save_tokenizer(folder: Path, model_type: str, config: dict[str, Any] | None, normalizer: Any = None) -> Reference:
    """A tokenizer.json whose pre-tokenizer is that of no class: words hold combining marks, and numbers are whole."""
    folder.mkdir(exist_ok=True)
    made = Reference(models.BPE(byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[\p{L}\p{M}]+|\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    if normalizer:
        made.normalizer = normalizer
    made.decoder = decoders.ByteLevel()
    specials = [AddedToken("<|im_end|>", special=True), AddedToken("<|bos|>", special=True)]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=specials, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(SCRIPTS * 9, trainer)
    made.add_tokens([AddedToken("<tool>", special=False)])
    made.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return made


@pytest.mark.parametrize("model_type", ["qwen3", "qwen3_5", "qwen3_5_text", "qwen3_5_moe_text", "qwen3_next"])
@pytest.mark.parametrize(
    "config",
    [
        None,
        {"tokenizer_class": "Qwen2Tokenizer"},
        {"tokenizer_class": "Qwen2TokenizerFast", "add_bos_token": True, "bos_token": "<|bos|>", "add_eos_token": True},
        {"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": True, "clean_up_tokenization_spaces": True},
        {"tokenizer_class": "LlamaTokenizer", "split_special_tokens": True, "legacy": False},
        {"added_tokens_decoder": {"700": {"content": "naïve", "special": False}}, "eos_token": "<|im_end|>"},
    ],
    ids=str,
)
def test_ids_are_those_of_the_file_whatever_its_class_is_called(model_type: str, config: Any, tmp_path: Path) -> None:
    reference = save_tokenizer(tmp_path, model_type, config)
    tokenizer = Tokenizer(tmp_path)
    for text in SCRIPTS:
        ids = reference.encode(text).ids
        assert tokenizer.encode(text, raw=True) == ids
        stream = tokenizer.new_stream()
        assert "".join([*map(stream.add, ids), stream.flush()]) == reference.decode(ids)


@pytest.mark.parametrize("normalizer", [None, normalizers.NFC(), normalizers.NFKD()])
def test_the_file_s_own_normaliser_counts(normalizer: Any, tmp_path: Path) -> None:
    reference = save_tokenizer(tmp_path, "qwen3_5", {"tokenizer_class": "Qwen2Tokenizer"}, normalizer)
    texts = ["cafe\u0301", "caf\u00e9", "ﬁn"]
    assert [Tokenizer(tmp_path).encode(text, raw=True) for text in texts] == [reference.encode(text).ids for text in texts]


def test_the_file_s_own_beginning_is_put_before_raw_text_and_before_no_template(tmp_path: Path) -> None:
    made = save_tokenizer(tmp_path, "qwen3", {"chat_template": "{{ messages[0].content }}"})
    made.post_processor = processors.TemplateProcessing("<|bos|> $A", special_tokens=[("<|bos|>", made.token_to_id("<|bos|>"))])
    made.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer(tmp_path)
    assert tokenizer.encode("naïve", raw=True) == made.encode("naïve").ids
    assert tokenizer.encode("naïve") == made.encode("naïve", add_special_tokens=False).ids != made.encode("naïve").ids


def test_what_training_left_of_truncation_and_padding_does_nothing(tmp_path: Path) -> None:
    made = save_tokenizer(tmp_path, "qwen3", {})
    whole = [made.encode(text).ids for text in SCRIPTS]
    made.enable_truncation(3)
    made.enable_padding(length=50)
    made.save(str(tmp_path / "tokenizer.json"))
    assert [Tokenizer(tmp_path).encode(text, raw=True) for text in SCRIPTS] == whole


def jinja(text: str) -> dict[str, str]:
    return {"chat_template.jinja": text}


def in_config(content: Any) -> dict[str, str]:
    return {"tokenizer_config.json": json.dumps({"chat_template": content})}


def named(**templates: str) -> list[dict[str, str]]:
    return [{"name": name, "template": text} for name, text in templates.items()]


OLDEST = {"chat_template.json": json.dumps({"chat_template": "oldest"})}
PLACES = [  # files, and what renders without and with tools; as transformers chooses, and chat_template.json last
    (jinja("file"), "file", "file"),
    (in_config("config"), "config", "config"),
    (OLDEST, "oldest", "oldest"),
    (jinja("file") | in_config("config") | OLDEST, "file", "file"),
    (in_config("config") | OLDEST, "config", "config"),
    (in_config(None) | OLDEST, "oldest", "oldest"),
    (in_config(named(default="plain", tool_use="tools")), "plain", "tools"),
    (in_config(named(default="plain", rag="rag")), "plain", "plain"),
    (jinja("file") | in_config(named(default="plain", tool_use="tools")), "file", "file"),
    (jinja("file") | {"additional_chat_templates/tool_use.jinja": "tools"}, "file", "tools"),
    (jinja("\ufefffile") | {"additional_chat_templates/tool_use.jinja": "\ufefftools"}, "file", "tools"),
    (jinja("") | in_config("config"), "config", "config"),
    (jinja("") | {"additional_chat_templates/tool_use.jinja": "tools"} | in_config("config"), "config", "tools"),
    (jinja("\ufeff\n") | OLDEST, "oldest", "oldest"),
    (in_config(" ") | OLDEST, "oldest", "oldest"),
    (in_config(named(default="", tool_use="")) | OLDEST, "oldest", "oldest"),
]


@pytest.mark.parametrize(("files", "plain", "with_tools"), PLACES, ids=range(len(PLACES)))
def test_a_template_is_found_wherever_it_stands(files: dict[str, str], plain: str, with_tools: str, tmp_path: Path) -> None:
    made = save_tokenizer(tmp_path, "qwen3", None)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    tokenizer = Tokenizer(tmp_path)
    assert tokenizer.knows(plain) and not tokenizer.knows("enable_thinking")
    assert tokenizer.encode("hi") == made.encode(plain).ids
    assert tokenizer.encode("hi", tools=[{"name": "f"}]) == made.encode(with_tools).ids


@pytest.mark.parametrize("content", [None, [], {}, ""])
def test_a_model_without_a_template_says_so(content: Any, tmp_path: Path) -> None:
    save_tokenizer(tmp_path, "qwen3", {"chat_template": content})
    with pytest.raises(RequestError, match="has no chat template"):
        Tokenizer(tmp_path).encode("hi")


TEMPLATE = """{{ bos_token }}{{ eos_token }}{{ image_token }}{{ missing_token }}{% for m in messages %}
{% generation %}{{ m.content | tojson }}{% endgeneration %}{% if loop.index == 9 %}{% break %}{% endif %}{% endfor %}
{{ tools | tojson(indent=1) if tools }}{{ strftime_now("%Y")[:1] }}{{ namespace(a=5).a }}{{ add_generation_prompt }}{{ mood }}"""


@pytest.mark.parametrize(
    "token", ["<|bos|>", {"content": "<|bos|>", "special": True, "__type": "AddedToken"}], ids=["text", "object"]
)
@pytest.mark.parametrize("tools", [None, [{"name": "f", "about": "ü<"}]], ids=["plain", "tools"])
def test_a_template_has_all_that_transformers_gives_it(token: Any, tools: Any, tmp_path: Path) -> None:
    config = {"bos_token": token, "eos_token": "<|im_end|>", "pad_token": None, "extra_special_tokens": {"image_token": "<tool>"}}
    made = save_tokenizer(tmp_path, "qwen3", config | {"tokenizer_class": "PreTrainedTokenizerFast"})
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    messages = [{"role": "user", "content": "<a> é"}]
    wanted = AutoTokenizer.from_pretrained(tmp_path).apply_chat_template(
        messages, tools=tools, tokenize=False, add_generation_prompt=True, mood="glad"
    )
    assert wanted.startswith("<|bos|><|im_end|><tool>") and wanted.endswith("25Trueglad")
    assert Tokenizer(tmp_path).encode(messages, tools=tools, mood="glad") == made.encode(wanted).ids


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
@pytest.mark.parametrize("token", ["<|im_end|>", {"content": "<|im_end|>"}], ids=["text", "object"])
def test_the_end_of_sequence_is_named_beside_the_tokenizer_too(file: str, token: Any, tmp_path: Path) -> None:
    made = save_tokenizer(tmp_path, "qwen3", None)
    assert Tokenizer(tmp_path).eos_token_ids == frozenset()
    (tmp_path / file).write_text(json.dumps({"eos_token": token, "pad_token": "<|bos|>"}))
    assert Tokenizer(tmp_path).eos_token_ids == {made.token_to_id("<|im_end|>")}
    (tmp_path / file).write_text(json.dumps({"eos_token": "never heard of"}))
    assert Tokenizer(tmp_path).eos_token_ids == frozenset()


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"])
def test_a_damaged_file_beside_the_tokenizer_is_named(file: str, tmp_path: Path) -> None:
    save_tokenizer(tmp_path, "qwen3", None)
    (tmp_path / file).write_bytes(b"\xff{")
    with pytest.raises(CheckpointError, match=r"cannot be (read|loaded)"):
        Tokenizer(tmp_path)


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
