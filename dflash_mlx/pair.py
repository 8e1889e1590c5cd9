"""A target, the drafter made for it, and their tokenizer: loaded, checked against each other, ready for requests."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import mlx.core as mx

from dflash_mlx.checkpoint import materialise, read_config, size_in_memory
from dflash_mlx.decoding import calibration
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.decoding.kernel_choice import Choice, Wanted, check_wanted, choose
from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import LogitsProcessor, Sampler, Sampling, read_default_sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.decoding.whole_cycles import use_kernels
from dflash_mlx.drafters import DFlash, load_drafter
from dflash_mlx.errors import CheckpointError, DFlashError, PairMismatchError, RequestError
from dflash_mlx.generation import Chunk, Generation, check_verify, generate_stream, new_request
from dflash_mlx.hub import resolve_pair
from dflash_mlx.kernels import source_of
from dflash_mlx.memory import Need, estimate
from dflash_mlx.memory import check as check_memory
from dflash_mlx.targets import Target, load_target
from dflash_mlx.text import Prompt, Tokenizer

SHORTEST_CONTEXT = 1024  # positions that must fit for a pair to be worth loading


class Pair:
    """A loaded pair. Get one from `load`."""

    def __init__(
        self,
        target: Target,
        drafter: DFlash | None,
        tokenizer: Tokenizer,
        default_sampling: Sampling,
        need: Callable[[int, int, int, bool], Need] | None = None,
        kernels: Choice | None = None,
    ) -> None:
        """Holds what `load` has checked.

        Args:
            default_sampling: for requests that give none.
            need: as `memory.estimate` without the pair's own arguments; None: do not ask.
            kernels: which are in use, and why not others.
        """
        self.target, self.drafter, self.tokenizer, self._need = target, drafter, tokenizer, need
        self.default_sampling = default_sampling
        self.kernels = kernels or Choice()
        self._costs_of: dict[bool, Costs] = {}  # by whether verification is exact

    def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
        block_size: int | Literal["auto"] = "auto",
        stop: str | Sequence[str] = (),
        verify: Literal["fast", "exact"] = "fast",
        raw: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[Chunk]:
        """Answers a prompt, a chunk a cycle. Closing the iterator ends the request.

        Args:
            prompt: text (one user message), messages with `role` and `content`, or token ids, used as they are.
            max_tokens: the most tokens to generate.
            sampling: how tokens are chosen; None: as the checkpoint's generation_config.json says (`default_sampling`).
            logits_processors: functions of the text's tokens so far (int32 `[n]`) and the logits after them (`[1, vocab]`)
                that give other logits, as mlx-lm has them. They are also called for drafts that may be dropped.
            block_size: rows a cycle (the newest token and the drafts), 1 to the drafter's trained size; 1 is plain
                decoding; "auto": what gives the most tokens a second, measured on this machine.
            stop: texts that end the answer; they are not part of it.
            verify: "fast", or "exact": bit for bit plain decoding, computed row by row where MLX's ops make it necessary.
            raw: a text prompt goes to the model without the chat template.
            progress: called while the prompt is read, with tokens done and tokens in all.

        Raises:
            RequestError: at once, before the first chunk, when the request cannot be served as asked.
            MemoryBudgetError: likewise, when it does not fit into this machine's memory.
        """
        request = new_request(
            self.target,
            self.drafter,
            self.tokenizer,
            prompt,
            max_tokens=max_tokens,
            sampling=self.default_sampling if sampling is None else sampling,
            logits_processors=logits_processors,
            block_size=block_size,
            stop=stop,
            verify=verify,
            raw=raw,
        )
        if self._need:
            tokens = len(request.prompt)
            check_memory(self._need(tokens + request.max_tokens, request.widest, tokens, request.exact))
        costs = partial(self._costs, request.exact)
        return generate_stream(self.target, self.drafter, self.tokenizer, request, costs, progress, self.kernels.reason)

    def generate(
        self,
        prompt: Prompt,
        *,
        max_tokens: int = 256,
        sampling: Sampling | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
        block_size: int | Literal["auto"] = "auto",
        stop: str | Sequence[str] = (),
        verify: Literal["fast", "exact"] = "fast",
        raw: bool = False,
    ) -> Generation:
        """The whole answer to a prompt. Arguments and errors as for `stream`."""
        chunks = list(
            self.stream(
                prompt,
                max_tokens=max_tokens,
                sampling=sampling,
                logits_processors=logits_processors,
                block_size=block_size,
                stop=stop,
                verify=verify,
                raw=raw,
            )
        )
        return Generation(
            text="".join(chunk.text for chunk in chunks),
            token_ids=tuple(token for chunk in chunks for token in chunk.token_ids),
            finish_reason=chunks[-1].finish_reason,
            statistics=chunks[-1].statistics,
        )

    def calibrate(
        self, verify: Literal["fast", "exact"] = "fast", progress: Callable[[int, int], None] | None = None
    ) -> Costs | None:
        """Measures what cycles cost on this machine, if that is not known yet: a second or two, kept in the user's cache folder.

        The first request with an automatic block size does it too, before its first token.

        Args:
            progress: called with measurements done and in all, if it comes to measuring.

        Returns:
            The costs; None: there is nothing to choose between.
        """
        check_verify(verify)
        return self._costs(verify == "exact", progress) if self.drafter and self.drafter.config.block_size > 1 else None

    def _costs(self, exact: bool, progress: Callable[[int, int], None] | None = None) -> Costs:
        if exact not in self._costs_of:
            assert self.drafter
            sizes = size_in_memory(self.target.module), size_in_memory(self.drafter)
            kernels = self.target.kernels
            used = sorted((name, sorted(rows), source_of(name)) for name, rows in kernels.rows.items())
            bits = sorted(kernels.row_invariant), sorted(kernels.exact)
            file = calibration.file_for(self.target.config, self.drafter.config, *sizes, exact, used, bits)
            costs = calibration.cached(file)
            if costs is None:
                costs, undisturbed = calibration.calibrate(self.target, self.drafter, exact, progress)
                if undisturbed:
                    calibration.save(costs, file)
            self._costs_of[exact] = costs
        return self._costs_of[exact]


def load(
    target: str | Path,
    drafter: str | Path | None = "auto",
    drafter_bits: int | None = None,
    force: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    kernels: Wanted = "auto",
) -> Pair:
    """Loads a target and its drafter.

    Args:
        target: "demo" (the embedded pair), a folder, or a Hub id like "owner/model" or "owner/model@revision".
        drafter: "auto" (the one in the target's own folder `drafter/`, else the one known to be made for it), a
            folder, a Hub id, or None for plain decoding only.
        drafter_bits: quantise the drafter's projections to this many bits while loading; one that is quantised stays as it is.
        force: do not ask whether the pair and its requests fit into this machine's memory.
        progress: called with the part at work ("target", "drafter", "tokenizer", "first cycle"), parts done, parts in
            all; before a download with "download of NAME", 0, and the bytes to come: the Hub's library shows its own
            progress then; and with "kernels", steps done and in all, if kernels are measured.
        kernels: Metal kernels to use: "auto": those that are known to be right and faster on this machine, measured at first
            use of a model and kept in the user's cache folder; "mlx": none, MLX's own ops; names: those, faster or not.

    Raises:
        ModelNotFoundError: a name leads nowhere.
        UnsupportedModelError: a checkpoint is of a kind this runtime does not run.
        CheckpointError: a checkpoint is damaged.
        PairMismatchError: the drafter was made for another target.
        MemoryBudgetError: the pair does not fit into this machine's memory, or a download onto its disk.
        RequestError: a name is no text or Path, `drafter_bits` is not a width MLX quantises to, or `kernels` are unknown or
            have no Metal to run on.
    """
    for name in (target, *([] if drafter is None else [drafter])):
        if not isinstance(name, str | Path):
            raise RequestError(f"{name!r} is no name of a model.", "Give a folder or a Hub id as text or Path.")
    if drafter is None and drafter_bits is not None:
        raise RequestError(f"drafter_bits {drafter_bits!r} needs a drafter.", "Leave it out, or load a drafter.")
    check_wanted(kernels)
    tell = progress or (lambda part, done, total: None)
    folders = resolve_pair(target, drafter, lambda name, size: tell(f"download of {name}", 0, size))
    tell("target", 0, 4)
    loaded = load_target(folders.target, lazy=True)
    loaded_drafter = load_drafter(folders.drafter, drafter_bits, lazy=True) if folders.drafter else None
    if loaded_drafter:
        check_fit(loaded, loaded_drafter)
    need = partial(
        estimate,
        read_config(folders.target),
        size_in_memory(loaded.module),
        read_config(folders.drafter) if folders.drafter else None,
        size_in_memory(loaded_drafter) if loaded_drafter else 0,
    )
    if not force:
        check_memory(need(SHORTEST_CONTEXT))
    materialise(loaded.module, folders.target)
    tell("drafter", 1, 4)
    if loaded_drafter and folders.drafter:
        materialise(loaded_drafter, folders.drafter)
    tell("tokenizer", 2, 4)
    tokenizer = Tokenizer(folders.target)
    tell("first cycle", 3, 4)
    check_cycle(loaded, loaded_drafter)
    tell("first cycle", 4, 4)
    choice = choose(loaded, loaded_drafter, kernels, partial(tell, "kernels"))
    use_kernels(loaded, loaded_drafter, choice.kernels)
    return Pair(loaded, loaded_drafter, tokenizer, read_default_sampling(folders.target), None if force else need, choice)


def check_cycle(target: Target, drafter: DFlash | None) -> None:
    """Runs the target, then a whole cycle, on a few tokens.

    Raises:
        CheckpointError: the target cannot be run, or either gives something other than finite numbers.
        PairMismatchError: the target runs and the cycle does not, whatever their configs say.
    """
    sampler = Sampler(Sampling(), target.config.vocab_size)
    try:
        plain = TokenSequence(target, None)
        anchor = prefill(plain, [0, 1, 2], sampler)
        plain.reserve(1)
        logits = {"target": plain.logits(plain.forward(anchor))}
        mx.eval(logits)
    except (ValueError, RuntimeError, TypeError, OverflowError) as error:
        if "Compile::" in str(error) or "filesystem error" in str(error):
            raise DFlashError(
                f"MLX cannot compile for this device ({error}).",
                "Set TMPDIR to a folder you may write to, or MLX_DISABLE_COMPILE=1.",
            ) from error
        raise CheckpointError(
            f"the target cannot be run ({error}).", "Get the model's files again, or another conversion."
        ) from error
    if drafter:
        try:
            sequence, width = TokenSequence(target, drafter), drafter.config.block_size
            anchor = prefill(sequence, [0, 1, 2], sampler)
            drafted = sequence.draft(anchor, width, sampler)
            sequence.reserve(width)
            mx.eval(sequence.forward(mx.concatenate([anchor, drafted.ids])))
            position = mx.array([sequence.position], mx.int32)
            hidden = drafter.hidden(anchor, sequence.context, position, width, target)  # type: ignore[arg-type]
            logits["drafter"] = drafter.logits(hidden, target)
            mx.eval(logits)
        except (ValueError, RuntimeError, TypeError, OverflowError) as error:
            raise _mismatch(f"a cycle of this pair fails ({error})") from error
    wrong = [name for name, values in logits.items() if not mx.isfinite(values).all().item()]
    if wrong:
        raise CheckpointError(f"the {wrong[0]}'s logits are not finite numbers.", "Get its files again, or another conversion.")


def check_fit(target: Target, drafter: DFlash) -> None:
    """Raises PairMismatchError where the drafter's sizes or taps are not this target's, naming both numbers."""
    ours, theirs = target.config, drafter.config
    layers = ours.num_hidden_layers
    for what, wanted, found in (
        ("hidden size", theirs.hidden_size, ours.hidden_size),
        ("a vocabulary of", theirs.vocab_size, ours.vocab_size),
    ):
        if wanted is not None and wanted != found:
            raise _mismatch(f"the drafter expects {what} {wanted}, the target has {found}")
    # some count the target's multi-token-prediction layer too
    if theirs.num_target_layers not in (None, layers, layers + 1):
        raise _mismatch(f"the drafter expects {theirs.num_target_layers} target layers, the target has {layers}")
    if max(theirs.target_layer_ids) >= layers:
        raise _mismatch(f"the drafter reads target layer {max(theirs.target_layer_ids)}, the target's last is {layers - 1}")
    if theirs.mask_token_id >= ours.vocab_size:
        raise _mismatch(
            f"the drafter's mask token is {theirs.mask_token_id}, the target's vocabulary ends at {ours.vocab_size - 1}"
        )


def _mismatch(what: str) -> PairMismatchError:
    return PairMismatchError(
        f"{what}: these two were not made for each other.", "Use the drafter made for this target, or none (--drafter none)."
    )
