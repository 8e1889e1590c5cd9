"""The demo target in torch, as transformers and mlx-lm compute Qwen3.5: three Gated DeltaNet layers, then one of attention.

Its weights have transformers' names. It is here because it trains three times faster than transformers' own on a CPU.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu, softplus

HIDDEN, LAYERS, INTERMEDIATE = 128, 24, 256
HEADS, HEAD_DIM = 2, 64  # of attention; one head of keys and values
LINEAR_HEADS, LINEAR_HEAD_DIM = 4, 32
FULL_EVERY, KERNEL, THETA, EPS = 4, 4, 10000.0, 1e-6
ROTARY = HEAD_DIM // 2
CHUNK = 32  # rows of the delta rule done at once


class Target(nn.Module):
    """ids [rows, width], width a multiple of CHUNK -> normed hidden states [rows, width, HIDDEN]."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, HIDDEN)
        self.layers = nn.ModuleList(Layer(full=(i + 1) % FULL_EVERY == 0) for i in range(LAYERS))
        self.norm = Norm(HIDDEN)
        for name, weight in self.named_parameters():
            if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")):
                nn.init.zeros_(weight)  # every layer begins as the identity: 24 of them learn faster so
            elif weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        angle = torch.arange(ids.shape[1])[:, None] * THETA ** (-torch.arange(0, ROTARY, 2) / ROTARY)
        hidden = self.embed_tokens(ids)
        for layer in self.layers:
            hidden = layer(hidden, angle)
        return self.norm(hidden)


class Layer(nn.Module):
    def __init__(self, full: bool) -> None:
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = Norm(HIDDEN), Norm(HIDDEN)
        if full:
            self.self_attn = Attention()
        else:
            self.linear_attn = GatedDeltaNet()
        self.mlp = MLP()

    def forward(self, hidden: Tensor, angle: Tensor) -> Tensor:
        normed = self.input_layernorm(hidden)
        mixed = self.self_attn(normed, angle) if hasattr(self, "self_attn") else self.linear_attn(normed)
        hidden = hidden + mixed
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class Norm(nn.Module):
    """RMSNorm, its weight stored less one."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x.float(), x.shape[-1:], 1 + self.weight, EPS)


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = _linear(HIDDEN, INTERMEDIATE), _linear(HIDDEN, INTERMEDIATE)
        self.down_proj = _linear(INTERMEDIATE, HIDDEN)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))


class Attention(nn.Module):
    """With an output gate, normed queries and keys, and rotary positions on half of each head."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj = _linear(HIDDEN, 2 * HEADS * HEAD_DIM)
        self.k_proj, self.v_proj = _linear(HIDDEN, HEAD_DIM), _linear(HIDDEN, HEAD_DIM)
        self.o_proj = _linear(HEADS * HEAD_DIM, HIDDEN)
        self.q_norm, self.k_norm = Norm(HEAD_DIM), Norm(HEAD_DIM)

    def forward(self, x: Tensor, angle: Tensor) -> Tensor:
        rows, width, _ = x.shape
        q, gate = self.q_proj(x).reshape(rows, width, HEADS, 2 * HEAD_DIM).chunk(2, -1)
        v = self.v_proj(x)[:, None]
        q = _rotate(self.q_norm(q).transpose(1, 2), angle).to(v.dtype)
        k = _rotate(self.k_norm(self.k_proj(x))[:, None], angle).to(v.dtype)
        out = scaled_dot_product_attention(q, k.expand_as(q), v.expand_as(q), is_causal=True)
        return self.o_proj((out.transpose(1, 2) * gate.sigmoid()).reshape(rows, width, -1))


class GatedDeltaNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        size = LINEAR_HEADS * LINEAR_HEAD_DIM
        self.in_proj_qkv, self.in_proj_z = _linear(HIDDEN, 3 * size), _linear(HIDDEN, size)
        self.in_proj_a, self.in_proj_b = _linear(HIDDEN, LINEAR_HEADS), _linear(HIDDEN, LINEAR_HEADS)
        self.conv1d = nn.Conv1d(3 * size, 3 * size, KERNEL, groups=3 * size, bias=False)
        self.A_log = nn.Parameter(torch.empty(LINEAR_HEADS).uniform_(math.log(0.02), math.log(4)))  # slow to fast fading
        self.dt_bias = nn.Parameter(torch.empty(LINEAR_HEADS).uniform_(-4, -1))
        self.norm = nn.RMSNorm(LINEAR_HEAD_DIM, EPS)
        self.out_proj = _linear(size, HIDDEN)

    def forward(self, x: Tensor) -> Tensor:
        rows, width, _ = x.shape

        def heads(y: Tensor) -> Tensor:
            return y.float().reshape(rows, width, LINEAR_HEADS, -1).transpose(1, 2)

        before = nn.functional.pad(self.in_proj_qkv(x), (0, 0, KERNEL - 1, 0))
        taps = self.conv1d.weight[:, 0].to(before.dtype).T.contiguous()
        mixed = silu(sum(before[:, i : i + width] * tap for i, tap in enumerate(taps.unbind())))
        q, k, v = map(heads, mixed.chunk(3, -1))
        with torch.autocast("cpu", enabled=False):
            out = delta_rule(
                _unit(q) * LINEAR_HEAD_DIM**-0.5,
                _unit(k),
                v,
                heads(-self.A_log.exp() * softplus(self.in_proj_a(x).float() + self.dt_bias))[..., 0],
                heads(self.in_proj_b(x)).sigmoid()[..., 0],
            )
            gated = self.norm(out) * silu(heads(self.in_proj_z(x)))
        return self.out_proj(gated.transpose(1, 2).reshape(rows, width, -1))


def delta_rule(q: Tensor, k: Tensor, v: Tensor, decay: Tensor, beta: Tensor) -> Tensor:
    """The gated delta rule (Yang et al. 2024, arXiv 2412.06464), a chunk of rows at once.

    q, k, v: [rows, heads, width, dim]; decay: logarithms; decay, beta: [rows, heads, width].
    """
    rows, heads, width, dim = v.shape
    q, k, v, decay, beta = (x.reshape(rows, heads, -1, CHUNK, *x.shape[3:]) for x in (q, k, v, decay, beta))
    decay = decay.cumsum(-1)
    faded = decay[..., :, None] - decay[..., None, :]
    faded = faded.masked_fill(~torch.ones(CHUNK, CHUNK, dtype=torch.bool).tril(), -math.inf).exp()
    from_start, to_end = decay.exp()[..., None], (decay[..., -1:] - decay).exp()[..., None]
    k_beta = k * beta[..., None]
    solved = torch.linalg.solve_triangular(
        (k_beta @ k.mT) * faded, torch.cat([v * beta[..., None], k_beta * from_start], -1), upper=False, unitriangular=True
    )
    parts = (*solved.split(dim, -1), q * from_start, (q @ k.mT) * faded, (k * to_end).mT, decay[..., -1:, None].exp())
    state, out = v.new_zeros(rows, heads, k.shape[-1], dim), []
    for value, key, query, scores, write, fade in zip(*(part.unbind(2) for part in parts)):
        new = value - key @ state
        out.append(query @ state + scores @ new)
        state = state * fade + write @ new
    return torch.stack(out, 2).reshape(rows, heads, width, dim)


def _linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False)


def _unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + EPS)


def _rotate(x: Tensor, angle: Tensor) -> Tensor:
    a, b, rest = x[..., : ROTARY // 2], x[..., ROTARY // 2 : ROTARY], x[..., ROTARY:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin(), rest], -1)
