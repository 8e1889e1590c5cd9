"""GGUF files: llama.cpp's names for the tensors of Qwen3 and of DFlash drafters, in the types that `mx.load` reads."""

import re
from pathlib import Path
from typing import Any

import mlx.core as mx

from dflash_mlx.checkpoint import Weights
from dflash_mlx.errors import CheckpointError, UnsupportedModelError

# Qwen3, dense and mixture of experts. Of the other families llama.cpp reorders the recurrent layers' weights.
ARCHITECTURES = ("qwen3", "qwen3moe", "dflash")
GROUP_SIZE = 32  # of Q4_0, Q4_1 and Q8_0, which `mx.load` hands over as quantised

TARGET = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
DRAFTER = {
    "fc.weight": "fc.weight",
    "enc.output_norm.weight": "hidden_norm.weight",
    "output_norm.weight": "norm.weight",
    "selector_hidden.weight": "candidate_selector.hidden_projection.weight",
    "selector_predecessor.weight": "candidate_selector.predecessor_codebook",
    "selector_successor.weight": "candidate_selector.successor_codebook",
}
LAYER = {
    "attn_norm.weight": "input_layernorm.weight",
    "ffn_norm.weight": "post_attention_layernorm.weight",
    "attn_q.weight": "self_attn.q_proj.weight",
    "attn_k.weight": "self_attn.k_proj.weight",
    "attn_v.weight": "self_attn.v_proj.weight",
    "attn_output.weight": "self_attn.o_proj.weight",
    "attn_q_norm.weight": "self_attn.q_norm.weight",
    "attn_k_norm.weight": "self_attn.k_norm.weight",
    "ffn_gate.weight": "mlp.gate_proj.weight",
    "ffn_up.weight": "mlp.up_proj.weight",
    "ffn_down.weight": "mlp.down_proj.weight",
    "ffn_gate_inp.weight": "mlp.gate.weight",
    "ffn_gate_exps.weight": "mlp.switch_mlp.gate_proj.weight",
    "ffn_up_exps.weight": "mlp.switch_mlp.up_proj.weight",
    "ffn_down_exps.weight": "mlp.switch_mlp.down_proj.weight",
    "attn_conv_base": "attention_conv.base_kernel",
    "attn_conv_proj.weight": "attention_conv.kernel_projection.weight",
    "ffn_conv_base": "mlp_conv.base_kernel",
    "ffn_conv_proj.weight": "mlp_conv.kernel_projection.weight",
}


def find_gguf(folder: Path) -> Path | None:
    """The GGUF file of a folder; None: its weights are in another format.

    Raises:
        UnsupportedModelError: there are several.
    """
    files = sorted(folder.glob("*.gguf"))
    if not files or any(folder.glob("model*.safetensors")):
        return None
    if len(files) > 1:
        raise UnsupportedModelError(
            f"{folder} has {len(files)} GGUF files.",
            "Put one into a folder of its own, with the original's config.json and tokenizer.",
        )
    return files[0]


def read_gguf(file: Path) -> Weights:
    """The tensors of a file by their published names, unpacked lazily; MLX itself reads the whole file into memory.

    Raises:
        CheckpointError: the file is damaged, or has a type of numbers that MLX does not read.
        UnsupportedModelError: another architecture, or a tensor that these do not have.
    """
    packed: Weights
    metadata: dict[str, Any]
    try:
        packed, metadata = mx.load(str(file), return_metadata=True)  # type: ignore[assignment]
    except (RuntimeError, ValueError) as error:
        raise CheckpointError(
            f"{file} cannot be read ({error}).", "Get the file again, or in F16, Q8_0, Q4_1 or Q4_0."
        ) from error
    architecture = metadata.get("general.architecture")
    if architecture not in ARCHITECTURES:
        raise UnsupportedModelError(
            f"{file} holds architecture {architecture!r}.",
            f"As GGUF {', '.join(ARCHITECTURES)} can be read; give other models in safetensors.",
        )
    weights: Weights = {}
    for name in [name for name in packed if not name.endswith((".scales", ".biases"))]:
        path, weight = name.removesuffix(".weight"), packed.pop(name)
        scales, biases = packed.pop(f"{path}.scales", None), packed.pop(f"{path}.biases", None)
        if scales is not None:
            weight = mx.dequantize(weight, scales, biases, GROUP_SIZE, weight.shape[-1] // scales.shape[-1])
        weights[_published(name, architecture, file)] = weight
    return weights


def _published(name: str, architecture: str, file: Path) -> str:
    layer = re.fullmatch(r"blk\.(\d+)\.(.+)", name)
    drafter = architecture == "dflash"
    if layer and layer[2] in LAYER:
        return f"{'' if drafter else 'model.'}layers.{layer[1]}.{LAYER[layer[2]]}"
    known = DRAFTER if drafter else TARGET
    if name not in known:
        raise UnsupportedModelError(
            f"{file} has a tensor {name}, which {architecture} does not have.", "Give the model in safetensors."
        )
    return known[name]
