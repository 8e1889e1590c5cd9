"""DFlash and DFlash 2 over the recorded multi-round scenarios: hidden states, logits and drafted ids."""

import json
from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, expected

from dflash_mlx.drafters import DFlash, DrafterConfig, load_drafter
from dflash_mlx.drafters.context import LayerContext, SlidingContext

VARIANTS = [f"dflash{version}_{kind}" for version in (1, 2) for kind in ("full", "swa", "swa_bidir")]


class EmbeddingAndHead:
    """What the recording's drafter borrowed from its target: two matrices."""

    def __init__(self, name: str) -> None:
        weights = mx.load(
            str(CHECKPOINTS / ("target_qwen3_5" if name.startswith("dflash2") else "target_qwen3") / "model.safetensors")
        )
        prefix = "language_model." if name.startswith("dflash2") else ""
        self.embedding, self.head = weights[prefix + "model.embed_tokens.weight"], weights[prefix + "lm_head.weight"]

    def embed(self, ids: mx.array) -> mx.array:
        return self.embedding[ids]

    def lm_head(self, hidden: mx.array) -> mx.array:
        return hidden @ self.head.T


@pytest.mark.parametrize("name", VARIANTS)
def test_recorded_rounds_give_the_recorded_hidden_states_logits_and_drafts(name: str) -> None:
    drafter, recorded, target = load_drafter(CHECKPOINTS / name), expected(name + "_rounds"), EmbeddingAndHead(name)
    rows_of = expected(name[:7] + "_context")
    context, position = drafter.new_context(), 0
    for r, width in enumerate(recorded["width"].tolist()):
        features = mx.array(rows_of[f"ctx_{r}"])[None]
        context.reserve(position + features.shape[1] + width)
        drafter.inject(features, context, mx.array([position], mx.int32))
        position += features.shape[1]
        assert position == recorded["start"][r]
        start, anchor = mx.array([position], mx.int32), mx.array(recorded["anchor"][r : r + 1])
        hidden = drafter.hidden(anchor, context, start, width, target)
        np.testing.assert_allclose(np.array(hidden[0]), recorded[f"hidden_{r}"], atol=float(recorded["tol_hidden"]), rtol=0)
        if f"logits_{r}" in recorded:
            logits = np.array(target.lm_head(hidden)[0, 1:])
            np.testing.assert_allclose(logits, recorded[f"logits_{r}"], atol=float(recorded["tol_logits"]), rtol=0)
        draft = drafter.draft(anchor, context, start, width, target)
        assert np.array(draft.ids).tolist() == recorded[f"tokens_{r}"].tolist()
        assert draft.ids.dtype == mx.int32


def test_the_selector_considers_the_recorded_candidates() -> None:
    drafter, recorded, target = (
        load_drafter(CHECKPOINTS / "dflash2_full"),
        expected("dflash2_full_rounds"),
        EmbeddingAndHead("dflash2_full"),
    )
    differs = 0
    for r in range(len(recorded["width"])):
        hidden = mx.array(recorded[f"hidden_{r}"])[1:]
        ids, _ = drafter.candidate_selector.candidates(target.lm_head(hidden))
        assert np.sort(np.array(ids)).tolist() == np.sort(recorded[f"cand_ids_{r}"]).tolist()
        differs += int((recorded[f"tokens_{r}"] != recorded[f"argmax_{r}"]).sum())
    assert differs > 0, "the recording must contain positions where the selector changes the argmax"


@pytest.mark.parametrize("name", VARIANTS)
def test_injecting_row_by_row_equals_injecting_at_once(name: str) -> None:
    drafter, target = load_drafter(CHECKPOINTS / name), EmbeddingAndHead(name)
    features = mx.array(expected(name[:7] + "_context")["ctx_0"])[None]
    n = features.shape[1]
    whole, single = drafter.new_context(n + 8), drafter.new_context(n + 8)
    drafter.inject(features, whole, mx.array([0], mx.int32))
    for row in range(n):
        drafter.inject(features[:, row : row + 1], single, mx.array([row], mx.int32))
    hiddens = [drafter.hidden(mx.array([9], mx.int32), c, mx.array([n], mx.int32), 8, target) for c in (whole, single)]
    np.testing.assert_allclose(np.array(hiddens[0]), np.array(hiddens[1]), atol=2e-4, rtol=0)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [None, 5])
