"""Pairs without memory have the sizes of the published ones."""

import mlx.core as mx
import pytest

from dflash_mlx.bench.roofline.hollow import configs, hollow_pair
from dflash_mlx.checkpoint import size_in_memory
from dflash_mlx.loading.known_pairs import KnownPair, known_pairs


@pytest.mark.parametrize("pair", known_pairs(), ids=lambda pair: pair.family)
def test_a_hollow_pair_has_the_bytes_of_the_published_one_and_takes_none(pair: KnownPair) -> None:
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    target, drafter = hollow_pair(*configs(pair.family))
    # routers of mixtures are of 8 bits where they are published
    assert size_in_memory(target.module) == pytest.approx(
        pair.target_weights, rel=1e-3 if pair.target_config.get("num_experts") else 0
    )
    assert size_in_memory(drafter) < pair.drafter_download / 2
    assert mx.get_peak_memory() < before + 1e6
