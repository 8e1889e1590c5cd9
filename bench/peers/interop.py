"""Does a drafter quantised by us draft the same in mlx-vlm, and one quantised by mlx-vlm the same here?

    python -m dflash_mlx.bench.peers.interop [--bits 4]

README.md beside this file has the environment that it needs. Both get the same features, anchors and positions, and have to draft
the same ids wherever mlx-vlm follows the published rules. Where it does not (`departure`) drafts are shown, not counted: there
ours are the recorded ones of z-lab's engine (tests/drafters/test_dflash.py). Exits 1 if a counted draft differs or a checkpoint
does not load.
"""

import argparse
import contextlib
import io
import sys
import tempfile
from collections import Counter
from functools import partial
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from dflash_mlx.checkpoint import read_config
from dflash_mlx.drafters import DFlash, DrafterConfig, load_drafter, new_drafter
from dflash_mlx.errors import DFlashError
from dflash_mlx.targets import Target, load_target
from dflash_mlx.training import save_drafter

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
TARGETS = {1: FIXTURES / "checkpoints" / "target_qwen3", 2: FIXTURES / "checkpoints" / "target_qwen3_5"}
VARIANTS: list[tuple[str, dict[str, Any]]] = [  # a fixture, and what its config.json is to say otherwise
    *((f"dflash{version}_{kind}", {}) for version in (2, 1) for kind in ("full", "swa", "swa_bidir")),
    ("dflash2_full", {"selector_rank": 64}),  # wide enough for mlx-vlm to quantise the codebooks, as 256 is
    ("dflash1_swa", {"is_causal": True}),
]
Round = tuple[mx.array, int, int, int]  # features [1, rows, taps * hidden] to append, anchor, its position, block width
LEGEND = {
    "default": "is_causal is missing: mlx-vlm takes sliding layers for bidirectional, they are causal",
    "window": "sliding, bidirectional: mlx-vlm masks no window, so a block that ends beyond the window sees too much",
    "ring": "sliding, causal, one row appended to a full window: mlx-vlm's ring turns and its mask does not",
    "logits": "the largest difference, in the counted rounds",
    "selector": "drafts that mlx-vlm's greedy path has otherwise: it asks no selector. Compared is its path that does",
}
ROW = "{:31} {:11} {:>12} {:>8} {:>8}  {}".format


def recorded_rounds(name: str) -> list[list[Round]]:
    """The recorded scenario (40 rows, then 1 to 8 at a time), and one that stays inside the window of 16."""
    expected = FIXTURES / "expected"
    with np.load(expected / f"{name}_rounds.npz") as rounds, np.load(expected / f"{name[:7]}_context.npz") as rows:
        anchors, widths = rounds["anchor"].tolist(), rounds["width"].tolist()
        features = [mx.array(rows[f"ctx_{r}"])[None] for r in range(len(widths))]
    short = mx.split(features[0][:, :8], [3, 4, 6, 7], axis=1)
    return [
        list(zip(parts, anchors, np.cumsum([part.shape[1] for part in parts]).tolist(), blocks))
        for parts, blocks in ((features, widths), (short, [8] * len(short)))
    ]


def departure(config: DrafterConfig, appended: int, position: int, width: int) -> str | None:
    """The entry of LEGEND by which mlx-vlm 0.7.10 sees other rows in a round than it should; None: it sees the right ones."""
    if "sliding_attention" not in config.layer_types or config.sliding_window is None:
        return None
    if config.is_causal:
        return "ring" if appended == 1 and position >= config.sliding_window else None
    if config.is_causal is None:
        return "default"
    return "window" if position + width > config.sliding_window else None


