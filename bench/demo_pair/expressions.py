"""Sums as people type them: signs or words, with blanks or without, in a short question or bare."""

import random
from collections.abc import Sequence

from .phrasings import Wording

SIGNS = {"add": ("+",), "sub": ("-",), "mul": ("x", "*", "×"), "div": ("/", "/", "÷")}
WORDS = {"add": "plus", "sub": "minus", "mul": "times", "div": "divided by"}
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()

# fmt: off
TRAIN = (
    "{e}", "{e}", "{e}=", "{e} =", "{e} = ?", "{e}?", "{e} ?", "What is {e}?", "What is {e}?", "What's {e}?", "What's {e}?", "Whats {e}",
    "How much is {e}?", "Calculate {e}.", "Compute {e}.", "Solve {e}.", "Evaluate {e}.", "Tell me {e}.", "Please calculate {e}.",
    "Can you tell me what {e} is?", "I need to know what {e} is.", "What does {e} equal?", "What does {e} make?", "{e} equals?", "{e} is what?",
    "{e} is how much?", "Find {e}.", "Quick: {e}", "Hey, what's {e}?", "Do you know {e}?", "Give me {e}.", "What is the answer to {e}?",
    "What do you get for {e}?", "Please solve {e}.", "Math: {e}", "How much does {e} make?", "Can you do {e}?", "Can you compute {e}?",
    "What would {e} be?", "I want to know {e}.", "Please do {e}.", "Now {e}", "And {e}?", "Let's try {e}.", "Work out {e}.", "Is it true that you can do {e}?",
    "Could you please calculate {e}?", "Answer this: {e}", "{e}, please", "So, {e}?", "What is {e} equal to?", "Sum: {e}", "What about {e}?",
    "I have to work out {e}.", "My homework says {e}.", "Tell me what {e} makes.",
)
HELD_OUT = (
    "What comes out of {e}?", "Could you work out {e} for me?", "What's the result of {e}?", "I'd like to know what {e} comes to.",
    "Please tell me the value of {e}.", "{e} makes what?", "Try {e}.", "How much would {e} be?", "Would you calculate {e}?", "Hi! {e}?",
)
# fmt: on


def expression(rng: random.Random, numbers: Sequence[int], steps: Sequence[str]) -> str:
    """numbers with the signs or words of steps ("add", "sub", "mul", "div") between them."""
    if rng.random() < 0.25:
        spelled = rng.random() < 0.3
        shown = [NUMBERS[n] if spelled and n < len(NUMBERS) else str(n) for n in numbers]
        signs = [f" {WORDS[step]} " for step in steps]
    else:
        blank = " " if rng.random() < 0.65 else ""
        shown = [str(n) for n in numbers]
        signs = [f"{blank}{rng.choice(SIGNS[step])}{blank}" for step in steps]
    return shown[0] + "".join(sign + number for sign, number in zip(signs, shown[1:]))


def question(rng: random.Random, numbers: Sequence[int], steps: Sequence[str], wording: Wording) -> str:
    phrase = rng.choice(HELD_OUT if wording == "held-out" else TRAIN)
    return phrase.format(e=expression(rng, numbers, steps))
