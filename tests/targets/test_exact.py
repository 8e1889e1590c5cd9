"""Bits: of compiled layers, of rows computed together or apart, and of what is left in the state."""

import ctypes.util
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import pytest
from fixture_data import CHECKPOINTS, DEMO, expected
from mlx_lm.models.qwen3_5 import GatedDeltaNet
from mlx_lm.models.qwen3_next import Qwen3NextRMSNormGated

from dflash_mlx.targets import State, Target, gated_delta, load_target, row_invariance

NAMES = [f"target_{family}{suffix}" for family in ("qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_moe") for suffix in ("", "_4bit")]
FOLDERS = [CHECKPOINTS / name for name in NAMES] + [DEMO / "target"]
PROMPT = expected("target_qwen3")["prompt0"].tolist()
ROWS = [7, 80, 3, 200, 41, 5, 7, 7]
TAPS = (0, 1)
OPENBLAS = ctypes.util.find_library("openblas")


def at(position: int) -> mx.array:
    return mx.array([position], mx.int32)


def after_the_prompt(target: Target) -> State:
    state = target.new_state(len(PROMPT) + len(ROWS))
    target.forward(mx.array(PROMPT)[None], state, at(0), commit=True)
    return state


def outputs(target: Target, state: State, rows: list[int], position: int, **how: bool) -> list[mx.array]:
    hidden, features = target.forward(mx.array(rows)[None], state, at(position), TAPS, **how)
    assert features is not None
    return [hidden, features, target.lm_head(hidden, exact=how.get("exact", False))]


def same(ours: list[mx.array], theirs: list[mx.array]) -> bool:
    return all(mx.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name, scope="module")
def target(request: pytest.FixtureRequest) -> Target:
    return load_target(request.param)


def test_compiled_layers_give_the_bits_of_those_that_are_not(target: Target) -> None:
    n = len(PROMPT)
    for rows in (ROWS, ROWS[:3], ROWS[:1]):
        compiled, plain = after_the_prompt(target), after_the_prompt(target)
        assert same(outputs(target, compiled, rows, n, exact=True), outputs(target, plain, rows, n, commit=True, exact=True))
        compiled.commit(len(rows))
        assert same(compiled.arrays, plain.arrays)


