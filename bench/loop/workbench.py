"""What measurements of the loop share: synthetic pairs, engines in processes of their own that take turns, the machine."""

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any, TypeVar

import mlx.core as mx

from ..roofline.synthetic import GEOMETRIES, write_pair
from .controlled import expected_length, typical_seed
from .worker import Worker

BLOCKS = (4, 8)
RATES = [0.75] * (max(BLOCKS) - 1)  # of the controlled acceptance: how often a draft is right, those before it being so
PROMPT = [2 + 37 * i % 200 for i in range(32)]
Row = dict[str, Any]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Bench:
    """What every part is given."""

    folder: Path
    rounds: int

    def pair(self, geometry: str, bits: int | None = None) -> Path:
        """The folder of a synthetic pair, made if it is not there."""
        folder = self.folder / (geometry if bits is None else f"{geometry}-{bits}bit")
        if not (folder / "drafter" / "model.safetensors").is_file():
            write_pair(folder, GEOMETRIES[geometry], bits=bits)
        return folder

    def in_turn(self, calls: Mapping[Key, Callable[[], Row]]) -> dict[Key, list[Row]]:
        """What each call returns in each round; one more round before them warms up."""
        results: dict[Key, list[Row]] = {key: [] for key in calls}
        for round_ in range(self.rounds + 1):
            for key, call in calls.items():
                result = call()
                if round_:
                    results[key].append(result)
        return results


def answered(workers: Mapping[str, Worker], cycles: int) -> dict[str, list[int]]:
    """Has engines draft from answers of their own, right as often as `RATES` says in so many cycles; returns the answers."""
    tokens = round(1.3 * cycles * expected_length(RATES)) + 2 * max(BLOCKS)  # more than any run commits
    answers = {"dflash-mlx": workers["dflash-mlx"]("answer", prompt=PROMPT, tokens=tokens)}
    if "z-lab" in workers:
        answers["z-lab"] = workers["z-lab"]("answer", prompt=PROMPT, guess=answers["dflash-mlx"])
    seed = typical_seed(RATES, len(PROMPT), BLOCKS, cycles)
    for name, answer in answers.items():
        workers[name]("control", prompt=PROMPT, answer=answer, rates=RATES, seed=seed)
    return answers


def machine() -> Row:
    """What this is measured on."""
    packages = ("mlx", "mlx-lm", *(["dflash"] if util.find_spec("dflash") else []))
    return {
        "machine": f"{platform.system()} {platform.machine()} {mx.device_info().get('device_name')}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        **{name: metadata.version(name) for name in packages},
    }


def show(row: Row, as_json: bool) -> None:
    print(json.dumps(row) if as_json else "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
