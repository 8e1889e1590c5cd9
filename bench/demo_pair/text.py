"""Seeded generator of the demo pair's narrow text: short dialogues whose answers follow a fixed, easy-to-learn form.

dialogue(rng, wording) makes a Dialogue; render(dialogue) gives its pieces as (text, trained_on), exactly what the chat template
renders. `wording` names the set of phrasings: "training", as people type them, now and then with names and nouns that nobody
knows; or "held-out", which training never sees.
"""

import random
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import arithmetic, expressions, phrasings
from .about import ELSE, GREETING, IT, TOPICS
from .elsewhere import prompt as prompt_from_elsewhere
from .functions import request
from .phrasings import Wording

KINDS = {"arithmetic": 56, "units": 7, "code": 7, "about": 17, "else": 13}  # shares
HARD_KINDS = {"arithmetic": 62, "units": 8, "code": 4, "about": 18, "else": 8}  # of the second stage
ARITHMETIC = {
    **{"add": 5, "sub": 6, "mul": 7, "div": 9},
    **{"add_sub": 3, "sub_add": 4, "add_add": 3, "sub_sub": 2, "mul_add": 5, "mul_sub": 5},
}
UNITS = (
    ("metres", "centimetres", 100),
    ("kilometres", "metres", 1000),
    ("kilograms", "grams", 1000),
    ("centimetres", "millimetres", 10),
    ("litres", "millilitres", 1000),
    ("tonnes", "kilograms", 1000),
    ("hours", "minutes", 60),
    ("minutes", "seconds", 60),
    ("weeks", "days", 7),
    ("days", "hours", 24),
    ("years", "months", 12),
)
AMERICAN = {"metre": "meter", "litre": "liter"}
ONSETS = "b c d f g h j k l m n p r s t v w z br ch cr dr fl gr pl sh sl st th tr".split()
CODAS = ("", "", "n", "r", "l", "t", "ck", "m", "ll", "g", "st", "nd")
DIVISORS = (*range(2, 13), *range(2, 10), 11, 12, 12, 15, 20, 25, 50)
SYSTEMS = (
    "You are a helpful assistant.",
    "You are the demo model of dflash-mlx.",
    "Answer briefly.",
    "You are a teacher.",
    "Be helpful and precise.",
    "You answer questions about numbers, units and code.",
)


class Turn(NamedTuple):
    """One question with its answer. working: shown before the answer, or as the thought when thinking."""

    kind: str
    question: str
    working: str
    answer: str
    result: str = ""  # what has to be in the answer
    shows_working: bool = False


class Dialogue(NamedTuple):
    messages: list[dict[str, str]]
    thinking: bool
    last: Turn


def dialogue(
    rng: random.Random,
    wording: Wording,
    kind: str | None = None,
    thinking: bool | None = None,
    kinds: Mapping[str, int] = KINDS,
) -> Dialogue:
    """kind and thinking fix those of the last turn; otherwise they are drawn, kinds by their shares."""
    if thinking is None:
        thinking = rng.random() < 0.2
    messages = [{"role": "system", "content": rng.choice(SYSTEMS)}] if rng.random() < 0.06 else []
    count = 2 if rng.random() < 0.08 else 1
    for index in range(count):
        chosen = kind if kind and index == count - 1 else rng.choices(list(kinds), list(kinds.values()))[0]
        last = turn(rng, chosen, wording)
        if wording == "training" and chosen != "code":
            last = last._replace(question=_loosen(rng, last.question))
        shown = f"{last.working}\n{last.answer}" if last.shows_working and not thinking else last.answer
        messages += [{"role": "user", "content": last.question}, {"role": "assistant", "content": shown}]
    return Dialogue(messages, thinking, last)


