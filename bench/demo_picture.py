"""Draws an answer of the demo pair for README: what the drafter guessed and the target accepted, in colour.

python -m dflash_mlx.bench.demo_picture docs/demo.svg
"""

import argparse
from html import escape
from pathlib import Path

import dflash_mlx
from dflash_mlx import Chunk, Statistics

QUESTION = "Write a Python function that sums a list of numbers."
WIDTH, LINE, LEFT = 760, 22, 24
BACK, TEXT, DIM, ACCEPTED = "#161b22", "#e6edf3", "#8b949e", "#56d364"
Run = tuple[str, str]  # colour, text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dflash_mlx.bench.demo_picture", description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    pair = dflash_mlx.load("demo")
    chunks = list(pair.stream(QUESTION, max_tokens=400, block_size=8))
    file.write_text(svg([[(DIM, f"> {QUESTION}")], [], *answer(chunks), [], [(DIM, figures(chunks[-1].statistics))]]))


def answer(chunks: list[Chunk]) -> list[list[Run]]:
    """Lines of the answer, in runs of one colour."""
    lines: list[list[Run]] = [[]]
    for chunk in chunks:
        for i, piece in enumerate(chunk.pieces):
            for part in piece.splitlines(keepends=True):
                lines[-1].append((ACCEPTED if i < chunk.accepted else TEXT, part.rstrip("\n")))
                if part.endswith("\n"):
                    lines.append([])
    return lines


def figures(statistics: Statistics) -> str:
    passes = statistics.cycles + 1  # the prompt's gave the first token
    green = "green: guessed by the drafter, accepted by the model"
    return f"{statistics.generated_tokens} tokens in {passes} passes of the model; {green}"


def svg(lines: list[list[Run]]) -> str:
    height = LINE * (len(lines) + 1)
    texts = [
        f'<text x="{LEFT}" y="{LINE * (row + 1) + 6}" xml:space="preserve">'
        + "".join(f'<tspan fill="{colour}">{escape(text)}</tspan>' for colour, text in runs)
        + "</text>"
        for row, runs in enumerate(lines)
        if runs
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
            'font-family="ui-monospace, Menlo, monospace" font-size="14">',
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{BACK}"/>',
            *texts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    main()
