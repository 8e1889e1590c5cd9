"""`dflash-mlx generate`: answer one prompt and stop."""

import os
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from fcntl import F_GETFL, fcntl
from select import select
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dflash_mlx.errors import RequestError

from .answer import JsonLines, Text
from .download import ask_to_download
from .options import (
    BlockSize,
    Drafter,
    DrafterBits,
    Drafts,
    Force,
    Kernels,
    MaxTokens,
    MinP,
    Model,
    PresencePenalty,
    RepetitionPenalty,
    Seed,
    System,
    Temperature,
    Thinking,
    TopK,
    TopP,
    Verify,
    Yes,
    chosen,
    default_model,
    tell_of_kernels,
)
from .render import Progress, note

if TYPE_CHECKING:
    from dflash_mlx import Chunk, Statistics

WAIT = 10  # seconds, at most, for the first of what comes from stdin beside an argument


def generate(
    prompt: Annotated[
        str | None,
        typer.Argument(
            metavar="PROMPT",
            help="What to answer. Without it, or with -, read from stdin; piped text follows it.",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    drafter: Drafter = "auto",
    drafter_bits: DrafterBits = "auto",
    max_tokens: MaxTokens = 256,
    temperature: Temperature = None,
    top_p: TopP = None,
    top_k: TopK = None,
    min_p: MinP = None,
    repetition_penalty: RepetitionPenalty = None,
    presence_penalty: PresencePenalty = None,
    seed: Seed = None,
    block_size: BlockSize = "auto",
    drafts: Drafts = "auto",
    verify: Verify = "fast",
    kernels: Kernels = "auto",
    system: System = None,
    thinking: Thinking = None,
    raw: Annotated[bool, typer.Option("--raw", help="Continue the prompt as text, without the chat template.")] = False,
    stop: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Stop before TEXT. Can be repeated.", show_default=False)
    ] = None,
    prompt_cache: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Reuse the part of the prompt saved in FILE; create FILE if it does not exist.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON lines: one per cycle, then the whole answer with its statistics."),
    ] = False,
    force: Force = False,
    yes: Yes = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the answer and nothing else.")] = False,
    show_thinking: Annotated[
        bool, typer.Option("--show-thinking", help="Print the thinking on stdout, before the answer (default: on stderr).")
    ] = False,
    show_drafts: Annotated[bool, typer.Option("--show-drafts", help="Mark the text that was drafted and accepted.")] = False,
) -> None:
    """Answer one prompt.

    The answer goes to stdout, everything else to stderr. Options you leave out come from the model's generation_config.json."""
    if json and show_drafts:
        raise RequestError("--json and --show-drafts exclude each other.", "Drop one: the JSON tells which tokens were drafts.")
    if json and show_thinking:
        raise RequestError("--json and --show-thinking exclude each other.", "Drop one: the JSON has the thinking.")
    if raw and system is not None:
        raise RequestError("--system has no place in a --raw prompt.", "Drop one, or write the system message into the prompt.")
    if raw and thinking is not None:
        raise RequestError("--think and --no-think have no place with --raw.", "Drop one: they speak to the chat template.")
    if "" in (stop or ()):
        raise RequestError('--stop "" would stop before the first token.', "Give the text to stop at, or drop the option.")
    pair = {"drafter": None if drafter == "none" else drafter, "drafter_bits": drafter_bits, "force": force, "kernels": kernels}
    request = {
        "prompt": _read_prompt(prompt),
        "system": system,
        "thinking": thinking,
        "max_tokens": max_tokens,
        "block_size": block_size,
        "drafts": drafts,
        "verify": verify,
        "raw": raw,
        "stop": tuple(stop or ()),
        "prompt_cache": prompt_cache,
    }
    sampling = chosen(locals())
    output = JsonLines() if json else Text(show_drafts, show_thinking, quiet)
    last: Chunk | None = None
    try:
        with closing(_chunks(model, quiet or json, yes, pair, sampling, request)) as chunks:
            for last in chunks:
                output.chunk(last)
    except KeyboardInterrupt:
        output.finish("cancelled", last.statistics if last else None)
        raise typer.Exit(130) from None
    assert last is not None and last.finish_reason is not None  # a stream has a chunk, and its last one says why it ends
    output.finish(last.finish_reason, last.statistics)


