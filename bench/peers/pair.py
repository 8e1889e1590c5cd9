"""A pair as all engines can read it: the same numbers under a config.json that none of them refuses."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import mlx.core as mx

from dflash_mlx.checkpoint import read_config
from dflash_mlx.convert.source import open_source
from dflash_mlx.drafters import DrafterConfig
from dflash_mlx.loading.hub import PairFolders


class CommonPair(NamedTuple):
    """Folders for every engine, and what decides who can run them."""

    target: Path
    drafter: Path
    model_type: str
    version: int  # of DFlash


def common_pair(pair: PairFolders, folder: Path) -> CommonPair:
    """Writes what has to be otherwise to `folder`, and leaves all else where it is.

    The target of a text model gets its config.json as multimodal ones have it, which is all that mlx-vlm reads; its weights are
    linked. A quantised drafter is written out as floats: only mlx-vlm and we read quantised ones. All engines get the same files.
    """
    assert pair.drafter
    config = read_config(pair.target)
    target = _nested(pair.target, config, folder / "target") if _is_flat_hybrid(config) else pair.target
    source = open_source(pair.drafter)
    drafter = folder / "drafter"
    drafter.mkdir()
    ours = DrafterConfig.from_dict(source.config)
    flat = {"block_size": ours.block_size, "rope_theta": ours.rope_theta}  # bstnxbt's reads them nowhere else
    _write_config(source.config | flat, drafter)
    mx.save_safetensors(str(drafter / "model.safetensors"), source.weights, {"format": "mlx"})
    return CommonPair(target, drafter, str(config.get("model_type")), ours.version)


def _is_flat_hybrid(config: dict[str, Any]) -> bool:
    return str(config.get("model_type")).startswith("qwen3_5") and "text_config" not in config


def _nested(source: Path, config: dict[str, Any], folder: Path) -> Path:
    outside = {key: config[key] for key in ("model_type", "eos_token_id", "tie_word_embeddings", "quantization") if key in config}
    rope = config["rope_parameters"]
    pairs = int(config["head_dim"] * rope["partial_rotary_factor"]) // 2
    third = pairs // 3  # text has the same position in all three sections, however long they are
    rope = {**rope, "type": rope["rope_type"], "mrope_section": [pairs - 2 * third, third, third], "mrope_interleaved": True}
    text = {**config, "model_type": f"{config['model_type'].removesuffix('_text')}_text", "rope_parameters": rope}
    text.pop("quantization", None)
    folder.mkdir()
    for file in source.iterdir():
        if file.name != "config.json":
            (folder / file.name).symlink_to(file.resolve())
    _write_config(outside | {"architectures": ["Qwen3_5ForConditionalGeneration"], "text_config": text}, folder)
    return folder


def _write_config(config: dict[str, Any], folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
