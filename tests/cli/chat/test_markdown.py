"""What of a reply is markup, and what stays as it is written."""

import io
import re

import pytest
from rich.console import Console

from dflash_mlx.cli.chat.markdown import block_lines, code_blocks, split_blocks

PYTHON = "@wraps\ndef f(a):\n    # why\n\n    return 'b' + str(1) and " + "a_long_name + " * 9 + "0"


def shown(markup: str, width: int = 100, **options: object) -> str:
    console = Console(file=io.StringIO(), highlight=False, **{"color_system": None, **options})
    return "\n".join(line for block in split_blocks(markup) for line in block_lines(block, console, width))


@pytest.mark.parametrize("around", ["{}", "text {} text", "- {}", "- a\n  - b\n    - {}", "1. {}", "> {}", "# {}", "| {} | b |"])
@pytest.mark.parametrize(
    "written",
    [
        r"\(x_1 * y_1\) and \(x*y*z\)",
        r"\[ \sum_{i=1}^n i \]",
        r"$\underbrace{1}_{P_1} + \underbrace{2}_{P_2}$",
        r"$a_b$ and $c_d$ and $x^*y^*$ and $f[i](x/y)$ and $a~~b~~c$",
        r"The set $\{1, 2\}$ and \(x_1\,y_2\).",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"a*b*c and 2**3**4 and (a+b)*c*(d+e) and x*y",
        r"C:\path\* and C:\_new\[x\]",
        r"\d+\.\w* and ^\[a-z\]+\.txt$ and \`",
        "__init__ and _private_ and snake_case_name",
        "<tag> and map<std::string> and </tag> and &lt;b&gt;",
        "f[0](x.y) and [x](y) and a[i][j](k/l)",
        '"*" or "*" and (*) and *.txt and **/*.md and /* a */ b /* c */',
        "f(*args, **kwargs) and g(*args, **kwargs)",
        "it costs $5, or $6, or US$ 7",
    ],
)
def test_what_only_looks_like_markup_stands_as_it_is_written(written: str, around: str) -> None:
    table = "| a | b |\n|---|---|\n" * around.startswith("|")
    assert written in shown(table + around.format(written))


@pytest.mark.parametrize(
    "markup, expected",
    [
        ("*one* and **two** and ***three***", "one and two and three"),
        ("**API**s, **a**/**b**: *c*. **.gitignore**, **docs/**", "APIs, a/b: c. .gitignore, docs/"),
        ("这是**重点**内容", "这是重点内容"),
        ("~~gone~~", "gone"),
        ("costs *$5* and **$6**", "costs $5 and $6"),
        ("`[x](y)` and `a*b*c`", "[x](y) and a*b*c"),
        ("a[link](http://x.y) [link](http://x.y)", "a[link](http://x.y) link (http://x.y)"),
        ("one\n=\ntwo", "one\n=\ntwo"),
        ("one \\\ntwo", "one \\\ntwo"),
    ],
)
def test_markup_is_obeyed_where_it_is_meant(markup: str, expected: str) -> None:
    assert shown(markup) == expected


@pytest.mark.parametrize("begin, end", [("$$", "$$"), (r"\[", r"\]"), (r"\begin{align}", r"\end{align}")])
@pytest.mark.parametrize("before, indent", [("", ""), ("so\n", ""), ("- item\n", "  "), ("1. a\n   - b\n", "     ")])
def test_a_formula_on_lines_of_its_own_stands_as_it_is_written(begin: str, end: str, before: str, indent: str) -> None:
    formula = [begin, r"a_1 & b_2 \\", "=", "- c*d*e", "+ f", "> g", "# h", end]
    lines = shown(before + "".join(f"{indent}{line}\n" for line in formula) + f"{indent}then *this*").splitlines()
    assert [line.strip() for line in lines][-9:] == [*formula, "then this"]


def test_a_formula_without_an_end_reaches_to_a_blank_line() -> None:
    assert shown("$$\n- a\n\n- *b*") == "$$\n- a\n • b"


def test_a_bar_in_code_or_a_formula_parts_no_cells() -> None:
    table = "| type | P |\n|---|---|\n| `int | None` | $P(A|B)$ |\n| US$|A$ |"
    assert [line.split() for line in shown(table).splitlines() if "─" not in line] == [
        ["type", "P"],
        ["int", "|", "None", "$P(A|B)$"],
        ["US$", "A$"],
    ]


def test_a_word_too_long_for_its_cell_is_broken_and_not_cut() -> None:
    assert shown("| a | b |\n|---|---|\n| " + "x" * 90 + " | y |", 60).count("x") == 90


@pytest.mark.parametrize("before, indent", [("", ""), ("- item\n", "  "), ("1. a\n   - b\n", "     "), ("> quoted\n", "> ")])
@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_code_is_shown_as_it_can_be_copied(before: str, indent: str, colours: str | None) -> None:
    code = "".join(f"{indent}{line}\n" for line in ["```python", *PYTHON.split("\n"), "```"])
    text = re.sub(r"\x1b\[[\d;]*m", "", shown(before + code, 40, color_system=colours, force_terminal=True))
    assert text.endswith(PYTHON) and len(text.replace(PYTHON, "").strip().splitlines()) == before.count("\n")


def test_an_item_that_begins_with_code_keeps_its_number() -> None:
    assert shown("7. ```\n   a\n   ```\n8. b") == "  7\na\n  8 b"


@pytest.mark.parametrize(
    "markup", [f"```python\n{PYTHON}\n```", "Use `x`.", "| a |\n|---|\n| `b` |", "[a](http://b)", "# c", "> d"]
)
def test_colours_are_the_terminals_own_and_leave_its_background(markup: str) -> None:
    text = shown(markup, color_system="truecolor", force_terminal=True)
    codes = {code for codes in re.findall(r"\x1b\[([\d;]*)m", text) for code in codes.split(";")}
    assert codes <= {"0", "1", "2", "3", "4", "22", "32", "35", "36"}


@pytest.mark.parametrize("markup", ["| a | b |\n|---|---|\n| c | d |", "# e", "- f", "```\ng\n```"])
def test_lines_are_not_filled_with_blanks(markup: str) -> None:
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown(markup, color_system="truecolor", force_terminal=True))
    assert [line for line in plain.splitlines() if line != line.rstrip() or not line] == []


def test_code_is_found_wherever_it_stands() -> None:
    assert code_blocks("a\n```\nb\n```\n- c\n  ~~~sh\n  d\te\n\n  f\n  ~~~\n\n    g\n") == ["b\n", "d\te\n\nf\n"]
    assert code_blocks("Like this:\n\n    indented") == ["indented\n"]
