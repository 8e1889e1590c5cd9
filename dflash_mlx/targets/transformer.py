"""What all Qwen families share: pre-norm layers of attention (or recurrence) and MLP, over an mlx-lm model.

Weights, norms, MLP, MoE block and RoPE are mlx-lm's own, unpatched. A family's file names its model and, where it has
recurrent layers, how their inputs are projected.
"""

from collections.abc import Callable, Sequence
from functools import partial

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.config import longest
from dflash_mlx.kernels import Kernels
from dflash_mlx.kernels.columns import Columns
from dflash_mlx.kernels.verify_matmul import project
from dflash_mlx.targets.attention import AttentionLayer
from dflash_mlx.targets.base import Target, TargetConfig
from dflash_mlx.targets.gated_delta import Projected, RecurrentLayer
from dflash_mlx.targets.row_invariance import Op, ops_of, rows_apart
from dflash_mlx.targets.state import AttentionState, RecurrentState, State
from dflash_mlx.targets.tree import Tree

LAYERS_A_SUBMISSION = 2


class TransformerTarget(Target):
    """A target over an mlx-lm text model: `args`, `model` (embed_tokens, layers, norm) and, untied, `lm_head`."""

    def __init__(self, text: nn.Module) -> None:
        self.module = text
        self.args = args = text.args
        self.dtype = text.model.norm.weight.dtype
        self.config = TargetConfig(
            model_type=args.model_type,
            hidden_size=args.hidden_size,
            vocab_size=args.vocab_size,
            num_hidden_layers=args.num_hidden_layers,
            max_position_embeddings=longest(args.rope_scaling, args.max_position_embeddings),
            attention_layers=sum("linear_attn" not in layer for layer in text.model.layers),
            num_attention_heads=args.num_attention_heads,
            num_key_value_heads=args.num_key_value_heads,
            head_dim=args.head_dim,
        )
        self.layers = [self._new_layer(layer) for layer in text.model.layers]
        self.use_kernels(Kernels())

    def _new_layer(self, layer: nn.Module) -> AttentionLayer | RecurrentLayer:
        if "linear_attn" in layer:
            return RecurrentLayer(layer, self.projections(layer.linear_attn), self.arrange)
        return AttentionLayer(layer, self.args.num_attention_heads, self.args.num_key_value_heads, self.args.head_dim)

    def use_kernels(self, kernels: Kernels) -> None:
        self.kernels = kernels
        for layer in self.layers:
            layer.use_kernels(kernels)
        self._exact_ops: dict[int, list[frozenset[Op]]] = {}

    @property
    def linear_layers(self) -> list[nn.Module]:
        return [*(part for layer in self.layers for part in layer.linear_layers), self.head]

    @property
    def head(self) -> nn.Module:
        """What gives the logits: a layer of its own, or the embeddings."""
        head: nn.Module = self.module.model.embed_tokens if self.args.tie_word_embeddings else self.module.lm_head
        return head

    def embed(self, ids: mx.array) -> mx.array:
        return self.module.model.embed_tokens(ids)

    def lm_head(self, hidden: mx.array, exact: bool = False) -> mx.array:
        head = partial(project, self.head, kernels=self.kernels, exact=exact)
        apart = exact and rows_apart(*ops_of(self.head, hidden.shape[1], self.dtype, self.kernels))
        return _by_row(head, hidden) if apart else head(hidden)

    def new_state(self, capacity: int) -> State:
        state = State([self._new_layer_state(layer) for layer in self.layers])
        state.reserve(capacity)
        return state

    def _new_layer_state(self, layer: AttentionLayer | RecurrentLayer) -> AttentionState | RecurrentState:
        if isinstance(layer, AttentionLayer):
            return AttentionState(layer.kv_heads, layer.head_dim, self.dtype)
        net = layer.layer.linear_attn
        conv = mx.zeros((1, net.conv_kernel_size - 1, net.conv_dim), self.dtype)
        return RecurrentState(conv, mx.zeros((1, net.num_v_heads, net.head_v_dim, net.head_k_dim), mx.float32))

    def forward(
        self,
        ids: mx.array,
        state: State,
        position: mx.array,
        taps: Sequence[int] = (),
        *,
        commit: bool = False,
        exact: bool = False,
        tree: Tree | None = None,
    ) -> tuple[mx.array, mx.array | None]:
        x = self.embed(ids)
        rows = ids.shape[1]
        mask = state.visible(position, rows, tree)
        *apart, norm_apart = self._apart(rows) if exact else [False] * (len(self.layers) + 1)
        tapped: dict[int, mx.array] = {}
        for i, (layer, layer_state) in enumerate(zip(self.layers, state.layers)):
            forward: Callable[..., mx.array] = layer.one_by_one if apart[i] else layer
            x = forward(x, layer_state, position, mask, commit, exact, *([tree] if tree else []))
            if i in taps:
                tapped[i] = x
            if commit:  # a chunk is long: what one layer made is dropped before the next one starts
                mx.eval(x, *layer_state.arrays)
            elif i % LAYERS_A_SUBMISSION == 0:  # the device works while Python builds the next layers
                mx.async_eval(x)
        features = mx.concatenate([tapped[i] for i in taps], axis=-1) if taps else None
        norm = self.module.model.norm
        return _by_row(norm, x) if norm_apart else norm(x), features

    def projections(self, net: nn.Module) -> list[nn.Module]:
        """The input projections of a recurrent layer; families that have such layers define it."""
        raise TypeError(f"{self.args.model_type} has no recurrent layers")

    def arrange(self, net: nn.Module, outputs: list[Columns]) -> Projected:
        """What they give, in the order that the layer wants."""
        raise TypeError(f"{self.args.model_type} has no recurrent layers")

    def _apart(self, rows: int) -> list[bool]:
        """For each layer, and for the norm behind them: whether exact verification takes its rows one by one."""
        if rows not in self._exact_ops:
            norm = ops_of(self.module.model.norm, rows, self.dtype, self.kernels)
            self._exact_ops[rows] = [*(layer.exact_ops(rows) for layer in self.layers), norm]
        apart = {ops: rows_apart(*ops) for ops in self._exact_ops[rows]}
        return [apart[ops] for ops in self._exact_ops[rows]]


def _by_row(function: Callable[[mx.array], mx.array], x: mx.array) -> mx.array:
    """A function of rows `[1, rows, ...]`, computed one by one."""
    return mx.concatenate([function(row) for row in mx.split(x, x.shape[1], axis=1)], axis=1)