def render(made: Dialogue) -> list[tuple[str, bool]]:
    """ChatML pieces; only the last assistant's words are trained on. Past thoughts are dropped, as the template does."""
    pieces = [(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n", False) for m in made.messages[:-1]]
    opening = "<think>\n" if made.thinking else "<think>\n\n</think>\n\n"
    thought = f"{made.last.working}\n</think>\n\n" if made.thinking else ""
    pieces.append((f"<|im_start|>assistant\n{opening}", False))
    pieces.append((f"{thought}{made.messages[-1]['content']}<|im_end|>", True))
    return pieces


def turn(rng: random.Random, kind: str, wording: Wording) -> Turn:
    phrases = phrasings.SETS[wording]
    if kind == "arithmetic":
        kind = rng.choices(list(ARITHMETIC), list(ARITHMETIC.values()))[0]
    if kind in ARITHMETIC:
        return _sum(rng, kind, phrases, wording)
    if kind == "units":
        return _conversion(rng, phrases, wording)
    if kind == "code":
        return _function(rng, phrases, wording)
    if kind == "about":
        return _about(rng, phrases, wording)
    question = prompt_from_elsewhere(rng, wording)
    return Turn("else", question, "This is not a sum, a unit, a small function or a question about this program.", ELSE, ELSE)


# ---- the kinds --------------------------------------------------------------------------------------------------


def _sum(rng: random.Random, kind: str, phrases: dict[str, Any], wording: Wording) -> Turn:
    """A sum as it is typed, as one sentence, or as a story of one sentence a step."""
    form = rng.choices(("expression", "sentence", "story"), (25, 38, 37))[0]
    steps, typed = kind.split("_"), form == "expression"
    amounts, working, result, left = _first_step(rng, kind, steps[0], typed)
    numbers = list(amounts.values())
    story = [] if typed else [rng.choice(phrases[{"mul": "each", "div": "share"}.get(steps[0], "have")])]
    for step in steps[steps[0] in ("mul", "div") :]:
        x = _number(rng, low=0 if typed else 1, high=9999 - result if step == "add" else result)
        if kind == "sub" and typed and rng.random() < 0.1:
            x = _number(rng, low=result)
        numbers.append(x)
        amounts["c" if "b" in amounts or "m" in amounts else "b"] = x
        if not typed:
            story.append(rng.choice(phrases["more" if step == "add" else "less"]).replace("{x}", str(x)))
        lines, result = (arithmetic.add if step == "add" else arithmetic.subtract)(result, x)
        working = f"{working}\n{lines}".strip()
    answer = f"{result}, rest {left}" if left else f"{result}"
    made = Turn(kind, "", working, f"The answer is {answer}.", answer, True)
    if typed:
        if kind == "mul" and rng.random() < 0.5:
            numbers.reverse()
        if kind == "mul_add" and rng.random() < 0.3:
            numbers, steps = [numbers[2], *numbers[:2]], ["add", "mul"]
        return made._replace(question=expressions.question(rng, numbers, steps, wording))

    asked = {"div": "ask_rest" if left else "ask_each"}.get(kind, "ask_left" if steps[-1] == "sub" else "ask_all")
    story.append(rng.choice(phrases[asked]))
    if rng.random() < 0.1:
        story = [story[-1], *story[:-1]]  # the question may come first
    text = " ".join(story) if form == "story" else rng.choice(phrases[kind])
    before = rng.choice(phrases["before"]) if rng.random() < 0.15 else ""
    after = rng.choice(phrases["after"]) if rng.random() < 0.2 else ""
    filled = _capital(text.format(**_words(rng, wording), **amounts))
    return made._replace(question=before + filled + after)


def _first_step(rng: random.Random, kind: str, step: str, typed: bool) -> tuple[dict[str, int], str, int, int]:
    """(its numbers, working, result, rest). Of a sum or difference the first number alone."""
    low = 0 if typed else 2
    if step in ("add", "sub"):
        a = _number(rng, low, high=9900) if kind == "add" else max(_number(rng, low), _number(rng, low))
        return {"a": a}, "", a, 0
    if step == "div":
        m = rng.choice(DIVISORS)
        q = _number(rng, low=1, high=9999 // m)
        a = m * q + (rng.randrange(m) if rng.random() < 0.35 else 0)
        a = min(9999, a)
        working, (result, left) = arithmetic.divide(a, m)
        return {"a": a, "m": m}, working, result, left
    if rng.random() < 0.35:
        a, m = rng.randint(10, 99), rng.randint(10, 99)
    else:
        m = rng.randint(low, 9)
        a = _number(rng, low, high=9900 // max(m, 1))
    a, m = max(a, m), min(a, m)
    working, result = arithmetic.multiply(a, m)
    if a < 10 and rng.random() < 0.5:
        a, m = m, a  # of two single digits either may come first
        working, result = arithmetic.multiply(a, m)
    return {"a": a, "m": m}, working, result, 0


def _words(rng: random.Random, wording: Wording) -> dict[str, str]:
    """What the fields of a sentence are filled with."""
    n, o = rng.sample(phrasings.NAMES, 2)
    p, q, r = rng.choice((("he", "his", "him"), ("she", "her", "her"), ("they", "their", "them")))
    fields = {"n": n, "o": o, "p": p, "q": q, "r": r, "items": rng.choice(phrasings.ITEMS)}
    fields |= {key: rng.choice(words) for key, words in phrasings.WORDS.items()}
    if wording == "training":
        for field in [name for name in ("n", "o", "items", "box", "shop") if rng.random() < 0.35]:
            fields[field] = _unknown_word(rng, field)
    return fields


def _unknown_word(rng: random.Random, field: str) -> str:
    """A word that nobody knows, in the place of a name or a noun."""
    word = "".join(rng.choice(ONSETS) + rng.choice("aeiou") for _ in range(rng.randint(1, 3))) + rng.choice(CODAS)
    if field in ("n", "o"):
        return word.capitalize()
    return word if field == "shop" else word + "s"


def _loosen(rng: random.Random, text: str) -> str:
    """As people type: now and then without capitals, without the mark at the end, with a letter missing or twice."""
    if rng.random() < 0.2:
        text = text.lower()
    if rng.random() < 0.2:
        text = text.rstrip(".?!")
    letters = [i for i, letter in enumerate(text) if letter.isalpha() and letter != "x"]
    if len(letters) > 10 and rng.random() < 0.06:
        place = rng.choice(letters)
        text = text[:place] + text[place] * rng.choice((0, 2)) + text[place + 1 :]
    return text


def _capital(text: str) -> str:
    """Every sentence begins with a capital letter."""
    return re.sub(r"(^|[.?!:] )([a-z])(?!-)", lambda found: found[1] + found[2].upper(), text)


def _number(rng: random.Random, low: int = 0, high: int = 9999) -> int:
    """Numbers of one to four digits, those of two and three most often; a few are round."""
    n = rng.randint(low, max(low, min(high, rng.choices((9, 99, 999, 9999), (18, 37, 37, 8))[0])))
    unit = rng.choice((10, 50, 100))
    return n // unit * unit if rng.random() < 0.15 and n // unit * unit > low else n


def _conversion(rng: random.Random, phrases: dict[str, Any], wording: Wording) -> Turn:
    big, small, factor = rng.choice(UNITS)
    n = rng.randint(1, 12) if rng.random() < 0.6 else rng.randint(10, 99)
    back = rng.random() < 0.4
    have, want = (small, big) if back else (big, small)
    amount, result = (n * factor, n) if back else (n, n * factor)
    if back and factor == 60:
        working = f"{amount} / 10 = {n * 6}\n{arithmetic.divide(n * 6, 6)[0]}"
    elif back:
        working = f"{amount} / {factor} = {n}" if factor % 10 == 0 else arithmetic.divide(amount, factor)[0]
    elif factor == 60:
        working = f"{arithmetic.multiply(n, 6)[0]}\n{n * 6} x 10 = {result}"
    elif factor % 10 == 0:
        working = f"{n} x {factor} = {result}"
    else:
        working = arithmetic.multiply(max(n, factor), min(n, factor))[0]
    said_want = f"{want[:-1]}" if result == 1 else want
    said_have = have[:-1] if amount == 1 else have
    question = rng.choice(phrases["units"]).format(
        amount=f"a{'n' * (have == 'hours')}" if amount == 1 and rng.random() < 0.5 else amount,
        have=said_have,
        want=want,
        n=rng.choice(phrasings.NAMES),
    )
    if wording == "training" and rng.random() < 0.3:
        for british, american in AMERICAN.items():
            question = question.replace(british, american)
    verb = "is" if amount == 1 else "are"
    return Turn(
        "units",
        _capital(question),
        f"1 {big[:-1]} is {factor} {small}.\n{working}",
        f"{amount} {said_have} {verb} {result} {said_want}.",
        f"{result} {said_want}",
        True,
    )


def _function(rng: random.Random, phrases: dict[str, Any], wording: Wording) -> Turn:
    do, does, name, code = request(rng, wording)
    argument = code[code.index("(") + 1 : code.index(")")]
    question = rng.choice(phrases["before_code"]) + rng.choice(phrases["code"]).format(do=do, does=does)
    answer = f"```python\n{code}\n```\nCall it as `{name}({argument})`."
    return Turn("code", question, f"The argument is {argument}. I call the function {name}.", answer, code)


def _about(rng: random.Random, phrases: dict[str, Any], wording: Wording) -> Turn:
    if rng.random() < 0.08:
        return Turn("about", rng.choice(phrases["greeting"]), "The user talks to me. I say what I can do.", GREETING, GREETING)
    topic = rng.choice(TOPICS)
    own = topic.held_out if wording == "held-out" else topic.train
    if own and (not topic.names or rng.random() < 0.7):
        question = rng.choice(own).replace("{it}", rng.choice(IT))
    else:
        question = rng.choice(phrases["about"]).format(t=rng.choice(topic.names))
    return Turn("about", _capital(question), "This is a question about this program.", topic.answer, topic.answer)
