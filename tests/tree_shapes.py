"""Trees of every form for tests: the parents of their rows."""

import random

SHAPES = ("chain", "bush", "comb", "two chains", "any")


def parents_of(shape: str, rows: int, seed: int = 0) -> list[int]:
    """Each row's parent, -1 for the first."""
    rng = random.Random(seed)
    of = {
        "chain": lambda row: row - 1,
        "bush": lambda row: 0,
        "comb": lambda row: max(0, row - 2),  # a spine with a leaf at every place
        "two chains": lambda row: 0 if row == (rows + 1) // 2 else row - 1,
        "any": lambda row: rng.randrange(row),
    }[shape]
    return [-1, *map(of, range(1, rows))]


def path_to(parents: list[int], row: int) -> list[int]:
    """The rows from the first to this one."""
    path = [row]
    while parents[path[0]] >= 0:
        path.insert(0, parents[path[0]])
    return path
