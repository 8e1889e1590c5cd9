"""`dflash-mlx demo`: one question both ways, on one screen."""

import re

import pytest

import dflash_mlx
from dflash_mlx.cli import demo

LOAD = dflash_mlx.load


@pytest.fixture(autouse=True)
def few_turns(run, monkeypatch):
    monkeypatch.setattr(demo, "TURNS", 2)
    monkeypatch.setattr(dflash_mlx, "load", LOAD)  # the embedded pair itself


def test_both_ways_give_the_same_answer_and_their_figures(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("demo")
    assert code == 0 and "Same answer: yes" in out and "Yes, it is lossless" in out
    plain, drafted = re.findall(r"(\d+) tokens in (\d+) passes of the model", out)
    assert plain[0] == plain[1] == drafted[0] and int(drafted[1]) <= int(plain[1])  # on a busy machine drafts may not pay
    assert re.search(r"\d+ and \d+ tokens a second: \d\.\d\d times as fast", out)
    assert "[brackets]" in out and "\x1b" not in out


def test_one_screen_is_enough(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("demo").out.splitlines()
    assert sum(1 + (len(line) - 1) // 80 for line in lines if line) + lines.count("") <= 24


def test_brackets_hold_what_the_drafter_guessed(run):
    _, out, _ = run("demo", "What is the anchor?")
    plain, drafted = out.split("With drafts;")
    answer = plain.split("Plain decoding\n")[1].split("\n", 1)[0]
    marked = drafted.split("\n", 1)[1].split("\n", 1)[0]
    assert marked.replace("[", "").replace("]", "") == answer
