"""Options that several commands have, and the model for who names none."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dflash_mlx.errors import RequestError

from .render import note

if TYPE_CHECKING:
    from dflash_mlx import Pair


def parser(
    option: str, kind: Callable[[str], Any], wanted: str, example: str, special: str | None = None
) -> Callable[[str], Any]:
    """What reads an option's value: a number of a kind, or one special word. Ranges are checked where they are known."""

    def parse(value: str) -> Any:
        if value == special:
            return value
        try:
            return kind(value)
        except ValueError:
            raise RequestError(f"{option} {value} is not {wanted}.", f"Try {option} {example}.") from None

    return parse


def positive(value: str) -> int:
    number = int(value)
    if number < 1:
        raise ValueError
    return number


def _fast_or_exact(value: str) -> str:
    if value not in ("fast", "exact"):
        raise RequestError(f"--verify {value} is neither fast nor exact.", "Try --verify fast.")
    return value


def _drafter_bits(value: str) -> int | str | None:
    """The value of --drafter-bits, as `load` takes it."""
    parse = parser("--drafter-bits", positive, "auto, none or a number of bits", "4", special="auto")
    return None if value == "none" else parse(value)


def _kernels(value: str) -> str | tuple[str, ...]:
    """The value of --kernels, as `load` takes it."""
    return value if value in ("auto", "mlx") else tuple(value.split(","))


def _option(help: str, metavar: str, parser: Callable[[str], Any]) -> Any:
    return typer.Option(help=help, metavar=metavar, parser=parser, show_default=False)


def _number(option: str, example: str, help: str) -> Any:
    """An option of `Sampling`; what it is by default, the checkpoint says."""
    return _option(help, "X", parser(option, float, "a number", example))


def _whole(option: str, example: str, help: str) -> Any:
    return _option(help, "N", parser(option, int, "a whole number", example))


SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "seed")

Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A folder, a Hub id, or demo (the embedded pair). Default: the best known pair that fits; without Metal, demo.",
        show_default=False,
    ),
]
Drafter = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Drafter: a folder, a Hub id, auto (the one made for the target), or none (plain decoding)."
    ),
]
DrafterBits = Annotated[
    Any,  # "auto", None or a number
    typer.Option(
        parser=_drafter_bits,
        metavar="auto|2..8|none",
        help="Quantise the drafter while loading; auto: to 4 bits for a quantised target; none: as published.",
    ),
]
MaxTokens = Annotated[
    int,
    typer.Option(parser=parser("--max-tokens", positive, "a number from 1 up", "256"), metavar="N", help="Stop after N tokens."),
]
Temperature = Annotated[
    float | None,
    _number("--temperature", "0.7", "0 takes the most likely token; more is more random, 1 as the model was trained."),
]
TopP = Annotated[
    float | None,
    _number("--top-p", "0.9", "Keep the most likely tokens that have this probability together (above 0, at most 1)."),
]
TopK = Annotated[int | None, _whole("--top-k", "20", "Keep the N most likely tokens; 0 keeps all.")]
MinP = Annotated[
    float | None, _number("--min-p", "0.05", "Keep tokens at least this likely relative to the most likely one (0 to 1).")
]
RepetitionPenalty = Annotated[
    float | None,
    _number("--repetition-penalty", "1.1", "Above 1, tokens already in the text become less likely; 1 does nothing."),
]
PresencePenalty = Annotated[
    float | None,
    _number("--presence-penalty", "0.5", "The same, by what is taken from their logits; 0 does nothing."),
]
Seed = Annotated[int | None, _whole("--seed", "1", "Makes sampled text repeatable (see README).")]
BlockSize = Annotated[
    str,
    typer.Option(
        parser=parser("--block-size", positive, "auto or a number from 1 up", "4", special="auto"),
        metavar="N|auto",
        help="Rows in one verification: 1 known token and N-1 drafts. 1 is plain decoding; auto is the fastest, as measured.",
    ),
]
Verify = Annotated[
    str,
    typer.Option(
        parser=_fast_or_exact,
        metavar="fast|exact",
        help="exact: bit for bit plain decoding; where MLX's arithmetic depends on the rows of a pass, row by row.",
    ),
]
Kernels = Annotated[
    str,
    typer.Option(
        parser=_kernels,
        metavar="auto|mlx|NAME,...",
        help="Metal kernels (named in README): auto takes those right and faster on this machine, as tried; mlx takes none.",
    ),
]
System = Annotated[str | None, typer.Option(metavar="TEXT", help="System message before the prompt.")]
Thinking = Annotated[
    bool | None,
    typer.Option("--think/--no-think", help="Whether the model thinks before it answers.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Do not ask whether model and context fit into this machine's memory.")]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Download what is missing without asking.")]


def chosen(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of a command's options, those of `Sampling` that were given."""
    return {name: values[name] for name in SAMPLING if values[name] is not None}


def default_model(quiet: bool, again: bool = True) -> str:
    """The model for who names none. Says which it is; unless `again`, no more once it is downloaded."""
    from dflash_mlx.loading.hub import DEMO, cached
    from dflash_mlx.loading.known_pairs import default

    pair = default()
    name, why = (
        (pair.target, "the best known pair that fits this machine")
        if pair
        else (DEMO, "the embedded pair: no Metal, or little memory")
    )
    if not quiet and (again or pair is None or cached(pair.target) is None):
        note(f"model: {name} ({why}). Another: --model NAME; dflash-mlx models lists them.")
    return name


def tell_of_kernels(pair: "Pair") -> None:
    """Says which kernels were found failing just now."""
    for name, error in pair.kernels.news.items():
        note(f"kernel {name} is not used: {error}")
