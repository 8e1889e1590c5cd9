"""Whether a drafter was made for a target: by what both say of themselves, and by trying a cycle."""

import mlx.core as mx

from dflash_mlx.decoding.prefill import prefill
from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.decoding.sequence import Offer, TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import CheckpointError, DFlashError, PairMismatchError
from dflash_mlx.targets import Target


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
            drafted = sequence.draft(anchor, Offer(width), sampler)
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
        f"{what}: these two were not made for each other.", "Use the drafter made for this target, or drafter=None."
    )
