"""A family of Qwen models, and the mlx-lm model of a checkpoint: in mlx-lm's layout or the original's, text part only."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.checkpoint import Weights, check_layers, load_weights, read_weights, to_convert
from dflash_mlx.config import bare, check_served, read_rope, unserved
from dflash_mlx.errors import CheckpointError, UnsupportedModelError
from dflash_mlx.targets.transformer import TransformerTarget

SIZES: tuple[str, ...] = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim")
SIZES += ("vocab_size", "max_position_embeddings")


class Family(NamedTuple):
    """What tells a family from the others.

    target: makes the target of the text model.
    module: the module of `mlx_lm.models`.
    sizes: fields of config.json, besides those of all, that must be positive whole numbers.
    served: what fields may say of which its layers are computed in some ways only, besides those of all.
    """

    target: Callable[[nn.Module], TransformerTarget]
    module: ModuleType
    sizes: tuple[str, ...]
    served: dict[str, tuple[Any, ...]]


def text_config(config: dict[str, Any]) -> dict[str, Any]:
    """The text part of a target's config.json, without what says nothing, by the names that mlx-lm's models read."""
    text = {name: said for name, said in config.get("text_config", config).items() if said is not None}
    text["tie_word_embeddings"] = bool(config.get("tie_word_embeddings") or text.get("tie_word_embeddings"))
    if "num_local_experts" in text:
        text.setdefault("num_experts", text["num_local_experts"])
    if "linear_num_value_heads" in text:
        kinds = text.get("layer_types")
        if isinstance(kinds, list) and "full_attention" in kinds:
            text["full_attention_interval"] = kinds.index("full_attention") + 1
        text = {"full_attention_interval": 4, "partial_rotary_factor": 0.25} | text
    if "num_experts" in text:
        text = {"decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": "linear_num_value_heads" in text} | text
    return text


def read_text_config(folder: Path, config: dict[str, Any], family: Family) -> dict[str, Any]:
    """The same, checked, with its RoPE settings in every place where mlx-lm's models look.

    Raises:
        CheckpointError: a field that is needed is missing or impossible.
        UnsupportedModelError: a field says something that this runtime does not compute.
    """
    file = folder / "config.json"
    if not isinstance(config.get("text_config", config), dict):
        raise CheckpointError(f"text_config in {file} is not a JSON object.", "Get the model's files again.")
    text = text_config(config)
    for name in (*SIZES, *family.sizes):
        if type(text.get(name)) is not int or text[name] < 1:
            raise CheckpointError(f"{file} has no usable {name}.", "Get the model's files again.")
    if not config.get("text_config", config).get("sliding_window", True):  # a missing one has a default in transformers
        text.pop("use_sliding_window", None)
    rope = read_rope({"rope_theta": 10_000.0, **text}, file)  # which transformers 5 may leave out
    text |= {"rope_parameters": rope, "rope_scaling": None if rope["type"] == "default" else rope}
    text |= {name: rope[name] for name in ("rope_theta", "partial_rotary_factor") if name in rope}
    check_served(text, {"query_pre_attn_scalar": (text["head_dim"],), **family.served}, file)
    layers, kinds, windows_from = text["num_hidden_layers"], text.get("layer_types"), text.get("max_window_layers", 28)
    if not kinds:
        if text.get("use_sliding_window") and not (type(windows_from) is int and windows_from >= layers):
            raise unserved("use_sliding_window", True, file)
    else:
        every = text["full_attention_interval"] if "full_attention_interval" in family.sizes else 1
        count = min(layers, len(kinds)) if isinstance(kinds, list) else 0
        if not count or kinds[:layers] != ["linear_attention" if (i + 1) % every else "full_attention" for i in range(count)]:
            raise unserved("layer_types", kinds, file)
    return text


def build(folder: Path, config: dict[str, Any], family: Family, weights: Weights | None = None) -> nn.Module:
    """The mlx-lm model of a checkpoint with its weights, not read yet.

    Args:
        weights: the tensors; None: those of the folder.

    Raises:
        CheckpointError: config.json or the weights are damaged, or contradict each other.
        UnsupportedModelError: see `read_text_config`.
    """
    text = read_text_config(folder, config, family)
    if weights is None:
        weights = read_weights(folder)
        if any(".mlp.experts.0." in name for name in weights):  # every load would have to stack them again
            raise UnsupportedModelError(f"{folder} has its experts one by one.", to_convert(folder, config))
    weights = _with_plain_names(weights, folder)
    check_layers(text["num_hidden_layers"], weights, folder)
    text["tie_word_embeddings"] = text["tie_word_embeddings"] and _ties(weights)
    try:
        model = family.module.Model(family.module.ModelArgs.from_dict({"model_type": config["model_type"], **text}))
        weights = model.sanitize(weights)
    except Exception as error:  # whatever a senseless config or tensor makes mlx-lm stumble over
        raise CheckpointError(
            f"{folder} does not hold a valid {config['model_type']} model ({error!r}).", "Get its files again."
        ) from error
    load_weights(model, weights, config, folder)
    return model


def _with_plain_names(weights: Weights, folder: Path) -> Weights:
    """The weights by the names that a text model alone has; mlx-lm makes its own of them."""
    names: dict[str, str] = {}
    for name in weights:
        plain = bare(name) if bare(name).startswith("lm_head.") else f"model.{bare(name)}"
        if plain in names:
            raise CheckpointError(
                f"{folder} has both {names[plain]} and {name}.", "Get the model's files again, into an empty folder."
            )
        names[plain] = name
    return {plain: weights[name] for plain, name in names.items()}


def _ties(weights: Weights) -> bool:
    """Whether embeddings that config.json says are the head too are so: there is no other head, as transformers 5 decides.

    A head that is a copy of the embeddings is taken out of the weights, or becomes them where they are missing.
    """
    head, table = (
        {name.removeprefix(at): tensor for name, tensor in weights.items() if name.startswith(at)}
        for at in ("lm_head.", "model.embed_tokens.")
    )
    if table and (head.keys() != table.keys() or not all(mx.array_equal(tensor, table[part]) for part, tensor in head.items())):
        return not head
    for part in head:
        weights[f"model.embed_tokens.{part}"] = weights.pop(f"lm_head.{part}")
    return True
