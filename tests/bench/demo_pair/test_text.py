"""The demo pair's text: reproducible, true, and held out where it says so."""

import itertools
import operator
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from fixture_data import DEMO
from tokenizers import Tokenizer as FileTokenizer
from transformers import AutoTokenizer

from dflash_mlx.bench.demo_pair import about, elsewhere, expressions, functions, phrasings
from dflash_mlx.bench.demo_pair.text import ARITHMETIC, Dialogue, dialogue, render, turn
from dflash_mlx.bench.demo_pair.tokenizer import encode
from dflash_mlx.text import Tokenizer

RESULTS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "add_add": lambda a, b, c: a + b + c,
    "add_sub": lambda a, b, c: a + b - c,
    "sub_add": lambda a, b, c: a - b + c,
    "sub_sub": lambda a, b, c: a - b - c,
    "mul_add": lambda a, b, c: a * b + c,
    "mul_sub": lambda a, b, c: a * b - c,
}
SIGNS: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "x": operator.mul, "/": operator.floordiv}
UNITS = {"centimetre": 0.01, "metre": 1, "kilometre": 1000, "millimetre": 0.001, "gram": 1, "kilogram": 1000, "tonne": 1000000,
         "litre": 1, "millilitre": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800,
         "month": 1, "year": 12}  # fmt: skip
FUNCTIONS: dict[str, Callable[[Any, int], Any]] = {
    "add": lambda x, k: x + k,
    "subtract": lambda x, k: x - k,
    "times": lambda x, k: x * k,
    "power": lambda x, k: x**k,
    "divisible": lambda x, k: x / k == x // k,
    "keep_above": lambda x, k: list(filter(lambda one: one > k, x)),
    "keep_below": lambda x, k: list(filter(lambda one: one < k, x)),
    "count": lambda x, k: x.count(k),
    "sum": lambda x, k: sum(x),
    "largest": lambda x, k: max(x),
    "smallest": lambda x, k: min(x),
    "mean": lambda x, k: sum(x) / len(x),
    "reverse": lambda x, k: "".join(reversed(x)),
    "repeat": lambda x, k: "".join([x] * k),
    "count_vowels": lambda x, k: len(re.findall("[aeiou]", x)),
}
BOTH = pytest.mark.parametrize("wording", ["training", "held-out"])


def dialogues(seed: int, count: int, wording: phrasings.Wording) -> list[Dialogue]:
    rng = random.Random(seed)
    return [dialogue(rng, wording) for _ in range(count)]


def numbers(text: str) -> list[int]:
    spelled = {word: str(n) for n, word in enumerate(expressions.NUMBERS)}
    return [int(spelled.get(found, found)) for found in re.findall(rf"\d+|\b(?:{'|'.join(spelled)})\b", text)]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"\{\w+\}", "", text).lower()))


def test_the_same_seed_gives_the_same_dialogues() -> None:
    assert dialogues(3, 50, "training") == dialogues(3, 50, "training") != dialogues(4, 50, "training")


@BOTH
@pytest.mark.parametrize("kind", RESULTS)
def test_results_follow_from_the_numbers_of_the_question(kind: str, wording: phrasings.Wording) -> None:
    rng = random.Random(11)
    for _ in range(300):
        made = turn(rng, kind, wording)
        orders = itertools.permutations(numbers(made.question), 1 + len(kind.split("_")))
        assert int(made.result) in {RESULTS[kind](*order) for order in orders}, made.question
        assert made.answer == f"The answer is {made.result}."


