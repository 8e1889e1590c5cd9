"""Where recorded data is, and small helpers to read it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import dflash_mlx

FIXTURES = Path(__file__).parent / "fixtures"
CHECKPOINTS = FIXTURES / "checkpoints"
DEMO = Path(dflash_mlx.__file__).parent / "demo"
WEAK_DRAFTER = FIXTURES / "demo_drafter_weak"
SHALLOW = FIXTURES / "shallow_pair"  # trained too, of 4 layers: what needs many answers and no particular pair takes it


def expected(name: str) -> dict[str, np.ndarray]:
    """The arrays of `expected/NAME.npz`."""
    with np.load(FIXTURES / "expected" / f"{name}.npz", allow_pickle=False) as arrays:
        return dict(arrays)


def expected_json(name: str) -> Any:
    """The content of `expected/NAME.json`."""
    return json.loads((FIXTURES / "expected" / f"{name}.json").read_text())
