"""The comparisons that decide about kernels on a device, run with the kernels' own source."""

from pathlib import Path

import mlx.core as mx
import pytest
from metal_on_cpu import Run

from dflash_mlx.bench.roofline.synthetic import Geometry, write_pair
from dflash_mlx.drafters import load_drafter
from dflash_mlx.kernels import EXACT, NAMES, verify_attention
from dflash_mlx.targets import load_target
from dflash_mlx.tuning import kernel_cases
from dflash_mlx.tuning.judge import Case, check, has_bits
from dflash_mlx.tuning.row_check import row_invariant_ops

# sizes that every kernel covers
GEOMETRY = Geometry(512, 4, 512, 4, 1, 128, 16, 32, 264, drafter_layers=2, block_size=4, taps=3, positions=1024)


@pytest.mark.parametrize("version", [1, 2])
def test_every_kernel_passes_at_every_shape_of_a_pair(
    version: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    runs: list[Run],
) -> None:
    monkeypatch.setattr(verify_attention, "FROM", 512)
    folder = write_pair(tmp_path, Geometry(**{**vars(GEOMETRY), "version": version}), bits=4)
    found = list(kernel_cases.cases_of(load_target(folder), load_drafter(folder / "drafter")))  # type: ignore[arg-type]
    cases = [case for _, case in found if isinstance(case, Case)]
    assert {case.kernel for case in cases} == set(NAMES) - ({"candidates"} if version == 1 else set())
    assert len(cases) == len(found)
    assert [told for case in cases if (told := check(case))] == []
    if not runs:  # on a GPU: a CPU's ops add in another order than Metal's
        assert {case.kernel for case in cases if has_bits(case)} == set(EXACT)


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.metal)])
def test_row_invariant_ops_are_found(device: str, tmp_path: Path) -> None:
    target = load_target(write_pair(tmp_path, GEOMETRY, bits=4))
    found = row_invariant_ops(target)  # type: ignore[arg-type]
    assert found <= {"norm", "rope", "elementwise", "convolution"}
    assert device == "gpu" or len(found) == 4, "the table of the CPU says so too"


def test_an_op_whose_rows_depend_on_each_other_is_not_row_invariant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rms_norm = mx.fast.rms_norm
    monkeypatch.setattr(mx.fast, "rms_norm", lambda x, *more: rms_norm(x, *more) + 1e-6 * (x.shape[1] > 5))
    target = load_target(write_pair(tmp_path, GEOMETRY, bits=4))
    assert row_invariant_ops(target) == {"rope", "elementwise", "convolution"}  # type: ignore[arg-type]
