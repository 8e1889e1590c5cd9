"""Markdown as it grows: which blocks are finished, and how one looks in so many columns."""

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, ListItem, Markdown, Paragraph, TableElement
from rich.table import Table

from .grammar import parse


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
    """Markdown with links that show where they lead and formulas as written."""

    elements = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "list_item_open": _SteadyItem,
        "table_open": _WholeTable,
        "formula": Paragraph,
    }

    def __init__(self, markup: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = parse(markup)


def split_blocks(text: str) -> list[str]:
    """The blocks of a text: paragraphs, lists, code. What follows the text can still change the last one, and no other."""
    lines = text.split("\n")
    starts = [token.map[0] for token in parse(text) if token.level == 0 and token.nesting >= 0 and token.map]
    return ["\n".join(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)])]


def block_lines(block: str, console: Console, width: int) -> list[str]:
    """A block as lines of at most `width` columns, colours and all."""
    return lines_of(_Block(block), console, width)


def lines_of(shown: RenderableType, console: Console, width: int) -> list[str]:
    """Anything that rich can show, as lines, without the blank ones around it."""
    with console.capture() as capture:
        console.print(shown, width=width)
    lines = [line.rstrip(" ") for line in capture.get().split("\n")]
    filled = [i for i, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []
