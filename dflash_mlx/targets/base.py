"""The contract of a target: the big model whose distribution is the answer."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import mlx.nn as nn

from dflash_mlx.kernels import Kernels
from dflash_mlx.targets.state import State
from dflash_mlx.targets.tree import Tree


@dataclass(frozen=True)
class TargetConfig:
    """What the rest of the runtime needs to know of a target; `max_position_embeddings` as its RoPE scaling stretches it."""

    model_type: str
    hidden_size: int
    vocab_size: int
    num_hidden_layers: int
    max_position_embeddings: int
    attention_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int


class Target(ABC):
    """A target model: functions of ids, state and position. It holds weights and nothing of a request.

    With `exact`, the bits of a row's result do not depend on how many rows are computed with it: where an op of MLX does
    not have that property on this device (`row_invariance`), rows are computed one by one.

    Attributes:
        module: holds the weights.
        kernels: the kernels it computes with.
    """

    config: TargetConfig
    module: nn.Module
    kernels: Kernels

    @property
    @abstractmethod
    def linear_layers(self) -> list[nn.Module]:
        """What it projects by, as it is called, the head last."""

    @abstractmethod
    def use_kernels(self, kernels: Kernels) -> None:
        """Computes with these kernels from now on, wherever their contracts cover the shapes; at first with none."""

    @abstractmethod
    def embed(self, ids: mx.array) -> mx.array:
        """Embeddings of ids: int32 `[1, rows]` -> `[1, rows, hidden]`."""

    @abstractmethod
    def lm_head(self, hidden: mx.array, exact: bool = False) -> mx.array:
        """Logits of normed hidden states: `[1, rows, hidden]` -> `[1, rows, vocab]`."""

    @abstractmethod
    def new_state(self, capacity: int) -> State:
        """An empty state with room for `capacity` positions."""

    @abstractmethod
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
        """One pass over rows: consecutive ones, or a tree.

        It starts from the committed rows of `state`. Its own rows become permanent with `state.commit(path, position)`;
        until then, or until the next forward, they can be forgotten.

        Args:
            ids: int32 `[1, rows]`.
            state: must have room for `position` + `rows`.
            position: int32 `[1]`, the position of the first row: the number of committed rows.
            taps: layers whose outputs are wanted, in this order.
            commit: make all rows permanent at once (prefill: nothing is kept for a rollback).
            exact: see the class; not with `commit`.
            tree: who follows whom, if it is not each row the one before it; not with `commit` or `exact`.

        Returns:
            hidden: `[1, rows, hidden]` after the final norm, ready for `lm_head`.
            features: `[1, rows, taps * hidden]`, the residual stream after each tapped layer; None without taps.
        """
