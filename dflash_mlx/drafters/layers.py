"""The layers of a DFlash drafter: attention of a block over the context and itself, and mlx-lm's MLP.

`project` computes a linear layer; by default as the module that it is.
"""

from collections.abc import Callable

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.qwen3 import MLP
from mlx_lm.models.rope_utils import initialize_rope

from dflash_mlx.drafters.config import DrafterConfig
from dflash_mlx.kernels.projections import Project, as_module

SubLayer = Callable[[mx.array], mx.array]  # `[..., rows, hidden]` -> `[..., rows, hidden]`


class Attention(nn.Module):
    """Attention of a block's rows over the context and the block."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        hidden, self.heads, self.kv_heads = config.hidden_size, config.num_attention_heads, config.num_key_value_heads
        self.head_dim = config.head_dim
        self.q_proj = nn.Linear(hidden, self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, hidden, bias=False)
        self.q_norm = nn.RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = nn.RMSNorm(self.head_dim, config.rms_norm_eps)
        self.rope = initialize_rope(self.head_dim, config.rope_theta, False, config.rope_scaling, config.max_position_embeddings)

    def queries(self, x: mx.array, position: mx.array | int, project: Project = as_module) -> mx.array:
        """Normed, rotated queries of rows `[B, rows, hidden]` at `position` and after: `[B, heads, rows, head_dim]`.

        `position` is an int, int32 `[1]`, or `[B]` for one start a batch entry.
        """
        B, rows, _ = x.shape
        queries = self.q_norm(project(self.q_proj, x).reshape(B, rows, self.heads, self.head_dim))
        return self.rope(queries.transpose(0, 2, 1, 3), offset=position)

    def layout(self, keys: mx.array, values: mx.array, position: mx.array | int) -> tuple[mx.array, mx.array]:
        """Projected `[B, rows, kv_heads * head_dim]` -> normed, rotated K and plain V, `[B, kv_heads, rows, head_dim]`."""
        B, rows, _ = keys.shape
        keys = self.k_norm(keys.reshape(B, rows, self.kv_heads, self.head_dim)).transpose(0, 2, 1, 3)
        values = values.reshape(B, rows, self.kv_heads, self.head_dim).transpose(0, 2, 1, 3)
        return self.rope(keys, offset=position), values

    def attend(
        self, queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array, project: Project = as_module
    ) -> mx.array:
        """`[B, heads, rows, head_dim]` over `[B, kv_heads, length, head_dim]` -> `[B, rows, hidden]`."""
        B, _, rows, _ = queries.shape
        y = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=self.head_dim**-0.5, mask=mask)
        return project(self.o_proj, y.transpose(0, 2, 1, 3).reshape(B, rows, -1))


class Layer(nn.Module):
    """A drafter layer: pre-norm attention and MLP."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = MLP(config.hidden_size, config.intermediate_size)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)

    def __call__(self, x: mx.array, attention: SubLayer, mlp: SubLayer, project: Project = as_module) -> mx.array:
        """The layer around what computes its attention and its MLP: `[..., rows, hidden]`, the rows of one block each."""
        x = x + attention(self.input_layernorm(x))
        return x + mlp(self.post_attention_layernorm(x))
