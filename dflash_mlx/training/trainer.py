"""Trains a drafter: Muon for the matrices, AdamW for the rest, the learning rate warmed up, held and lowered to zero."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

from dflash_mlx.drafters import DFlash
from dflash_mlx.drafters.dflash import Head
from dflash_mlx.training.corpus import Batch, Example, batches
from dflash_mlx.training.loss import Losses, losses


@dataclass(frozen=True)
class TrainingOptions:
    """How long and how fast to train.

    sequences, blocks: texts in a batch, and anchors sampled in each of them.
    gamma: how slowly the weight of a block's rows falls; about half the block size.
    muon_rate, adam_rate: the highest learning rates, of matrices and of everything else.
    warm_up, fall: the shares of the steps in which the rates rise, and in which they sink to zero.
    """

    steps: int
    sequences: int = 24
    blocks: int = 12
    gamma: float = 4.0
    muon_rate: float = 0.02
    adam_rate: float = 3e-3
    warm_up: float = 0.1
    fall: float = 0.6
    clip: float = 1.0
    seed: int = 0


class Progress(NamedTuple):
    """What a step reports. step counts from 1; the losses are those before the step."""

    step: int
    unary_loss: float
    selector_loss: float


def train(
    drafter: DFlash,
    target: Head,
    examples: Sequence[Example],
    options: TrainingOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Trains the drafter in place. The target lends its embedding and head, and stays as it is."""
    optimizer = _optimizer(options)

    def total(batch: Batch) -> tuple[mx.array, Losses]:
        parts = losses(drafter, target, batch)
        return parts.unary + parts.selector, parts

    loss_and_gradient = nn.value_and_grad(drafter, total)
    source = batches(examples, options.sequences, options.blocks, drafter.config.block_size, options.gamma, options.seed)
    for step, batch in zip(range(options.steps), source):
        for each, rate in zip(optimizer.optimizers, (options.muon_rate, options.adam_rate)):
            each.learning_rate = rate * _schedule(step / options.steps, options)
        (_, parts), gradients = loss_and_gradient(batch)
        gradients, _ = optim.clip_grad_norm(gradients, options.clip)
        optimizer.update(drafter, gradients)
        mx.eval(parts, drafter.parameters(), optimizer.state)
        progress(Progress(step + 1, float(parts[0].item()), float(parts[1].item())))


def _schedule(done: float, options: TrainingOptions) -> float:
    """The learning rate's factor when a share `done` of the steps is done."""
    return max(0.01, min(1.0, done / options.warm_up, (1 - done) / options.fall))


def _optimizer(options: TrainingOptions) -> optim.MultiOptimizer:
    """MLX's Muon adds weight decay to the gradient before it is orthogonalised: at these rates only 0 trains."""
    return optim.MultiOptimizer(
        [optim.Muon(options.muon_rate, weight_decay=0.0), optim.AdamW(options.adam_rate, betas=[0.9, 0.95], weight_decay=0.0)],
        [_is_matrix],
    )


def _is_matrix(name: str, weight: mx.array) -> bool:
    return weight.ndim == 2 and "codebook" not in name
