"""What a pair does with the kernels that were chosen for it."""

import pytest
from fixture_data import CHECKPOINTS

import dflash_mlx as dm
from dflash_mlx import loader
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.kernels import Kernels
from dflash_mlx.kernels.buffers import GROWTH
from dflash_mlx.kernels.verify_attention import FROM
from dflash_mlx.tuning import calibration
from dflash_mlx.tuning.kernel_choice import Choice
from dflash_mlx.tuning.record import Entry
from dflash_mlx.tuning.whole_cycles import use_kernels

TARGET, DRAFTER = CHECKPOINTS / "target_qwen3_5", CHECKPOINTS / "dflash2_full"
CHOSEN = Choice(Kernels({"gated_delta": frozenset({33})}), {"candidates": Entry("", "failed", "wrong numbers")})


def chosen(monkeypatch: pytest.MonkeyPatch, choice: Choice) -> dm.Pair:
    monkeypatch.setattr(loader, "choose", lambda *_: choice)
    return dm.load(TARGET, DRAFTER)


def test_target_and_drafter_compute_with_the_kernels_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = chosen(monkeypatch, CHOSEN)
    assert pair.drafter and pair.target.kernels == pair.drafter.kernels == pair.kernels.kernels == CHOSEN.kernels


def test_statistics_say_which_kernels_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = chosen(monkeypatch, CHOSEN)
    told = "MLX's own op instead of a Metal kernel: candidates failed (dflash-mlx doctor tells why)"
    assert pair.generate([5, 6, 7], max_tokens=4, block_size=2).statistics.mode_reason == told
    assert pair.generate([5, 6, 7], max_tokens=4, block_size=1).statistics.mode_reason == f"block_size is 1; {told}"


def test_costs_are_those_with_the_kernels_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    monkeypatch.setattr(calibration, "cached", lambda file: files.append(file) or Costs([(1, 0, 1.0), (8, 0, 1.1)]))
    not_exact = Choice(Kernels(CHOSEN.kernels.rows, exact=frozenset()))
    for choice in (CHOSEN, Choice(), not_exact, CHOSEN):
        chosen(monkeypatch, choice).calibrate()
    monkeypatch.setattr(calibration, "source_of", lambda name: "new")
    chosen(monkeypatch, CHOSEN).calibrate()
    assert files[0] == files[3] and len(set(files)) == 4


def test_kernels_that_are_in_use_already_leave_what_is_compiled() -> None:
    pair = dm.load(TARGET, DRAFTER)
    assert pair.drafter
    layer = pair.target.layers[0]  # type: ignore[attr-defined]
    compiled = pair.drafter._compiled_block, layer._compiled
    use_kernels(pair.target, pair.drafter, Kernels())
    assert pair.drafter._compiled_block is compiled[0] and layer._compiled is compiled[1]
    use_kernels(pair.target, pair.drafter, CHOSEN.kernels)
    assert pair.drafter._compiled_block is not compiled[0] and layer._compiled is not compiled[1]


def test_costs_of_long_contexts_are_those_with_attention_s_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, used = dm.load(TARGET, DRAFTER), []
    assert pair.drafter
    monkeypatch.setattr(calibration, "covers", lambda *_: True)
    monkeypatch.setattr(calibration, "_layer_seconds", lambda config, dtype, *given: used.append(given) or 1.0)
    pair.target.use_kernels(Kernels({"verify_attention": frozenset({2})}))
    for capacity in (FROM - GROWTH, FROM):
        calibration._attention_seconds(pair.target, pair.drafter, False, 2, capacity)
    assert [given for given in used if len(given) == 3] == [(2, FROM - GROWTH, False), (2, FROM, True)]


def test_progress_tells_of_kernels_being_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(target: object, drafter: object, wanted: object, progress: object) -> Choice:
        assert wanted == ("gated_delta",) and callable(progress)
        progress(2, 8)
        return CHOSEN

    told: list[tuple[str, int, int]] = []
    monkeypatch.setattr(loader, "choose", choose)
    monkeypatch.setattr(loader, "check_wanted", lambda wanted: None)
    dm.load(TARGET, DRAFTER, kernels=("gated_delta",), progress=lambda *step: told.append(step))
    assert told[-1] == ("kernels", 2, 8)


@pytest.mark.parametrize(("wanted", "told"), [("fastest", "auto, mlx or names"), (["gated_delta"], "needs Metal"), (7, "names")])
def test_kernels_that_cannot_be_had_are_told_before_anything_is_loaded(wanted: object, told: str) -> None:
    with pytest.raises(dm.RequestError, match=told):
        dm.load("/no/such/folder", kernels=wanted)  # type: ignore[arg-type]
