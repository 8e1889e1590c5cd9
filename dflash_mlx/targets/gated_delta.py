"""A decoder layer with a Gated DeltaNet recurrence, able to stop after any row of a verified block.

Ours, over mlx-lm's weights and equations (`mlx_lm.models.qwen3_5`, `qwen3_next`, `gated_delta`), because verification
must be able to go back to any row.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.gated_delta import gated_delta_kernel

from dflash_mlx.kernels import Kernels, has_metal
from dflash_mlx.kernels import gated_delta as delta
from dflash_mlx.kernels import recurrent_inputs as inputs
from dflash_mlx.kernels.columns import Columns
from dflash_mlx.kernels.gated_delta import Block, Writes
from dflash_mlx.kernels.projections import FeedForward, Project, Projections
from dflash_mlx.kernels.verify_matmul import project
from dflash_mlx.targets.row_invariance import Op, ops_of
from dflash_mlx.targets.state import Due, RecurrentState
from dflash_mlx.targets.tree import Branch, Tree, rows_at

AT_ONCE = 4  # rows from which on the closed form beats one row after the other


class Projected(NamedTuple):
    """What a layer's input projections give.

    qkv: `[1, rows, conv_dim]`, queries, keys and values side by side.
    z: `[1, rows, value_heads * value_dim]`, the output gate.
    a, b: `[1, rows, value_heads]`, what decay and write strength are made from.
    """

    qkv: mx.array | Columns
    z: mx.array
    a: mx.array | Columns
    b: mx.array | Columns


class Rows(NamedTuple):
    """What rows give.

    x: `[1, rows, hidden]`, the layer's output.
    conv_rows: `[1, kernel - 1 + rows, conv_dim]`, before the short convolution, with those before them in front.
    states: those after the last rows, as `recur` has them; from our own kernel the one before the rows.
    writes: what they write into it; from `gated_delta.whole_block`, as it has it, and there are no states.
    """

    x: mx.array
    conv_rows: mx.array
    states: list[mx.array]
    writes: Writes | Block


class RecurrentLayer:
    """One layer of `mlx_lm.models.qwen3_5` or `qwen3_next`, called as a function of rows and state."""

    def __init__(
        self, layer: nn.Module, projections: list[nn.Module], arrange: Callable[[nn.Module, list[Columns]], Projected]
    ) -> None:
        """
        Args:
            projections: of the layer's `linear_attn`, from its input.
            arrange: makes `Projected` of that `linear_attn` and what they give.
        """
        self.layer, self._arrange, net = layer, arrange, layer.linear_attn
        self._inputs, self._mlp = Projections(projections), FeedForward(layer.mlp)
        heads = net.num_k_heads, net.head_k_dim, net.num_v_heads, net.head_v_dim
        self.dtype = layer.input_layernorm.weight.dtype
        self._covered = {
            "gated_delta": delta.covers(*heads, self.dtype),
            "recurrent_inputs": inputs.covers(*heads, self.dtype, net.dt_bias.dtype),
        }
        self.use_kernels(Kernels())

    def use_kernels(self, kernels: Kernels) -> None:
        """Computes with these kernels from now on."""
        self.kernels = kernels
        self._compiled = {exact: mx.compile(partial(self._rows, exact=exact, at_once=not exact)) for exact in (False, True)}
        self._state_after = mx.compile(delta.state_after)

    @property
    def linear_layers(self) -> list[nn.Module]:
        """What it projects by, as it is called."""
        return [*self._inputs.layers, self.layer.linear_attn.out_proj, *self._mlp.layers]

    def projected(self, x: mx.array, project: Project) -> Projected:
        """What the input projections give for normed rows `[1, rows, hidden]`."""
        return self._arrange(self.layer.linear_attn, self._inputs.columns(x, project))

    def exact_ops(self, rows: int) -> frozenset[Op]:
        """MLX's ops that decide whether exact verification takes its rows apart."""
        kernels = {"recurrence": "gated_delta", "convolution": "recurrent_inputs"}
        ops = ops_of(self.layer, rows, self.dtype, self.kernels, "recurrence", "norm", "elementwise")
        return ops - {op for op, name in kernels.items() if self.serves(name, rows, exact=True)}

    def serves(self, name: str, rows: int, exact: bool) -> bool:
        """Whether "gated_delta" or "recurrent_inputs" is in use at so many rows."""
        return self._covered[name] and self.kernels.use(name, rows, exact)

    def __call__(
        self,
        x: mx.array,
        state: RecurrentState,
        position: mx.array,
        mask: mx.array,
        commit: bool = False,
        exact: bool = False,
        tree: Tree | None = None,
    ) -> mx.array:
        """Rows `[1, rows, hidden]` from the committed state on, which knows neither positions nor masks.

        With `commit` they are committed at once: a chunk of a prompt, in too many sizes to compile for.
        """
        if not commit and self.serves("gated_delta", x.shape[1], exact):
            conv_rows, writes, path = state.due or Due(state.conv, self._no_writes(state), Branch(()))
            before = mx.array(path.newest(state.conv.shape[1]), mx.int32)
            rows = Rows(*self._compiled[exact](x, conv_rows, state.recurrent, tree, before, path.array, writes))
            state.keep_due(rows.conv_rows, Writes(*rows.writes), rows.states[0])
            return rows.x
        settle(state)
        rows = Rows(*(self._rows if commit else self._compiled[exact])(x, state.conv, state.recurrent, tree))
        if commit:
            # a view would keep all of the chunk's rows alive
            state.advance(mx.contiguous(rows.conv_rows[:, x.shape[1] :]), rows.states[-1])
        else:
            state.keep(rows.conv_rows, self._states(x.shape[1], rows, state.recurrent))
        return rows.x

    def _states(self, width: int, rows: Rows, before: mx.array) -> Callable[[Branch], mx.array]:
        """Gives the state after some of `width` rows, one after the other."""
        if not rows.states:
            return lambda path: self._state_after(mx.array(path.rows[-1:], mx.int32), Block(*rows.writes), before)
        known = dict(zip(range(width - 1, -1, -1), reversed(rows.states)))
        return lambda path: known[path.rows[-1]] if path.rows[-1] in known else replay(path, Writes(*rows.writes), before)

    def one_by_one(
        self, x: mx.array, state: RecurrentState, position: mx.array, mask: mx.array, commit: bool = False, exact: bool = True
    ) -> mx.array:
        """The same, each row as if it were alone."""
        settle(state)
        conv, recurrent, outputs, conv_rows, states = state.conv, state.recurrent, [], [state.conv], []
        for row in mx.split(x, x.shape[1], axis=1):
            output, rows, [recurrent], _ = self._compiled[exact](row, conv, recurrent)
            conv = rows[:, 1:]
            outputs.append(output)
            conv_rows.append(rows[:, -1:])
            states.append(recurrent)
        state.keep(mx.concatenate(conv_rows, axis=1), lambda path: states[path.rows[-1]])
        return mx.concatenate(outputs, axis=1)

    def _rows(
        self,
        x: mx.array,
        conv_rows: mx.array,
        recurrent: mx.array,
        tree: Tree | None = None,
        before: mx.array | None = None,
        path: mx.array | None = None,
        last: Writes | None = None,
        exact: bool = False,
        at_once: bool = False,
    ) -> Rows:
        """Rows `[1, rows, hidden]` after a state, or, by our own kernel, after a `path` of the `last` block after it.

        before: the places of the rows before them in `conv_rows`.
        at_once: where no kernel serves, rows need not have the bits of one at a time.
        """
        tree = tree and Tree(*tree)
        net, (B, rows, _) = self.layer.linear_attn, x.shape
        linear = partial(project, kernels=self.kernels, exact=exact)
        qkv, z, a, b = self.projected(self.layer.input_layernorm(x), linear)
        weights = inputs.Weights(net.conv1d.weight, net.A_log, net.dt_bias)
        prepare = (
            inputs.recurrent_inputs_metal if self.serves("recurrent_inputs", rows, exact) else inputs.recurrent_inputs_reference
        )
        before = mx.arange(net.conv_kernel_size - 1) if before is None else before
        parents = tree and tree.parents
        q, writes, conv_rows = prepare(conv_rows, before, qkv, a, b, weights, net.num_k_heads, net.head_k_dim, parents)
        states: list[mx.array]
        written: Writes | Block = writes
        if path is None or last is None:
            if at_once and (tree or rows >= AT_ONCE and not _has_kernel(q)):
                (y, written), states = delta.whole_block(q, writes, recurrent, tree and tree.ancestors), []
            else:
                y, states = recur(q, writes, recurrent)
        else:
            y, kept = delta.gated_delta_metal(recurrent, Writes(*last), path, q, writes, parents)
            states = [kept]
        y = net.norm(y, z.reshape(B, rows, net.num_v_heads, net.head_v_dim)).reshape(B, rows, -1)
        x = x + linear(net.out_proj, y)
        return Rows(x + self._mlp(self.layer.post_attention_layernorm(x), linear), conv_rows, states, written)

    def _no_writes(self, state: RecurrentState) -> Writes:
        """One row, never looked at: what a kernel is given where nothing is due."""
        net, dtype, heads = self.layer.linear_attn, state.conv.dtype, (1, 1, self.layer.linear_attn.num_v_heads)
        k = mx.zeros((1, 1, net.num_k_heads, net.head_k_dim), dtype)
        return Writes(k, mx.zeros((*heads, net.head_v_dim), dtype), mx.zeros(heads, mx.float32), mx.zeros(heads, dtype))