def test_a_row_sees_what_the_published_rule_says(causal: bool, window: int | None) -> None:
    block = 4
    context = LayerContext(1, 1, mx.float32, 32) if window is None else SlidingContext(1, 1, mx.float32, window, block)
    for position in (0, 1, 3, 7, 12, 13, 27):
        numbers = mx.arange(position + block).astype(mx.float32)[None, None, :, None]
        context.write(numbers, numbers, mx.array([0], mx.int32))  # row p holds the number p
        mask = np.array(context.visible(mx.array([position], mx.int32), block, causal))
        held = np.array(context.keys)[0, 0, :, 0]
        for row in range(block):
            q = position + row
            wanted = [
                k for k in range(position + block) if (not causal or k <= q) and (window is None or -window < q - k < window)
            ]
            assert sorted(held[mask[row]].astype(int).tolist()) == wanted


def test_injection_is_one_projection_that_the_layers_share() -> None:
    drafter = load_drafter(CHECKPOINTS / "dflash2_full")
    raw = mx.load(str(CHECKPOINTS / "dflash2_full" / "model.safetensors"))
    for i, layer in enumerate(drafter.layers):
        for name in ("k_proj", "v_proj"):
            assert mx.array_equal(layer.self_attn[name].weight, raw[f"layers.{i}.self_attn.{name}.weight"])
    wanted = mx.concatenate([raw[f"layers.{i}.self_attn.{name}.weight"] for i in range(3) for name in ("k_proj", "v_proj")])
    [(fused, places)] = drafter._injection._of_all._joint
    assert mx.array_equal(fused.weight, wanted) and places == list(range(6))


def test_quantising_at_load_keeps_norms_kernels_and_codebooks() -> None:
    drafter = load_drafter(CHECKPOINTS / "dflash2_full", bits=8)
    assert drafter.fc.bits == 8 and drafter.layers[0].mlp.down_proj.bits == 8
    raw = mx.load(str(CHECKPOINTS / "dflash2_full" / "model.safetensors"))
    assert mx.array_equal(drafter.candidate_selector.predecessor_codebook, raw["candidate_selector.predecessor_codebook"])
    assert mx.array_equal(drafter.layers[1].mlp_conv.base_kernel, raw["layers.1.mlp_conv.base_kernel"])
    assert mx.array_equal(drafter.hidden_norm.weight, raw["hidden_norm.weight"])


def test_projections_of_mixed_widths_load_and_stay_close(tmp_path) -> None:
    source = CHECKPOINTS / "dflash2_full"
    config, weights = json.loads((source / "config.json").read_text()), mx.load(str(source / "model.safetensors"))
    config["quantization"] = {"group_size": 64, "bits": 8}
    for name in [n for n in weights if n.endswith("v_proj.weight")]:  # some wide, some wider, some as they are
        if "layers.2" not in name:
            bits = 6 if "layers.0" in name else 8
            config["quantization"][name.removesuffix(".weight")] = {"group_size": 64, "bits": bits}
            base = name.removesuffix("weight")
            weights[name], weights[base + "scales"], weights[base + "biases"] = mx.quantize(weights[name], 64, bits)
    (tmp_path / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(tmp_path / "model.safetensors"), weights)
    mixed, plain = load_drafter(tmp_path), load_drafter(source)
    assert len(mixed._injection._of_all._joint) == 3
    features, target = mx.array(expected("dflash2_context")["ctx_0"])[None], EmbeddingAndHead("dflash2_full")
    hiddens = []
    for drafter in (mixed, plain):
        context = drafter.new_context(48)
        drafter.inject(features, context, mx.array([0], mx.int32))
        hiddens.append(np.array(drafter.hidden(mx.array([9], mx.int32), context, mx.array([40], mx.int32), 8, target)))
    assert 0 < np.abs(hiddens[0] - hiddens[1]).max() < 0.2 * np.abs(hiddens[1]).max()


