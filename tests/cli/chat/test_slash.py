"""What commands there are, and what Tab makes of one that is being typed."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from dflash_mlx import RequestError
from dflash_mlx.cli.chat.commands import Commands
from dflash_mlx.cli.chat.completion import CommandCompleter
from dflash_mlx.cli.chat.settings import SETTINGS, Settings
from dflash_mlx.cli.chat.slash import ALIASES, COMMANDS, help_text, parse, typed_words, words


def test_a_line_is_a_command_only_behind_a_slash():
    assert parse("/set  top_k 4 ") == ("set", "top_k 4") and parse("/QUIT") == ("quit", "")
    assert parse("hello /quit") is None and parse(" /quit") is None
    assert parse("/system one\ntwo") == ("system", "one\ntwo")


@pytest.mark.parametrize(
    "line, says", [("/reset", "Did you mean /"), ("/", "/help"), ("/undo it", "takes no argument"), ("/load", "file")]
)
def test_a_wrong_command_gets_a_sentence_and_a_way_out(line, says):
    with pytest.raises(RequestError) as error:
        parse(line)
    assert says in error.value.message + error.value.hint


def test_every_command_is_obeyed_and_explained():
    for name in COMMANDS:
        assert f"/{name}" in help_text(40)
        assert name == "quit" or callable(getattr(Commands, name))
    assert set(ALIASES.values()) <= COMMANDS.keys()


def test_the_page_on_the_chat_names_every_command():
    page = Path(__file__).parents[3].joinpath("docs", "chat.md").read_text(encoding="utf-8")
    assert {*re.findall(r"`/([a-z?]+)[ `]", page)} >= {*COMMANDS, *ALIASES}


def test_the_help_fits_a_small_terminal():
    lines = help_text(80).splitlines()
    assert len(lines) <= 22 and max(map(len, lines)) <= 80  # besides the question and the next prompt
    assert all(len(line) <= 60 for line in help_text(60).splitlines()[: 2 * len(COMMANDS)])


@pytest.mark.parametrize("typed, name", [("/exit", "quit"), ("/bye", "quit"), ("/NEW", "clear"), ("/?", "help")])
def test_a_command_is_known_by_the_names_it_has_elsewhere(typed, name):
    assert parse(typed) == (name, "")


TYPED = ["a", "a b", "'a b' c", '"a b"', r"a\ b", "it\\'s", r'"a \" b"', "a'b c'd", "~/x 'y'", "", " ", r"a\\ b", "日本 'x y'"]


@pytest.mark.parametrize("argument", TYPED)
def test_words_are_those_of_a_shell(argument):
    assert words(argument) == shlex.split(argument)
    assert shlex.split(" ".join(typed_words(argument))) == shlex.split(argument)


@pytest.mark.parametrize("argument, last", [("a b", "b"), ("a ", ""), ("'a b", "'a b"), (r"c a\ b", r"a\ b"), ('x "y z', '"y z')])
def test_the_word_that_is_being_typed_may_be_unfinished(argument, last):
    assert typed_words(argument)[-1] == last


@pytest.mark.parametrize(
    "line, says", [("/save a b", "2 files"), ("/load 'a", "unmatched quote"), ("/save a\\", "or backslash"), ("/save", "name")]
)
def test_a_name_that_is_none_gets_a_way_out(line, says):
    with pytest.raises(RequestError, match=says):
        parse(line)


@pytest.fixture
def completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """What a line can become, in a folder with files and folders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "my models").mkdir()
    for name in ("my talk.st", "it's.st", "other", "my models/small"):
        (tmp_path / name).touch()
    conversation = Settings()
    conversation.pair = SimpleNamespace(drafter=SimpleNamespace(config=SimpleNamespace(block_size=4)))

    def completed(line: str) -> list[str]:
        found = CommandCompleter(conversation).get_completions(Document(line), CompleteEvent())
        return [line[: len(line) + one.start_position] + one.text for one in found]

    return completed


@pytest.mark.parametrize(
    "typed, becomes",
    [
        ("/sa", ["/save"]),
        ("/save o", ["/save other"]),
        ("/save my", ["/save my\\ models/", "/save my\\ talk.st"]),
        ("/save my\\ t", ["/save my\\ talk.st"]),
        ("/load 'my ta", ["/load my\\ talk.st"]),
        ("/load 'my models/'", ["/load my\\ models/small"]),
        ("/load i", ["/load it\\'s.st"]),
        ("/load ~/oth", ["/load ~/other"]),
        ("/save other o", []),
        ("/model d", ["/model demo"]),
        ("/model ./m", ["/model ./my\\ models/"]),
        ("/model mlx-community/Qwen3-8B", ["/model mlx-community/Qwen3-8B-4bit"]),
        ("/model demo n", ["/model demo none"]),
        ("/model demo m", ["/model demo my\\ models/"]),
        ("/set temp", ["/set temperature"]),
        ("/set verify ", ["/set verify fast", "/set verify exact"]),
        ("/set block-size ", [f"/set block-size {size}" for size in ("auto", 1, 2, 3, 4)]),
        ("/set top_p ", []),
        ("/think o", ["/think on", "/think off"]),
        ("/set ", [f"/set {name}" for name in SETTINGS]),
        ("save o", []),
    ],
)
def test_tab_completes_what_a_command_takes(typed, becomes, completed):
    assert completed(typed) == becomes
