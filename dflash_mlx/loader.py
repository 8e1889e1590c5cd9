"""From names to a `Pair`: found, read, checked against each other and this machine, its kernels chosen."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from dflash_mlx.checkpoint import materialise, read_config, size_in_memory
from dflash_mlx.conversation.fingerprint import fingerprint
from dflash_mlx.decoding.device import Device
from dflash_mlx.decoding.sampling import read_default_sampling
from dflash_mlx.drafters import Bits, bits_at_load, check_bits, load_drafter
from dflash_mlx.errors import RequestError
from dflash_mlx.generation import check_flag, check_progress
from dflash_mlx.kernels.projections import unpack
from dflash_mlx.loading.fit import check_cycle, check_fit
from dflash_mlx.loading.hub import PairFolders, resolve_pair
from dflash_mlx.loading.known_pairs import without_drafter
from dflash_mlx.loading.memory import check as check_memory
from dflash_mlx.loading.memory import estimate
from dflash_mlx.pair import Pair
from dflash_mlx.targets import load_target
from dflash_mlx.targets.row_invariance import backend
from dflash_mlx.text import Tokenizer
from dflash_mlx.tuning.kernel_choice import Wanted, check_wanted, choose
from dflash_mlx.tuning.whole_cycles import use_kernels

SHORTEST_CONTEXT = 1024  # positions that must fit for a pair to be worth loading


def load(
    target: str | Path,
    drafter: str | Path | None = "auto",
    drafter_bits: Bits = "auto",
    force: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    kernels: Wanted = "auto",
) -> Pair:
    """Loads a target and its drafter.

    Args:
        target: "demo" (the embedded pair), a folder, a Hub id like "owner/model" or "owner/model@revision", or the name of
            a known pair as `dflash-mlx models` lists it, like "Qwen3.5-9B".
        drafter: "auto" (the one in the target's own folder `drafter/`, else the one known to be made for it; where none
            is known, decoding is plain and `Statistics.mode_reason` says so), a folder, a Hub id, the name of a known pair,
            or None for plain decoding only.
        drafter_bits: quantise the drafter's projections to this many bits while loading (norms, convolution base kernels and
            codebooks stay); "auto": to 4 for a target that is quantised; None: not. One that is quantised stays as it is.
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
        RequestError: a name is neither text nor Path, `drafter_bits` is not a width MLX quantises to, or `kernels` are unknown or
            have no Metal to run on.
    """
    for name in (target, *([] if drafter is None else [drafter])):
        if not isinstance(name, str | Path):
            raise RequestError(f"{name!r} is not the name of a model.", "Give a folder or a Hub id as text or Path.")
    check_bits(drafter_bits)
    if drafter is None and drafter_bits not in ("auto", None):
        raise RequestError(f"drafter_bits {drafter_bits!r} needs a drafter.", "Leave it out, or load a drafter.")
    check_wanted(kernels)
    check_progress(progress)
    check_flag("force", force)
    tell = progress or (lambda part, done, total: None)
    folders = resolve_pair(target, drafter, lambda name, size: tell(f"download of {name}", 0, size))
    device = Device()
    asked = target if drafter == "auto" else None
    return device.do(partial(_load, device, folders, asked, drafter_bits, force, tell, kernels))


def _load(
    device: Device,
    folders: PairFolders,
    asked: str | Path | None,
    drafter_bits: Bits,
    force: bool,
    tell: Callable[[str, int, int], None],
    kernels: Wanted,
) -> Pair:
    """asked: the target's name, where its drafter was to be found by it."""
    tell("target", 0, 4)
    config = read_config(folders.target)
    target = load_target(folders.target, lazy=True, config=config)
    drafter, drafter_config, bits = None, None, None
    if folders.drafter:
        drafter_config = read_config(folders.drafter)
        bits = bits_at_load(drafter_bits, drafter_config, config)
        drafter = load_drafter(folders.drafter, bits, lazy=True, config=drafter_config)
    if drafter:
        check_fit(target, drafter)
    drafter_size = size_in_memory(drafter) if drafter else 0
    need = partial(estimate, config, size_in_memory(target.module), drafter_config, drafter_size)
    if not force:
        check_memory(need(SHORTEST_CONTEXT))
    materialise(target.module, folders.target)
    tell("drafter", 1, 4)
    if drafter and folders.drafter:
        materialise(drafter, folders.drafter)
    tell("tokenizer", 2, 4)
    tokenizer = Tokenizer(folders.target, config)
    if backend() == "reference":
        unpacked = unpack([*target.linear_layers, *(drafter.linear_layers if drafter else ())])
        need = partial(estimate, config, size_in_memory(target.module) + unpacked, drafter_config, drafter_size)
    tell("first cycle", 3, 4)
    check_cycle(target, drafter)
    tell("first cycle", 4, 4)
    choice = choose(target, drafter, kernels, partial(tell, "kernels"))
    use_kernels(target, drafter, choice.kernels)
    identity = partial(fingerprint, *folders, bits)
    return Pair(
        *(device, target, drafter, tokenizer, read_default_sampling(folders.target), identity, None if force else need, choice),
        without_drafter(asked, config) if asked and not drafter else None,
    )