def settle(state: RecurrentState) -> None:
    """Writes what is due into a state."""
    if due := state.due:
        conv = rows_at(due.conv_rows, due.path.newest(state.conv.shape[1]))
        state.advance(conv, replay(due.path, due.writes, state.recurrent))


def recur(q: mx.array, writes: Writes, state: mx.array) -> tuple[mx.array, list[mx.array]]:
    """The gated delta rule over rows, one after the other (`mlx_lm.models.gated_delta`).

    Args:
        q: `[1, rows, key_heads, key_dim]`, normed and scaled.
        state: float32 `[1, value_heads, value_dim, key_dim]`.

    Returns:
        `[1, rows, value_heads, value_dim]`, and the states after the last rows: after each one in plain MLX, where they
        all exist anyway, and after the last one from mlx-lm's Metal kernel, which keeps the others in registers.
    """
    if _has_kernel(q):
        y, last = gated_delta_kernel(q, *writes, state)
        return y, [last]
    states = delta.states_after(writes, state)
    return delta.outputs(q, states), states


def replay(path: Branch, writes: Writes, state: mx.array) -> mx.array:
    """The state after some of the rows, one after the other: bit for bit what `recur` has there."""
    writes = Writes(*(path.take(rows) for rows in writes))
    if _has_kernel(writes.k):
        last: mx.array = gated_delta_kernel(writes.k, *writes, state)[1]
        return last
    return delta.states_after(writes, state)[-1]


def _has_kernel(k: mx.array) -> bool:
    """Whether mlx-lm's Metal kernel serves these rows."""
    return has_metal() and k.shape[-1] % 32 == 0
