"""Drafters by the Metal kernels, under the harness or on a GPU: what they give by MLX's ops."""

from collections import Counter
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from metal_on_cpu import Run
from mlx_lm.models.rope_utils import initialize_rope

from dflash_mlx.decoding.sampling import Sampler, Sampling
from dflash_mlx.drafters import DFlash, Draft, DrafterConfig, new_drafter, quantise
from dflash_mlx.drafters.context import Context
from dflash_mlx.drafters.injection import frequencies
from dflash_mlx.kernels import NAMES, Kernels

HIDDEN, VOCAB, BLOCK, LAYERS = 128, 300, 6, 3
SIZES: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "sliding_window": 16,
    "intermediate_size": 192,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCAB,
    "rope_theta": 10000.0,
    "max_position_embeddings": 4096,
    "block_size": BLOCK,
    "dflash_config": {"mask_token_id": VOCAB - 1, "target_layer_ids": [0, 1]},
}
SELECTOR = {"selector_rank": 40, "selector_top_k": 8, "conv_kernel_size": 2, "conv_group_size": 16}
ALL = Kernels({name: frozenset(range(1, 17)) for name in NAMES})
# rows injected, how many of them are kept, and rows drafted behind those: past the end of the rings, which hold 28
ROUNDS = [(40, 40, 6), (6, 2, 6), (6, 6, 2), (2, 1, 6), (1, 1, 5), (6, 5, 3), (3, 3, 6)]


class EmbeddingAndHead:
    def __init__(self) -> None:
        self.embedding = mx.random.normal((VOCAB, HIDDEN))
        self.head = 0.3 * mx.random.normal((VOCAB, HIDDEN))

    def embed(self, ids: mx.array) -> mx.array:
        return self.embedding[ids]

    def lm_head(self, hidden: mx.array) -> mx.array:
        return hidden @ self.head.T


def new(version: int, bits: int | None = 4, **changes: Any) -> DFlash:
    """A drafter of random weights, its norms not all ones."""
    mx.random.seed(version)
    nested = SIZES["dflash_config"] | (SELECTOR if version == 2 else {})
    drafter = new_drafter(DrafterConfig.from_dict(SIZES | {"dflash_config": nested} | changes))
    for layer in drafter.layers:
        norm = layer.self_attn.k_norm
        norm.weight = 1 + 0.2 * mx.random.normal(norm.weight.shape)
    if bits:
        quantise(drafter, bits)
    drafter.fuse()
    return drafter


def rounds(drafter: DFlash, kernels: Kernels) -> list[mx.array]:
    """The hidden states of all rounds' blocks."""
    drafter.use_kernels(kernels)
    mx.random.seed(7)
    target, context, position, hidden = EmbeddingAndHead(), drafter.new_context(256), 0, []
    for rows, kept, width in ROUNDS:
        drafter.inject(mx.random.normal((1, rows, 2 * HIDDEN)), context, at(position))
        position += kept
        hidden.append(drafter.hidden(mx.array([9], mx.int32), context, at(position), width, target))
    return hidden


def at(position: int) -> mx.array:
    return mx.array([position], mx.int32)


def names(runs: list[Run]) -> Counter[str]:
    return Counter(run.name.removeprefix("dflash_") for run in runs)


@pytest.mark.parametrize("version", [1, 2])
def test_rounds_give_the_same_hidden_states(version: int, runs: list[Run]) -> None:
    drafter = new(version)
    for ours, theirs in zip(rounds(drafter, ALL), rounds(drafter, Kernels())):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=0, atol=2e-4)
    # one dispatch a layer for context and block together
    assert not runs or names(runs)["inject_kv"] == LAYERS * len(ROUNDS)


@pytest.mark.parametrize(
    "scaling",
    [
        {"rope_type": "linear", "factor": 4.0},
        {"rope_type": "llama3", "factor": 8.0},
        {"rope_type": "yarn", "factor": 64.0, "original_max_position_embeddings": 64, "beta_fast": 32, "beta_slow": 1},
    ],
    ids=lambda scaling: scaling["rope_type"],
)
def test_scaled_positions_turn_as_mlx_lm_turns_them(scaling: dict[str, Any], runs: list[Run]) -> None:
    drafter = new(1, bits=None, rope_scaling=scaling)
    for ours, theirs in zip(rounds(drafter, ALL), rounds(drafter, Kernels())):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=0, atol=2e-4)
    assert not runs or set(names(runs)) == {"inject_kv"}


def test_projections_of_mixed_widths_are_put_side_by_side(runs: list[Run]) -> None:
    drafter = new(1, bits=None)
    attention = drafter.layers[1].self_attn
    attention.v_proj = attention.v_proj.to_quantized(64, 8)
    quantise(drafter, 4)
    drafter.fuse()
    for ours, theirs in zip(rounds(drafter, ALL), rounds(drafter, Kernels())):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=0, atol=2e-4)
    assert not runs or names(runs)["inject_kv"] == LAYERS * len(ROUNDS)


