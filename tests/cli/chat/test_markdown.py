"""What of a reply is markup, and what stays as it is written."""

import io

import pytest
from rich.console import Console

from dflash_mlx.cli.chat.markdown import block_lines, split_blocks


def shown(markup: str, width: int = 100) -> str:
    console = Console(file=io.StringIO(), color_system=None, highlight=False)
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
