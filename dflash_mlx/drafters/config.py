"""The drafter's config.json, in every layout that published checkpoints use."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from dflash_mlx.config import check_served, read_rope
from dflash_mlx.errors import CheckpointError

LAYER_TYPES = ("full_attention", "sliding_attention")
FILE = "the drafter's config.json"
SERVED: dict[str, tuple[Any, ...]] = {"use_sliding_window": (False, True), "partial_rotary_factor": (1,)}  # beside what is read
# more than any published drafter has
MAX_BLOCK_SIZE = 64
MAX_LAYERS = 256


@dataclass(frozen=True)
class DrafterConfig:
    """Sizes and contract of a DFlash drafter. Names are the checkpoints' own.

    `version` 1 is DFlash, 2 is DFlash 2; the `conv_*` and `selector_*` sizes are 0 for version 1.
    `is_causal` None means that the checkpoint does not say: see `causal`.
    `input_embedding_scale` multiplies the target's embeddings, `output_multiplier` the head's logits, which
    `final_logit_softcapping` c then bends to c * tanh(logits / c).
    """

    version: Literal[1, 2]
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    rms_norm_eps: float
    rope_theta: float
    rope_scaling: dict[str, Any] | None
    max_position_embeddings: int
    vocab_size: int | None
    num_target_layers: int | None
    block_size: int
    mask_token_id: int
    target_layer_ids: tuple[int, ...]
    layer_types: tuple[str, ...]
    sliding_window: int | None
    is_causal: bool | None
    input_embedding_scale: float
    output_multiplier: float
    final_logit_softcapping: float | None
    conv_kernel_size: int = 0
    conv_group_size: int = 0
    selector_rank: int = 0
    selector_top_k: int = 0

    @classmethod
    def from_dict(cls, config: dict[str, Any]) -> "DrafterConfig":
        """Reads a config.json, where a field may stand in `dflash_config` or at top level.

        Raises:
            CheckpointError: a required field is missing or impossible; the field is named.
            UnsupportedModelError: a field says something that is not computed here.
        """
        try:
            found = cls._read(config)
        except (TypeError, ValueError, AttributeError) as error:
            raise _wrong(f"config.json has a field of the wrong kind ({error})") from error
        found._check()
        return found

    @classmethod
    def _read(cls, config: dict[str, Any]) -> "DrafterConfig":
        nested = config.get("dflash_config") or {}

        def field(name: str, *default: Any) -> Any:
            for place in (nested, config):
                if place.get(name) is not None:
                    return place[name]
            if default:
                return default[0]
            raise CheckpointError(
                f"the drafter's config.json has no {name}.",
                "Get the drafter's files again, or a complete export of it.",
            )

        def size(name: str, *default: Any) -> Any:
            value = field(name, *default)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise _wrong(f"config.json has {name} {value!r}, not a positive whole number")
            return value

        version: Literal[1, 2] = (
            2 if "selector_rank" in nested or "DFlash2DraftModel" in (config.get("architectures") or []) else 1
        )
        layers = size("num_hidden_layers")
        windows_from = field("max_window_layers", 28) if field("use_sliding_window", False) else layers  # as transformers does
        kinds = [LAYER_TYPES[i >= windows_from] for i in range(min(layers, MAX_LAYERS))]
        layer_types = tuple(field("layer_types", kinds))
        rope = read_rope(config | nested, FILE, sorted(set(layer_types)))
        told = {"partial_rotary_factor": rope.get("partial_rotary_factor")}
        for place in (config, nested, told):
            check_served({name: said for name, said in place.items() if name not in cls.__dataclass_fields__}, SERVED, FILE)
        return cls(
            version=version,
            hidden_size=size("hidden_size"),
            num_hidden_layers=layers,
            num_attention_heads=size("num_attention_heads"),
            num_key_value_heads=size("num_key_value_heads"),
            head_dim=size("head_dim"),
            intermediate_size=size("intermediate_size"),
            rms_norm_eps=float(field("rms_norm_eps")),
            rope_theta=float(rope["rope_theta"]),
            rope_scaling=None if rope["type"] == "default" else rope,
            max_position_embeddings=size("max_position_embeddings"),
            vocab_size=size("vocab_size", None),
            num_target_layers=size("num_target_layers", None),
            block_size=size("block_size"),
            mask_token_id=field("mask_token_id"),
            target_layer_ids=tuple(field("target_layer_ids")),
            layer_types=layer_types,
            sliding_window=size("sliding_window", None),
            is_causal=field("is_causal", None),
            input_embedding_scale=float(field("input_embedding_scale", 1.0)),
            output_multiplier=float(field("output_multiplier", 1.0)),
            final_logit_softcapping=float(field("final_logit_softcapping", 0.0)) or None,
            **{name: size(name) for name in ("conv_kernel_size", "conv_group_size", "selector_rank", "selector_top_k")}
            if version == 2
            else {},
        )

    def _check(self) -> None:
        if len(self.layer_types) != self.num_hidden_layers or set(self.layer_types) - set(LAYER_TYPES):
            raise _wrong(f"layer_types do not describe its {self.num_hidden_layers} layers")
        if "sliding_attention" in self.layer_types and self.sliding_window is None:
            raise _wrong("config.json has sliding layers and no sliding_window")
        for name in ("rms_norm_eps", "input_embedding_scale", "output_multiplier", "final_logit_softcapping"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise _wrong(f"config.json has {name} {value}, not a positive number")
        if type(self.mask_token_id) is not int or self.mask_token_id < 0:
            raise _wrong(f"mask_token_id {self.mask_token_id!r} is not a token id")
        if self.block_size > MAX_BLOCK_SIZE:
            raise _wrong(f"block_size {self.block_size} is more than {MAX_BLOCK_SIZE}")
        if self.version == 2 and (self.vocab_size is None or self.selector_top_k > self.vocab_size):
            raise _wrong(f"selector_top_k {self.selector_top_k} is more than its vocab_size {self.vocab_size}")
        if self.is_causal not in (None, True, False):
            raise _wrong(f"is_causal {self.is_causal!r} is neither true nor false")
        if not self.target_layer_ids or not all(isinstance(i, int) and i >= 0 for i in self.target_layer_ids):
            raise _wrong(f"target_layer_ids {list(self.target_layer_ids)} name no layers")
        if self.version == 2 and self.hidden_size % self.conv_group_size:
            raise _wrong(f"conv_group_size {self.conv_group_size} does not divide its hidden_size {self.hidden_size}")

    def window(self, layer: int) -> int | None:
        """How far back a layer sees, in positions, its own included; None: all the way."""
        return self.sliding_window if self.layer_types[layer] == "sliding_attention" else None

    def causal(self, layer: int) -> bool:
        """Whether a block's row sees only itself and earlier rows of its block.

        Where the checkpoint does not say, sliding layers are causal and full ones bidirectional.
        """
        return self.layer_types[layer] == "sliding_attention" if self.is_causal is None else self.is_causal


def _wrong(what: str) -> CheckpointError:
    return CheckpointError(f"the drafter's {what}.", "Get its files again.")