def test_bfloat16_stays_close(runs: list[Run]) -> None:
    drafter = new(2, bits=None)
    drafter.set_dtype(mx.bfloat16)
    drafter.fuse()
    for ours, theirs in zip(rounds(drafter, ALL), rounds(drafter, Kernels())):
        assert ours.dtype == mx.bfloat16
        difference = mx.abs(ours.astype(mx.float32) - theirs.astype(mx.float32))
        assert difference.max().item() < 0.15 and difference.mean().item() < 0.015
    assert not runs or names(runs)["inject_kv"] == LAYERS * len(ROUNDS)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_the_same_seed_drafts_the_same(version: int, temperature: float, runs: list[Run]) -> None:
    drafter, target = new(version), EmbeddingAndHead()
    features, drafted = mx.random.normal((1, 12, 2 * HIDDEN)), set()

    def draft(kernels: Kernels, seed: int) -> tuple[Draft, list[int]]:
        drafter.use_kernels(kernels)
        sampler, context = Sampler(Sampling(temperature, top_k=20, seed=seed), VOCAB), drafter.new_context(32)
        drafter.inject(features[:, :8], context, at(0))
        drafter.inject(features[:, 8:], context, at(8))
        return drafter.draft(at(seed), context, at(12), BLOCK, target, sampler), sampler.key.tolist()

    for seed in range(4):
        (ours, our_key), (theirs, their_key) = draft(ALL, seed), draft(Kernels(), seed)
        assert ours.ids.dtype == mx.int32 and ours.ids.tolist() == theirs.ids.tolist()
        assert our_key == their_key, "what is drawn later must not change either"
        drafted.add(tuple(ours.ids.tolist()))
        assert (ours.q is None) == (theirs.q is None) == (temperature == 0)
        if ours.q is not None and theirs.q is not None:
            assert ours.q.dtype == mx.float32 and ours.q.shape == (BLOCK - 1, VOCAB)
            np.testing.assert_allclose(np.array(ours.q), np.array(theirs.q), rtol=1e-3, atol=1e-5)
            assert (mx.take_along_axis(ours.q, ours.ids[:, None], axis=-1) > 0).all()
    assert len(drafted) > 1
    chosen = 4 * (version == 2)
    assert not runs or (names(runs)["candidates"], names(runs)["candidates_walk"]) == (chosen, chosen)


def pieces(context: Context, positions: int) -> list[np.ndarray]:
    """K and V of the last positions that every layer holds."""
    rows = [[p % cache.capacity for p in range(max(0, positions - 16), positions)] for cache in context.layers]
    return [np.array(array[:, :, mx.array(rows[i // 2])]) for i, array in enumerate(context.arrays)]


def test_rows_that_wait_are_written_before_others_follow(runs: list[Run]) -> None:
    """Injections with no block between them; and a block at a width without the kernel."""
    drafter, target, contexts = new(2), EmbeddingAndHead(), []
    features = mx.random.normal((1, 40, 2 * HIDDEN))
    for kernels in (Kernels(ALL.rows | {"inject_kv": frozenset([1, 2, 3, 4, 5])}), Kernels()):
        drafter.use_kernels(kernels)
        contexts.append(drafter.new_context(64))
        for start, rows in ((0, 3), (3, 1), (4, 30), (34, 5)):
            drafter.inject(features[:, start : start + rows], contexts[-1], at(start))
        drafter.hidden(at(1), contexts[-1], at(39), BLOCK, target)
    for ours, theirs in zip(*(pieces(context, 39 + BLOCK) for context in contexts)):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-4)
    assert not runs or names(runs)["inject_kv"] == 3


def test_rows_never_wait_for_which_a_ring_has_no_room(runs: list[Run]) -> None:
    """A ring of 14; 12 rows of a prompt and a block would stand in it together."""
    drafter, target, hidden = new(1, sliding_window=2), EmbeddingAndHead(), []
    features = mx.random.normal((1, 12, 2 * HIDDEN))
    for kernels in (ALL, Kernels()):
        drafter.use_kernels(kernels)
        context = drafter.new_context(32)
        drafter.inject(features, context, at(0))
        assert context.waiting is None, "in which order one dispatch writes a row twice is up to the device"
        hidden.append(drafter.hidden(at(1), context, at(12), BLOCK, target))
    np.testing.assert_allclose(*map(np.array, hidden), rtol=0, atol=2e-4)
    assert not runs or names(runs)["inject_kv"] == LAYERS


@pytest.mark.parametrize(
    "scaling", [{"rope_type": "dynamic", "factor": 2.0}, {"rope_type": "proportional", "partial_rotary_factor": 0.5}]
)
def test_rotation_that_the_kernel_does_not_know(scaling: dict[str, Any]) -> None:
    assert frequencies(initialize_rope(64, 1e4, False, scaling, 4096)) is None


def test_small_heads_are_left_to_mlx(runs: list[Run]) -> None:
    drafter = new(2, head_dim=32)
    for ours, theirs in zip(rounds(drafter, ALL), rounds(drafter, Kernels())):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=0, atol=2e-4)
    assert not runs or set(names(runs)) == {"verify_matmul_fast"}