def compare(ours: DFlash, theirs: Any, target: Target, their_target: Any, rounds: list[Round], tally: Counter[str]) -> float:
    """Both engines through the same rounds: drafts go to the tally, the largest difference of counted logits comes back."""
    far, context, greedy = 0.0, ours.new_context(), partial(mx.argmax, axis=-1)
    caches = [theirs.reset(their_target) for _ in range(3)]  # one for each of their three ways to draft
    for features, anchor, start, width in rounds:
        first, position = mx.array([[anchor], [start]], mx.int32)
        context.reserve(start + width)
        ours.inject(features, context, position - features.shape[1])
        mine = ours.draft(first, context, position, width, target).ids
        logits = ours.logits(ours.hidden(first, context, position, width, target), target)
        other = theirs.draft_block(anchor, features, caches[0], width, greedy)[0]
        logits -= theirs(mx.array([[anchor] + [ours.config.mask_token_id] * (width - 1)]), features, caches[1])
        if (why := departure(ours.config, features.shape[1], start, width)) is None:
            far = max(far, float(np.abs(np.array(logits)).max()))
        tally[f"{why} same"] += int((mine == other).sum().item())
        tally[f"{why} all"] += width - 1
        skipping = theirs.draft_block_greedy(anchor, features, caches[2], width, greedy)[0]
        tally["selector"] += int((skipping != other).sum().item())
    return far


def write_float(name: str, says: dict[str, Any], folder: Path) -> None:
    """A fixture as floats under a changed config.json; a selector of another rank is random."""
    config = read_config(FIXTURES / "checkpoints" / name)
    for key, value in says.items():
        (config["dflash_config"] if key in config["dflash_config"] else config)[key] = value
    mx.random.seed(7)
    drafter, weights = new_drafter(DrafterConfig.from_dict(config)), load_drafter(FIXTURES / "checkpoints" / name).parameters()
    drafter.update({part: w for part, w in weights.items() if part != "candidate_selector" or "selector_rank" not in says})
    save_drafter(drafter, config, folder)


def report(name: str, says: dict[str, Any], bits: int, targets: dict[int, tuple[Target, Any]]) -> bool:
    """Prints a variant's rows, as floats and as each engine quantises it. Returns whether all that can agree agrees."""
    convert, load_theirs = import_module("mlx_vlm.convert").convert, import_module("mlx_vlm.speculative.drafters").load_drafter
    label, good = " ".join([name, *(f"{key}={value}" for key, value in says.items())]), True
    with tempfile.TemporaryDirectory() as temporary:
        folders = {writer: Path(temporary) / writer for writer in ("float", "dflash-mlx", "mlx-vlm")}
        write_float(name, says, folders["float"])
        save_drafter(load_drafter(folders["float"]), read_config(folders["float"]), folders["dflash-mlx"], bits)
        with contextlib.redirect_stdout(io.StringIO()):
            convert(str(folders["float"]), str(folders["mlx-vlm"]), quantize=True, q_bits=bits)
        for writer, folder in folders.items():
            try:
                ours, (theirs, _) = load_drafter(folder), load_theirs(str(folder))
            except (DFlashError, ValueError) as error:
                print(ROW(label, writer, "none", "", "", f"does not load: {getattr(error, 'message', error)}"))
                good = False
                continue
            tally = Counter[str]()
            far = max(compare(ours, theirs, *targets[ours.config.version], r, tally) for r in recorded_rounds(name))
            same, count = tally["None same"], tally["None all"]
            good = good and same == count
            apart = ", ".join(f"{tally[f'{d} same']}/{tally[f'{d} all']} {d}" for d in LEGEND if tally[f"{d} all"])
            equal = (f"{same}/{count}", f"{far:.0e}") if count else ("none can", "")
            print(ROW(label, writer, *equal, tally["selector"], apart))
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.peers.interop",
        description="Compare drafts with mlx-vlm's, each reading what the other quantised.",
    )
    parser.add_argument("--bits", type=int, default=4, choices=(2, 3, 4, 5, 6, 8))
    bits = parser.parse_args().bits
    if util.find_spec("mlx_vlm") is None:
        print("Skipped: mlx-vlm is not installed here.")
        return 0
    load_model = import_module("mlx_vlm.utils").load_model
    targets = {version: (load_target(folder), load_model(folder)) for version, folder in TARGETS.items()}
    print(f"mlx-vlm {metadata.version('mlx-vlm')}, mlx {metadata.version('mlx')}, {bits} bits in groups of 64\n")
    print(ROW("drafter", "written by", "drafts equal", "logits", "selector", "not counted: drafts equal, why"))
    good = [report(name, says, bits, targets) for name, says in VARIANTS]
    print("", *(f"{name:9} {what}" for name, what in LEGEND.items()), sep="\n")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
