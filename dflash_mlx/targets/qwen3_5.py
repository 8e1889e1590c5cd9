"""Qwen3.5, 3.6 and 3.8, dense: three Gated DeltaNet layers, then one gated full-attention layer, and so on.

Weights, norms, attention, MLP and RoPE are mlx-lm's own (`mlx_lm.models.qwen3_5`). The recurrent layer is ours, over
mlx-lm's weights, because verification needs the state after each row.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.gated_delta import gated_delta_update, normalize_qk
from mlx_lm.models.qwen3_5 import GatedDeltaNet, Model, ModelArgs

from dflash_mlx.checkpoint import load_weights, read_weights
from dflash_mlx.errors import CheckpointError
from dflash_mlx.targets.base import Target, TargetConfig
from dflash_mlx.targets.state import AttentionState, RecurrentState, State

REQUIRED = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
    "linear_num_value_heads",
    "linear_num_key_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
)


class Qwen35(Target):
    """A dense Qwen3.5-family target over an mlx-lm model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.args = args = model.language_model.args
        self.config = TargetConfig(
            args.model_type, args.hidden_size, args.vocab_size, args.num_hidden_layers, args.max_position_embeddings
        )
        self.dtype = model.model.norm.weight.dtype

    def embed(self, ids: mx.array) -> mx.array:
        return self.model.model.embed_tokens(ids)

    def lm_head(self, hidden: mx.array) -> mx.array:
        if self.args.tie_word_embeddings:
            return self.model.model.embed_tokens.as_linear(hidden)
        return self.model.language_model.lm_head(hidden)

    def new_state(self, capacity: int) -> State:
        state = State([self._new_layer_state(layer) for layer in self.model.layers])
        state.reserve(capacity)
        return state

    def _new_layer_state(self, layer: nn.Module) -> AttentionState | RecurrentState:
        args = self.args
        if not layer.is_linear:
            return AttentionState(args.num_key_value_heads, args.head_dim, self.dtype)
        net = layer.linear_attn
        conv = mx.zeros((1, net.conv_kernel_size - 1, net.conv_dim), self.dtype)
        return RecurrentState(conv, mx.zeros((1, net.num_v_heads, net.head_v_dim, net.head_k_dim), mx.float32))

    def forward(
        self, ids: mx.array, state: State, position: mx.array, taps: Sequence[int] = (), commit: bool = False
    ) -> tuple[mx.array, mx.array | None]:
        x = self.embed(ids)
        mask = state.visible(position, ids.shape[1])
        tapped: dict[int, mx.array] = {}
        for i, (layer, layer_state) in enumerate(zip(self.model.layers, state.layers)):
            rows = layer.input_layernorm(x)
            if isinstance(layer_state, RecurrentState):
                x = x + gated_delta_net(layer.linear_attn, rows, layer_state, commit)
            else:
                x = x + layer.self_attn(rows, mask, layer_state.at(position))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
            if i in taps:
                tapped[i] = x
        features = mx.concatenate([tapped[i] for i in taps], axis=-1) if taps else None
        return self.model.model.norm(x), features


def gated_delta_net(net: GatedDeltaNet, x: mx.array, state: RecurrentState, commit: bool) -> mx.array:
    """A Gated DeltaNet layer over `[1, rows, hidden]` from the committed state.

    Equations: mlx-lm's `GatedDeltaNet`. Without `commit` the recurrence runs row by row, so that the state after
    every row is there to be picked, and each row is computed just as plain decoding computes it.
    """
    B, rows, _ = x.shape
    conv_rows = mx.concatenate([state.conv, net.in_proj_qkv(x)], axis=1)  # [1, kernel - 1 + rows, conv_dim]
    mixed = nn.silu(net.conv1d(conv_rows))
    q, k, v = mx.split(mixed, [net.key_dim, 2 * net.key_dim], axis=-1)
    q, k = normalize_qk(
        q.reshape(B, rows, net.num_k_heads, net.head_k_dim),
        k.reshape(B, rows, net.num_k_heads, net.head_k_dim),
        inv_scale=net.head_k_dim**-0.5,
        eps=1e-6,
    )
    v = v.reshape(B, rows, net.num_v_heads, net.head_v_dim)
    a, b = net.in_proj_a(x), net.in_proj_b(x)

    def recur(start: int, stop: int, recurrent: mx.array) -> tuple[mx.array, mx.array]:
        inputs = [t[:, start:stop] for t in (q, k, v, a, b)]
        return gated_delta_update(*inputs, net.A_log, net.dt_bias, recurrent)

    if commit:
        out, state.recurrent = recur(0, rows, state.recurrent)
        state.conv = conv_rows[:, rows:]
    else:
        outs, states = [], [state.recurrent]
        for row in range(rows):
            out, recurrent = recur(row, row + 1, states[-1])
            outs.append(out)
            states.append(recurrent)
        out = mx.concatenate(outs, axis=1)
        state.keep(conv_rows, states[1:])
    z = net.in_proj_z(x).reshape(B, rows, net.num_v_heads, net.head_v_dim)
    return net.out_proj(net.norm(out, z).reshape(B, rows, -1))


def load(folder: Path, config: dict[str, Any]) -> Qwen35:
    """Builds the target of a checkpoint in mlx-lm's layout (or the original's), text part only."""
    text = config.get("text_config", config)
    if not isinstance(text, dict):
        raise CheckpointError(f"text_config in {folder / 'config.json'} is no JSON object.", "Get the model's files again.")
    missing = [name for name in REQUIRED if not isinstance(text.get(name), int) or text[name] < 1]
    if missing:
        raise CheckpointError(f"{folder / 'config.json'} has no usable {missing[0]}.", "Get the model's files again.")
    try:
        model = Model(ModelArgs.from_dict(config))
    except (TypeError, ValueError, KeyError, AttributeError, ZeroDivisionError) as error:
        raise CheckpointError(
            f"{folder / 'config.json'} describes no Qwen3.5 model ({error}).", "Get the model's files again."
        ) from error
    load_weights(model, model.sanitize(read_weights(folder)), config, folder)
    mx.eval(model.parameters())
    return Qwen35(model)
