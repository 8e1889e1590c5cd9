"""Which markup a reply has. What only looks like markup, in formulas, expressions, paths and tags, stays as it is written."""

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, emphasis, link, strikethrough
from markdown_it.token import Token

# between $ and $ as pandoc has it: no blanks at the edges, and no digit behind, or it were money
FORMULA = r"\$\$.+?\$\$|\$(?![\s$])[^$]*?(?<![\s\\])\$(?![\d$])|\\\(.+?\\\)|\\\[.+?\\\]"
VERBATIM = re.compile(FORMULA + r"|\\(?=\n)", re.DOTALL)
CODE_OR_FORMULA = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|" + FORMULA)
DISPLAYED = re.compile(r"\$\$|\\\[|\\begin\{[^}]*\}")  # how a formula on lines of its own begins
LINK = re.compile(r"\[[^\]]*\]\([^)\s]*[/.#:@]")  # to a place, and not f[0](x)
BAR = re.compile(r"(?<!\\)\|")
AROUND = ('""', "''", "()", "[]", "{}", "||")  # as in "*"


def parse(markup: str) -> list[Token]:
    """The tokens of a text, its own line breaks among them, and `formula` beside the blocks that Markdown has."""
    tokens = _parser().parse(markup)
    if tokens and tokens[0].type == "table_open":
        tokens = _parser().parse(_whole_cells(markup))
    for token in tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
    return tokens


@cache
def _parser() -> MarkdownIt:
    # rich would drop HTML and the target of a link, and show a picture as a link; "a\n=" is no heading
    left = ["html_block", "html_inline", "reference", "image", "autolink", "lheading"]
    parser = MarkdownIt().enable(["strikethrough", "table"]).disable(left)
    parser.core.ruler.before("text_join", "as_written", _as_written)
    interrupting = {"alt": ["paragraph", "blockquote", "list"]}
    parser.block.ruler.before("fence", "formula", _displayed_formula, interrupting)  # type: ignore[arg-type]
    parser.inline.ruler.before("escape", "verbatim", _verbatim)
    for rule in ("strikethrough", "emphasis"):
        parser.inline.ruler.at(rule, _emphasis)
    parser.inline.ruler.at("link", _link)
    return parser


def _as_written(state: StateCore) -> None:
    r"""Leaves \* and &lt; what they are: in a reply, they are rather a part of a path or of HTML than markup."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "text_special":
                child.content = child.markup


def _displayed_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula on lines of its own. One without an end reaches to the next blank line."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    begins = DISPLAYED.match(first)
    if not begins or state.is_code_block(start):
        return False
    closing = begins[0].replace("[", "]").replace("begin", "end")
    if closing in first[begins.end() :]:
        return False
    if not silent:
        line, closed = start + 1, False
        while line < end and not closed and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
            closed = closing in state.src[state.bMarks[line] : state.eMarks[line]]
            line += 1
        token = state.push("formula", "", 0)
        token.content, token.map = state.getLines(start, line, state.blkIndent, False), [start, line]
        state.line = line
    return True


def _verbatim(state: StateInline, silent: bool) -> bool:
    found = VERBATIM.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.pending += found[0]
    state.pos = found.end()
    return True


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Emphasis at the edges of words: there is none in a*b*c, 2**3, "*", /* */ and __init__."""
    before, start = len(state.delimiters), state.pos
    tokenize = {"*": emphasis.tokenize, "~": strikethrough.tokenize}.get(state.src[start])
    if not tokenize or not tokenize(state, silent):
        return False
    left, right = state.src[start - 1 : start], state.src[state.pos : state.pos + 1]
    single = state.pos == start + 1
    neither = left + right in AROUND or (single and left == "/")
    for marker in state.delimiters[before:]:
        marker.open = marker.open and not neither and not re.match(r"[A-Za-z0-9)\]}.\\^_$%&@]", left)
        # **word**s is rather meant than 2**3, where something was opened before
        marker.close = marker.close and not neither and not re.match(r"[A-Za-z0-9_\\]" if single else r"[0-9_\\]", right)
    return True


def _link(state: StateInline, silent: bool) -> bool:
    if re.match(r"[\w)\]\\]", state.src[state.pos - 1 : state.pos]) or not LINK.match(state.src, state.pos):
        return False
    return link(state, silent)


def _whole_cells(table: str) -> str:
    """A table whose rows have no more cells than its head: bars in code and formulas part none there."""
    lines = table.split("\n")
    most = len(BAR.findall(lines[1]))
    for i, line in enumerate(lines):
        if len(BAR.findall(line)) > most:
            lines[i] = CODE_OR_FORMULA.sub(lambda found: BAR.sub(r"\\|", found[0]), line)
    return "\n".join(lines)
