"""`dflash-mlx demo`: one question, answered plainly and with drafts in turn."""

from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from .answer import Text
from .render import Progress, write

if TYPE_CHECKING:
    from dflash_mlx import Pair, Statistics

QUESTION = "Is it lossless?"
TURNS = 5  # of each way, for the speeds; the first is shown
MAX_TOKENS = 400


def demo(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Another question.", show_default=False)] = QUESTION,
) -> None:
    """Answer a question plainly and with drafts, with the small model that ships with dflash-mlx."""
    with Progress(quiet=False) as progress:
        import dflash_mlx  # here, and not at the top: --help need not wait for MLX

        pair = dflash_mlx.load("demo", progress=progress.loading)
        pair.calibrate("fast", progress.measuring)
        for plain in (True, False):  # what MLX compiles at first use, it compiles now
            _answer(pair, question, plain, show=False)
    text = Text(show_drafts=True, show_thinking=False, quiet=True)
    marked = "green" if text.colours else "[brackets]"
    write(f"{question}\n\nPlain decoding\n")
    runs = {True: [_answer(pair, question, True, show=True)]}
    write(f"{_figures(runs[True][0][1])}\n\nWith drafts; in {marked}: guessed by the drafter, accepted by the model\n")
    runs[False] = [_answer(pair, question, False, show=True)]
    statistics = runs[False][0][1]
    write(f"{_figures(statistics)}{f'; {statistics.mode_reason}' if statistics.mode_reason else ''}\n\n")
    for _ in range(TURNS - 1):
        for plain in (True, False):
            runs[plain].append(_answer(pair, question, plain, show=False))
    plainly, drafted = (median(statistics.tokens_per_second for _, statistics in runs[plain]) for plain in (True, False))
    same = all(tokens == runs[True][0][0] for way in runs.values() for tokens, _ in way)
    write(
        f"{plainly:.0f} and {drafted:.0f} tokens a second: {drafted / plainly:.2f} times as fast. "
        f"Same answer: {'yes' if same else 'NO'}.\n"
        "A Mac adds Metal kernels, which make the check cheap: `dflash-mlx chat` there.\n"
    )
    if not same:
        raise typer.Exit(1)


def _answer(pair: "Pair", question: str, plain: bool, show: bool) -> "tuple[list[int], Statistics]":
    """The answer's tokens and its statistics."""
    output = Text(show_drafts=not plain, show_thinking=False, quiet=True)
    tokens: list[int] = []
    for chunk in pair.stream(question, max_tokens=MAX_TOKENS, block_size=1 if plain else "auto"):
        tokens += chunk.token_ids
        if show:
            output.chunk(chunk)
    if show and chunk.finish_reason:
        output.finish(chunk.finish_reason, chunk.statistics)
    return tokens, chunk.statistics


def _figures(statistics: "Statistics") -> str:
    passes = statistics.cycles + 1  # the prompt's gave the first token
    return f"{statistics.generated_tokens} tokens in {passes} passes of the model"
