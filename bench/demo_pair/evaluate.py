"""How right and how fast the demo pair is, on prompts that training never saw: other seeds and other phrasings.

python -m dflash_mlx.bench.demo_pair.evaluate FOLDER              a folder with target/ and drafter/
python -m dflash_mlx.bench.demo_pair.evaluate FOLDER --wrong 10   also shows ten wrong answers
"""

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from dflash_mlx import load

from .convert import load_dequantised
from .functions import MANY, ONE
from .rollout import LIMIT, Rollout, make_dialogues, rollouts
from .text import ARITHMETIC, Turn, render
from .tokenizer import IM_END, encode

SEED = 424242  # training draws from other ones
EACH = 80  # prompts of a kind, half of them with thinking on
DRAFTED = 60  # prompts for the acceptance length


def answer_of(rollout: Rollout, tokenizer: Tokenizer) -> str:
    return tokenizer.decode(rollout.ids[rollout.prompt_length :], skip_special_tokens=False).removesuffix(IM_END)


def is_right(turn: Turn, text: str) -> bool:
    """Whether an answer gives the right result. Answers about the program have to be the known ones, word for word."""
    said = text.split("</think>")[-1].strip()
    if turn.kind in ARITHMETIC:
        return said.endswith(f"The answer is {turn.result}.")
    if turn.kind == "units":
        return said.endswith((f" are {turn.result}.", f" is {turn.result}."))
    if turn.kind == "code":
        return behaviour(said) == behaviour(f"```python\n{turn.result}\n```")
    return said == turn.result


def behaviour(answer: str) -> str | None:
    """What the function in an answer returns for a few inputs; None if there is none. It runs in a process of its own."""
    found = re.search(r"```python\n(def (\w+)\((\w+)\):\n.*?)\n```", answer, re.DOTALL)
    if not found:
        return None
    code, name, argument = found.groups()
    numbers, words = [-3, 0, 2, 4, 9, 12, 360], ["hello", "a b", "Area"]
    inputs = [numbers, numbers[::-1], [5, 5, 7]] if argument in MANY else numbers if argument in ONE else words
    program = f"{code}\nprint([{name}(x) for x in {inputs!r}])"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=20)
    return f"{argument}: {done.stdout}" if done.returncode == 0 else None


def count_right(answers: Sequence[Rollout], tokenizer: Tokenizer) -> dict[str, tuple[int, int]]:
    """Right answers and answers in all: by kind, for arithmetic as a whole, and with thinking on and off."""
    counts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for rollout in answers:
        kind = rollout.made.last.kind
        right = rollout.ended and is_right(rollout.made.last, answer_of(rollout, tokenizer))
        groups = [kind, "thinking on" if rollout.made.thinking else "thinking off"]
        for group in groups + ["arithmetic"] * (kind in ARITHMETIC):
            good, total = counts[group]
            counts[group] = good + right, total + 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.demo_pair.evaluate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong answers")
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.folder / "target" / "tokenizer.json"))

    asked = [
        made
        for place, kind in enumerate([*ARITHMETIC, "units", "code", "about", "else"])
        for thinking in (False, True)
        for made in make_dialogues(SEED + place, EACH // 2, "held-out", kind, thinking)
    ]
    answers = rollouts(load_dequantised(options.folder / "target"), tokenizer, asked, (), progress=lambda _: None)
    for name, (right, total) in count_right(answers, tokenizer).items():
        print(f"{name:13}{right:5} of {total:4} right, {right / total:.1%}", flush=True)
    wrong = [a for a in answers if not is_right(a.made.last, answer_of(a, tokenizer))]
    for rollout in wrong[:: max(1, len(wrong) // options.wrong)] if options.wrong else ():
        print("-" * 60, rollout.made.last.question, answer_of(rollout, tokenizer), f"WANTED {rollout.made.last.result}", sep="\n")

    pair = load(options.folder)
    prompts = [encode(tokenizer, render(made)[:-1])[0] for made in make_dialogues(SEED, DRAFTED, "held-out")]
    plain = [pair.generate(prompt, max_tokens=LIMIT, block_size=1).token_ids for prompt in prompts]
    for block_size in (4, 8):
        drafted = [pair.generate(prompt, max_tokens=LIMIT, block_size=block_size) for prompt in prompts]
        after_first = sum(answer.statistics.generated_tokens - 1 for answer in drafted)
        length = after_first / sum(answer.statistics.cycles for answer in drafted)
        equal = sum(answer.token_ids == ids for answer, ids in zip(drafted, plain))
        print(
            f"block size {block_size}: acceptance length {length:.2f}, {equal} of {len(prompts)} answers equal plain decoding's"
        )


if __name__ == "__main__":
    main()
