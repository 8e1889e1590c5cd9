"""Trains the demo target from nothing, in torch: MLX trains it three times slower on a CPU."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, linear

from . import model as shape
from .model import CHUNK, Target
from .phrasings import Wording
from .text import HARD_KINDS, KINDS, dialogue, render
from .tokenizer import IM_END_ID, PAD_ID, encode

BITS, GROUP = 4, 64
TOKENS = 3072  # of a batch
MUON_RATE, ADAM_RATE = 0.01, 5e-3
REPORT = 400
KINDS_OF_LOSS: dict[str, Wording] = {"known phrasings": "training", "held-out phrasings": "held-out"}


class Stage(NamedTuple):
    """A run of so many steps on kinds of text. rate: of the full learning rates; warm_up, fall, quantised: the shares of the
    steps in which the rates rise, in which, at the end, they sink to zero, and which see the weights as they will be stored."""

    steps: int
    kinds: Mapping[str, int]
    rate: float = 1.0
    warm_up: float = 0.02
    fall: float = 0.6
    quantised: float = 0.25


STAGES = (
    Stage(2200, KINDS),
    Stage(1700, KINDS, rate=0.7, warm_up=0.05, fall=0.9, quantised=0.4),
    Stage(1000, HARD_KINDS, rate=0.5, warm_up=0.05, fall=0.95, quantised=1.0),
)
Batch = tuple[torch.Tensor, torch.Tensor]  # ids and "is trained on", [rows, width]


def train_target(tokenizer: Tokenizer, out: Path, progress: Callable[[str], None]) -> None:
    """Writes a checkpoint in transformers' layout to out. Its last steps see the weights as 4 bits will leave them."""
    torch.manual_seed(0)
    torch.set_num_threads(2)
    target = Target(tokenizer.get_vocab_size())
    held = {
        name: [batch for batch, _ in zip(_batches(tokenizer, 10**6, wording), range(12))]
        for name, wording in KINDS_OF_LOSS.items()
    }
    for seed, stage in enumerate(STAGES):
        for step in _train(target, stage, _batches(tokenizer, seed, "training", stage.kinds), progress):
            if step % REPORT == 0 or step == stage.steps:
                with torch.no_grad():
                    for name, part in held.items():
                        mean = sum(_loss(target, *batch, quantised=True).item() for batch in part) / len(part)
                        progress(f"  4-bit loss on {name} {mean:.4f}")
    _save(target, out)


