"""Errors speak the language of where they are read."""

import re
from pathlib import Path

import pytest

from dflash_mlx.cli.words import in_the_chat, on_the_command_line
from dflash_mlx.errors import RequestError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "hint, option, setting",
    [
        ("Use less; force=True tries anyway.", "Use less; --force tries anyway.", "Use less; --force tries anyway."),
        ("Or drafter=None.", "Or --drafter none.", "Or --drafter none."),
        ('Use verify="fast".', "Use --verify fast.", "Use /set verify fast."),
        ("Try top_p=0.9.", "Try --top-p 0.9.", "Try /set top_p 0.9."),
        ("Drop check=False.", "Drop --no-check.", "Drop --no-check."),
        ("Give a folder.", "Give a folder.", "Give a folder."),
    ],
)
def test_hints_name_what_can_be_typed(hint, option, setting):
    error = RequestError("block_size 9 is too large.", hint)
    assert on_the_command_line(error) == ("--block-size 9 is too large.", option)
    assert in_the_chat(error) == ("block_size 9 is too large.", setting)


def test_messages_keep_what_a_user_wrote():
    assert on_the_command_line(RequestError("there is no file my_top_p.txt.", "Check it."))[0] == "there is no file my_top_p.txt."


def test_english_that_is_translated_stays_out():
    wrong = re.compile(r"\b(likeliest|anew|(is|are) no (name|text|list|number|folder|drafter)s?)\b(?! (is|in|with))")
    for room in ("dflash_mlx", "cli", "convert", "bench", "docs"):
        for file in [*(ROOT / room).rglob("*.py"), *(ROOT / room).rglob("*.md"), ROOT / "README.md"]:
            lines = [line for line in file.read_text().split("\n") if wrong.search(line) and "there " not in line.lower()]
            assert not lines, (file, lines)
