"""Errors speak the language of where they are read."""

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

from dflash_mlx.cli.app import app
from dflash_mlx.cli.words import in_the_chat, on_the_command_line
from dflash_mlx.errors import RequestError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "hint, option, setting",
    [
        ("force=True tries anyway.", "--force tries anyway.", "`dflash-mlx chat --force` tries anyway."),
        ("Or drafter=None.", "Or --drafter none.", "Or /model NAME none."),
        ("Send text with raw=True.", "Send text with --raw.", "Send text with `dflash-mlx generate --raw`."),
        ("Use thinking=False.", "Use --no-think.", "Use --no-think."),
        ("Drop check=False, or max_kl.", "Drop --no-check, or --max-kl.", "Drop --no-check, or max_kl."),
        ('Use verify="fast".', "Use --verify fast.", "Use /set verify fast."),
        ("Try top_p=0.9.", "Try --top-p 0.9.", "Try /set top_p 0.9."),
        ("Give a folder.", "Give a folder.", "Give a folder."),
    ],
)
def test_hints_name_what_can_be_typed(hint, option, setting):
    error = RequestError("block_size 9 is too large.", hint)
    assert on_the_command_line(error) == ("--block-size 9 is too large.", option)
    assert in_the_chat(error) == ("block_size 9 is too large.", setting)


def test_what_a_user_wrote_stays():
    error = RequestError("my_model in top_p/ has no weights.", "Try dflash-mlx convert target my_model/max_kl -o max_tokens/a.")
    assert on_the_command_line(error) == (error.message, error.hint)
    assert in_the_chat(error) == (error.message, error.hint)


WRONG = re.compile(
    r"\b(likeliest|anew|mend|go(es|ing)? on with|tells all"
    r"|(?<!there )(?<!There )(is|are|was|were) no (?!longer|faster|slower|more )[a-z]+|(?<!there )(is|are) none|nothing that)\b"
)


def _said(file: Path) -> list[str]:
    """What a file says to its users: a document's text, a module's strings without the docstrings of what has no --help."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text.split("\n")
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in strings if id(node) not in docstrings]


def test_messages_and_documents_are_in_plain_english():
    rooms = [ROOT / room for room in ("dflash_mlx", "cli", "convert", "bench", "docs")]
    files = [file for room in rooms for kind in ("*.py", "*.md") for file in room.rglob(kind)]
    files = [file for file in files if file.parent.name != "demo_pair"]  # prompts and answers of a model
    wrong = {(file.name, said) for file in [*files, *ROOT.glob("*.md")] for said in _said(file) if WRONG.search(said)}
    assert not wrong


def test_help_is_in_plain_english(run):
    for command in ["", *get_command(app).commands]:
        assert not WRONG.search(run(*command.split(), "--help").out), command
