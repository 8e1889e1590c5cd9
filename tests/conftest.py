"""What all tests share: no network, and tests for Apple GPUs only where there is one."""

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from metal_on_cpu import Run

os.environ["HF_HUB_OFFLINE"] = "1"  # before huggingface_hub is imported anywhere


@pytest.fixture(autouse=True, scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Costs that are measured here are kept from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked `metal` on machines without Metal."""
    import mlx.core as mx

    if not mx.metal.is_available():
        for item in items:
            if item.get_closest_marker("metal"):
                item.add_marker(pytest.mark.skip(reason="no Metal on this machine"))


def pytest_collection_finish() -> None:
    """Thousands of tests and modules stay to the end: whoever collects garbage, as conversion does, need not look at them."""
    gc.collect()
    gc.freeze()


def pytest_configure() -> None:
    """The CPU, whose arithmetic the recordings know: for our work and, as mlx-lm asks when it is imported, for its too."""
    import mlx.core as mx

    mx.set_default_device(mx.cpu)


@pytest.fixture(autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    """The GPU for tests marked `metal`."""
    import mlx.core as mx

    if request.node.get_closest_marker("metal"):
        mx.set_default_device(mx.gpu)
    yield
    mx.set_default_device(mx.cpu)


@pytest.fixture(params=["harness", pytest.param("gpu", marks=pytest.mark.metal)])
def runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> "Iterator[list[Run]]":
    """Metal kernels run under the harness, and on an Apple GPU where there is one.

    Gives the dispatches of the test, as the harness saw them: nothing may be wrong with any of them. None on a GPU.
    """
    import metal_on_cpu
    import mlx.core as mx

    from dflash_mlx.kernels import metal_kernel

    if request.param == "harness":
        monkeypatch.setattr(mx.fast, "metal_kernel", metal_on_cpu.metal_kernel)
        mx.disable_compile()  # it computes when it is called
    metal_kernel.cache_clear()
    with metal_on_cpu.recording() as seen:
        yield seen
    metal_kernel.cache_clear()
    mx.enable_compile()
    assert [finding for run in seen for finding in run.findings] == []
