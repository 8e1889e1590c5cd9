"""Trains the demo target from nothing: a small Qwen3.5 hybrid in torch (MLX trains it three times slower on a CPU)."""

import functools
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, linear
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig
from transformers.models.qwen3_5 import modeling_qwen3_5

from .phrasings import Wording
from .text import dialogue, render
from .tokenizer import IM_END_ID, PAD_ID, encode

CHUNK = 32  # rows of the delta rule done at once; the default of 64 is slower on CPUs
HIDDEN, LAYERS, HEAD_DIM, LINEAR_HEAD_DIM = 192, 4, 64, 32
BITS, GROUP = 4, 64
TOKENS = 3072  # of a batch
MUON_RATE, ADAM_RATE = 0.02, 3e-3
AVERAGED = 2  # stages, the last ones
KINDS_OF_LOSS: dict[str, Wording] = {"known phrasings": "first", "held-out phrasings": "held-out"}


class Stage(NamedTuple):
    """A run of so many steps. rate: of the full learning rates; fall, quantised: the shares of the steps, at the
    end, in which the rates sink to zero, and which see the weights as they will be stored."""

    wording: Wording
    steps: int
    rate: float = 1.0
    warm_up: float = 0.03
    fall: float = 0.6
    quantised: float = 0.25


LATER = {"rate": 0.4, "warm_up": 0.05, "fall": 0.9, "quantised": 1.0}
STAGES = (Stage("first", 4400), Stage("all", 700, **LATER), Stage("loose", 600, **LATER))
Batch = tuple[torch.Tensor, torch.Tensor]  # ids and "is trained on", [rows, width]


def build(vocab_size: int) -> Qwen3_5ForCausalLM:
    modeling_qwen3_5.torch_chunk_gated_delta_rule = functools.partial(_chunked_delta_rule, chunk_size=CHUNK)
    model = Qwen3_5ForCausalLM(
        Qwen3_5TextConfig(
            vocab_size=vocab_size,
            hidden_size=HIDDEN,
            intermediate_size=512,
            num_hidden_layers=LAYERS,
            tie_word_embeddings=True,
            num_attention_heads=HIDDEN // HEAD_DIM,
            num_key_value_heads=1,
            head_dim=HEAD_DIM,
            attn_output_gate=True,
            linear_num_key_heads=HIDDEN // LINEAR_HEAD_DIM,
            linear_num_value_heads=HIDDEN // LINEAR_HEAD_DIM,
            linear_key_head_dim=LINEAR_HEAD_DIM,
            linear_value_head_dim=LINEAR_HEAD_DIM,
            linear_conv_kernel_dim=4,
            full_attention_interval=4,
            layer_types=["linear_attention"] * 3 + ["full_attention"],
            max_position_embeddings=4096,
            eos_token_id=IM_END_ID,
            pad_token_id=PAD_ID,
            bos_token_id=None,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 10000.0,
                "partial_rotary_factor": 0.5,
                "mrope_section": [6, 5, 5],
            },
        )
    )
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("A_log"):
                weight.uniform_(math.log(0.02), math.log(4))  # slow to fast fading heads
            elif name.endswith("dt_bias"):
                weight.uniform_(-4, -1)
    return model


_chunked_delta_rule = modeling_qwen3_5.torch_chunk_gated_delta_rule


def train_target(tokenizer: Tokenizer, out: Path, progress: Callable[[str], None]) -> None:
    """Writes a transformers checkpoint to out: the mean of the weights after the last two stages, which errs less than either."""
    torch.manual_seed(0)
    torch.set_num_threads(2)
    model = build(tokenizer.get_vocab_size())
    held = {
        name: [batch for batch, _ in zip(_batches(tokenizer, 10**6, wording), range(12))]
        for name, wording in KINDS_OF_LOSS.items()
    }
    ends = []  # the weights after each stage
    for seed, stage in enumerate(STAGES):
        for step in _train(model, stage, _batches(tokenizer, seed, stage.wording), progress):
            if step % 400 == 0 or step == stage.steps:
                with torch.no_grad():
                    for name, part in held.items():
                        mean = sum(_loss(model, *batch, quantised=True).item() for batch in part) / len(part)
                        progress(f"  4-bit loss on {name} {mean:.4f}")
        ends.append({name: weight.clone() for name, weight in model.state_dict().items()})
    model.load_state_dict({name: sum(end[name] for end in ends[-AVERAGED:]) / AVERAGED for name in ends[-1]})
    model.save_pretrained(out)


def _train(model: Qwen3_5ForCausalLM, stage: Stage, batches: Iterator[Batch], progress: Callable[[str], None]) -> Iterator[int]:
    """Yields after every step, counted from 1."""
    matrices = {name: w for name, w in model.named_parameters() if w.ndim == 2 and "embed" not in name and min(w.shape) >= 32}
    rest = [w for name, w in model.named_parameters() if name not in matrices]
    optimizers = [
        torch.optim.Muon(list(matrices.values()), lr=MUON_RATE, weight_decay=0.05, momentum=0.95),
        torch.optim.AdamW(rest, lr=ADAM_RATE, betas=(0.9, 0.95), weight_decay=0.0, fused=True),
    ]
    losses: list[float] = []
    for step, (ids, own) in zip(range(stage.steps), batches):
        done = step / stage.steps
        for optimizer, rate in zip(optimizers, (MUON_RATE, ADAM_RATE)):
            factor = max(0.01, min(1, done / stage.warm_up, (1 - done) / stage.fall))
            optimizer.param_groups[0]["lr"] = rate * stage.rate * factor
        loss = _loss(model, ids, own, quantised=done >= 1 - stage.quantised)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            progress(f"target step {step + 1} of {stage.steps}, loss {sum(losses[-50:]) / 50:.4f}")
        yield step + 1


def _batches(tokenizer: Tokenizer, seed: int, wording: Wording) -> Iterator[Batch]:
    """Endless batches of about `TOKENS` tokens: dialogues of similar length, padded on the right to whole chunks."""
    rng = random.Random(seed)
    while True:
        pool = sorted((encode(tokenizer, render(dialogue(rng, wording))) for _ in range(1024)), key=lambda pair: len(pair[0]))
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


def _loss(model: Qwen3_5ForCausalLM, ids: torch.Tensor, own: torch.Tensor, quantised: bool) -> torch.Tensor:
    """Cross-entropy of the assistant's words, optionally with the weights that 4-bit storage will leave."""
    weights = {name: _stored(w) if quantised and is_quantised(name, w) else w for name, w in model.model.named_parameters()}
    with torch.autocast("cpu", torch.bfloat16):
        hidden = torch.func.functional_call(model.model, weights, kwargs={"input_ids": ids, "use_cache": False}).last_hidden_state
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
