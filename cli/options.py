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


def _drafts(value: str) -> str:
    if value not in DRAFTS:
        raise RequestError(f"--drafts {value} is not known.", f"Try --drafts {', '.join(DRAFTS[:-1])} or {DRAFTS[-1]}.")
    return value


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


DRAFTS = ("auto", "chain", "tree", "copy")
SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "seed")

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        help="A name from `dflash-mlx models`, a folder, a Hub id, or demo (the small model that ships with dflash-mlx). "
        "Default: the best known model that fits this machine; demo without Metal.",
        show_default=False,
    ),
]
Drafter = Annotated[
    str,
    typer.Option(metavar="NAME", help="The drafter: a folder, a Hub id, auto (made for the model), or none (plain decoding)."),
]
DrafterBits = Annotated[
    Any,  # "auto", None or a number
    typer.Option(
        parser=_drafter_bits,
        metavar="N",
        help="Quantise the drafter to 2..8 bits while loading; auto: to 4 beside a quantised model; none: as published.",
    ),
]
MaxTokens = Annotated[
    int,
    typer.Option(parser=parser("--max-tokens", positive, "a number from 1 up", "256"), metavar="N", help="Stop after N tokens."),
]
Temperature = Annotated[
    float | None,
    _number("--temperature", "0.7", "0: always the most likely token; 1: as the model was trained; above: more random."),
]
TopP = Annotated[
    float | None,
    _number("--top-p", "0.9", "Draw from the most likely tokens that add up to probability X (above 0, at most 1)."),
]
TopK = Annotated[int | None, _whole("--top-k", "20", "Draw from the N most likely tokens; 0: from all.")]
MinP = Annotated[
    float | None, _number("--min-p", "0.05", "Draw from tokens at least X times as likely as the most likely one (0 to 1).")
]
RepetitionPenalty = Annotated[
    float | None,
    _number("--repetition-penalty", "1.1", "Above 1: tokens already in the text become less likely; 1: no penalty."),
]
PresencePenalty = Annotated[
    float | None,
    _number("--presence-penalty", "0.5", "Take X from the logits of tokens already in the text; 0: no penalty."),
]
Seed = Annotated[int | None, _whole("--seed", "1", "The same seed draws the same tokens again.")]
BlockSize = Annotated[
    str,
    typer.Option(
        parser=parser("--block-size", positive, "auto or a number from 1 up", "4", special="auto"),
        metavar="N",
        help="Tokens checked in one pass: one known and N-1 drafts. 1: plain decoding; auto: the fastest, as measured here.",
    ),
]
Drafts = Annotated[
    str,
    typer.Option(
        parser=_drafts,
        metavar="KIND",
        help="auto: by the drafter, or copied from the text where that is faster; chain, tree: drafter only; copy: copies only.",
    ),
]
Verify = Annotated[
    str,
    typer.Option(
        parser=_fast_or_exact,
        metavar="MODE",
        help="fast, or exact: plain decoding's answer bit for bit, where needed row by row.",
    ),
]
Kernels = Annotated[
    str,
    typer.Option(
        parser=_kernels,
        metavar="LIST",
        help="Metal kernels: auto (those right and faster here), mlx (none), or names with commas between (docs/kernels.md).",
    ),
]
System = Annotated[str | None, typer.Option(metavar="TEXT", help="A system message.")]
Thinking = Annotated[
    bool | None,
    typer.Option("--think/--no-think", help="Let the model think before it answers, or not.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Load even if model and context may not fit into memory.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Download without asking.")]


def chosen(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of a command's options, those of `Sampling` that were given."""
    return {name: values[name] for name in SAMPLING if values[name] is not None}


def default_model(quiet: bool, again: bool = True) -> str:
    """The model for who names none. Says which it is; unless `again`, no more once it is downloaded."""
    from dflash_mlx.loading.hub import DEMO, cached
    from dflash_mlx.loading.known_pairs import default

    pair = default()
    name, why = (pair.target, "the best known pair that fits this machine") if pair else (DEMO, "no Metal, or little memory")
    if not quiet and (again or pair is None or cached(pair.target) is None):
        note(f"model: {name} ({why}). Another: --model NAME; dflash-mlx models lists them.")
    return name


def tell_of_kernels(pair: "Pair") -> None:
    """Says which kernels were found failing just now."""
    for name, error in pair.kernels.news.items():
        note(f"kernel {name} is not used: {error}")
