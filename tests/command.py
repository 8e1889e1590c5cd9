"""What the tests of the command line share."""

from typing import NamedTuple

PROMPT = "What is the anchor?"  # the demo pair knows, in about fifty tokens

# The command, on a demo pair that never ends its answer: there is always something left to interrupt.
ENDLESS = """
import dflash_mlx
from dflash_mlx.cli import main

load = dflash_mlx.load

def load_endless(*arguments, **options):
    pair = load(*arguments, **options)
    pair.tokenizer.eos_token_ids = frozenset()
    return pair

dflash_mlx.load = load_endless
main()
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str
