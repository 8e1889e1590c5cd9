"""What a config.json says, in every form that is published: what is computed here, RoPE settings, quantisation."""

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from dflash_mlx.errors import CheckpointError, UnsupportedModelError

ROPE_TYPES = ("default", "linear", "yarn", "llama3")  # what mlx-lm computes as transformers does, from the position alone
NUMBERS = {"partial_rotary_factor", "original_max_position_embeddings", "attention_factor", "mscale", "mscale_all_dim"}
NUMBERS |= {"beta_fast", "beta_slow", "low_freq_factor", "high_freq_factor"}
MSCALE = (("mscale", 1), ("mscale_all_dim", 0))  # and what they are in yarn by default

# Fields that change what a model computes, and their values that are computed here; null and a missing field are fine too.
SERVED: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("hidden_act", "hidden_activation", "output_gate_type"), ("silu", "swish")),
    **dict.fromkeys(("scoring_func", "score_function", "moe_router_score_function", "router_activation"), ("softmax",)),
    **dict.fromkeys(("n_shared_experts", "num_shared_experts"), (0,)),
    **{"topk_method": ("greedy",), "mamba_ssm_dtype": ("float32",)},
    **{"use_qk_norm": (True,), "use_rope": (True,), "is_causal": (True,), "per_layer_config": ({},)},
}
NOTHING: tuple[Any, ...] = (None, False, 0, 1, "", "none", "default", [], {})
# A field that nobody here has heard of matters if its name says so, unless it is about training or multi-token prediction.
TELLING = re.compile(
    r"soft_?cap|temperature_tuning|multiplier|scal(e|ing|ar)|sliding|window|chunk|rope|rotary|bias|bidirectional|alibi|sink"
    r"|parallel_residual|_groups?$|^first_k_dense|^moe_layer_freq"
)
ELSEWHERE = re.compile(  # also what is read by name
    r"init|loss|grad|update|dropout|mtp|^mrope_|^rope_(theta|scaling|parameters)$"
    r"|^(partial_rotary_factor|sliding_window|max_window_layers)$"
)


def check_served(fields: Mapping[str, Any], served: dict[str, tuple[Any, ...]], file: str | Path) -> None:
    """Raises UnsupportedModelError for a field that makes the model compute something that is not computed here.

    Args:
        served: what a family's fields may say, beside those in `SERVED`.
    """
    known = SERVED | served
    for name, value in fields.items():
        if name in known or (TELLING.search(name) and not ELSEWHERE.search(name)):
            fine = known.get(name, NOTHING)
            if value is not None and not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in fine):
                raise unserved(name, value, file)


def unserved(name: str, value: Any, file: str | Path) -> UnsupportedModelError:
    """The error for a field with a value that is not computed here."""
    return UnsupportedModelError(
        f"{file} sets {name} to {value!r:.80}, which this runtime does not compute.",
        "Use a checkpoint of this model without that, or another runtime.",
    )


def read_rope(config: Mapping[str, Any], file: str | Path, kinds: Collection[str] = ("full_attention",)) -> dict[str, Any]:
    """RoPE settings as mlx-lm reads them, of a config.json in any published form.

    As in transformers 5, `rope_scaling` counts before `rope_parameters`, both before fields beside them, and both may have
    an entry for each kind of layer.

    Args:
        kinds: of the layers that turn by them.

    Returns:
        `type`, `rope_theta`, `partial_rotary_factor` if there is one, and what belongs to the type.

    Raises:
        UnsupportedModelError: the type, or what it is told, is not computed here.
        CheckpointError: a number is missing or impossible.
    """
    scaling, parameters = (config.get(name) or {} for name in ("rope_scaling", "rope_parameters"))
    if not isinstance(scaling, dict) or not isinstance(parameters, dict):
        raise CheckpointError(f"the RoPE settings in {file} are not a JSON object.", "Get the model's files again.")
    scaling, parameters = (_of_layers(place, kinds, file) for place in (scaling, parameters))
    kind = next((place[name] for place in (scaling, parameters) for name in ("rope_type", "type") if place.get(name)), "default")
    beside = {name: config.get(name) for name in ("rope_theta", "partial_rotary_factor")}
    rope = {name: said for place in (beside, parameters, scaling) for name, said in place.items() if said is not None}
    rope |= {"rope_type": kind, "type": "default" if kind == "mrope" else kind}  # mrope differs for pictures only
    if rope["type"] not in ROPE_TYPES:
        raise unserved("the RoPE type", kind, file)
    if kind in ("yarn", "llama3"):
        if original := config.get("original_max_position_embeddings"):
            rope["original_max_position_embeddings"] = original
        rope.setdefault("original_max_position_embeddings", config.get("max_position_embeddings"))
    if not (rope.get("mscale") and rope.get("mscale_all_dim")):  # transformers takes both or none
        rope = {name: said for name, said in rope.items() if not name.startswith("mscale")}
    needed = {"rope_theta"} if rope["type"] == "default" else {"rope_theta", "factor"}
    for name in sorted(needed | rope.keys() & NUMBERS):
        if type(rope.get(name)) not in (int, float) or not 0 < rope[name] < math.inf:
            raise CheckpointError(f"{file} has no usable {name}.", "Get the model's files again.")
    if kind == "yarn":
        numerator, denominator = (1 + 0.1 * rope.get(name, usual) * math.log(max(rope["factor"], 1)) for name, usual in MSCALE)
        if not math.isclose(rope.get("attention_factor", numerator / denominator), numerator / denominator, rel_tol=1e-3):
            raise unserved("attention_factor", rope["attention_factor"], file)
        if not rope.get("truncate", True):
            raise unserved("truncate", rope["truncate"], file)
    return rope


def _of_layers(rope: dict[str, Any], kinds: Collection[str], file: str | Path) -> dict[str, Any]:
    """RoPE settings of some kinds of layers, which must be the same for all of them."""
    if not any(name.endswith("_attention") for name in rope):
        return rope
    first, *others = [rope.get(kind) for kind in kinds]
    if not isinstance(first, dict) or any(other != first for other in others):
        raise unserved("RoPE by layer types", rope, file)
    return first


def longest(rope: Mapping[str, Any] | None, positions: int) -> int:
    """The most positions under RoPE settings as `read_rope` gives them, as vLLM derives them from `max_position_embeddings`."""
    if not rope or rope.get("type") not in ("linear", "yarn"):
        return positions
    return int(rope.get("original_max_position_embeddings", positions) * rope["factor"])


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
                if entry.get("quant_method") == "mlx":
                    entry = {name: said for name, said in entry.items() if name != "quant_method"}
                entry = {bare(name).removesuffix(".weight"): said for name, said in entry.items() if said is not None}
            if entry:
                return entry
    return None
