"""Targets of every family against mlx-lm: recorded outputs, and mlx-lm's own model run beside ours."""

import json
import shutil
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, expected
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model

from dflash_mlx.targets import Target, load_target
from dflash_mlx.targets.state import RecurrentState

FAMILIES = ["qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_tied", "qwen3_5_moe"]
NAMES = [f"target_{family}{suffix}" for family in FAMILIES for suffix in ("", "_4bit")]
TOLERANCE = 2e-4  # absolute, of logits; see fixtures/README.md


def at(position: int) -> mx.array:
    return mx.array([position], mx.int32)


def logits_in_chunks(target: Target, prompt: np.ndarray, chunk: int, commit: bool) -> np.ndarray:
    """Logits of every position, the prompt fed in chunks, committed at once or after the fact."""
    state, out = target.new_state(len(prompt)), []
    for start in range(0, len(prompt), chunk):
        rows = mx.array(prompt[start : start + chunk])[None]
        hidden, _ = target.forward(rows, state, at(start), commit=commit)
        state.commit(rows.shape[1])
        out.append(np.array(target.lm_head(hidden)[0]))
    return np.concatenate(out)


@pytest.mark.parametrize("name", NAMES)
def test_logits_and_tapped_hidden_states_equal_the_recorded_ones(name: str) -> None:
    target, recorded = load_target(CHECKPOINTS / name), expected(name)
    prompt, taps = recorded["prompt3"], [int(i) for i in recorded["tap_layer_ids"]]
    hidden, features = target.forward(mx.array(prompt)[None], target.new_state(len(prompt)), at(0), taps, commit=True)
    assert features is not None
    tapped = np.array(features[0, -16:]).reshape(16, len(taps), -1).transpose(1, 0, 2)
    np.testing.assert_allclose(
        np.array(target.lm_head(hidden)[0, -16:]), recorded["logits_prompt3_last16"], atol=TOLERANCE, rtol=0
    )
    np.testing.assert_allclose(tapped, recorded["tap_hidden_prompt3_last16"], atol=TOLERANCE, rtol=0)


