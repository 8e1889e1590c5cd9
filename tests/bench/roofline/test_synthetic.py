"""Random checkpoints are of the size they are called by, load, and cost what their arithmetic says."""

from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3_5

import dflash_mlx as dm
from dflash_mlx.bench.roofline.synthetic import GEOMETRIES, Geometry, write_pair
from dflash_mlx.drafters import DrafterConfig, new_drafter

TINY = GEOMETRIES["tiny"]


def sizes(geometry: Geometry) -> dict[str, int]:
    """Weights of the target, by name; nothing is computed."""
    model = qwen3_5.Model(qwen3_5.ModelArgs.from_dict(geometry.target_config))
    return {name: weight.size for name, weight in tree_flatten(model.parameters())}


@pytest.mark.parametrize("name, millions", [("75m", 75), ("300m", 300)])
def test_a_geometry_has_as_many_weights_as_its_name_says(name: str, millions: int) -> None:
    assert sum(sizes(GEOMETRIES[name]).values()) == pytest.approx(1e6 * millions, rel=0.03)


def test_the_narrow_geometry_has_64_layers_of_which_16_are_attention() -> None:
    names = sizes(GEOMETRIES["narrow"])
    assert sum(name.endswith("self_attn.q_proj.weight") for name in names) == 16
    assert sum(name.endswith("linear_attn.out_proj.weight") for name in names) == 48


@pytest.mark.parametrize("name", ["tiny", "75m"])
def test_the_arithmetic_of_a_row_is_that_of_the_weights_it_meets(name: str) -> None:
    geometry = GEOMETRIES[name]
    met = {part: size for part, size in sizes(geometry).items() if "layers." in part and "norm" not in part}
    per_row = sum(size for part, size in met.items() if not part.endswith(("A_log", "dt_bias")))
    state = 4 * geometry.linear_heads * geometry.linear_dim**2 * (geometry.layers - geometry.attention_layers)
    assert geometry.target_multiply_adds(0) == per_row + state
    drafter = dict(tree_flatten(new_drafter(DrafterConfig.from_dict(geometry.drafter_config)).parameters()))
    injected = [weight.size for part, weight in drafter.items() if part.split(".")[-2:-1] in (["fc"], ["k_proj"], ["v_proj"])]
    assert geometry.injection_multiply_adds == sum(injected)


def test_bytes_per_position_are_those_of_the_buffers(tmp_path: Path) -> None:
    pair = dm.load(write_pair(tmp_path, TINY))
    assert pair.drafter is not None

    def held(positions: int) -> tuple[int, int]:
        state, context = pair.target.new_state(positions), pair.drafter.new_context(positions)
        return sum(array.nbytes for array in state.arrays), sum(array.nbytes for array in context.arrays)

    (target, drafter), (more_target, more_drafter) = held(256), held(512)
    assert more_target - target == 256 * TINY.bytes_per_position(drafter=False)
    assert more_target - target + more_drafter - drafter == 256 * TINY.bytes_per_position(drafter=True)


@pytest.mark.parametrize("bits", [None, 4])
def test_a_pair_is_the_same_each_time_and_answers(tmp_path: Path, bits: int | None) -> None:
    folders = [write_pair(tmp_path / name, TINY, bits) for name in ("a", "b")]
    a, b = (mx.load(str(folder / "model.safetensors")) for folder in folders)
    assert all(mx.array_equal(a[name], b[name]).item() for name in a)
    pair = dm.load(folders[0])
    answer = pair.generate([1, 2, 3], max_tokens=12, block_size=4)
    assert answer.finish_reason == "length"
    assert answer.token_ids == pair.generate([1, 2, 3], max_tokens=12, block_size=1).token_ids
