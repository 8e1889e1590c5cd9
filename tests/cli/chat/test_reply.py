"""Replies as a terminal shows them while they come."""

import math
import random
import re
import sys

import pytest
from rich.console import Console
from terminal import Screen

from dflash_mlx import Chunk, Statistics
from dflash_mlx.cli.chat import reply as chat_reply
from dflash_mlx.cli.chat.markdown import block_lines, split_blocks
from dflash_mlx.cli.chat.reply import LiveReply, PlainReply
from dflash_mlx.cli.chat.screen import NO_WRAP, STYLE, WRAP

TEXTS = {
    "prose": "Some words that go on for a while, **bold ones** and `code` too, until the line is full.\n\nAnd more.\nA line.",
    "list": "Here:\n\n" + "\n".join(f"{n}. item number {n} of a long list, which may wrap" for n in range(1, 30)) + "\n\nDone.",
    "code": "See\n\n```python\n" + "\n".join(f"def f{n}(x):\n    return '{n}' * x" for n in range(25)) + "\n```\n\nThat was it.",
    "long code": "See\n\n1. a\n   ```python\n" + "   x = f(" + "abcdefg " * 9 + ")\n   y = 1\n" * 9 + "   ```\n\nThat was it.",
    "formulas": "So\n$$\n- a_1 &= b \\\\\n+ c\n$$\nand $a*b*c$ too.\n\n" + "- \\(x_1\\) *em*\n" * 9 + "\n$$\nno end\n\nend",
    "table": "| a | b |\n|---|---|\n| 1 | two |\n| three | 4 |\n\n# Heading\n\n> quoted\n> words\n\n- a\n- b\n  - c\n\n---\nend",
    "wide": "中文字符在這裡排成一行又一行，直到行尾。\n\nשלום עולם, مرحبا بالعالم\n\n- 🙂 🇩🇪 é ñ\n\n" + "日本語" * 40,
    "html": "<div>kept</div>\n\n[a link](http://x.y)\n\n[1]: http://source\n\ntext <b>x</b>",
    "broken": "```\nnever closed\n\n\nreally",
    "blank": "\n\n\n  \n\n",
}


@pytest.fixture
def terminal(monkeypatch):
    """Makes a terminal of a size, on which replies appear."""

    def terminal(columns: int, rows: int) -> Screen:
        screen = Screen(columns, rows)
        for name, value in (("COLUMNS", columns), ("LINES", rows)):
            monkeypatch.setenv(name, str(value))
        monkeypatch.setattr("dflash_mlx.cli.chat.screen.write", lambda text: screen.feed(text.replace("\n", "\r\n")))
        return screen

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    return terminal


@pytest.fixture
def eager(monkeypatch):
    """Every chunk is drawn."""
    monkeypatch.setattr(chat_reply, "PAUSE", 0)
    monkeypatch.setattr(chat_reply, "SHARE", math.inf)


def chunk(text: str = "", thinking: str = "", reason: str | None = None) -> Chunk:
    return Chunk(
        text=text,
        thinking=thinking,
        pieces=(),
        token_ids=(1, 2),
        drafted=(1, 2, 3),
        accepted=1,
        finish_reason=reason,
        statistics=Statistics(cycles=1, mode="speculative"),
    )


def pieces(text: str, seed: int) -> list[str]:
    cut = random.Random(seed)
    found = []
    while text:
        size = cut.randint(1, 12)
        found.append(text[:size])
        text = text[size:]
    return found


def at_once(text: str, columns: int) -> list[str]:
    """What should be there in the end. Lines of code may be longer than the terminal's, which breaks them."""
    console, lines = Console(force_terminal=True, color_system="truecolor"), []
    for block in split_blocks(text.strip("\n")):
        shown = [STYLE.sub("", line).rstrip() for line in block_lines(block, console, columns - 1)]
        lines += [""] * bool(lines)
        lines += [line[at : at + columns].rstrip() for line in shown for at in range(0, max(1, len(line)), columns)]
    return lines


def grown(reply: LiveReply, text: str, seed: int = 1) -> None:
    for piece in pieces(text, seed):
        reply.add(chunk(piece))
    reply.finish("stop")


@pytest.mark.parametrize(
    "name, columns, rows",
    [*((name, 40, 12) for name in TEXTS), ("prose", 23, 5), ("wide", 23, 5), ("code", 23, 5), ("list", 80, 24)],
)
def test_what_grew_piece_by_piece_is_what_would_have_been_drawn_at_once(terminal, eager, name, columns, rows):
    screen = terminal(columns, rows)
    grown(LiveReply(4096), TEXTS[name])
    *shown, figures = screen.lines
    assert figures.startswith("0.0 t") and shown == at_once(TEXTS[name], columns)


@pytest.mark.parametrize("markup", ("[words](http://x.y/z)", "![words](http://x.y/z)", "[![words](http://x.y/z)](http://a.b)"))
def test_where_a_link_or_a_picture_leads_is_shown(markup):
    [line] = at_once(markup, 80)
    assert "words" in line and "http://x.y/z" in line


def test_only_lines_that_changed_are_drawn_again(terminal, eager):
    screen, reply = terminal(40, 24), LiveReply(4096)
    for word in ("First paragraph.", "\n\n", "And the second one, ", "which is ", "longer than a line is."):
        reply.add(chunk(word))
    reply.finish("stop")
    assert screen.raw.count("First") == 1 and screen.raw.count("And the") == 3


def test_nothing_higher_than_the_screen_is_drawn_again(terminal, eager):
    screen = terminal(40, 6)
    grown(LiveReply(4096), TEXTS["code"])
    assert max(int(rows) for rows in re.findall(r"\x1b\[(\d+)A", screen.raw)) < 6


def test_thinking_is_folded_into_a_line_when_the_answer_begins(terminal, eager):
    screen, reply = terminal(40, 24), LiveReply(4096)
    for piece in ("<think>\n", *(f"thought {n}\n" for n in range(30))):
        reply.add(chunk(thinking=piece))
    assert screen.lines[-2] == "thought 29" and len(screen.lines) <= 10
    reply.add(chunk(thinking="</think>"))
    reply.add(chunk("\n\nThe answer."))
    reply.finish("stop")
    assert re.fullmatch(r"thought for \d+\.\d s, 64 tokens", screen.lines[0])
    assert screen.lines[1:3] == ["", "The answer."]


def test_no_thinking_leaves_no_line(terminal, eager):
    screen, reply = terminal(40, 24), LiveReply(4096)
    reply.add(chunk("\n\nAnswer", thinking="<think>\n\n</think>"))
    reply.finish("stop")
    assert screen.lines[0] == "Answer"


def test_a_reply_stopped_while_it_thinks_keeps_the_line(terminal, eager):
    screen, reply = terminal(40, 24), LiveReply(4096)
    reply.add(chunk(thinking="<think>\nHm"))
    reply.finish("cancelled")
    assert [line.split()[0] for line in screen.lines] == ["thought", "stopped"]


def test_a_model_does_not_command_the_terminal(terminal, eager):
    screen = terminal(40, 24)
    grown(LiveReply(4096), "a\x1b[2Jb\x07\x9b1m [x](http://y) \r\x1b]0;title\x07")
    assert screen.lines[0] == "a␛[2Jb␇\ufffd1m x (http://y) ␛]0;title␇"[:39].rstrip()


def test_a_line_with_a_joined_emoji_may_wrap_once_it_stays(terminal, eager):
    screen, reply = terminal(20, 24), LiveReply(4096)
    reply.add(chunk("0123456789 123 👩‍👩‍👧 and"))  # as wide as the terminal thinks it is; here more than the line
    reply.add(chunk(" more\n\nend"))
    reply.finish("stop")
    before_first, before_last = (screen.raw[: find("👩‍👩‍👧")] for find in (screen.raw.index, screen.raw.rindex))
    assert before_first.rindex(NO_WRAP) > before_first.rfind(WRAP)
    assert before_last.rindex(NO_WRAP) < before_last.rindex(WRAP)


@pytest.mark.parametrize("before, after", [(80, 40), (40, 80)])
def test_another_width_in_the_middle_loses_nothing(terminal, eager, monkeypatch, before, after):
    screen, reply = terminal(before, 24), LiveReply(4096)
    words = [f"word{n} " for n in range(60)]
    for n, word in enumerate(words):
        if n == 30:
            monkeypatch.setenv("COLUMNS", str(after))
            screen.resize(after, 24)
        reply.add(chunk(word))
    reply.finish("stop")
    shown = " ".join(screen.lines).split()
    assert [word for word in shown if word.startswith("word")][-60:] == [word.strip() for word in words]
    assert max(map(len, screen.lines)) < after


def test_drawing_leaves_most_of_the_time_to_the_model(terminal):
    screen, reply = terminal(40, 24), LiveReply(4096)
    for _ in range(200):
        reply.add(chunk("word "))
    drawn = screen.raw.count("tok/s") + screen.raw.count("t/s")
    reply.finish("stop")
    assert drawn < 100 and " ".join(screen.lines).count("word") == 200


def test_plain_replies_are_their_text_and_nothing_else(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    reply = PlainReply(4096, told=False)
    reply.add(chunk(thinking="<think>\nHm</think>"))
    for piece in ("\n\n", "# A\x1b[1m", "\n日本"):
        reply.add(chunk(piece))
    reply.finish("stop")
    assert capsys.readouterr() == ("# A\x1b[1m\n日本\n", "")
