"""config.json: what it says on quantisation, of layers by whatever name."""

import pytest

from dflash_mlx.config import bare, quantization_of


@pytest.mark.parametrize(
    "name", ["layers.0.mlp", "model.layers.0.mlp", "language_model.model.layers.0.mlp", "model.language_model.layers.0.mlp"]
)
def test_a_bare_name_has_no_wrapper(name: str) -> None:
    assert bare(name) == "layers.0.mlp" and bare("lm_head.weight") == "lm_head.weight" == bare("language_model.lm_head.weight")


def test_the_first_entry_on_quantisation_that_says_something_counts() -> None:
    mlx, fp8 = {"group_size": 64, "bits": 4}, {"quant_method": "fp8"}
    assert quantization_of({"quantization": {"bits": None}, "quantization_config": fp8}) == fp8
    assert quantization_of({"quantization_config": {}, "text_config": {"quantization": mlx}}) == mlx
    assert quantization_of({"quantization": mlx, "quantization_config": fp8}) == mlx
    named = {"model.language_model.layers.0.mlp.weight": {"bits": 8}, "lm_head": False, "norm": None}
    assert quantization_of({"quantization": mlx | named}) == mlx | {"layers.0.mlp": {"bits": 8}, "lm_head": False}
    assert quantization_of({"text_config": None}) is None
