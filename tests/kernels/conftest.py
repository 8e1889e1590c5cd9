"""Runs the kernels under the harness, and on an Apple GPU where there is one."""

from collections.abc import Iterator

import metal_on_cpu
import mlx.core as mx
import pytest

from dflash_mlx.kernels import metal_kernel


@pytest.fixture(params=["harness", pytest.param("gpu", marks=pytest.mark.metal)])
def runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[metal_on_cpu.Run]]:
    """The dispatches of the test, as the harness saw them: nothing may be wrong with any of them. None on a GPU."""
    if request.param == "harness":
        monkeypatch.setattr(mx.fast, "metal_kernel", metal_on_cpu.metal_kernel)
    metal_kernel.cache_clear()
    with metal_on_cpu.recording() as seen:
        yield seen
    metal_kernel.cache_clear()
    assert [finding for run in seen for finding in run.findings] == []