@pytest.mark.parametrize("backend", ["reference", "unknown"])  # rows together, and apart
@pytest.mark.parametrize("width", [2, 3, 5, 8])
def test_exact_rows_have_the_bits_of_rows_alone(
    target: Target, width: int, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend == "reference" and row_invariance.backend() != "reference":
        pytest.skip("another BLAS: rows are computed apart here")
    monkeypatch.setattr(row_invariance, "backend", lambda: backend)
    n, alone, states = len(PROMPT), after_the_prompt(target), []
    wanted = []
    for i, row in enumerate(ROWS[:width]):
        wanted.append(outputs(target, alone, [row], n + i))
        alone.commit(1)
        states.append([array + 0 for array in alone.arrays])  # a copy: buffers are written in place
    for count in range(1, width + 1):
        state = after_the_prompt(target)
        block = outputs(target, state, ROWS[:width], n, exact=True)
        for i, row in enumerate(wanted):
            assert same([part[:, i : i + 1] for part in block], row)
        state.commit(count)
        probe = [outputs(target, s, [9], n + count) for s in (state, restored(target, states[count - 1]))]
        assert same(*probe)


def restored(target: Target, arrays: list[mx.array]) -> State:
    state, left = target.new_state(1), list(arrays)
    for layer in state.layers:
        if hasattr(layer, "keys"):
            layer.keys, layer.values = left.pop(0), left.pop(0)
        else:
            layer.conv, layer.recurrent = left.pop(0), left.pop(0)
    return state


def test_rows_are_really_computed_apart_where_an_op_is_not_row_invariant(monkeypatch: pytest.MonkeyPatch) -> None:
    target = load_target(CHECKPOINTS / "target_qwen3_5_4bit")
    shapes = []
    for layer in target.layers:  # type: ignore[attr-defined]
        mlp = layer._mlp
        monkeypatch.setattr(layer, "_mlp", lambda x, project, _mlp=mlp: (shapes.append(x.shape[1]), _mlp(x, project))[1])
    for backend, rows in (("unknown", {1}), ("metal", {1}), ("reference", {8})):
        monkeypatch.setattr(row_invariance, "backend", lambda _backend=backend: _backend)
        fresh = after_the_prompt(target)
        shapes.clear()
        mx.disable_compile()
        try:
            outputs(target, fresh, ROWS, len(PROMPT), exact=True)
        finally:
            mx.enable_compile()
        assert set(shapes) == rows


def test_a_state_that_was_not_kept_is_replayed_to_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    n, wanted = len(PROMPT), []
    for ending in (slice(None), slice(-1, None)):  # as in plain MLX, and as from a kernel that gives the last state only
        recur = gated_delta.recur
        monkeypatch.setattr(gated_delta, "recur", lambda *a, _recur=recur, _end=ending: (_recur(*a)[0], _recur(*a)[1][_end]))
        target = load_target(CHECKPOINTS / "target_qwen3_5_4bit")  # its layers compile with what stands there now
        for count in range(9):
            state = after_the_prompt(target)
            outputs(target, state, ROWS, n)
            state.commit(count)
            wanted.append(state.arrays)
    for kept, replayed in zip(wanted[:9], wanted[9:], strict=True):
        assert same(kept, replayed)


@pytest.mark.skipif(OPENBLAS is None or platform.system() != "Linux", reason="no OpenBLAS to preload")
def test_exact_rows_have_the_bits_of_rows_alone_under_another_blas_too() -> None:
    program = """
import mlx.core as mx
import sys
from dflash_mlx.targets import load_target
mx.set_default_device(mx.cpu)
target, ids = load_target(sys.argv[1]), mx.array([[7, 80, 3, 200, 41, 5, 7, 7]])
def logits(widths, exact):
    state, at, rows = target.new_state(256), 0, []
    target.forward(mx.arange(60)[None], state, mx.array([0]), commit=True)
    for width in widths:
        hidden, _ = target.forward(ids[:, at : at + width], state, mx.array([60 + at]), exact=exact)
        rows.append(target.lm_head(hidden, exact=exact))
        state.commit(width)
        at += width
    return mx.concatenate(rows, axis=1)
alone = logits([1] * 8, False)
print(*(mx.array_equal(logits(widths, exact), alone).item() for widths, exact in (([8], True), ([3, 5], True), ([8], False))))
"""
    command = [sys.executable, "-c", program, str(CHECKPOINTS / "target_qwen3_5")]
    result = subprocess.run(command, env={**os.environ, "LD_PRELOAD": str(OPENBLAS)}, capture_output=True, text=True)
    exact = result.stdout.split()[:2]
    assert exact == ["True", "True"], (
        result.stdout + result.stderr
    )  # and the third, fast, is False where OpenBLAS's kernel differs


def leaves(module: nn.Module) -> set[type[nn.Module]]:
    """The kinds of modules that hold arrays themselves."""
    return {type(part) for part in module.modules() if any(isinstance(value, mx.array) for value in part.values())}


def test_all_that_computes_is_known_to_exact_verification(target: Target) -> None:
    for layer in target.layers:  # type: ignore[attr-defined]
        ops = layer.exact_ops(4)
        known = {*row_invariance.OPS, GatedDeltaNet, Qwen3NextRMSNormGated}  # of the last two, RecurrentLayer.exact_ops tells
        assert leaves(layer.layer) <= known
        assert "rope" in ops or {"recurrence", "convolution"} <= ops
        assert {"matmul", "quantised matmul"} & ops


def test_scaled_rope_does_not_hide_the_attention(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(CHECKPOINTS / "target_qwen3_4bit", tmp_path / "yarn"))
    config = json.loads((folder / "config.json").read_text())
    config["rope_scaling"] = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
    (folder / "config.json").write_text(json.dumps(config))
    target = load_target(folder)
    assert all("rope" in layer.exact_ops(4) for layer in target.layers)  # type: ignore[attr-defined]
