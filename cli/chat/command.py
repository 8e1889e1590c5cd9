"""`dflash-mlx chat`: a conversation, on a terminal or through pipes."""

import errno
import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from dflash_mlx.errors import RequestError

from ..download import ask_to_download
from ..options import (
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
from ..render import Progress, abandon

if TYPE_CHECKING:
    from dflash_mlx import Pair

    from .conversation import Conversation
    from .reply import Reply


def chat(
    name: Annotated[str | None, typer.Argument(metavar="MODEL", help="The same as --model.", show_default=False)] = None,
    model: Model = None,
    drafter: Drafter = "auto",
    drafter_bits: DrafterBits = "auto",
    max_tokens: MaxTokens = 4096,
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
    load: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Continue the conversation that /save wrote to FILE.", show_default=False),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Read one message per line from stdin; print JSON lines."),
    ] = False,
    force: Force = False,
    yes: Yes = False,
) -> None:
    """Chat with a model.

    /help lists the commands. If stdin is not a terminal, each line of it is a message, and replies go to stdout."""
    if None not in (name, model):
        raise RequestError(f"the model is named twice: {name} and --model {model}.", "Drop one of them.")
    given = chosen(locals())
    settings = given | {"max_tokens": max_tokens, "block_size": block_size, "drafts": drafts, "verify": verify}
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that its encoding lacks is no reason to stop
    talks = not json and sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())

    def load_pair(model: str, drafter: str | None, found: Callable[[], None]) -> "Pair":
        import dflash_mlx  # here, and not at the top: --help and wrong usage need not wait for MLX

        ask_to_download(model, drafter, yes)
        with Progress(quiet=False) as progress:

            def tell(stage: str, done: int, total: int) -> None:
                if stage == "target":
                    found()
                progress.loading(stage, done, total)

            pair = dflash_mlx.load(model, drafter=drafter, drafter_bits=drafter_bits, force=force, progress=tell, kernels=kernels)
            tell_of_kernels(pair)
            if block_size == "auto":
                pair.calibrate(settings["verify"], progress.measuring)
        return pair

    from dflash_mlx.conversation import tensor_file
    from dflash_mlx.decoding.sampling import Sampling, check_sampling

    # before a model is loaded for nothing
    check_sampling(Sampling(**given))
    if load is not None and not tensor_file.find(load).exists():
        raise RequestError(f"there is no file {load}.", "Check the name.")
    from .conversation import Conversation
    from .piped import answer_lines

    named = name if model is None else model
    names = default_model(quiet=False) if named is None else named, None if drafter == "none" else drafter
    conversation = Conversation(load_pair, *names, settings, system, thinking, load)
    if talks:
        _talk(conversation)
    elif not answer_lines(conversation, json):
        raise typer.Exit(2)


def _talk(conversation: "Conversation") -> None:
    from prompt_toolkit.utils import is_dumb_terminal

    from .keyboard import Keyboard, Lines
    from .repl import Repl
    from .reply import LiveReply, PlainReply
    from .screen import tell

    dumb = is_dumb_terminal()

    def new_reply(capacity: int) -> "Reply":
        return LiveReply(capacity) if sys.stdout.isatty() and not dumb else PlainReply(capacity, told=True)

    tell(f"{conversation.title}. /help lists the commands.")
    try:
        code = Repl(conversation, Lines() if dumb else Keyboard(conversation), new_reply).run()
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        abandon(sys.stdout)  # the terminal is gone
        code = 1
    raise typer.Exit(code)
