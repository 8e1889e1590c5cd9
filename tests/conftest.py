"""What all tests share: no network, and tests for Apple GPUs only where there is one."""

import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # before huggingface_hub is imported anywhere


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked `metal` on machines without Metal."""
    import mlx.core as mx

    if not mx.metal.is_available():
        for item in items:
            if item.get_closest_marker("metal"):
                item.add_marker(pytest.mark.skip(reason="no Metal on this machine"))
