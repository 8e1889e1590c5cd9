"""How much memory a request needs, and how much there is."""

import os
from typing import Any, NamedTuple

import mlx.core as mx

from dflash_mlx.decoding.prefill import CHUNK
from dflash_mlx.drafters import DrafterConfig
from dflash_mlx.errors import MemoryBudgetError
from dflash_mlx.kernels.buffers import capacity_for
from dflash_mlx.targets.family import text_config

GB = 10**9


class Need(NamedTuple):
    """Bytes that a request holds at its peak.

    target, drafter: the weights.
    context: K and V, recurrent states, the drafter's context.
    working: what comes and goes: a chunk's activations while the prompt is read, or a block's states and logits.
    """

    target: int
    drafter: int
    context: int
    working: int

    @property
    def total(self) -> int:
        return sum(self)


def estimate(
    target_config: dict[str, Any],
    target_bytes: int,
    drafter_config: dict[str, Any] | None,
    drafter_bytes: int,
    positions: int,
    block_size: int | None = None,
    prompt_tokens: int | None = None,
    exact: bool = False,
) -> Need:
    """What decoding needs at its peak, from config.json alone: while the prompt is read, or after it.

    Args:
        target_config, drafter_config: contents of config.json; drafter_config None: plain decoding.
        target_bytes, drafter_bytes: the weights as they are loaded.
        positions: prompt and answer, in tokens.
        block_size: the most rows of a cycle; None: the drafter's trained size.
        prompt_tokens: the prompt's part of them; None: nearly all.
        exact: whether verification is exact.
    """
    target = _Target(target_config)
    drafter = DrafterConfig.from_dict(drafter_config) if drafter_config else None
    prompt = positions if prompt_tokens is None else prompt_tokens
    rows, block = min(prompt, CHUNK), (block_size or drafter.block_size) if drafter else 1
    prefill = target.activations(rows, capacity_for(prompt))
    verify = target.kept(block, exact) + target.activations(block, capacity_for(positions)) + 2 * (2 * block - 1) * target.logits
    if drafter:
        prefill += rows * len(drafter.target_layer_ids) * drafter.hidden_size * target.item
    # the first chunk is the worst, and the drafter's context is made after it
    reading = Need(target_bytes, drafter_bytes, target.context(prompt), prefill)
    context = target.context(positions) + _drafter_context(drafter, positions, target.item)
    return max(reading, Need(target_bytes, drafter_bytes, context, verify), key=lambda need: need.total)


def _drafter_context(drafter: DrafterConfig | None, positions: int, item: int) -> int:
    if drafter is None:
        return 0
    windows = [drafter.window(i) for i in range(drafter.num_hidden_layers)]
    rows = sum(capacity_for(positions) if window is None else window + 2 * drafter.block_size for window in windows)
    return 2 * rows * drafter.num_key_value_heads * drafter.head_dim * item


class _Target:
    """Sizes of a target, in elements or bytes, from its config.json."""

    def __init__(self, config: dict[str, Any]) -> None:
        text = text_config(config)
        dtype = text.get("dtype") or text.get("torch_dtype") or config.get("dtype") or config.get("torch_dtype")
        self.item = 4 if dtype == "float32" else 2
        self.hidden, self.logits = text["hidden_size"], text["vocab_size"] * self.item
        self.heads = text["num_attention_heads"]
        self.queries, self.keys = (self.heads * text["head_dim"], text["num_key_value_heads"] * text["head_dim"])
        self.experts_per_token = text.get("num_experts_per_tok", 0)
        experts = text.get("moe_intermediate_size", 0) * self.experts_per_token
        self.intermediate = experts + text.get("shared_expert_intermediate_size", 0) if experts else text["intermediate_size"]
        layers = text["num_hidden_layers"]
        self.conv = self.recurrent = self.conv_row = self.kernel = 0
        self.attention_layers = layers
        if "linear_num_value_heads" in text:
            values = text["linear_num_value_heads"] * text["linear_value_head_dim"]
            self.conv = 2 * text["linear_num_key_heads"] * text["linear_key_head_dim"] + values
            self.attention_layers = layers // text["full_attention_interval"]
            recurrent_layers = layers - self.attention_layers
            self.recurrent = recurrent_layers * values * text["linear_key_head_dim"] * 4  # float32 in every checkpoint
            self.conv_row, self.kernel = recurrent_layers * self.conv * self.item, text.get("linear_conv_kernel_dim", 4)

    def context(self, positions: int) -> int:
        """K and V, recurrent states and the rows before their convolutions."""
        keys_and_values = 2 * self.attention_layers * self.keys * capacity_for(positions) * self.item
        return keys_and_values + self.recurrent + (self.kernel - 1) * self.conv_row if self.recurrent else keys_and_values

    def kept(self, block: int, exact: bool) -> int:
        """What a verified block holds until the count is known: further recurrent states, and its convolutions' rows."""
        # one from mlx-lm's Metal kernel; one a row in plain MLX, or where rows are computed one by one
        states = 1 if mx.metal.is_available() and not exact else block
        return states * self.recurrent + (block + self.kernel - 1) * self.conv_row

    def activations(self, rows: int, capacity: int) -> int:
        """What a chunk holds at its worst layer. The factors are measured on the CPU backend, on 28 geometries."""
        attention = 6 * self.hidden + 6 * self.queries + 3 * self.keys + 2 * self.intermediate
        attention += 2 * self.experts_per_token * self.hidden  # each expert gets its own copy of a row
        recurrent = 2 * self.hidden + 10 * self.conv + 2 * self.intermediate if self.conv else 0
        scores = rows * capacity * (self.heads * self.item + 1)
        return max(scores + rows * attention * self.item, rows * recurrent * self.item)


def available() -> int:
    """Bytes that a model may take: what Metal recommends for its working set, else the machine's memory."""
    recommended = mx.device_info().get("max_recommended_working_set_size")
    return int(recommended) if recommended else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check(need: Need) -> None:
    """Raises MemoryBudgetError where a need exceeds what is available, with the numbers."""
    room = available()
    if need.total > room:
        parts = ", ".join(f"{name} {size / GB:.1f}" for name, size in zip(need._fields, need) if size)
        raise MemoryBudgetError(
            f"this needs {need.total / GB:.1f} GB ({parts}), the machine offers {room / GB:.1f} GB.",
            "Use a smaller quantisation or a shorter context; force=True tries anyway.",
        )
