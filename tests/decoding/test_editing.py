"""Copies where they are meant for: a text that comes back with a little changed, by a target that says just that."""

import re

import pytest

from dflash_mlx.decoding.block_size import Policy
from dflash_mlx.decoding.copies import Copies
from dflash_mlx.decoding.costs import Costs

# a machine bound by memory: 16 rows cost 1.2 times what one does
FLAT = Costs([(1, 0, 1.0)], [(2, 0, 1.01), (16, 0, 1.2)])
CODE = """\
def load_settings(path, default=None):
    \"\"\"Reads settings from a file; default: what to give where there is none.\"\"\"
    if not path.exists():
        return default
    settings = {}
    for line in path.read_text().splitlines():
        name, _, value = line.partition("=")
        if name.strip():
            settings[name.strip()] = value.strip()
    return settings


def save_settings(settings, path):
    lines = [f"{name} = {value}" for name, value in sorted(settings.items())]
    path.write_text("\\n".join(lines) + "\\n")
"""
TABLE = """\
| city | river | people |
| --- | --- | --- |
| Vienna | Danube | 1,973,000 |
| Dresden | Elbe | 563,000 |
| Lyon | Rhone | 522,000 |
| Turin | Po | 848,000 |
| Krakow | Vistula | 803,000 |
"""
LETTER = """\
Dear Mrs Miller, thank you for your letter of the third of May. We have looked into the matter and found that the parcel was
handed to a neighbour, Mr Ross, on the second floor. He has kept it for you and says that you can ring at any hour after six.
Should the parcel be damaged, please send us a picture of it within two weeks, and we will send you another one at our cost.
"""
CONFIG = """\
{"name": "reader", "version": "1.4.2", "private": true, "scripts": {"build": "make all", "test": "make test"},
 "dependencies": {"parser": "2.0.1", "renderer": "0.9.0", "logger": "3.3.3"}, "engines": {"runtime": "18"}}
"""
EDITS = [
    (CODE, "settings", "options"),
    (CODE, "path", "file"),
    (CODE, "default", "fallback"),
    (CODE, "strip", "lstrip"),
    (TABLE, "Dresden", "Hamburg"),
    (TABLE, "people", "inhabitants"),
    (TABLE, "848,000", "851,000"),
    (LETTER, "Miller", "Smith"),
    (LETTER, "parcel", "package"),
    (LETTER, "six", "seven"),
    (CONFIG, "1.4.2", "1.5.0"),
    (CONFIG, "logger", "tracer"),
]


PIECES: dict[str, int] = {}


def tokens_of(text: str) -> list[int]:
    return [PIECES.setdefault(piece, len(PIECES)) for piece in re.findall(r" ?\w+|[^\w]", text)]


def passes(prompt: list[int], answer: list[int]) -> int:
    """Passes of a target that says the answer, with copies alone."""
    copies, policy, done, count = Copies(prompt), Policy(FLAT, 1), 0, 0
    while done < len(answer):
        policy.next(len(prompt) + done)
        rows = policy.copy(copies.rate) if copies.match else 1
        draft = copies.tokens(rows - 1) if rows > 1 else []
        kept = next((i for i, (a, b) in enumerate(zip(draft, answer[done:])) if a != b), len(draft))
        committed = answer[done : done + kept + 1]
        copies.add(committed)
        policy.record(rows, kept, 1.0, len(prompt) + done, copied=rows > 1)
        done, count = done + len(committed), count + 1
    return count


@pytest.mark.parametrize(("text", "old", "new"), EDITS, ids=[f"{old} -> {new}" for _, old, new in EDITS])
def test_an_edited_text_comes_in_few_passes(text: str, old: str, new: str) -> None:
    prompt = tokens_of(f"Return this text with {old} changed to {new} and nothing else changed.\n\n{text}\nAnswer:\n")
    answer = tokens_of(text.replace(old, new))
    assert len(answer) / passes(prompt, answer) > 3  # where a name comes in every line; see the mean below


def test_the_edits_together_take_a_sixth_of_the_passes() -> None:
    tokens = cycles = 0
    for text, old, new in EDITS:
        prompt = tokens_of(f"Return this text with {old} changed to {new} and nothing else changed.\n\n{text}\nAnswer:\n")
        answer = tokens_of(text.replace(old, new))
        tokens, cycles = tokens + len(answer), cycles + passes(prompt, answer)
    assert tokens / cycles > 6


def test_a_new_text_is_not_copied() -> None:
    prompt, answer = tokens_of(CODE + CONFIG), tokens_of(LETTER)
    assert passes(prompt, answer) == len(answer)
