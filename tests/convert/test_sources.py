"""What is read, and what is refused: formats other than plain safetensors, and files that are not as they should be."""

import json
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from fixture_data import CHECKPOINTS, DEMO, FIXTURES

import dflash_mlx as dm
from dflash_mlx.convert import convert_drafter, convert_target
from dflash_mlx.convert.gguf import DRAFTER, LAYER, TARGET

PUBLISHED = FIXTURES / "published"
DRAFTER_SOURCE = CHECKPOINTS / "dflash2_swa"


def read(folder: Path) -> dict[str, mx.array]:
    return {name: tensor for file in folder.glob("model*.safetensors") for name, tensor in mx.load(str(file)).items()}


def floats(source: Path, tmp_path: Path, **options: Any) -> dict[str, mx.array]:
    """The tensors of a conversion without quantisation."""
    return read(convert_target(source, tmp_path / "result", recipe="float", check=False, **options).folder)


def edit_config(folder: Path, **entries: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | entries))


def write_safetensors(file: Path, tensors: dict[str, tuple[str, np.ndarray]]) -> None:
    """A safetensors file with dtypes that neither numpy nor MLX can name."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data)


def as_fp8(source: Path, folder: Path, block: int, scale: str = "_scale_inv", **entry: Any) -> dict[str, np.ndarray]:
    """Writes a checkpoint with fp8 matrices and scales of blocks, as Qwen does. Gives what the matrices then are."""
    shutil.copytree(source, folder)
    tensors: dict[str, tuple[str, np.ndarray]] = {}
    meant: dict[str, np.ndarray] = {}
    for name, tensor in read(source).items():
        if tensor.ndim != 2 or "_proj" not in name:
            tensors[name] = "F32", np.array(tensor)
            continue
        rows, columns = (-(-length // block) for length in tensor.shape)
        scales = 1 / 2 ** (3 + (np.arange(rows)[:, None] + np.arange(columns)) % 3).astype(np.float32)
        spread = np.kron(scales, np.ones((block, block), np.float32))[: tensor.shape[0], : tensor.shape[1]]
        codes = mx.to_fp8(tensor / mx.array(spread))
        meant[name] = np.array(mx.from_fp8(codes, mx.float32)) * spread
        tensors |= {
            name: ("F8_E4M3", np.array(codes)),
            f"{name}{scale}": ("F32", scales if scales.size > 1 else scales.reshape(())),
        }
    for file in folder.glob("model*"):
        file.unlink()
    write_safetensors(folder / "model.safetensors", tensors)
    edit_config(folder, quantization_config={"quant_method": "fp8", "weight_block_size": [block, block], **entry})
    return meant


def test_fp8_is_multiplied_with_the_scales_of_its_blocks(tmp_path: Path) -> None:
    meant = as_fp8(PUBLISHED / "qwen3", tmp_path / "source", block=24)  # which divides neither 32 nor 64
    found = floats(tmp_path / "source", tmp_path, dtype="float32")
    assert meant and all(np.array_equal(np.array(found[name]), meant[name]) for name in meant)


@pytest.mark.parametrize("scale", ["_scale_inv", "_scale"])
@pytest.mark.parametrize("beside", ["input_scale", "activation_scale"])
def test_fp8_with_one_scale_a_matrix_and_scales_of_activations(scale: str, beside: str, tmp_path: Path) -> None:
    entry = {"activation_scheme": "static", "weight_block_size": None}
    meant = as_fp8(PUBLISHED / "qwen3", tmp_path / "source", 64, scale, **entry)
    extra = {f"{name.removesuffix('weight')}{beside}": mx.array(0.5) for name in meant}
    mx.save_safetensors(str(tmp_path / "source" / "model-of-activations.safetensors"), extra)
    notices: list[str] = []
    found = floats(tmp_path / "source", tmp_path, dtype="float32", notice=notices.append)
    assert meant and all(np.array_equal(np.array(found[name]), meant[name]) for name in meant)
    assert found.keys() == read(PUBLISHED / "qwen3").keys()
    assert notices == [f"{len(meant)} tensors of scales of activations and caches are left out."]


def test_fp8_experts_one_by_one_are_stacked(tmp_path: Path) -> None:
    source, folder = PUBLISHED / "qwen3_5_moe", tmp_path / "source"
    shutil.copytree(source, folder)
    apart: dict[str, mx.array] = {}
    for name, tensor in read(source).items():
        if "experts.gate_up_proj" in name:
            for number, expert in enumerate(tensor):
                gate, up = mx.split(expert, 2)
                mlp = name.removesuffix("gate_up_proj")
                apart |= {f"{mlp}{number}.gate_proj.weight": gate, f"{mlp}{number}.up_proj.weight": up}
        elif "experts.down_proj" in name:
            apart |= {f"{name.removesuffix('down_proj')}{number}.down_proj.weight": w for number, w in enumerate(tensor)}
        else:
            apart[name] = tensor
    for file in folder.glob("model*"):
        file.unlink()
    mx.save_safetensors(str(folder / "model.safetensors"), apart)
    as_fp8(folder, tmp_path / "fp8", block=32)
    whole, stacked = floats(source, tmp_path / "a"), floats(folder, tmp_path / "b")
    assert whole.keys() == stacked.keys() and all(mx.array_equal(whole[name], stacked[name]) for name in whole)
    assert floats(tmp_path / "fp8", tmp_path / "c").keys() == whole.keys()


def test_an_mlx_checkpoint_is_quantised_again_with_a_warning(tmp_path: Path) -> None:
    notices: list[str] = []
    source = CHECKPOINTS / "target_qwen3_5_moe_4bit"
    result = convert_target(source, tmp_path / "result", bits=8, group_size=32, notice=notices.append)
    assert "already quantised" in notices[0]
    assert result.report and result.report.kl is not None and result.report.kl < 1e-3
    config = json.loads((result.folder / "config.json").read_text())
    assert config["quantization"]["bits"] == 8


def write_gguf(file: Path, architecture: str, tensors: dict[str, tuple[int, tuple[int, ...], bytes]]) -> None:
    """A GGUF file, version 3. Tensors: type, shape and data."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    head, data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1), b""
    head += text("general.architecture") + struct.pack("<I", 8) + text(architecture)
    for name, (kind, shape, content) in tensors.items():
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape[::-1])
        head += struct.pack("<IQ", kind, len(data))
        data += content + b"\0" * (-len(content) % 32)
    file.write_bytes(head + b"\0" * (-len(head) % 32) + data)


