"""Which drafter was made for which target: the pairs in known_pairs.json, best first.

The larger dense model comes first and the newer of two equals; a mixture of experts stands behind the dense models of
its size, because every row of a block pulls in further experts and speculation gains least there.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx

from dflash_mlx.loading.memory import Need, available, estimate
from dflash_mlx.targets.family import text_config

CONTEXT = 8192  # positions that a pair must have room for to be chosen: a long question and its answer
SIZES = (
    "hidden_size",
    "num_hidden_layers",
    "vocab_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "num_experts",
)

# What uploaders add to a family's name and what leaves the model the same: its format and its quantisation.
VARIANT = re.compile(
    r"([-_.](\d+-?bits?|bf16|fp(8|16|32)|int[48]|q[2-8]|mxfp[48]|nvfp4|mlx|instruct|dwq|awq|gptq|quantized|mixed|g(s|roup)?\d+|v?\d))*",
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
        drafter_weights: the drafter once loaded, its projections at 4 bits, as `load` has them by default.
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
    drafter_weights: int
    target_config: dict[str, Any]
    drafter_config: dict[str, Any]

    @property
    def download(self) -> int:
        """Bytes of target and drafter together."""
        return self.target_download + self.drafter_download

    def need(self, positions: int = CONTEXT) -> Need:
        """The memory that this pair needs as `load` has it by default."""
        return estimate(self.target_config, self.target_weights, self.drafter_config, self.drafter_weights, positions)


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


def named(name: str | Path) -> KnownPair | None:
    """The pair that `dflash-mlx models` lists under this name."""
    return next((pair for pair in known_pairs() if pair.family.lower() == str(name).lower()), None)


def without_drafter(target: str | Path, config: dict[str, Any]) -> str:
    """Says that no drafter is known for a target, and which may fit: those of the known targets with the same sizes.

    Args:
        config: the target's config.json. A fine-tune has its base's sizes, under another name.
    """
    text, model_type = text_config(config), str(config.get("model_type")).removesuffix("_text")
    bases = [
        pair
        for pair in known_pairs()
        if pair.target_config["model_type"].removesuffix("_text") == model_type
        and all(text.get(size) == pair.target_config.get(size) for size in SIZES)
    ]
    said = f"no drafter is known for {_model_name(target)}"
    if not bases:
        return f"{said}; if one was made for it, name it"
    fitting = " or ".join(f"{pair.family} try the drafter {pair.drafter.partition('@')[0]}" for pair in bases)
    return f"{said}, which has the sizes of a known model: if it was made from {fitting}"


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
