"""`dflash-mlx generate`: answer one prompt and stop."""

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dflash_mlx.errors import RequestError

from .render import JsonLines, Progress, Text, note

if TYPE_CHECKING:
    from dflash_mlx import Chunk


def _parser(option: str, kind: type, wanted: str, example: str, special: str | None = None) -> Callable[[str], Any]:
    """What reads an option's value: a number of a kind, or one special word. Ranges are checked where they are known."""

    def parse(value: str) -> Any:
        if value == special:
            return value
        try:
            return kind(value)
        except ValueError:
            raise RequestError(f"{option} {value} is not {wanted}.", f"Try {option} {example}.") from None

    return parse


def _positive(value: str) -> int:
    number = int(value)
    if number < 1:
        raise ValueError
    return number


def _option(help: str, metavar: str, parser: Callable[[str], Any]) -> Any:
    return typer.Option(help=help, metavar=metavar, parser=parser, show_default=False)


def _number(option: str, example: str, help: str) -> Any:
    """An option of `Sampling`; what it is by default, the checkpoint says."""
    return _option(help, "X", _parser(option, float, "a number", example))


def _whole(option: str, example: str, help: str) -> Any:
    return _option(help, "N", _parser(option, int, "a whole number", example))


def read_kernels(value: str) -> str | tuple[str, ...]:
    """The value of --kernels, as `load` takes it."""
    return value if value in ("auto", "mlx") else tuple(value.split(","))


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
            parser=_parser("--drafter-bits", _positive, "a number of bits", "4"),
            metavar="N",
            help="Quantise the drafter to N bits while loading (not one that is quantised already).",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[
        int,
        typer.Option(
            parser=_parser("--max-tokens", _positive, "a number from 1 up", "256"), metavar="N", help="Stop after N tokens."
        ),
    ] = 256,
    temperature: Annotated[
        float | None,
        _number("--temperature", "0.7", "0 takes the likeliest token; more is more random, 1 as the model was trained."),
    ] = None,
    top_p: Annotated[
        float | None, _number("--top-p", "0.9", "Keep the likeliest tokens that have this probability together (0 to 1).")
    ] = None,
    top_k: Annotated[int | None, _whole("--top-k", "20", "Keep the N likeliest tokens; 0 keeps all.")] = None,
    min_p: Annotated[
        float | None, _number("--min-p", "0.05", "Keep tokens at least this likely relative to the likeliest (0 to 1).")
    ] = None,
    repetition_penalty: Annotated[
        float | None,
        _number("--repetition-penalty", "1.1", "Above 1, tokens already in the text become less likely; 1 does nothing."),
    ] = None,
    presence_penalty: Annotated[
        float | None,
        _number("--presence-penalty", "0.5", "The same, by what is taken from their logits; 0 does nothing."),
    ] = None,
    seed: Annotated[int | None, _whole("--seed", "1", "Makes sampled text repeatable (see README).")] = None,
    block_size: Annotated[
        str,
        typer.Option(
            parser=_parser("--block-size", _positive, "auto or a number from 1 up", "4", special="auto"),
            metavar="N|auto",
            help="Rows in one verification: 1 known token and N-1 drafts. 1 is plain decoding; auto is the fastest, as measured.",
        ),
    ] = "auto",
    verify: Annotated[
        str,
        typer.Option(
            metavar="fast|exact",
            help="exact: bit for bit plain decoding; where MLX's arithmetic depends on the rows of a pass, row by row.",
        ),
    ] = "fast",
    kernels: Annotated[
        str,
        typer.Option(
            parser=read_kernels,
            metavar="auto|mlx|NAME,...",
            help="Metal kernels: auto takes those that are right and faster on this machine, as tried; mlx takes none.",
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
    if verify not in ("fast", "exact"):
        raise RequestError(f"--verify {verify} is neither fast nor exact.", "Try --verify fast.")
    if "" in (stop or ()):
        raise RequestError('--stop "" would stop before the first token.', "Give the text to stop at, or drop the option.")
    text = _read_prompt(prompt)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    pair = {"drafter": None if drafter == "none" else drafter, "drafter_bits": drafter_bits, "force": force, "kernels": kernels}
    request = {
        "prompt": text if system is None else messages,
        "max_tokens": max_tokens,
        "block_size": block_size,
        "verify": verify,
        "raw": raw,
        "stop": tuple(stop or ()),
    }
    sampling = {
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "min_p": min_p,
        "repetition_penalty": repetition_penalty,
        "presence_penalty": presence_penalty,
        "seed": seed,
    }

    output = JsonLines() if json else Text(show_drafts, quiet)
    last: Chunk | None = None
    try:
        with closing(_chunks(model, quiet or json, pair, sampling, request)) as chunks:
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


def _chunks(
    model: str | None, quiet: bool, pair: dict[str, Any], sampling: dict[str, Any], request: dict[str, Any]
) -> "Generator[Chunk]":
    """Loads the pair and answers, under a progress display that is gone before the first chunk."""
    with Progress(quiet) as progress:
        logging.disable(logging.WARNING)  # what the libraries remark on config.json is not for who asks a question
        import dflash_mlx  # here, and not at the top: --help and wrong usage need not wait for MLX
        from dflash_mlx.decoding.sampling import check_sampling

        given = {name: value for name, value in sampling.items() if value is not None}
        check_sampling(dflash_mlx.Sampling(**given))  # before a model is loaded for nothing
        loaded = dflash_mlx.load(_default_model(quiet) if model is None else model, **pair, progress=progress.loading)
        if not quiet:
            for name, error in loaded.kernels.news.items():
                note(f"kernel {name} is not used: {error}")
        settings = replace(loaded.default_sampling, **given)
        idle = [name for name in ("top_p", "top_k", "min_p", "seed") if name in given]
        if idle and settings.temperature == 0 and not quiet:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
            note(f"{options}: no effect at temperature 0. Add --temperature 0.7, for example.")
        stream = loaded.stream(**request, sampling=settings, progress=progress.prefill)
        if request["block_size"] == "auto":
            loaded.calibrate(request["verify"], progress.measuring)
        first = next(stream)
    yield first
    yield from stream