def q8_0(weight: np.ndarray) -> tuple[bytes, np.ndarray]:
    """llama.cpp's Q8_0: blocks of 32 numbers, a float16 scale and 32 signed bytes; and what they mean."""
    blocks = weight.reshape(-1, 32)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
    codes = np.round(blocks / np.maximum(scales.astype(np.float32), 1e-8)).astype(np.int8)
    content = b"".join(scale.tobytes() + code.tobytes() for scale, code in zip(scales, codes))
    return content, (codes * scales.astype(np.float32)).reshape(weight.shape)


def as_gguf(source: Path, folder: Path, architecture: str, names: dict[str, str]) -> dict[str, np.ndarray]:
    """Writes a checkpoint as GGUF, matrices as Q8_0 where they can be. Gives what the tensors then are."""
    folder.mkdir()
    for file in source.iterdir():
        if not file.name.startswith("model"):
            shutil.copy(file, folder)
    back = {theirs: ours for ours, theirs in names.items()}
    layer = {theirs: ours for ours, theirs in LAYER.items()}
    tensors, meant = {}, {}
    for name, tensor in read(source).items():
        number = re.fullmatch(r"(?:model\.)?layers\.(\d+)\.(.+)", name)
        theirs = f"blk.{number[1]}.{layer[number[2]]}" if number else back[name]
        weight = np.array(tensor.astype(mx.float32))
        if weight.ndim == 2 and weight.shape[-1] % 32 == 0:
            content, meant[name] = q8_0(weight)
            tensors[theirs] = 8, weight.shape, content
        else:
            meant[name] = weight
            tensors[theirs] = 0, weight.shape, weight.tobytes()
    write_gguf(folder / "model-Q8_0.gguf", architecture, tensors)
    return meant