@pytest.mark.parametrize("quantised", [True, False])
def test_codebooks_written_as_embeddings_load(quantised: bool, tmp_path) -> None:
    source = CHECKPOINTS / "dflash2_full"
    config, weights = json.loads((source / "config.json").read_text()), mx.load(str(source / "model.safetensors"))
    mx.random.seed(0)
    config["dflash_config"]["selector_rank"] = 64
    weights["candidate_selector.hidden_projection.weight"] = mx.random.normal((64, 64))
    tables = {}
    for name in ("candidate_selector.predecessor_codebook", "candidate_selector.successor_codebook"):
        del weights[name]
        tables[name] = mx.random.normal((256, 64))
        weights[f"{name}.weight"] = tables[name]
        if quantised:
            parts = mx.quantize(tables[name], 64, 8)
            weights |= {f"{name}.{part}": w for part, w in zip(("weight", "scales", "biases"), parts)}
            config["quantization"] = {"group_size": 64, "bits": 8}
    (tmp_path / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(tmp_path / "model.safetensors"), weights)
    selector = load_drafter(tmp_path).candidate_selector
    for name, table in tables.items():
        np.testing.assert_allclose(np.array(selector[name.split(".")[1]]), np.array(table), atol=0.03 if quantised else 0)


def test_float16_weights_never_compute_in_float16(tmp_path) -> None:
    source = CHECKPOINTS / "dflash2_full"
    (tmp_path / "config.json").write_text((source / "config.json").read_text())
    half = {name: w.astype(mx.float16) for name, w in mx.load(str(source / "model.safetensors")).items()}
    mx.save_safetensors(str(tmp_path / "model.safetensors"), half)
    drafter = load_drafter(tmp_path)
    assert drafter.dtype == mx.bfloat16
    context = drafter.new_context(16)
    drafter.inject(mx.zeros((1, 4, 192), mx.float16), context, mx.array([0], mx.int32))
    assert {a.dtype for a in context.arrays} == {mx.bfloat16}


def test_yarn_rotates_as_its_paper_says() -> None:
    config = json.loads((CHECKPOINTS / "dflash1_full" / "config.json").read_text())
    factor, original, dims, base = 64.0, 4096, 128, 1e7
    yarn = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original, "beta_fast": 32, "beta_slow": 1}
    config |= {"head_dim": dims, "rope_theta": base, "rope_scaling": yarn, "max_position_embeddings": 262144}
    attention = DFlash(DrafterConfig.from_dict(config)).layers[0].self_attn
    x = np.random.default_rng(0).normal(size=(1, 1, 5, dims))
    # a dimension that turns more than 32 times in the original context keeps its frequency, one that turns less than
    # once is slowed by the factor, and those between are blended; queries and keys grow by 0.1 ln(factor) + 1
    frequency = base ** (-np.arange(0, dims, 2) / dims)
    turns = [dims * np.log(original / (n * 2 * np.pi)) / (2 * np.log(base)) for n in (32, 1)]
    low, high = max(np.floor(turns[0]), 0), min(np.ceil(turns[1]), dims - 1)
    slow = np.clip((np.arange(dims // 2) - low) / (high - low), 0, 1)
    angle = (7000 + np.arange(5))[:, None] * (frequency / factor * slow + frequency * (1 - slow))
    a, b = np.split(x, 2, -1)
    wanted = np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1) * (
        0.1 * np.log(factor) + 1
    )
    got = attention.rope(mx.array(x.astype(np.float32)), offset=mx.array([7000], mx.int32))
    np.testing.assert_allclose(np.array(got), wanted, atol=5e-3, rtol=0)


def test_multipliers_and_soft_cap_bend_embeddings_and_logits_as_published() -> None:
    drafter, target = load_drafter(CHECKPOINTS / "dflash2_full"), EmbeddingAndHead("dflash2_full")
    hidden, anchor, start = mx.random.normal((1, 3, 64)), mx.array([9], mx.int32), mx.array([0], mx.int32)
    plain = np.array(target.lm_head(hidden), np.float64)
    scaled_target = EmbeddingAndHead("dflash2_full")
    scaled_target.embedding = scaled_target.embedding * 3
    wanted = drafter.hidden(anchor, drafter.new_context(8), start, 4, scaled_target)
    drafter.config = replace(drafter.config, input_embedding_scale=3.0, output_multiplier=0.196, final_logit_softcapping=2.0)
    np.testing.assert_allclose(np.array(drafter.logits(hidden, target)), 2 * np.tanh(plain * 0.196 / 2), atol=1e-5)
    np.testing.assert_allclose(
        np.array(drafter.hidden(anchor, drafter.new_context(8), start, 4, target)), np.array(wanted), atol=1e-5
    )
