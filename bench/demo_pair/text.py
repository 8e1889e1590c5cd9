"""Seeded generator of the demo pair's narrow text: short dialogues whose answers follow a fixed, easy-to-learn form.

dialogue(rng, wording) makes a Dialogue; render(dialogue) gives its pieces as (text, trained_on), exactly what the chat template
renders. `wording` names the set of phrasings: "first" and "all" are those of the first and second stage of training;
"loose", of the third, are "all" as people type them, and with names and nouns that nobody knows; "held-out" ones
training never sees.
"""

import random
import re
from typing import Any, NamedTuple

from . import arithmetic, phrasings
from .about import GREETING, TOPICS
from .functions import request
from .phrasings import Wording

ARITHMETIC = {"add": 3, "sub": 3, "mul": 4, "div": 6, "add_sub": 3, "mul_add": 3, "mul_sub": 3}  # kind: share
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
)
ONSETS = "b c d f g h j k l m n p r s t v w z br ch cr dr fl gr pl sh sl st th tr".split()
CODAS = ("", "", "n", "r", "l", "t", "ck", "m", "ll", "g", "st", "nd")
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
    result: str = ""  # the number that has to be in the answer
    shows_working: bool = False


class Dialogue(NamedTuple):
    messages: list[dict[str, str]]
    thinking: bool
    last: Turn


def dialogue(rng: random.Random, wording: Wording, kind: str | None = None, thinking: bool | None = None) -> Dialogue:
    """kind and thinking fix those of the last turn; otherwise they are drawn."""
    if thinking is None:
        thinking = rng.random() < 0.3
    messages = [{"role": "system", "content": rng.choice(SYSTEMS)}] if rng.random() < 0.15 else []
    count = 2 if rng.random() < 0.12 else 1
    for index in range(count):
        chosen = (
            kind if kind and index == count - 1 else rng.choices(("arithmetic", "units", "code", "about"), (62, 9, 14, 15))[0]
        )
        last = turn(rng, chosen, wording)
        if wording == "loose" and chosen != "code":
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
        return _conversion(rng, phrases)
    if kind == "code":
        return _function(rng, phrases, wording)
    return _about(rng, phrases, wording)


# ---- the kinds --------------------------------------------------------------------------------------------------