def near(found: dict[str, mx.array], meant: dict[str, np.ndarray]) -> bool:
    return found.keys() == meant.keys() and all(
        np.allclose(np.array(found[name].astype(mx.float32)), meant[name], rtol=2**-8, atol=2**-9) for name in meant
    )


def test_a_gguf_target_is_read(tmp_path: Path) -> None:
    meant = as_gguf(PUBLISHED / "qwen3", tmp_path / "source", "qwen3", TARGET)
    assert near(floats(tmp_path / "source", tmp_path), meant)


def test_a_gguf_drafter_is_read(tmp_path: Path) -> None:
    meant = as_gguf(DRAFTER_SOURCE, tmp_path / "source", "dflash", DRAFTER)
    result = convert_drafter(tmp_path / "source", tmp_path / "result", recipe="float")
    assert near(read(result.folder), meant)


def test_a_drafter_in_float16_becomes_bfloat16(tmp_path: Path) -> None:
    shutil.copytree(DRAFTER_SOURCE, tmp_path / "source")
    half = {name: tensor.astype(mx.float16) for name, tensor in read(DRAFTER_SOURCE).items()}
    mx.save_safetensors(str(tmp_path / "source" / "model.safetensors"), half)
    edit_config(tmp_path / "source", torch_dtype="float16", dtype="float16")
    result = convert_drafter(tmp_path / "source", tmp_path / "result", recipe="float").folder
    assert {tensor.dtype for tensor in read(result).values()} == {mx.bfloat16}


def test_copies_of_the_targets_embeddings_are_left_out_of_a_drafter(tmp_path: Path) -> None:
    shutil.copytree(DRAFTER_SOURCE, tmp_path / "source")
    weights = read(DRAFTER_SOURCE)
    copies = {name: mx.zeros((256, 64)) for name in ("lm_head.weight", "model.embed_tokens.weight")}
    mx.save_safetensors(str(tmp_path / "source" / "model.safetensors"), weights | copies)
    written = read(convert_drafter(tmp_path / "source", tmp_path / "result").folder)
    assert written.keys() > {"fc.scales", "fc.biases"} and not any("lm_head" in name or "embed" in name for name in written)


def lose_a_shard(folder: Path) -> None:
    (folder / "model-00002-of-00002.safetensors").unlink()


def lose_a_shard_and_the_index(folder: Path) -> None:
    lose_a_shard(folder)
    (folder / "model.safetensors.index.json").unlink()


def name_a_tensor_that_is_not_there(folder: Path) -> None:
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    index["weight_map"]["model.layers.9.mlp.up_proj.weight"] = "model-00001-of-00002.safetensors"
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def cut_a_file(folder: Path) -> None:
    file = folder / "model-00001-of-00002.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def only_pickles(folder: Path) -> None:
    for file in folder.glob("model*"):
        file.unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")


def pack_as_fp8(folder: Path, scales: mx.array, block_size: object) -> None:
    name = "model.layers.0.self_attn.q_proj.weight"
    weights = read(folder)
    for file in folder.glob("model*"):
        file.unlink()
    packed = {name: mx.to_fp8(weights[name]), f"{name}_scale_inv": scales}
    mx.save_safetensors(str(folder / "model.safetensors"), weights | packed)
    edit_config(folder, quantization_config={"quant_method": "fp8", "weight_block_size": block_size})


def put_infinity(folder: Path) -> None:
    file = folder / "model-00002-of-00002.safetensors"
    tensors = dict(mx.load(str(file)).items())
    name = next(iter(tensors))
    mx.save_safetensors(str(file), tensors | {name: mx.full(tensors[name].shape, mx.inf)})