def _train(target: Target, stage: Stage, batches: Iterator[Batch], progress: Callable[[str], None]) -> Iterator[int]:
    """Yields after every step, counted from 1."""
    matrices = {name: w for name, w in target.named_parameters() if w.ndim == 2 and "embed" not in name and min(w.shape) >= 32}
    rest = [w for name, w in target.named_parameters() if name not in matrices]
    muon = Muon(list(matrices.values()))
    adam = torch.optim.AdamW(rest, lr=ADAM_RATE, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    losses: list[float] = []
    for step, (ids, own) in zip(range(stage.steps), batches):
        done = step / stage.steps
        factor = stage.rate * max(0.01, min(1, done / stage.warm_up, (1 - done) / stage.fall))
        loss = _loss(target, ids, own, quantised=done >= 1 - stage.quantised)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(target.parameters(), 1.0)
        adam.param_groups[0]["lr"] = ADAM_RATE * factor
        adam.step()
        muon.step(MUON_RATE * factor)
        target.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            progress(f"target step {step + 1} of {stage.steps}, loss {sum(losses[-50:]) / 50:.4f}")
        yield step + 1


class Muon:
    """Momentum whose steps are orthogonalised (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon).

    Matrices of one shape are done together, which torch's own does one by one.
    """

    MOMENTUM, DECAY = 0.95, 0.05

    def __init__(self, weights: list[torch.nn.Parameter]) -> None:
        self.groups: dict[torch.Size, list[torch.nn.Parameter]] = defaultdict(list)
        for weight in weights:
            self.groups[weight.shape].append(weight)
        self.momentum = {size: torch.zeros(len(group), *size) for size, group in self.groups.items()}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for size, group in self.groups.items():
            gradient = torch.stack([weight.grad for weight in group])
            momentum = self.momentum[size].lerp_(gradient, 1 - self.MOMENTUM)
            updates = _orthogonal(gradient.lerp(momentum, self.MOMENTUM)) * max(1, size[0] / size[1]) ** 0.5
            for weight, update in zip(group, updates):
                weight.mul_(1 - rate * self.DECAY).sub_(update, alpha=rate)


def _orthogonal(x: torch.Tensor) -> torch.Tensor:
    """Newton-Schulz: singular values near 1. x: [count, rows, columns]."""
    wide = x if x.shape[1] <= x.shape[2] else x.mT
    wide = (wide / (wide.norm(dim=(1, 2), keepdim=True) + 1e-7)).bfloat16()
    for _ in range(5):
        square = wide @ wide.mT
        wide = 3.4445 * wide + (-4.7750 * square + 2.0315 * square @ square) @ wide
    return (wide if x.shape[1] <= x.shape[2] else wide.mT).float()


def _batches(tokenizer: Tokenizer, seed: int, wording: Wording, kinds: Mapping[str, int] = KINDS) -> Iterator[Batch]:
    """Endless batches of about `TOKENS` tokens: dialogues of similar length, padded on the right to whole chunks."""
    rng = random.Random(seed)
    while True:
        made = (dialogue(rng, wording, kinds=kinds) for _ in range(1024))
        pool = sorted((encode(tokenizer, render(each)) for each in made), key=lambda pair: len(pair[0]))
        batches = []
        while pool:
            count = 1
            while count < len(pool) and _width(pool[count]) * (count + 1) <= TOKENS:
                count += 1
            batches.append(_pad(pool[:count]))
            pool = pool[count:]
        rng.shuffle(batches)
        yield from batches


def _width(pair: tuple[list[int], list[bool]]) -> int:
    return -(-len(pair[0]) // CHUNK) * CHUNK


def _pad(rows: list[tuple[list[int], list[bool]]]) -> Batch:
    ids = torch.full((len(rows), _width(rows[-1])), PAD_ID)
    own = torch.zeros(ids.shape, dtype=torch.bool)
    for row, (tokens, trained_on) in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        own[row, : len(tokens)] = torch.tensor(trained_on)
    return ids, own


def _loss(target: Target, ids: torch.Tensor, own: torch.Tensor, quantised: bool) -> torch.Tensor:
    """Cross-entropy of the assistant's words, optionally with the weights that 4-bit storage will leave."""
    weights = {name: _stored(w) if quantised and is_quantised(name, w) else w for name, w in target.named_parameters()}
    with torch.autocast("cpu", torch.bfloat16):
        hidden = torch.func.functional_call(target, weights, ids)
        logits = linear(hidden[:, :-1][own[:, 1:]], weights["embed_tokens.weight"])
    return cross_entropy(logits.float(), ids[:, 1:][own[:, 1:]])


def is_quantised(name: str, weight: torch.Tensor) -> bool:
    """Embedding and projections are stored in 4 bits; the two tiny projections of the gates are not."""
    return weight.ndim == 2 and weight.shape[-1] % GROUP == 0 and not name.endswith(("in_proj_a.weight", "in_proj_b.weight"))


def _stored(w: torch.Tensor) -> torch.Tensor:
    """MLX's affine quantisation; the gradient passes as if nothing had been rounded."""
    groups = w.detach().reshape(-1, GROUP)
    low, high = groups.amin(1, keepdim=True), groups.amax(1, keepdim=True)
    from_low = low.abs() > high.abs()
    scale = ((high - low) / (2**BITS - 1)).clamp_min(1e-7) * torch.where(from_low, 1.0, -1.0)
    edge = torch.where(from_low, low, high)
    zero = torch.round(edge / scale)
    scale = torch.where(zero != 0, edge / zero, scale)
    bias = torch.where(zero != 0, edge, torch.zeros_like(edge))
    stored = torch.clamp(torch.round((groups - bias) / scale), 0, 2**BITS - 1) * scale + bias
    return w + (stored.reshape(w.shape) - w).detach()


def _save(target: Target, out: Path) -> None:
    """transformers' names and config.json."""
    save_file({f"model.{name}": weight.detach() for name, weight in target.named_parameters()}, out / "model.safetensors")
    config = {
        "architectures": ["Qwen3_5ForCausalLM"],
        "model_type": "qwen3_5_text",
        "vocab_size": target.embed_tokens.num_embeddings,
        "hidden_size": shape.HIDDEN,
        "intermediate_size": shape.INTERMEDIATE,
        "num_hidden_layers": shape.LAYERS,
        "num_attention_heads": shape.HEADS,
        "num_key_value_heads": 1,
        "head_dim": shape.HEAD_DIM,
        "attn_output_gate": True,
        "attention_bias": False,
        "linear_num_key_heads": shape.LINEAR_HEADS,
        "linear_num_value_heads": shape.LINEAR_HEADS,
        "linear_key_head_dim": shape.LINEAR_HEAD_DIM,
        "linear_value_head_dim": shape.LINEAR_HEAD_DIM,
        "linear_conv_kernel_dim": shape.KERNEL,
        "full_attention_interval": shape.FULL_EVERY,
        "layer_types": [("linear", "full")[(i + 1) % shape.FULL_EVERY == 0] + "_attention" for i in range(shape.LAYERS)],
        "rms_norm_eps": shape.EPS,
        "hidden_act": "silu",
        "max_position_embeddings": 4096,
        "tie_word_embeddings": True,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": shape.THETA,
            "partial_rotary_factor": shape.ROTARY / shape.HEAD_DIM,
        },
        "eos_token_id": IM_END_ID,
        "pad_token_id": PAD_ID,
        "bos_token_id": None,
    }
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n")
