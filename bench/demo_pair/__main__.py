"""Makes the demo pair: tokenizer, target, the target's answers, drafters. See README.md beside this file."""

import argparse
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from .convert import convert_target, load_dequantised
from .drafter import TAPS, make_drafter
from .rollout import make_dialogues, rollouts
from .tokenizer import save_tokenizer, train_tokenizer

HERE = Path(__file__).parent
ANSWERS, CORPUS_SEED = 1600, 5  # of the target, for the drafters to learn from
DRAFTER_STEPS = {"drafter": 1300, "drafter_weak": 90}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dflash_mlx.bench.demo_pair", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="gets target/, drafter/, drafter_weak/ and README.md")
    options = parser.parse_args()
    if find_spec("torch") is None:
        parser.error("torch is not installed here: pip install -e '.[demo-pair]'")
    from .target import train_target  # not at the top: --help needs no torch

    start = time.monotonic()

    def progress(text: str) -> None:
        print(f"{(time.monotonic() - start) / 60:6.2f} min  {text}", flush=True)

    target = options.out / "target"
    target.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer()
    save_tokenizer(tokenizer, target)
    with tempfile.TemporaryDirectory() as folder:
        train_target(tokenizer, Path(folder), progress)
        convert_target(Path(folder), target)
    model = load_dequantised(target)
    answers = rollouts(model, tokenizer, make_dialogues(CORPUS_SEED, ANSWERS, "training"), TAPS, progress=progress)
    examples = [answer.example() for answer in answers if answer.ended]
    for name, steps in DRAFTER_STEPS.items():
        make_drafter(model, examples, options.out / name, steps, progress=progress)
    shutil.copy(HERE / "CARD.md", options.out / "README.md")
    progress("done")


if __name__ == "__main__":
    main()