BAD: list[tuple[Callable[[Path], Any], type[dm.DFlashError], str]] = [
    (lose_a_shard, dm.CheckpointError, "lacks model-00002-of-00002.safetensors"),
    (lose_a_shard_and_the_index, dm.CheckpointError, "lacks model-00002-of-00002.safetensors"),
    (name_a_tensor_that_is_not_there, dm.CheckpointError, r"model\.layers\.9\.mlp\.up_proj"),
    (cut_a_file, dm.CheckpointError, "damaged or incomplete"),
    (only_pickles, dm.UnsupportedModelError, "pickle"),
    (put_infinity, dm.CheckpointError, "NaN or infinity"),
    (lambda folder: pack_as_fp8(folder, mx.ones(2), [32, 32]), dm.CheckpointError, "quantisation .* does not fit"),
    (lambda folder: pack_as_fp8(folder, mx.ones((2, 1)), [0, 0]), dm.CheckpointError, "quantisation .* does not fit"),
    (lambda folder: edit_config(folder, model_type="llama"), dm.UnsupportedModelError, "llama"),
    (lambda folder: edit_config(folder, num_hidden_layers=3), dm.CheckpointError, "3 layers"),
    (lambda folder: edit_config(folder, quantization_config={"quant_method": "gptq"}), dm.UnsupportedModelError, "gptq"),
    (lambda folder: (folder / "config.json").unlink(), dm.ModelNotFoundError, "no config.json"),
]


@pytest.mark.parametrize(("spoil", "error", "message"), BAD)
def test_a_damaged_source_is_refused(
    spoil: Callable[[Path], Any], error: type[dm.DFlashError], message: str, tmp_path: Path
) -> None:
    shutil.copytree(PUBLISHED / "qwen3", tmp_path / "source")
    spoil(tmp_path / "source")
    with pytest.raises(error, match=message):
        convert_target(tmp_path / "source", tmp_path / "result", group_size=32)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize("mode", ["affine", "mxfp4", "mxfp8", "nvfp4"])
@pytest.mark.parametrize("number", [mx.nan, mx.inf])
def test_no_mode_hides_numbers_that_are_none(number: float, mode: str, tmp_path: Path) -> None:
    source = shutil.copytree(CHECKPOINTS / "target_qwen3", tmp_path / "source")
    weights, name = read(source), "model.layers.0.self_attn.q_proj.weight"
    weights[name] = mx.where(mx.arange(64) == 5, number, weights[name])
    mx.save_safetensors(str(source / "model.safetensors"), weights)
    with pytest.raises(dm.CheckpointError, match=f"{name} holds NaN or infinity"):
        convert_target(source, tmp_path / "result", mode=mode, check=False)


def test_a_group_size_that_does_not_divide_is_refused_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(dm.RequestError, match=r"embed_tokens has rows of 32 weights.* Use a group size of 32\."):
        convert_target(PUBLISHED / "qwen3", tmp_path / "result")
    source = tmp_path / "source"
    shutil.copytree(PUBLISHED / "qwen3", source)
    edit_config(source, hidden_size=16, num_attention_heads=1, intermediate_size=16)
    for file in source.glob("model*"):
        file.unlink()
    weights = read(PUBLISHED / "qwen3")
    cut = {
        name: w[tuple(slice(16 if n in (32, 64) and "_norm" not in name else n) for n in w.shape)] for name, w in weights.items()
    }
    cut |= {name: w for name, w in weights.items() if name.endswith(("q_norm.weight", "k_norm.weight"))}
    for name, w in weights.items():
        if "self_attn" in name and w.ndim == 2:
            cut[name] = w[:16, :32] if "o_proj" in name else w[:32, :16]
        elif "layernorm" in name or name == "model.norm.weight":
            cut[name] = w[:16]
    cut["model.embed_tokens.weight"] = weights["model.embed_tokens.weight"][:, :16]
    mx.save_safetensors(str(source / "model.safetensors"), cut)
    with pytest.raises(dm.RequestError, match=r"groups of 32 do not divide.*Use mode nvfp4 \(groups of 16\)"):
        convert_target(source, tmp_path / "result", group_size=32)
    assert convert_target(source, tmp_path / "result", mode="nvfp4").report


def test_a_drafter_is_no_target_and_a_target_no_drafter(tmp_path: Path) -> None:
    with pytest.raises(dm.UnsupportedModelError, match="drafter"):
        convert_target(DRAFTER_SOURCE, tmp_path / "result")
    with pytest.raises(dm.UnsupportedModelError, match="not a DFlash drafter"):
        convert_drafter(DEMO / "target", tmp_path / "result")
