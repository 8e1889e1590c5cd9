"""`dflash-mlx generate`: answer one prompt and stop."""

import logging
import sys
from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dflash_mlx.errors import RequestError

from .render import JsonLines, Progress, Text, note

if TYPE_CHECKING:
    from dflash_mlx import Chunk


def _max_tokens(value: str) -> int:
    number = _positive(value)
    if number is None:
        raise RequestError(f"--max-tokens {value} is not a number from 1 up.", "Try --max-tokens 256.")
    return number


def _block_size(value: str) -> int | str:
    size = "auto" if value == "auto" else _positive(value)
    if size is None:
        raise RequestError(f"--block-size {value} is neither auto nor a number from 1 up.", "Try --block-size 4.")
    return size


def _drafter_bits(value: str) -> int:
    number = _positive(value)
    if number is None:
        raise RequestError(f"--drafter-bits {value} is not a number of bits.", "Try --drafter-bits 4.")
    return number


def _positive(value: str) -> int | None:
    try:
        number = int(value)
    except ValueError:
        return None
    return number if number > 0 else None


def generate(
    prompt: Annotated[
        str | None, typer.Argument(help="What to answer; - or nothing reads it from stdin.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A folder, a Hub id, or demo (the embedded pair). Default: the best known pair that fits; without Metal, demo.",
            show_default=False,
        ),
    ] = None,
    drafter: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Drafter: a folder, a Hub id, auto (the one made for the target), or none (plain decoding)."
        ),
    ] = "auto",
    drafter_bits: Annotated[
        int | None,
        typer.Option(
            parser=_drafter_bits,
            metavar="N",
            help="Quantise the drafter to N bits while loading (not one that is quantised already).",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[int, typer.Option(parser=_max_tokens, metavar="N", help="Stop after N tokens.")] = 256,
    block_size: Annotated[
        str,
        typer.Option(
            parser=_block_size,
            metavar="N|auto",
            help="Rows in one verification: 1 known token and N-1 drafts. 1 is plain decoding.",
        ),
    ] = "auto",
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="System message before the prompt.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Continue the prompt as it is, without the chat template.")] = False,
    stop: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Stop before TEXT; may be given several times.", show_default=False)
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line: one per cycle, then the statistics.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Do not ask whether model and context fit into this machine's memory.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the text only: no progress, no legend, no statistics.")] = False,
    show_drafts: Annotated[
        bool, typer.Option("--show-drafts", help="Mark which text was drafted and accepted, and which the target added itself.")
    ] = False,
) -> None:
    """Answer one prompt and stop. The text goes to stdout, everything else to stderr."""
    if json and show_drafts:
        raise RequestError("--json and --show-drafts exclude each other.", "Drop one: the JSON tells which tokens were drafts.")
    if raw and system is not None:
        raise RequestError("--system has no place in a --raw prompt.", "Drop one, or write the system message into the prompt.")
    if "" in (stop or ()):
        raise RequestError('--stop "" would stop before the first token.', "Give the text to stop at, or drop the option.")
    text = _read_prompt(prompt)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    pair = {"drafter": None if drafter == "none" else drafter, "drafter_bits": drafter_bits, "force": force}
    request = {
        "prompt": text if system is None else messages,
        "max_tokens": max_tokens,
        "block_size": block_size,
        "raw": raw,
        "stop": tuple(stop or ()),
    }

    output = JsonLines() if json else Text(show_drafts, quiet)
    last: Chunk | None = None
    try:
        with closing(_chunks(model, quiet, pair, request)) as chunks:
            for last in chunks:
                output.chunk(last)
    except KeyboardInterrupt:
        output.finish("cancelled", last.statistics if last else None)
        raise typer.Exit(130) from None
    assert last is not None and last.finish_reason is not None  # a stream has a chunk, and its last one says why it ends
    output.finish(last.finish_reason, last.statistics)


def _read_prompt(argument: str | None) -> str:
    """The prompt: the argument, which leaves stdin alone; else what is piped in."""
    if argument is None and sys.stdin.isatty():
        raise RequestError("there is no prompt.", 'Give one, as in dflash-mlx generate "What is 17 + 25?", or pipe it in.')
    if argument is None or argument == "-":
        try:
            # What `echo` and editors put at the end of a line is no part of the prompt.
            argument = sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
        except OSError as error:
            raise RequestError(f"stdin cannot be read ({error.strerror}).", "Give the prompt as an argument.") from None
        except UnicodeDecodeError as error:
            raise RequestError(
                f"the prompt on stdin is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}.",
                "Convert it first, for example with iconv.",
            ) from None
    if not argument.strip():
        raise RequestError("the prompt is empty.", 'Write something, as in dflash-mlx generate "What is 17 + 25?".')
    return argument


def _default_model(quiet: bool) -> str:
    """The model for who names none. Says which it is."""
    from dflash_mlx.hub import DEMO
    from dflash_mlx.known_pairs import default

    pair = default()
    name, why = (
        (pair.target, "the best known pair that fits this machine")
        if pair
        else (DEMO, "the embedded pair: no Metal, or little memory")
    )
    if not quiet:
        note(f"model: {name} ({why}). Another: --model NAME; dflash-mlx models lists them.")
    return name


def _chunks(model: str | None, quiet: bool, pair: dict[str, Any], request: dict[str, Any]) -> "Generator[Chunk]":
    """Loads the pair and answers, under a progress display that is gone before the first chunk."""
    with Progress(quiet) as progress:
        logging.disable(logging.WARNING)  # what the libraries remark on config.json is not for who asks a question
        import dflash_mlx  # here, and not at the top: --help and wrong usage need not wait for MLX

        loaded = dflash_mlx.load(_default_model(quiet) if model is None else model, **pair, progress=progress.loading)
        stream = loaded.stream(**request, progress=progress.prefill)
        first = next(stream)
    yield first
    yield from stream