def test_features_follow_the_order_of_the_taps() -> None:
    target = load_target(CHECKPOINTS / "target_qwen3_5")
    ids = mx.arange(5)[None]
    _, upward = target.forward(ids, target.new_state(5), at(0), [1, 6])
    _, downward = target.forward(ids, target.new_state(5), at(0), [6, 1])
    assert upward is not None and downward is not None
    width = target.config.hidden_size
    assert mx.array_equal(upward[..., :width], downward[..., width:]) and mx.array_equal(
        upward[..., width:], downward[..., :width]
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 8])
def test_a_prompt_in_chunks_gives_the_recorded_logits(name: str, chunk: int) -> None:
    recorded = expected(name)
    for commit in (True, False):
        logits = logits_in_chunks(load_target(CHECKPOINTS / name), recorded["prompt3"], chunk, commit)
        np.testing.assert_allclose(logits[-16:], recorded["logits_prompt3_last16"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_every_accepted_count_of_every_width_leaves_the_state_of_feeding_one_by_one(name: str) -> None:
    target, recorded = load_target(CHECKPOINTS / name), expected(name)
    prompt, block, probe = recorded["prompt0"], recorded["greedy1"][:8], mx.array([[7]])
    n = len(prompt)
    plain, _ = load_model(CHECKPOINTS / name)

    def plain_logits(count: int) -> np.ndarray:
        cache = make_prompt_cache(plain)
        plain(mx.array(prompt)[None], cache=cache)
        for token in block[:count]:
            plain(mx.array([[int(token)]]), cache=cache)
        return np.array(plain(probe, cache=cache)[0, -1])

    wanted = [plain_logits(count) for count in range(9)]
    for width in range(2, 9):
        for count in range(width + 1):
            state = target.new_state(n + 9)
            target.forward(mx.array(prompt)[None], state, at(0), commit=True)
            target.forward(mx.array(block[:width])[None], state, at(n))
            state.commit(count)
            hidden, _ = target.forward(probe, state, at(n + count))
            np.testing.assert_allclose(np.array(target.lm_head(hidden)[0, 0]), wanted[count], atol=TOLERANCE, rtol=0)


def test_rejected_rows_leave_no_trace_in_the_state() -> None:
    target, recorded = load_target(CHECKPOINTS / "target_qwen3_5"), expected("target_qwen3_5")
    prompt, rows = mx.array(recorded["prompt0"])[None], mx.array(recorded["greedy0"][:8])[None]
    n = prompt.shape[1]
    clean, used = target.new_state(n + 8), target.new_state(n + 8)
    for state in (clean, used):
        target.forward(prompt, state, at(0), commit=True)
    for junk in (3, 200, 17):
        target.forward(mx.full((1, 8), junk, mx.int32), used, at(n))
        used.commit(0)
    for state in (clean, used):
        target.forward(rows, state, at(n), commit=True)
    for one, other in zip(clean.arrays, used.arrays):
        assert mx.array_equal(one, other)


@pytest.mark.parametrize("name", ["target_qwen3_5", "target_qwen3"])
def test_a_block_that_was_never_committed_is_forgotten_by_the_next_forward(name: str) -> None:
    target, recorded = load_target(CHECKPOINTS / name), expected(name)
    prompt, rows = mx.array(recorded["prompt0"])[None], mx.array(recorded["greedy0"][:8])[None]
    n = prompt.shape[1]
    clean, used = target.new_state(n + 8), target.new_state(n + 8)
    for state in (clean, used):
        target.forward(prompt, state, at(0), commit=True)
    target.forward(mx.full((1, 8), 3, mx.int32), used, at(n))
    for state in (clean, used):
        target.forward(rows[:, :4], state, at(n), commit=True)
        state.commit(4)
    wanted, got = (target.forward(rows[:, 4:], state, at(n + 4))[0] for state in (clean, used))
    assert mx.array_equal(wanted, got)


def test_growing_the_state_changes_nothing() -> None:
    target, recorded = load_target(CHECKPOINTS / "target_qwen3_5"), expected("target_qwen3_5")
    prompt = np.tile(recorded["prompt3"], 8)[:600]
    whole = logits_in_chunks(target, prompt, 600, commit=True)
    state, out = target.new_state(1), []
    for start in range(0, 600, 50):
        state.reserve(start + 50)
        hidden, _ = target.forward(mx.array(prompt[start : start + 50])[None], state, at(start), commit=True)
        out.append(np.array(target.lm_head(hidden)[0]))
    np.testing.assert_allclose(np.concatenate(out), whole, atol=TOLERANCE, rtol=0)


def test_reading_a_block_does_not_depend_on_what_stands_beyond_the_position() -> None:
    target, recorded = load_target(CHECKPOINTS / "target_qwen3_5"), expected("target_qwen3_5")
    prompt = mx.array(recorded["prompt0"])[None]
    n = prompt.shape[1]
    state = target.new_state(n + 8)
    target.forward(prompt, state, at(0), commit=True)
    before, _ = target.forward(mx.array([[5, 6]]), state, at(n))
    mx.eval(before)
    for layer in state.layers:
        if hasattr(layer, "keys"):
            layer.keys[:, :, n:], layer.values[:, :, n:] = 1e4, 1e4
    after, _ = target.forward(mx.array([[5, 6]]), state, at(n))
    assert mx.array_equal(before, after)


def test_names_without_the_language_model_prefix_and_vision_weights_are_accepted(tmp_path) -> None:
    source = CHECKPOINTS / "target_qwen3_5"
    shutil.copy(source / "config.json", tmp_path)
    weights = mx.load(str(source / "model.safetensors"))
    renamed = {name.removeprefix("language_model."): w for name, w in weights.items()}
    renamed["vision_tower.patch_embed.proj.weight"] = mx.zeros((4, 4))
    mx.save_safetensors(str(tmp_path / "model.safetensors"), renamed)
    recorded = expected("target_qwen3_5")
    logits = logits_in_chunks(load_target(tmp_path), recorded["prompt3"], 600, commit=True)
    np.testing.assert_allclose(logits[-16:], recorded["logits_prompt3_last16"], atol=TOLERANCE, rtol=0)


def test_a_text_only_config_and_sharded_weights_load(tmp_path) -> None:
    source = CHECKPOINTS / "target_qwen3_5_tied"
    config = json.loads((source / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config["text_config"] | {"model_type": "qwen3_5_text"}))
    names = sorted(weights := mx.load(str(source / "model.safetensors")))
    for i, part in enumerate((names[:20], names[20:]), 1):
        mx.save_safetensors(str(tmp_path / f"model-0000{i}-of-00002.safetensors"), {name: weights[name] for name in part})
    recorded = expected("target_qwen3_5_tied")
    logits = logits_in_chunks(load_target(tmp_path), recorded["prompt3"], 600, commit=True)
    np.testing.assert_allclose(logits[-16:], recorded["logits_prompt3_last16"], atol=TOLERANCE, rtol=0)


def test_a_commit_that_is_interrupted_commits_no_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    target, recorded = load_target(CHECKPOINTS / "target_qwen3_5"), expected("target_qwen3_5")
    state = target.new_state(40)
    target.forward(mx.array(recorded["prompt0"])[None], state, at(0), commit=True)
    target.forward(mx.array([[5, 6, 7]]), state, at(len(recorded["prompt0"])))
    before, done = state.layers, []
    committed = RecurrentState.committed

    def interrupted(layer: RecurrentState, *committing: Any) -> RecurrentState:
        done.append(layer)
        if len(done) == 3:
            raise KeyboardInterrupt
        return committed(layer, *committing)

    monkeypatch.setattr(RecurrentState, "committed", interrupted)
    arrays = state.arrays
    with pytest.raises(KeyboardInterrupt):
        state.commit(2)
    assert state.layers is before and all(one is other for one, other in zip(state.arrays, arrays))
