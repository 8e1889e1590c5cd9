"""Which drafter was made for which target: the pairs in known_pairs.json, best first.

The larger dense model comes first and the newer of two equals; a mixture of experts stands behind the dense models of
its size, because every row of a block pulls in further experts and speculation gains least there.
"""

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import mlx.core as mx

from dflash_mlx.errors import ModelNotFoundError
from dflash_mlx.loading.memory import Need, available, estimate

CONTEXT = 8192  # positions that a pair must have room for to be chosen: a long question and its answer

# What uploaders add to a family's name and what leaves the model the same: its format and its quantisation.
VARIANT = re.compile(
    r"([-_.](\d+-?bits?|bf16|fp(8|16|32)|int[48]|q[2-8]|mxfp[48]|nvfp4|mlx|dwq|awq|gptq|quantized|mixed|g(s|roup)?\d+|v?\d))*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class KnownPair:
    """A target family and the drafter made for it. Sizes are in bytes.

    Attributes:
        family: the target's name without owner, format and quantisation.
        target: a 4-bit target on the Hub.
        drafter: its repository, and after the @ the revision that `drafter_config` describes.
        source: where it is published which drafter belongs to which target.
        note: what a user should know of this pair, or where these facts have a gap.
        target_download, drafter_download: what the Hub sends. The drafter's size follows from its config; the target's
            is published, or where `approximate` counted from its config.
        target_weights: the 4-bit target once loaded, without the parts that this runtime skips.
        target_config, drafter_config: contents of config.json, as far as memory and shapes go.
    """

    family: str
    target: str
    drafter: str
    source: str
    note: str
    approximate: bool
    target_download: int
    drafter_download: int
    target_weights: int
    target_config: dict[str, Any]
    drafter_config: dict[str, Any]

    @property
    def download(self) -> int:
        """Bytes of target and drafter together."""
        return self.target_download + self.drafter_download

    def need(self, positions: int = CONTEXT) -> Need:
        """The memory that this pair needs, the drafter as it is published."""
        return estimate(self.target_config, self.target_weights, self.drafter_config, self.drafter_download, positions)


def known_pairs() -> list[KnownPair]:
    """All known pairs, best first."""
    content = json.loads(Path(__file__).with_name("known_pairs.json").read_text(encoding="utf-8"))
    pairs = []
    for entry in content["pairs"]:
        geometry = content["targets"][entry.pop("geometry")]
        pairs.append(KnownPair(target_config=geometry["config"], target_weights=geometry["weights_4bit"], **entry))
    return pairs


def find(target: str | Path) -> KnownPair | None:
    """The known pair of a target, whoever uploaded it and however it is quantised; a folder goes by its name.

    A fine-tune under another name is another model: it is not found.
    """
    name = _model_name(target).lower()
    for pair in known_pairs():
        family = pair.family.lower()
        if name.startswith(family) and VARIANT.fullmatch(name, len(family)):
            return pair
    return None


def drafter_for(target: str | Path) -> str:
    """The Hub id, with its revision, of the drafter made for a target.

    Raises:
        ModelNotFoundError: none is known; the hint lists near matches.
    """
    if pair := find(target):
        return pair.drafter
    near = {pair.family.lower(): pair for pair in known_pairs()}
    matches = [near[name] for name in get_close_matches(_model_name(target).lower(), near, cutoff=0.5)]
    known = ", ".join(f"{pair.family} (--drafter {pair.drafter.partition('@')[0]})" for pair in matches)
    raise ModelNotFoundError(
        f"no drafter is known for {target}.",
        (f"Near matches are {known}: if" if known else "If")
        + " you have a drafter that was made for this model, name it; or decode plainly (--drafter none; drafter=None).",
    )


def best(memory: int) -> KnownPair | None:
    """The best known pair that needs no more than `memory` bytes at `CONTEXT` positions."""
    return next((pair for pair in known_pairs() if pair.need().total <= memory), None)


def default() -> KnownPair | None:
    """The best known pair that fits this machine; None where there is none, and where there is no Metal to run it on."""
    return best(available()) if mx.metal.is_available() else None


def _model_name(target: str | Path) -> str:
    """ "Qwen3.5-9B-4bit" of "owner/Qwen3.5-9B-4bit@main", of a folder of that name, and of its snapshot in the Hub cache."""
    path = Path(target)
    try:
        path = path.expanduser()
        is_folder = path.is_dir()
    except (OSError, RuntimeError, ValueError):  # no such user, a name longer than names can be
        is_folder = False
    if is_folder:
        path = path.absolute()
        return path.parts[-3].rpartition("--")[2] if path.parent.name == "snapshots" else path.name
    return path.name.partition("@")[0]
