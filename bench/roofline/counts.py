"""What cycles cost, counted without a clock and without weights: dispatches, primitives, reads and the bytes that must move.

`tests/cycle_counts.json` holds these counts, and a test compares.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from dflash_mlx.decoding.sampling import Sampling
from dflash_mlx.drafters import DFlash
from dflash_mlx.targets.transformer import TransformerTarget

from .dispatches import ALL_KERNELS, GREEDY, NO_KERNELS, submitted
from .hollow import configs, hollow_pair
from .synthetic import Geometry
from .traffic import cycle_traffic

# heads, widths and a vocabulary that every kernel covers
HYBRID = Geometry(512, 4, 512, 4, 1, 128, 16, 32, 264, drafter_layers=2, taps=3, positions=1024)
WINDOW = 64
CONTEXTS = {"Qwen3.8-27B": 4096, "a hybrid": 300, "Qwen3": 300}  # tokens, by pair
WARM = Sampling(temperature=1.0, seed=0)


class Cycle(NamedTuple):
    """How a cycle of a pair is run. Of 1 row: a plain step."""

    pair: str
    rows: int
    kernels: bool
    sampling: Sampling = GREEDY
    exact: bool = False

    def __str__(self) -> str:
        parts = [self.pair, _block(self.rows), "kernels" if self.kernels else "MLX"]
        parts += ["exact"] * self.exact + [f"temperature {self.sampling.temperature:g}"] * (self.sampling.temperature > 0)
        return ", ".join(parts)


CYCLES = [Cycle(pair, rows, kernels) for pair in CONTEXTS for rows in (1, 4, 8) for kernels in (False, True)]
CYCLES += [Cycle("a hybrid", 4, kernels, WARM) for kernels in (False, True)]
CYCLES += [Cycle("a hybrid", 4, kernels, exact=True) for kernels in (False, True)]


def pair_of(name: str) -> tuple[TransformerTarget, DFlash]:
    """A pair without memory: of a known family; `HYBRID` with DFlash 2; or dense, with DFlash and a window."""
    if name == "a hybrid":
        return hollow_pair(HYBRID.target_config["text_config"], HYBRID.drafter_config)
    if name == "Qwen3":
        drafter = replace(HYBRID, version=1).drafter_config
        return hollow_pair(_dense(), drafter | {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": WINDOW})
    return hollow_pair(*configs(name))


def counts_of(cycle: Cycle, target: TransformerTarget, drafter: DFlash) -> dict[str, int]:
    """Dispatches of each part of a cycle, primitives and reads."""
    kernels = ALL_KERNELS if cycle.kernels else NO_KERNELS
    target.use_kernels(kernels)
    drafter.use_kernels(kernels)
    speculating = drafter if cycle.rows > 1 else None
    found = submitted(target, speculating, cycle.rows, CONTEXTS[cycle.pair], cycle.sampling, cycle.exact)
    parts = {f"{cycle}: dispatches, {part}": dispatches for part, dispatches in found.dispatches.items()}
    return parts | {f"{cycle}: primitives": found.primitives, f"{cycle}: reads": found.reads}


def bytes_of(name: str, rows: int, target: TransformerTarget, drafter: DFlash) -> dict[str, int]:
    """Bytes that each part of a cycle must move; see `traffic`."""
    parts = cycle_traffic(target, drafter, rows, CONTEXTS[name])
    return {f"{name}, {_block(rows)}: bytes, {part.part}": part.bytes for part in parts}


def counts() -> Iterator[tuple[str, int]]:
    """All of both, by configuration and part."""
    for name in CONTEXTS:
        target, drafter = pair_of(name)
        for cycle in CYCLES:
            if cycle.pair == name:
                yield from counts_of(cycle, target, drafter).items()
        for rows in (1, 4, 8):
            yield from bytes_of(name, rows, target, drafter).items()


def _block(rows: int) -> str:
    return "plain step" if rows == 1 else f"block of {rows}"


def _dense() -> dict[str, Any]:
    """The config.json of a Qwen3 of the hybrid's sizes, whose head is its embeddings."""
    text: dict[str, Any] = HYBRID.target_config["text_config"]
    return text | {"model_type": "qwen3", "tie_word_embeddings": True, "rope_theta": 1e4, "rope_parameters": None}
