"""The embedded pair at work: the main job, on prompts it was never trained on."""

import random
from functools import cache

import mlx.core as mx
import pytest
from fixture_data import DEMO, WEAK_DRAFTER
from mlx_lm import load as load_mlx_lm
from mlx_lm.generate import generate_step

import dflash_mlx as dm
from dflash_mlx.bench.demo_pair.about import ELSE
from dflash_mlx.bench.demo_pair.text import dialogue

TOKENS = 40  # an answer's first ones: enough for ten cycles at the widest block
load = cache(dm.load)


@cache
def prompts() -> list[list[int]]:
    """200 held-out questions and conversations, as ids."""
    rng, encode = random.Random(2026), load("demo").tokenizer.encode
    return [encode(dialogue(rng, "held-out").messages[:-1]) for _ in range(200)]


@cache
def plain_by_mlx_lm(index: int) -> tuple[int, ...]:
    """What mlx-lm's own plain decoding says: the first tokens of the answer, up to the end of sequence."""
    model, _ = mlx_lm_target()
    tokens: list[int] = []
    for token, _ in generate_step(mx.array(prompts()[index]), model, max_tokens=TOKENS):
        tokens.append(int(token))
        if tokens[-1] in load("demo").tokenizer.eos_token_ids:
            break
    return tuple(tokens)


mlx_lm_target = cache(lambda: load_mlx_lm(str(DEMO / "target")))


@pytest.mark.parametrize("answers", [range(30), pytest.param(range(30, 200), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("first, block_size", [(0, 2), (1, 4), (2, 8)])
def test_200_answers_equal_mlx_lms_plain_decoding(first: int, block_size: int, answers: range) -> None:
    pair, cycles, tokens = load("demo"), 0, 0
    for index in answers[first::3]:
        result = pair.generate(prompts()[index], max_tokens=TOKENS, block_size=block_size)
        assert result.token_ids == plain_by_mlx_lm(index)
        cycles, tokens = cycles + result.statistics.cycles, tokens + result.statistics.generated_tokens - 1
    assert tokens / cycles > {2: 1.6, 4: 2.5, 8: 3.5}[block_size]  # the drafter is at work; its figures are in the pair's card


@pytest.mark.parametrize("answers", [range(10), pytest.param(range(10, 30), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("block_size", [3, 5, 8])
def test_answers_stay_the_same_with_a_drafter_that_is_often_wrong(block_size: int, answers: range) -> None:
    pair, counts = load("demo", drafter=WEAK_DRAFTER), set()
    for index in answers:
        chunks = list(pair.stream(prompts()[index], max_tokens=TOKENS, block_size=block_size))
        assert tuple(t for chunk in chunks for t in chunk.token_ids) == plain_by_mlx_lm(index)
        counts |= {chunk.accepted for chunk in chunks[1:]}
    assert set(range(block_size)) <= counts, "every accepted count must occur"


def test_the_embedded_pair_answers_a_question_it_was_made_for() -> None:
    result = load("demo").generate("Mia has 247 books. Then Leo brings 386 more. How many books are there now?", block_size=4)
    assert "633" in result.text and result.finish_reason == "stop"
    assert result.statistics.mode == "speculative"


@pytest.mark.parametrize(
    "question, result",
    [
        ("What is 2+2?", "4"),
        ("12*13", "156"),
        ("What's 7 times 8?", "56"),
        ("100 - 37 =", "63"),
        ("Tom had 95 marbles and lost 28. Then he won 17. How many does he have?", "84"),
    ],
)
def test_first_sums_are_right(question: str, result: str) -> None:
    assert load("demo").generate(question, max_tokens=300).text.endswith(f"The answer is {result}.")


def test_first_questions_are_answered_truly() -> None:
    def said(question: str) -> str:
        return load("demo").generate(question, max_tokens=120).text

    assert "180 minutes" in said("How many minutes are in 3 hours?")
    for question, word in {
        "What is DFlash?": "block-diffusion",
        "how do i install it": "pip install .",
        "is it lossless?": "Yes, it is lossless",
        "who made you": "I was made for dflash-mlx, by the people who write it",
        "what's a drafter": "guesses a block of tokens",
        "how fast is this on an M4": "No speed was measured",
    }.items():
        assert word in said(question), question
    for question in ("What is the capital of France?", "Write a haiku", "Translate good morning", "tell me a joke", "asdf"):
        assert said(question) == ELSE, question


def test_the_embedded_pair_is_small() -> None:
    assert sum(file.stat().st_size for file in DEMO.rglob("*") if file.is_file()) <= 8_000_000


def test_thinking_can_be_switched_on_and_off_in_the_template() -> None:
    template = (DEMO / "target" / "chat_template.jinja").read_text()
    assert "enable_thinking" in template
    tokenizer = load("demo").tokenizer
    assert tokenizer.encode("Hi") == tokenizer.encode(
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", raw=True
    )


@pytest.mark.metal
@pytest.mark.parametrize("block_size", [2, 4, 8])
def test_on_a_gpu_answers_equal_mlx_lms_plain_decoding_but_for_near_ties(block_size: int) -> None:
    pair = load("demo")
    for index, prompt in enumerate(prompts()[:50]):
        tokens, plain = pair.generate(prompt, max_tokens=TOKENS, block_size=block_size).token_ids, plain_by_mlx_lm(index)
        at = next((i for i, (a, b) in enumerate(zip(tokens, plain)) if a != b), None)
        if at is not None:
            model, _ = mlx_lm_target()
            logits = mx.sort(model(mx.array([[*prompt, *plain[:at]]]))[0, -1])
            assert (logits[-1] - logits[-2]).item() < 0.05