@BOTH
def test_divisions_are_right_and_name_the_rest(wording: phrasings.Wording) -> None:
    rng, with_rest = random.Random(12), 0
    for _ in range(400):
        made = turn(rng, "div", wording)
        large, small = numbers(made.working.split("\n")[0])
        assert {large, small} <= set(numbers(made.question)) and large >= small, made.question
        rest = large % small
        said = f"{large // small}, rest {rest}" if rest else str(large // small)
        assert made.result == said and made.working.endswith(f"{large} / {small} = {said}"), made.question
        with_rest += rest > 0
    assert 60 < with_rest < 240


@BOTH
def test_every_line_of_working_is_true(wording: phrasings.Wording) -> None:
    for made in dialogues(13, 400, wording):
        for a, sign, b, c, result in re.findall(r"(\d+) ([-+x/]) (\d+)(?: ([-+] \d+))? = (\d+)", made.last.working):
            value = SIGNS[sign](int(a), int(b)) + (int(c.replace(" ", "")) if c else 0)
            assert value == int(result), made.last.working


@BOTH
def test_conversions_are_right(wording: phrasings.Wording) -> None:
    rng = random.Random(14)
    for _ in range(300):
        made = turn(rng, "units", wording)
        found = re.fullmatch(r"(\d+) (\w+?)s? (?:is|are) (\d+) (\w+?)s?\.", made.answer)
        asked = made.question.lower().replace("meter", "metre").replace("liter", "litre")
        assert found and made.answer.endswith(f"{made.result}.") and found[2] in asked and found[4] in asked
        assert int(found[1]) * UNITS[found[2]] == pytest.approx(int(found[3]) * UNITS[found[4]])


@BOTH
def test_functions_do_what_is_asked_of_them(wording: phrasings.Wording) -> None:
    rng = random.Random(15)
    for _ in range(300):
        do, does, name, code = functions.request(rng, wording)
        scope: dict[str, Any] = {}
        exec(code, scope)  # our own text
        argument = re.search(r"\((\w+)\)", code)[1]  # type: ignore[index]
        assert argument in do.split() and argument in does.split()
        k = next(iter(numbers(name)), 0)
        expected = FUNCTIONS[max((start for start in FUNCTIONS if name.startswith(start)), key=len)]
        samples = (
            [[3, 9, 4, 2], [k, 1, k]] if argument in functions.MANY else [0, 7, 12 * k] if argument in functions.ONE else ["area"]
        )
        for sample in samples:
            assert scope[name](sample) == expected(sample, k), code


def test_held_out_phrasings_are_new() -> None:
    pairs = [(texts, phrasings.HELD_OUT[key]) for key, texts in phrasings.SETS["training"].items()]
    pairs += [(family.train + family.more, family.held_out) for family in functions.FAMILIES]
    pairs += [(topic.train, topic.held_out) for topic in about.TOPICS]
    pairs += [(expressions.TRAIN, expressions.HELD_OUT)]
    assert phrasings.SETS["training"].keys() == phrasings.HELD_OUT.keys()
    for train, held_out in pairs:
        assert not {text for text in train if text} & set(held_out)


def test_no_held_out_question_occurs_in_training() -> None:
    def questions(wording: phrasings.Wording) -> set[str]:
        asked = (made.last for made in dialogues(16, 3000, wording))
        return {re.sub(r"\d+", "N", turn.question) for turn in asked if turn.kind != "else"}

    assert not questions("held-out") & questions("training")


def test_a_question_has_one_answer() -> None:
    answers: dict[str, str] = {}
    for topic in about.TOPICS:
        for question in (*topic.train, *topic.held_out):
            assert answers.setdefault(question.lower().rstrip(".?!"), topic.answer) == topic.answer, question
    assert not {text.lower().rstrip(".?!") for text in elsewhere.PROMPTS} & answers.keys()
    for text in phrasings.SETS["training"]["greeting"]:
        assert answers.get(text.lower().rstrip(".?!"), about.GREETING) == about.GREETING


@BOTH
def test_everything_else_gets_the_one_honest_sentence(wording: phrasings.Wording) -> None:
    rng = random.Random(20)
    turns = [turn(rng, "else", wording) for _ in range(600)]
    assert {made.answer for made in turns} == {about.ELSE}
    assert len({made.question for made in turns}) > 100


@pytest.mark.parametrize("kind", ARITHMETIC)
def test_every_kind_is_asked_in_many_sentences(kind: str) -> None:
    rng = random.Random(17)
    assert len({re.sub(r"\d+", "N", turn(rng, kind, "training").question) for _ in range(200)}) > 100


@BOTH
def test_the_chat_template_gives_the_ids_of_training(wording: phrasings.Wording) -> None:
    tokenizer, file = Tokenizer(DEMO / "target"), FileTokenizer.from_file(str(DEMO / "target" / "tokenizer.json"))
    for made in dialogues(18, 100, wording):
        pieces = render(made)
        switches: list[dict[str, bool]] = [{"enable_thinking": True}] if made.thinking else [{"enable_thinking": False}, {}]
        for switch in switches:
            assert tokenizer.encode(made.messages[:-1], **switch) == encode(file, pieces[:-1])[0]
        whole = "".join(text for text, _ in pieces)
        assert tokenizer.encode(whole, raw=True) == encode(file, pieces)[0]


def test_the_template_drops_past_thoughts() -> None:
    tokenizer = AutoTokenizer.from_pretrained(DEMO / "target")
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\nb\n</think>\n\nc"}]
    text = tokenizer.apply_chat_template(
        [*messages, {"role": "user", "content": "d"}], add_generation_prompt=True, tokenize=False
    )
    assert text == (
        "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nc<|im_end|>\n<|im_start|>user\nd<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )
