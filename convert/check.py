"""Holds a converted checkpoint against its source: tensors, logits over a built-in text, a drafter's acceptance length."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dflash_mlx.checkpoint import read_config, size_in_memory
from dflash_mlx.conversation.fingerprint import fingerprint
from dflash_mlx.decoding.sampling import Sampling
from dflash_mlx.drafters import DFlash, load_drafter
from dflash_mlx.errors import CheckpointError, MemoryBudgetError, ModelNotFoundError, RequestError
from dflash_mlx.loader import load
from dflash_mlx.loading.fit import check_cycle, check_fit
from dflash_mlx.loading.memory import GB, available, estimate
from dflash_mlx.loading.memory import check as check_memory
from dflash_mlx.pair import Pair
from dflash_mlx.targets import load_target
from dflash_mlx.text import Tokenizer

from .divergence import divergence, room_needed
from .models import source_drafter, source_target
from .recipes import Recipe
from .tensor_errors import tensor_errors

Progress = Callable[[str, int, int], None]

TOKENS = 128  # of each calibration text
SEPARATOR = "\n=====\n"  # between calibration texts
PROMPTS = (
    "Explain in three sentences why the sky is blue.",
    "Write a Python function that returns the n-th Fibonacci number.",
    "A shop sells 3 pens for 2 euros. What do 18 pens cost? Think step by step.",
    "用三句话介绍一下长城。",
)
ANSWER = 64  # tokens that follow each prompt
POSITIONS = 256  # enough for a prompt and its answer


@dataclass(frozen=True)
class Report:
    """How near a result is to its source. What is None or empty was not measured; `notes` say why if it was due.

    Attributes:
        errors: for each kind of tensors, the root of the sum of squares of the difference over that of the source.
        hidden_errors: the same for a target's hidden states, after each layer.
        top1: the share of calibration tokens after which both find the same token most likely.
        kl: the mean KL(source || result) of the next token's distribution, in nats.
        acceptance_before, acceptance_after: tokens a cycle with the source and with the result as drafter.
        good_top1, good_kl: from and up to where the two are good for as many bits; None: that is not known.
    """

    errors: dict[str, float]
    hidden_errors: tuple[float, ...] = ()
    top1: float | None = None
    kl: float | None = None
    acceptance_before: float | None = None
    acceptance_after: float | None = None
    notes: tuple[str, ...] = ()
    good_top1: float | None = None
    good_kl: float | None = None

    def table(self) -> str:
        """The report for people, as Markdown."""
        good_top1 = f" (good: from {self.good_top1:.0%})" if self.good_top1 else ""
        good_kl = f" (good: up to {self.good_kl:g})" if self.good_kl else ""
        rows = [("check", "result")]
        rows += [(f"error of {kind}", f"{error:.2%}") for kind, error in self.errors.items()]
        if self.hidden_errors:
            rows.append(("error of the last hidden states", f"{self.hidden_errors[-1]:.2%}"))
        for name, figure, form in (
            (f"top-1 agreement{good_top1}", self.top1, ".1%"),
            (f"mean KL divergence, nats{good_kl}", self.kl, ".5f"),
            ("acceptance length before", self.acceptance_before, ".2f"),
            ("acceptance length after", self.acceptance_after, ".2f"),
        ):
            if figure is not None:
                rows.append((name, format(figure, form)))
        left, right = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [f"| {name:{left}} | {figure:>{right}} |" for name, figure in rows]
        lines.insert(1, f"| {'-' * left} | {'-' * (right - 1)}: |")
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)]) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The report for programs, as JSON can hold it."""
        return asdict(self)


def check_target(source: Path, result: Path, progress: Progress | None = None) -> Report:
    """Compares a converted target with its source: every tensor, then logits, layer by layer.

    Args:
        progress: called with the stage ("tensors": in bytes, "layers"), what is done of it and in all.

    Raises:
        CheckpointError: the two are not of one model, or hold or give numbers that are not finite.
    """
    tell = progress or (lambda stage, done, total: None)
    before, after = partial(source_target, source), partial(load_target, result, lazy=True)
    errors = tensor_errors(lambda: before().module, lambda: after().module, partial(tell, "tensors"))
    needed, room = room_needed(before) + room_needed(after), available()
    if needed > room:
        why = f"its largest layer needs {needed / GB:.1f} GB, this machine offers {room / GB:.1f} GB."
        return Report(errors, notes=(f"Logits were not compared: {why}",))
    try:
        texts = calibration_ids(result, after().config.vocab_size)
    except (ModelNotFoundError, CheckpointError) as error:
        return Report(errors, notes=(f"Logits were not compared: {error.message}",))
    found = divergence(before, after, texts, partial(tell, "layers"))
    return Report(errors, found.hidden_errors, found.top1, found.kl)


def check_drafter(source: Path, result: Path, target: Path | None, progress: Progress | None = None) -> Report:
    """Compares a converted drafter with its source: every tensor, then how many tokens a cycle of the target gains by each.

    Args:
        target: a folder; None: only tensors are compared.
        progress: called with the stage ("tensors": in bytes, "acceptance before", "acceptance after": in prompts), what is
            done of it and in all.

    The whole target is loaded for that; what keeps it from being loaded is noted in the report.

    Raises:
        CheckpointError: the two are not of one model, or hold or give numbers that are not finite.
        PairMismatchError: they were not made for this target.
    """
    tell = progress or (lambda stage, done, total: None)
    before, after = partial(source_drafter, source), partial(load_drafter, result, lazy=True)
    errors = tensor_errors(before, after, partial(tell, "tensors"))
    if target is None:
        return Report(errors, notes=("Acceptance was not measured: no target was given.",))
    try:
        alone = load(target, drafter=None, kernels="mlx")
    except (MemoryBudgetError, ModelNotFoundError, CheckpointError, RequestError) as error:
        return Report(errors, notes=(f"Acceptance was not measured: {error.message}",))
    try:
        lengths = [
            _acceptance_length(_with_drafter(alone, drafter(), target, result), partial(tell, f"acceptance {when}"))
            for drafter, when in ((before, "before"), (after, "after"))
        ]
    except (MemoryBudgetError, RequestError) as error:
        return Report(errors, notes=(f"Acceptance was not measured: {error.message}",))
    return Report(errors, acceptance_before=lengths[0], acceptance_after=lengths[1])


def doubts(report: Report, recipe: Recipe) -> list[str]:
    """Sentences on what is much further from the source than a recipe usually brings it."""
    bits = recipe.precision  # errors of weights are about 1.4 * 2**-bits
    found = [f"the error of {kind} is {error:.1%}" for kind, error in report.errors.items() if error > 4 * 2.0**-bits]
    if report.kl is not None and report.kl > 2.0 ** (4 - bits):
        found.append(f"the mean KL divergence is {report.kl:.3f} nats")
    return [f"This result may be ruined: {what}, more than {recipe.name} usually costs." for what in found]


def missed(report: Report, recipe: Recipe) -> list[str]:
    """A sentence on what is not `good` of a result, and what to do; none where nothing is."""
    top1, kl = good(recipe)
    found = []
    if top1 and report.top1 is not None and report.top1 < top1:
        found.append(f"the top-1 agreement is {report.top1:.1%} (good: from {top1:.0%})")
    if kl and report.kl is not None and report.kl > kl:
        found.append(f"the mean KL divergence is {report.kl:.5f} nats (good: up to {kl:g})")
    if recipe.base is None:
        remedy = "keep the source's dtype"
    elif recipe.base.bits == 8:
        remedy = "use smaller groups or the recipe float"
    else:
        remedy = "use more bits, smaller groups or the recipe quality"
    return [f"The check is missed: {' and '.join(found)}; {remedy}."] if found else []


def good(recipe: Recipe) -> tuple[float | None, float | None]:
    """From which top-1 agreement, and up to which KL divergence in nats, a result is good for a recipe's bits.

    That is what MLX's affine mode costs Qwen3.6-27B over WikiText, rounded up (github.com/asher/mlx-kld, examples/qwen3.6-27b);
    at 8 bits projected from 6: of weights four times as fine, a sixteenth of the nats and a quarter of the other tokens.
    """
    known = {3: (0.79, 0.22), 4: (0.89, 0.06), 5: (0.94, 0.022), 6: (0.96, 0.01), 8: (0.99, 0.001)}
    return known.get(min(recipe.precision, 8), (None, None))


def calibration_ids(folder: Path, vocab_size: int) -> list[list[int]]:
    """The calibration texts (English, code, mathematics, Chinese) in tokens of a model folder, `TOKENS` of each at most.

    Raises:
        ModelNotFoundError, CheckpointError: the folder has no tokenizer, or one that is not the model's.
    """
    tokenizer = Tokenizer(folder)
    texts = Path(__file__).with_name("calibration.txt").read_text(encoding="utf-8").split(SEPARATOR)
    ids = [tokenizer.encode(text, raw=True)[:TOKENS] for text in texts]
    if not all(ids) or max(map(max, ids)) >= vocab_size:
        raise CheckpointError(
            f"the tokenizer in {folder} does not match the model's {vocab_size} tokens.", "Get the model's own tokenizer."
        )
    return ids


def _with_drafter(alone: Pair, drafter: DFlash, target: Path, result: Path) -> Pair:
    """A loaded target with a drafter, if they fit each other and into memory; their configs are read from the folders."""
    check_fit(alone.target, drafter)
    sizes = size_in_memory(alone.target.module), size_in_memory(drafter)
    check_memory(estimate(read_config(target), sizes[0], read_config(result), sizes[1], POSITIONS))
    check_cycle(alone.target, drafter)
    identity = partial(fingerprint, target, result, None)
    return Pair(alone.device, alone.target, drafter, alone.tokenizer, alone.default_sampling, identity)


def _acceptance_length(pair: Pair, progress: Callable[[int, int], None]) -> float:
    """Tokens a cycle, in greedy answers to `PROMPTS` with blocks of the trained size."""
    assert pair.drafter
    tokens = cycles = 0
    for done, prompt in enumerate(PROMPTS):
        progress(done, len(PROMPTS))
        ids = _prompt_ids(pair.tokenizer, prompt)
        block_size = pair.drafter.config.block_size
        statistics = pair.generate(ids, max_tokens=ANSWER, sampling=Sampling(), block_size=block_size).statistics
        tokens, cycles = tokens + statistics.generated_tokens - 1, cycles + statistics.cycles
    progress(len(PROMPTS), len(PROMPTS))
    return tokens / max(cycles, 1)


def _prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    try:
        return tokenizer.encode(prompt)
    except RequestError:  # there is no chat template
        return tokenizer.encode(prompt, raw=True)
