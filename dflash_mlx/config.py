"""What a config.json says, in every form that is published: quantisation."""

import re
from typing import Any


def bare(name: str) -> str:
    """A tensor's or layer's name without the wrappers of the text part, which every publisher nests differently."""
    return re.sub(r"^((language_)?model\.)+", "", name)


def quantization_of(config: dict[str, Any]) -> Any:
    """What config.json says on quantisation, of layers by their bare names; None: nothing.

    It stands at the root or in `text_config`; `quantization_config` may be a copy of MLX's `quantization`, or another format's.
    """
    text = config.get("text_config")
    for place in (config, text if isinstance(text, dict) else {}):
        for entry in (place.get("quantization"), place.get("quantization_config")):
            if isinstance(entry, dict):
                entry = {bare(name).removesuffix(".weight"): said for name, said in entry.items() if said is not None}
            if entry:
                return entry
    return None