def _sum(rng: random.Random, kind: str, phrases: dict[str, Any], wording: Wording) -> Turn:
    """A sum in a direct question or a story of one sentence a step."""

    def pick(name: str) -> str:
        return rng.choice(phrases[name])

    n, o = rng.sample(phrasings.NAMES, 2)
    fields: dict[str, Any] = {"n": n, "o": o, "items": rng.choice(phrasings.ITEMS)}
    fields |= {key: rng.choice(words) for key, words in phrasings.WORDS.items()}
    if wording == "loose":
        for field in [name for name in ("n", "o", "items", "box", "shop") if rng.random() < 0.4]:
            fields[field] = _unknown_word(rng, field)
    working, left = "", 0
    if kind in ("add", "sub", "add_sub"):
        a = _number(rng, low=2 if kind == "add" else 12, high=990)
        story, amounts = [pick("have")], {"a": a}
        result = a
    elif kind == "div":
        m = rng.randint(2, 9)
        q = _number(rng, high=999 // m)
        rest = rng.random() < 0.4
        a = min(999, m * q + (rng.randrange(m) if rest else 0))
        story, amounts = [pick("share"), pick("ask_rest" if rest else "ask_each")], {"a": a, "m": m}
        working, (result, left) = arithmetic.divide(a, m)
    else:
        m = rng.randint(2, 9)
        a = _number(rng, high=(900 if "_" in kind else 999) // m)
        if wording == "loose" and rng.random() < 0.15:
            a = rng.randint(2, 9)
        a, m = max(a, m), min(a, m)
        story = [pick("each")]
        working, result = arithmetic.multiply(a, m)
        if wording == "loose" and a < 10 and rng.random() < 0.5:
            a, m = m, a  # of two single digits either may come first
        amounts = {"a": a, "m": m}

    for step in kind.split("_"):
        if step in ("add", "sub"):
            x = _number(rng, high=999 - result if step == "add" else result - 1)
            amounts["b" if amounts.keys() == {"a"} else "c"] = x
            story.append(pick("more" if step == "add" else "less").replace("{x}", str(x)))
            lines, result = (arithmetic.add if step == "add" else arithmetic.subtract)(result, x)
            working = f"{working}\n{lines}".strip()
    if kind != "div":
        story.append(pick("ask_left" if kind.endswith("sub") else "ask_all"))

    if rng.random() < 0.1:
        story = [story[-1], *story[:-1]]  # the question may come first
    text = " ".join(story) if rng.random() < 0.55 else pick(kind)
    before = pick("before") if rng.random() < 0.15 else ""
    after = pick("after") if rng.random() < 0.2 else ""
    answer = f"{result}, rest {left}" if left else f"{result}"
    question = before + _capital(text.format(**fields, **amounts)) + after
    return Turn(kind, question, working, f"The answer is {answer}.", answer, True)


def _unknown_word(rng: random.Random, field: str) -> str:
    """A word that nobody knows, in the place of a name or a noun."""
    word = "".join(rng.choice(ONSETS) + rng.choice("aeiou") for _ in range(rng.randint(1, 3))) + rng.choice(CODAS)
    if field in ("n", "o"):
        return word.capitalize()
    return word if field == "shop" else word + "s"


def _loosen(rng: random.Random, text: str) -> str:
    """As people type: now and then without capitals or without the mark at the end."""
    if rng.random() < 0.15:
        text = text.lower()
    if rng.random() < 0.15:
        text = text.rstrip(".?!")
    return text


def _capital(text: str) -> str:
    """Every sentence begins with a capital letter."""
    return re.sub(r"(^|[.?!:] )([a-z])(?!-)", lambda found: found[1] + found[2].upper(), text)


def _number(rng: random.Random, low: int = 2, high: int = 999) -> int:
    """Numbers of one to three digits, shorter ones more often than chance would have it."""
    return rng.randint(low, max(low, min(high, rng.choice((99, 999, 999)))))


def _conversion(rng: random.Random, phrases: dict[str, Any]) -> Turn:
    big, small, factor = rng.choice(UNITS)
    n = rng.randint(2, 99)
    back = rng.random() < 0.4 and factor % 10 == 0 and factor != 60
    have, want = (small, big) if back else (big, small)
    amount, result = (n * factor, n) if back else (n, n * factor)
    rule = f"1 {big[:-1]} is {factor} {small}."
    if back:
        working = f"{amount} / {factor} = {n}"
    elif factor == 7:
        working = arithmetic.multiply(n, 7)[0]
    elif factor == 60:
        working = f"{arithmetic.multiply(n, 6)[0]}\n{n * 6} x 10 = {result}"
    else:
        working = f"{n} x {factor} = {result}"
    question = rng.choice(phrases["units"]).format(amount=amount, have=have, want=want, n=rng.choice(phrasings.NAMES))
    return Turn("units", question, f"{rule}\n{working}", f"{amount} {have} are {result} {want}.", f"{result} {want}", True)


def _function(rng: random.Random, phrases: dict[str, Any], wording: Wording) -> Turn:
    do, does, name, code = request(rng, wording)
    argument = code[code.index("(") + 1 : code.index(")")]
    question = rng.choice(phrases["before_code"]) + rng.choice(phrases["code"]).format(do=do, does=does)
    answer = f"```python\n{code}\n```\nCall it as `{name}({argument})`."
    return Turn("code", question, f"The argument is {argument}. I call the function {name}.", answer, code)


def _about(rng: random.Random, phrases: dict[str, Any], wording: Wording) -> Turn:
    if rng.random() < 0.06:
        return Turn("about", rng.choice(phrases["greeting"]), "The user talks to me. I say what I can do.", GREETING, GREETING)
    topic = rng.choice(TOPICS)
    own = topic.held_out if wording == "held-out" else topic.train
    if own and rng.random() < 0.25:
        question = rng.choice(own)
    else:
        question = rng.choice(phrases["about"]).format(t=rng.choice(topic.names))
    return Turn("about", _capital(question), f"The question is about {topic.names[0]}.", topic.answer, topic.answer)
