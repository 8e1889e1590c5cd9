"""The parity report: on a target that is wrong in known places of a block, and on real ones."""

from collections.abc import Sequence
from dataclasses import astuple

import mlx.core as mx
import mlx.nn as nn
import pytest
from fixture_data import CHECKPOINTS, DEMO, expected

from dflash_mlx.kernels import Kernels
from dflash_mlx.targets import State, Target, load_target
from dflash_mlx.targets.gated_delta import AT_ONCE
from dflash_mlx.targets.row_invariance import rows_apart
from dflash_mlx.tuning.parity import parity

VOCAB, PROMPT = 16, [3, 1, 4]


class Scripted(Target):
    """After token t comes t + 1, with a logit of 5; t + 2 has 4.5. A block of several rows adds `errors` to the latter's,
    but for exact ones.

    errors: what is added in a block's row, by the position of that row.
    """

    def __init__(self, errors: dict[int, float]) -> None:
        self.errors = errors
        self.blocks: list[tuple[int, list[int]]] = []  # position and ids of every forward

    @property
    def linear_layers(self) -> list[nn.Module]:
        raise NotImplementedError

    def use_kernels(self, kernels: Kernels) -> None:
        raise NotImplementedError

    def embed(self, ids: mx.array) -> mx.array:
        raise NotImplementedError

    def lm_head(self, hidden: mx.array, **_: bool) -> mx.array:
        return hidden

    def new_state(self, capacity: int) -> State:
        return State([])

    def forward(
        self,
        ids: mx.array,
        state: State,
        position: mx.array,
        taps: Sequence[int] = (),
        commit: bool = False,
        exact: bool = False,
    ) -> tuple[mx.array, mx.array | None]:
        self.blocks.append((position.item(), ids[0].tolist()))
        places = mx.arange(VOCAB)
        rows = []
        for i, token in enumerate(ids[0].tolist()):
            error = self.errors.get(position.item() + i, 0.0) if ids.shape[1] > 1 and not commit and not exact else 0.0
            best, second = (places == (token + n) % VOCAB for n in (1, 2))
            rows.append(5 * best + (4.5 + error) * second)
        return mx.stack(rows)[None], None


@pytest.mark.parametrize(
    ("errors", "size", "report"),
    [
        ({}, 2, (2, 12, 0, 0.0, 0.0)),
        ({5: 0.25}, 2, (2, 12, 0, 0.0, 0.25)),  # not enough to change the order
        ({5: 0.25, 6: -2.0, 9: 0.75}, 2, (2, 12, 1, 0.5, 2.0)),
        ({5: 0.75, 9: 1.0, 10: 0.75}, 4, (4, 12, 3, 0.5, 1.0)),
        ({12: 0.75, 13: 0.75, 14: 0.75}, 5, (5, 10, 1, 0.5, 0.75)),  # rows that fill no block are not verified
    ],
)
def test_differing_rows_are_counted_with_plains_gap_and_the_largest_difference(
    errors: dict[int, float], size: int, report: tuple[int, int, int, float, float]
) -> None:
    [found] = parity(Scripted(errors), [PROMPT], [size], tokens=12)
    assert astuple(found) == ("fast", *report)


def test_fast_and_exact_are_told_apart() -> None:
    found = parity(Scripted({5: 0.75}), [PROMPT], [2, 4], tokens=12, verify=("fast", "exact"))
    told = [(report.verify, report.block_size, report.differing) for report in found]
    assert told == [("fast", 2, 1), ("fast", 4, 1), ("exact", 2, 0), ("exact", 4, 0)]


def test_rows_of_all_prompts_count() -> None:
    target = Scripted({5: 0.75})  # the third token of both answers, and of a longer prompt's the second
    assert [(p.rows, p.differing) for p in parity(target, [PROMPT, PROMPT, [1, *PROMPT]], [2, 4], tokens=12)] == [(36, 3)] * 2


def test_blocks_are_given_plain_decodings_tokens_even_behind_a_row_that_differs() -> None:
    target = Scripted({3: 9.0, 4: 9.0, 5: 9.0})
    parity(target, [PROMPT], [4], tokens=8)
    plain = [([5 + i], 3 + i) for i in range(8)]
    assert target.blocks == [(0, PROMPT), *((p, ids) for ids, p in plain), (0, PROMPT), (3, [5, 6, 7, 8]), (7, [9, 10, 11, 12])]


@pytest.mark.skipif(rows_apart("matmul", "attention"), reason="this CPU's matmul is not row-invariant")
@pytest.mark.parametrize("target", ["target_qwen3", "target_qwen3_moe_4bit", "target_qwen3_5_4bit", "target_qwen3_5_moe"])
def test_blocks_equal_plain_decoding_bit_for_bit_where_all_ops_are_row_invariant(target: str) -> None:
    prompt = expected(target)["prompt0"].tolist()
    for report in parity(load_target(CHECKPOINTS / target), [prompt], [2, 3, 8], tokens=24):
        at_once = "qwen3_5" in target and report.block_size >= AT_ONCE and report.verify == "fast"  # rounds its own way
        assert astuple(report)[:5] == (report.verify, report.block_size, 24, 0, 0.0)
        assert report.largest_difference <= (1e-4 if at_once else 0.0)


def test_a_target_that_sees_the_other_rows_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    target = load_target(CHECKPOINTS / "target_qwen3")
    forward = target.forward

    def leaking(ids: mx.array, *arguments: object, **settings: object) -> tuple[mx.array, mx.array | None]:
        hidden, features = forward(ids, *arguments, **settings)
        return hidden + 0.7 * (hidden.mean(axis=1, keepdims=True) - hidden), features

    monkeypatch.setattr(target, "forward", leaking)
    [report] = parity(target, [[5, 6, 7]], [8], tokens=64)
    assert report.differing > 0 and report.largest_gap > 0 and report.largest_difference > 0.1


@pytest.mark.metal
def test_exact_verification_on_metal_is_plain_decoding_bit_for_bit() -> None:
    for report in parity(load_target(DEMO / "target"), [[5, 6, 7]], [2, 4, 8], verify=("exact",)):
        assert (report.differing, report.largest_difference) == (0, 0.0)


@pytest.mark.metal
def test_fast_verification_on_metal_differs_in_few_rows_if_any_and_only_at_near_ties() -> None:
    for report in parity(load_target(DEMO / "target"), [[5, 6, 7]], [2, 4, 8]):
        assert report.differing <= report.rows // 10
        assert report.largest_gap < 0.5
