"""Markdown as it grows: which blocks are finished, and how one looks in so many columns."""

from functools import cache

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, ListItem, Markdown


@cache
def _parser() -> MarkdownIt:
    # what looks like HTML or like the target of a link is shown as it is written: rich would drop it; and a picture as a link
    return MarkdownIt().enable(["strikethrough", "table"]).disable(["html_block", "html_inline", "reference", "image"])


class _LeftHeading(Heading):
    """A heading that stays where it is while it is written."""

    LEVEL_ALIGN = {}


class _SteadyItem(ListItem):
    """An item of a list that stays where it is when the list comes to its tenth."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        return super().render_number(console, options, number, max(number, 10))


class _Block(Markdown):
    """Markdown with the model's own line breaks, and with links that show where they lead."""

    elements = {**Markdown.elements, "heading_open": _LeftHeading, "list_item_open": _SteadyItem}

    def __init__(self, markup: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = _parser().parse(markup)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"


def split_blocks(text: str) -> list[str]:
    """The blocks of a text: paragraphs, lists, code. What follows the text can still change the last one, and no other."""
    lines = text.split("\n")
    starts = [token.map[0] for token in _parser().parse(text) if token.level == 0 and token.nesting >= 0 and token.map]
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
