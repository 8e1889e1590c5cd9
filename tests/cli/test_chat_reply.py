"""Replies as a terminal shows them while they come."""

import random
import sys

import pytest
from rich.console import Console
from terminal import Screen

from dflash_mlx import Chunk, Statistics
from dflash_mlx.cli.chat_markdown import block_lines, split_blocks
from dflash_mlx.cli.chat_reply import LiveReply, PlainReply
from dflash_mlx.cli.chat_screen import STYLE

TEXTS = {
    "prose": "Some words that go on for a while, **bold ones** and `code` too, until the line is full.\n\nAnd more.\nA line.",
    "list": "Here:\n\n" + "\n".join(f"{n}. item number {n} of a long list, which may wrap" for n in range(1, 30)) + "\n\nDone.",
    "code": "See\n\n```python\n" + "\n".join(f"def f{n}(x):\n    return '{n}' * x" for n in range(25)) + "\n```\n\nThat was it.",
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
        monkeypatch.setattr("dflash_mlx.cli.chat_screen.write", lambda text: screen.feed(text.replace("\n", "\r\n")))
        return screen

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    return terminal


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
    """What should be there in the end."""
    console, lines = Console(force_terminal=True, color_system="truecolor"), []
    for block in split_blocks(text.strip("\n")):
        lines += [""] * bool(lines) + [STYLE.sub("", line).rstrip() for line in block_lines(block, console, columns - 1)]
    return lines


@pytest.mark.parametrize("columns, rows", [(40, 12), (80, 24), (23, 5)])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_grew_piece_by_piece_is_what_would_have_been_drawn_at_once(terminal, text, columns, rows, monkeypatch):
    monkeypatch.setattr("dflash_mlx.cli.chat_reply.PAUSE", 0)
    monkeypatch.setattr("dflash_mlx.cli.chat_reply.SHARE", 1e9)
    screen, reply = terminal(columns, rows), LiveReply(4096)
    for piece in pieces(text, columns):
        reply.add(chunk(piece))
    reply.finish("stop")
    *shown, figures = screen.lines
    assert figures.startswith("0.0 t")
    assert shown == at_once(text, columns)
