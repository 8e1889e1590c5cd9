"""What is asked of a pair: options by name, checked before anything is computed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

from dflash_mlx.decoding.block_size import MOST_COPIED
from dflash_mlx.decoding.sampling import LogitsProcessor, Sampling, check_sampling
from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import RequestError
from dflash_mlx.targets import Target
from dflash_mlx.text import Prompt, Tokenizer

Drafts = Literal["auto", "chain", "tree", "copy"]


class Options(TypedDict, total=False):
    """How a prompt is answered; see `Pair.stream`."""

    system: str | None
    thinking: bool | None
    raw: bool
    max_tokens: int
    sampling: Sampling | None
    logits_processors: Sequence[LogitsProcessor]
    block_size: int | Literal["auto"]
    drafts: Drafts
    stop: str | Sequence[str]
    verify: Literal["fast", "exact"]
    prompt_cache: str | Path | None
    progress: Callable[[int, int], None] | None


def check_options(function: str, options: Iterable[str], but: Sequence[str] = ()) -> None:
    """Raises TypeError, as Python does, for options that a public function does not have: those of `Options`, `but` some."""
    for name in options:
        if name not in Options.__annotations__ or name in but:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


@dataclass(frozen=True)
class Request:
    """What is wanted, checked.

    Attributes:
        prompt: token ids.
        max_tokens: already cut to what the model's context has room for.
        block_size: rows a cycle, 1 for plain decoding; None: the policy's choice.
        by_drafter, by_tree, by_copy: what may draft: the drafter, as a tree too, and the text.
        widest: the most rows that a cycle may have.
        exact: whether verification must give the bits of plain decoding.
        stop: stop strings.
        thinking: whether the prompt ends in the middle of thinking.
    """

    prompt: list[int]
    max_tokens: int
    sampling: Sampling
    logits_processors: tuple[LogitsProcessor, ...]
    block_size: int | None
    by_drafter: bool
    by_tree: bool
    by_copy: bool
    widest: int
    exact: bool
    stop: tuple[str, ...]
    thinking: bool


def new_request(
    target: Target,
    drafter: DFlash | None,
    tokenizer: Tokenizer,
    prompt: Prompt,
    *,
    sampling: Sampling,
    system: str | None = None,
    thinking: bool | None = None,
    raw: bool = False,
    max_tokens: int = 256,
    logits_processors: Sequence[LogitsProcessor] = (),
    block_size: int | Literal["auto"] = "auto",
    drafts: Drafts = "auto",
    stop: str | Sequence[str] = (),
    verify: Literal["fast", "exact"] = "fast",
) -> Request:
    """Checks a request's settings. Raises RequestError, naming the first that cannot be served."""
    _check_whole("max_tokens", max_tokens)
    check_sampling(sampling)
    listed = isinstance(logits_processors, Sequence) and not isinstance(logits_processors, str)
    if not listed or not all(callable(process) for process in logits_processors):
        raise RequestError(
            f"logits_processors {logits_processors!r} is not a list of functions.",
            "Each takes (tokens, logits) and returns logits.",
        )
    check_verify(verify)
    stops = (stop,) if isinstance(stop, str) else stop
    if not isinstance(stops, Sequence) or not all(isinstance(s, str) and s for s in stops):
        raise RequestError(
            f"stop {stop!r} is not a non-empty text or a list of them.", "Leave it out, or give the text to stop at."
        )
    if not isinstance(drafts, str) or drafts not in get_args(Drafts):
        raise RequestError(f"drafts {drafts!r} is not known.", f"Use drafts={', '.join(map(repr, get_args(Drafts)))}.")
    automatic = isinstance(block_size, str) and block_size == "auto"
    trained = drafter.config.block_size if drafter and drafts != "copy" else 1
    by_copy = drafts == "copy" or (drafts == "auto" and automatic)
    by_tree = trained > 1 and (
        drafts == "tree" or (drafts == "auto" and automatic and verify == "fast" and not logits_processors)
    )
    if drafts == "tree":
        _check_tree(drafter, verify, logits_processors)
        block_size = MOST_COPIED if automatic else block_size
        automatic = False
    widest = max(trained, MOST_COPIED) if by_copy or by_tree else trained
    if automatic:
        width = None if widest > 1 else 1
    else:
        width = check_block_size(block_size, drafter, free=drafts in ("copy", "tree"))
    ids = _encoded(tokenizer, prompt, raw, system, thinking)
    vocabulary, positions = target.config.vocab_size, target.config.max_position_embeddings
    room = positions - len(ids)
    if not ids:
        raise RequestError("the prompt is empty.", "Say something to the model.")
    wrong = next((i for i in ids if not 0 <= i < vocabulary), None)
    if wrong is not None:
        raise RequestError(
            f"token id {wrong} is not one of the model's {vocabulary}.", "Encode the prompt with the model's own tokenizer."
        )
    if room < 1:
        raise RequestError(f"the prompt's {len(ids)} tokens fill the model's context of {positions}.", "Shorten the prompt.")
    return Request(
        prompt=ids,
        max_tokens=min(max_tokens, room),
        sampling=sampling,
        logits_processors=tuple(logits_processors),
        block_size=width,
        by_drafter=trained > 1,
        by_tree=by_tree,
        by_copy=by_copy,
        widest=width or widest,
        exact=verify == "exact",
        stop=tuple(stops),
        thinking=tokenizer.opens_thinking(ids),
    )


def _encoded(tokenizer: Tokenizer, prompt: Prompt, raw: bool, system: str | None, thinking: bool | None) -> list[int]:
    """The prompt's ids, with what goes with it through the chat template."""
    check_flag("raw", raw)
    if raw and not isinstance(prompt, str):
        raise RequestError("raw goes with a prompt that is text.", "Leave raw out: token ids are used as they are.")
    check_template_options(system, thinking)
    messages: Any = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if system is not None or thinking is not None:
        if raw or (isinstance(messages, Sequence) and not all(isinstance(message, dict) for message in messages)):
            name = "thinking" if system is None else "system"
            raise RequestError(f"{name} needs the chat template.", "Give text or messages as prompt, and leave raw out.")
    said = bool(prompt.strip() if isinstance(prompt, str) else messages)
    if said and system is not None and isinstance(messages, Sequence):
        if any(message.get("role") == "system" for message in messages):
            raise RequestError("the messages have a system message already.", "Leave system out, or take it from the messages.")
        prompt = [{"role": "system", "content": system}, *messages]
    variables = {} if thinking is None else {"enable_thinking": thinking}
    tokenizer.check_template(variables)
    return tokenizer.encode(prompt, raw, **variables)


def check_template_options(system: object, thinking: object) -> None:
    """Raises RequestError for a system message that is not text, and for thinking that is neither wanted nor not."""
    if not isinstance(system, str | None):
        raise RequestError(f"system {system!r} is not text.", "Give the system message as text, or leave it out.")
    if thinking is not None:
        check_flag("thinking", thinking)


def check_flag(name: str, value: object) -> None:
    """Raises RequestError for what is neither True nor False."""
    if not isinstance(value, bool):
        raise RequestError(f"{name} {value!r} is not True or False.", f"Use {name}=True or {name}=False, or leave it out.")


def check_progress(progress: object) -> None:
    """Raises RequestError for a progress that cannot be called."""
    if progress is not None and not callable(progress):
        raise RequestError(f"progress {progress!r} is not a function.", "Give one that can be called, or leave it out.")


def _check_tree(drafter: DFlash | None, verify: str, logits_processors: Sequence[LogitsProcessor]) -> None:
    """Raises RequestError where drafts cannot be a tree."""
    if drafter is None or drafter.config.block_size == 1:
        raise RequestError('drafts="tree" needs a drafter.', "Load one with the target, or leave drafts out.")
    if verify == "exact":
        raise RequestError('drafts="tree" is not exact.', 'Use verify="fast", or leave drafts out.')
    if logits_processors:
        raise RequestError('drafts="tree" does not go with logits processors.', "Leave drafts out: they go with chains.")


def check_block_size(block_size: Any, drafter: DFlash | None, free: bool = False) -> int:
    """A block size as it is given.

    Raises:
        RequestError: it is not a whole number from 1 to what the drafter was trained for, without one 1; where that does not
            bind, of copies and trees, to 16.
    """
    _check_whole("block_size", block_size)
    if free:
        if block_size > MOST_COPIED:
            raise RequestError(
                f"block_size {block_size} is more than the {MOST_COPIED} of a copy or a tree.", f"Use 1 to {MOST_COPIED}."
            )
        return int(block_size)
    if drafter is None and block_size > 1:
        raise RequestError(f"block_size {block_size} needs a drafter.", "Load one with the target, or use block_size=1.")
    if drafter and block_size > drafter.config.block_size:
        trained = drafter.config.block_size
        raise RequestError(
            f"block_size {block_size} is more than the {trained} this drafter was trained for.", f"Use 1 to {trained}."
        )
    return int(block_size)


def _check_whole(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RequestError(f"{name} {value!r} is not a whole number of 1 or more.", f"Try {name}=4.")


def check_verify(verify: str) -> None:
    """Raises RequestError for what is neither "fast" nor "exact"."""
    if not isinstance(verify, str) or verify not in ("fast", "exact"):
        raise RequestError(f"verify {verify!r} is not known.", 'Use verify="fast" or verify="exact".')
