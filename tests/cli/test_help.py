"""How --help looks in 80 columns."""

import re
from typing import Any

import pytest
from typer.main import get_command

from dflash_mlx.cli.app import app


def _commands(group: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The names of a group and of all that is in it."""
    commands = getattr(group, "commands", {}).items()
    return [before, *(found for name, command in commands for found in _commands(command, (*before, name)))]


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", _commands(get_command(app)), ids=" ".join)
def test_help_fits_80_columns_and_shows_no_types(run, monkeypatch, command, flag):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(*command, flag)
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= 80
    assert not re.search(r"<\w+>", out) and "--help" in out


def test_options_stand_in_groups(run, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    out = run("generate", "--help").out
    groups = {group: text for group, text in re.findall(r"─ (\w+) ─+╮\n(.*?)╰", out, re.DOTALL)}
    for group, option in {
        "Model": "--drafter-bits",
        "Sampling": "--top-p",
        "Speculation": "--block-size",
        "Output": "--json",
    }.items():
        assert option in groups[group], group
    assert "-m" in groups["Model"]


def test_chat_takes_the_model_as_an_argument_or_an_option_not_both(run):
    code, _, err = run("chat", "demo", "-m", "demo")
    assert code == 2 and "the model is named twice" in err
