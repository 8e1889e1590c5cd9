"""What a cycle must move between memory and device, by part, counted from the loaded weights and states.

Every weight counts once, as it is held (packed, with its scales and biases); of tables of which rows are read, those rows;
of experts, as many as the rows reach on average. Recurrent states count twice, read and written; K and V of the context
once, with the block's rows written; logits twice, written and read. All other activations stay in caches and count nothing.

The target's head is read by the draft and by the verification: these are two reads. Projections of drafter K and V serve
context rows and block rows: one kernel could serve both, so they count once, with the injection.
"""

from typing import NamedTuple

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from dflash_mlx.drafters import DFlash
from dflash_mlx.drafters.dflash2 import DFlash2
from dflash_mlx.targets.attention import AttentionLayer
from dflash_mlx.targets.gated_delta import RecurrentLayer
from dflash_mlx.targets.transformer import TransformerTarget

Kind = type[RecurrentLayer] | type[AttentionLayer]
ANCHOR_AND_MASK = 2  # rows of the embedding that a drafted block reads, however wide it is


class Traffic(NamedTuple):
    """Bytes of a part.

    weights: read by all rows together, once.
    experts: likewise, of a mixture: those that at least one row reaches.
    states: of recurrent layers, read and written.
    context: K and V that are read, and the rows that are written.
    logits: written by a head, read by who chooses.
    """

    part: str
    weights: int = 0
    experts: int = 0
    states: int = 0
    context: int = 0
    logits: int = 0

    @property
    def bytes(self) -> int:
        return sum(self[1:])


def cycle_traffic(target: TransformerTarget, drafter: DFlash | None, rows: int, context: int) -> list[Traffic]:
    """Of a cycle of `rows` rows behind `context` committed ones, in the order of its parts; of parts that there are.

    Without a drafter, or of 1 row, of a plain step. What embeds the rows counts with the layers of the first one's kind, the
    final norm with the head.
    """
    parts = [] if drafter is None or rows == 1 else _draft(target, drafter, rows, context)
    parts += _layers(target, rows, context)
    logits = rows * target.config.vocab_size * target.dtype.size
    parts.append(Traffic("head", weights=nbytes(target.head) + nbytes(target.module.model.norm), logits=logits))
    parts.append(Traffic("accept", logits=logits))
    if drafter and rows > 1:
        parts.append(_injection(drafter, rows))
    if any(isinstance(layer, RecurrentLayer) for layer in target.layers):
        parts.append(Traffic("commit"))  # the layers' states say it all
    return parts


def part_of(target: TransformerTarget, kind: Kind) -> str:
    """ "48 recurrent layers" """
    number = sum(isinstance(layer, kind) for layer in target.layers)
    return f"{number} {'recurrent' if kind is RecurrentLayer else 'attention'} layer{'' if number == 1 else 's'}"


def kinds_of(target: TransformerTarget) -> list[Kind]:
    """Kinds of layers, in the order in which they come first."""
    return list(dict.fromkeys(type(layer) for layer in target.layers))


def nbytes(module: nn.Module) -> int:
    """Of all weights of a module."""
    return sum(weight.nbytes for weight in _arrays(module))


def _layers(target: TransformerTarget, rows: int, context: int) -> list[Traffic]:
    parts = []
    for kind in kinds_of(target):
        layers = [layer for layer in target.layers if isinstance(layer, kind)]
        weights = sum(nbytes(layer.layer) - sum(_experts(layer.layer.mlp)) for layer in layers)
        if isinstance(target.layers[0], kind) and not target.args.tie_word_embeddings:
            weights += rows * _row(target.module.model.embed_tokens)
        experts = sum(_reached(layer.layer.mlp, rows) for layer in layers)
        states = keys_and_values = 0
        for layer in layers:
            if isinstance(layer, AttentionLayer):
                keys_and_values += 2 * (context + rows) * layer.kv_heads * layer.head_dim * target.dtype.size
            else:
                net = layer.layer.linear_attn
                recurrent = net.num_v_heads * net.head_v_dim * net.head_k_dim * mx.float32.size
                states += 2 * (recurrent + (net.conv_kernel_size - 1) * net.conv_dim * target.dtype.size)
        parts.append(Traffic(part_of(target, kind), weights, experts, states, keys_and_values))
    return parts


def _draft(target: TransformerTarget, drafter: DFlash, rows: int, context: int) -> list[Traffic]:
    config = drafter.config
    weights = sum(nbytes(layer) for layer in drafter.layers) + nbytes(drafter.norm) - _keys_and_values(drafter)
    if not target.args.tie_word_embeddings:
        weights += ANCHOR_AND_MASK * _row(target.module.model.embed_tokens)
    windows = [config.window(i) for i in range(config.num_hidden_layers)]
    # a window's own row is the anchor
    seen = sum(context if window is None else min(context, window - 1) for window in windows)
    logits = (rows - 1) * target.config.vocab_size * target.dtype.size
    chosen = 0
    if isinstance(drafter, DFlash2):
        selector = drafter.candidate_selector
        chosen = nbytes(selector.hidden_projection) + (rows - 1) * selector.predecessor_codebook[0].nbytes
        chosen += (rows - 1) * selector.top_k * selector.successor_codebook[0].nbytes
    return [
        Traffic("draft block", weights, context=(seen + len(windows) * rows) * _position(drafter)),
        Traffic("draft head", nbytes(target.head), logits=logits),
        Traffic("draft choice", chosen, logits=logits),
    ]


def _injection(drafter: DFlash, rows: int) -> Traffic:
    weights = nbytes(drafter.fc) + nbytes(drafter.hidden_norm) + _keys_and_values(drafter)
    return Traffic("injection", weights, context=len(drafter.layers) * rows * _position(drafter))


def _keys_and_values(drafter: DFlash) -> int:
    """Of the weights that make K and V."""
    attentions = [layer.self_attn for layer in drafter.layers]
    return sum(nbytes(part) for each in attentions for part in (each.k_proj, each.v_proj, each.k_norm))


def _position(drafter: DFlash) -> int:
    """K and V of one position in one layer."""
    return 2 * drafter.config.num_key_value_heads * drafter.config.head_dim * drafter.dtype.size


def _experts(mlp: nn.Module) -> list[int]:
    """Bytes of each array of a mixture's experts; none where there is no mixture."""
    return [weight.nbytes for weight in _arrays(mlp.switch_mlp)] if "switch_mlp" in mlp else []


def _reached(mlp: nn.Module, rows: int) -> int:
    """Bytes of the experts that rows reach on average, each choosing `top_k` of them, all alike and by itself.

    Real routing is less even: consecutive tokens share experts, so that this is an upper estimate.
    """
    if not (experts := _experts(mlp)):
        return 0
    return round(sum(experts) * (1 - (1 - mlp.top_k / mlp.num_experts) ** rows))


def _row(table: nn.Module) -> int:
    """One row of a table, quantised or not."""
    return sum(weight.nbytes // weight.shape[0] for weight in _arrays(table))


def _arrays(module: nn.Module) -> list[mx.array]:
    weights: dict[str, mx.array] = dict(tree_flatten(module.parameters()))
    return list(weights.values())
