"""Markdown as it grows: which blocks are finished, and how one looks in so many columns."""

import re

from markdown_it.token import Token
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, ListItem, Markdown, Paragraph, TableElement
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from ..answer import RESET
from .grammar import parse
from .screen import STYLE

# the terminal's own colours, and no background: readable on light and on dark
THEME = Theme({"markdown.code": "cyan", "markdown.link": "cyan", "markdown.link_url": "underline"})
CODE_COLOURS = ANSISyntaxTheme(
    {
        ("Comment",): Style(dim=True),
        ("Keyword",): Style(color="magenta"),
        ("Operator", "Word"): Style(color="magenta"),
        ("Literal", "String"): Style(color="green"),
        ("Literal", "Number"): Style(color="cyan"),
        ("Name", "Builtin"): Style(color="cyan"),
        ("Name", "Class"): Style(bold=True),
        ("Name", "Decorator"): Style(color="magenta"),
        ("Name", "Function"): Style(bold=True),
        ("Name", "Tag"): Style(color="magenta"),
    }
)
TAIL = re.compile(rf"( |{STYLE.pattern})+$")
PLACES = 0x100000  # characters for private use, from here on: each the place of a code block, while rich draws the others


class _LeftHeading(Heading):
    """A heading that stays where it is while it is written."""

    LEVEL_ALIGN = {}


class _SteadyItem(ListItem):
    """An item of a list that stays where it is when the list comes to its tenth."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        return super().render_number(console, options, number, max(number, 10))


class _WholeTable(TableElement):
    """A table that breaks a long word and loses nothing of it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
            yield table


class _Block(Markdown):
    """Markdown with links that show where they lead, formulas as written, and places where `codes` belong."""

    elements = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "list_item_open": _SteadyItem,
        "table_open": _WholeTable,
        **dict.fromkeys(("formula", "fence", "code_block"), Paragraph),
    }

    def __init__(self, markup: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = parse(markup)
        self.codes: list[tuple[str, str]] = []  # their languages, and they
        for token in _codes(self.parsed):
            self.codes.append((token.info, token.content))
            token.content = chr(PLACES + len(self.codes) - 1)


def split_blocks(text: str) -> list[str]:
    """The blocks of a text: paragraphs, lists, code. What follows the text can still change the last one, and no other."""
    lines = text.split("\n")
    starts = [token.map[0] for token in parse(text) if token.level == 0 and token.nesting >= 0 and token.map]
    return ["\n".join(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)])]


def code_blocks(text: str) -> list[str]:
    """The code in a text, block by block."""
    return [token.content for token in _codes(parse(text))]


def block_lines(block: str, console: Console, width: int) -> list[str]:
    """A block as lines of at most `width` columns, colours and all. Only code has lines as long as they are written.

    Code stands in the first column, in lists too: it can be copied from the terminal.
    """
    shown, lines = _Block(block), []
    with console.use_theme(THEME):
        for line in lines_of(shown, console, width):
            place = re.search(f"[{chr(PLACES)}-{chr(PLACES + len(shown.codes) - 1)}]", line) if shown.codes else None
            if not place:
                lines.append(line)
                continue
            before = TAIL.sub(_reset, line[: place.start()])
            if STYLE.sub("", before).strip(" ▌"):  # the number of an item that begins with code
                lines.append(before)
            lines += _code_lines(*shown.codes[ord(place[0]) - PLACES], console)
    return lines


def lines_of(shown: RenderableType, console: Console, width: int) -> list[str]:
    """Anything that rich can show, as lines, without the blank ones around it."""
    with console.capture() as capture:
        console.print(shown, width=width)
    lines = [TAIL.sub(_reset, line) for line in capture.get().split("\n")]
    filled = [i for i, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _reset(tail: re.Match[str]) -> str:
    return RESET if tail.start() and RESET in tail[0] else ""


def cut(line: str, console: Console, width: int) -> str:
    """A line as far as there is room for it."""
    if cell_len(STYLE.sub("", line)) <= width:
        return line
    return lines_of(Text.from_ansi(line, no_wrap=True, overflow="ellipsis"), console, width)[0]


def _codes(tokens: list[Token]) -> list[Token]:
    return [token for token in tokens if token.type in ("fence", "code_block")]


def _code_lines(language: str, code: str, console: Console) -> list[str]:
    text = Syntax("", language.partition(" ")[0] or "text", theme=CODE_COLOURS).highlight(code.rstrip())
    text.rstrip()
    with console.capture() as capture:
        console.print(text, soft_wrap=True)
    return capture.get().rstrip("\n").split("\n")