def _read_prompt(argument: str | None) -> str:
    """The prompt: the argument, and after it what is piped in."""
    if argument is None and sys.stdin.isatty():
        raise RequestError("there is no prompt.", 'Give one, as in dflash-mlx generate "What is 17 + 25?", or pipe it in.')
    parts = [_read_stdin()] if argument in (None, "-") else [argument, _read_stdin() if _has_input() else ""]
    text = "\n\n".join(part for part in parts if part and part.strip())
    if not text:
        raise RequestError("the prompt is empty.", 'Write something, as in dflash-mlx generate "What is 17 + 25?".')
    return text


def _has_input() -> bool:
    """Whether text comes from stdin, or its end. Programs leave pipes open to those they start, and write nothing."""
    try:
        readable = fcntl(sys.stdin, F_GETFL) & os.O_ACCMODE != os.O_WRONLY  # which it is under nohup
    except OSError:  # it is not a file, where another program calls `main`
        readable = False
    if not readable or sys.stdin.isatty():
        return False
    if select([sys.stdin], [], [], WAIT)[0]:
        return True
    note(f"stdin is open but sent nothing for {WAIT} s, so it is ignored. Add </dev/null to skip the wait.")
    return False


def _read_stdin() -> str:
    try:
        # What `echo` and editors put at the end of a line is no part of the prompt.
        return sys.stdin.buffer.read().decode("utf-8-sig").rstrip("\r\n")
    except OSError as error:
        raise RequestError(f"stdin cannot be read ({error.strerror}).", "Give the prompt as an argument.") from None
    except UnicodeDecodeError as error:
        raise RequestError(
            f"the prompt on stdin is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}.",
            "Convert it first, for example with iconv.",
        ) from None


def _chunks(
    model: str | None,
    quiet: bool,
    yes: bool,
    pair: dict[str, Any],
    sampling: dict[str, Any],
    request: dict[str, Any],
) -> "Generator[Chunk]":
    """Loads the pair and answers, under a progress display that is gone before the first chunk."""
    if model is None:
        model = default_model(quiet, again=False)
    ask_to_download(model, pair["drafter"], yes)
    with Progress(quiet) as progress:
        import dflash_mlx  # here, and not at the top: --help and wrong usage need not wait for MLX
        from dflash_mlx.conversation import tensor_file
        from dflash_mlx.decoding.sampling import check_sampling

        # before a model is loaded for nothing
        check_sampling(dflash_mlx.Sampling(**sampling))
        file = request["prompt_cache"]
        written = file is not None and not tensor_file.find(file).exists()
        loaded = dflash_mlx.load(model, **pair, progress=progress.loading)
        if not quiet:
            tell_of_kernels(loaded)
        settings = replace(loaded.default_sampling, **sampling)
        idle = [name for name in ("top_p", "top_k", "min_p", "seed") if name in sampling]
        if idle and settings.temperature == 0 and not quiet:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
            note(f"{options}: no effect at temperature 0. Add --temperature 0.7, for example.")
        if request["thinking"] is not None and not loaded.tokenizer.knows("enable_thinking"):
            raise RequestError("this model's chat template has no choice of thinking or not.", "Leave it as it is.")
        stream = loaded.stream(**request, sampling=settings, progress=progress.prefill)
        if request["block_size"] == "auto":
            loaded.calibrate(request["verify"], progress.measuring)
        first = next(stream)
    if file is not None and not quiet:
        note(f"prompt cache: {file} " + ("was written." if written else _use(first.statistics)))
    yield first
    yield from stream


def _use(statistics: "Statistics") -> str:
    """What a file that was there was good for, and what to do if that is not much."""
    cached, tokens = statistics.cached_prompt_tokens, statistics.prompt_tokens
    hint = "" if 2 * cached >= tokens else " To have it written for this prompt, delete it first."
    return f"has {cached} of the prompt's {tokens} tokens.{hint}"
