"""What a conversion holds at its peak: a synthetic Qwen3 in shards, converted in a process of its own.

    python -m dflash_mlx.bench.conversion_memory 6 build/memory

Prints the peak resident size beside its bound: the largest file of the source, the largest of the result, and 1 GiB.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import mlx.core as mx

WIDTH, MLP, VOCAB, SHARDS = 2048, 8192, 32000, 8
GB, GIB = 10**9, 1 << 30


def layer_shapes() -> dict[str, tuple[int, ...]]:
    """The tensors of a layer."""
    shapes: dict[str, tuple[int, ...]] = {f"self_attn.{name}_proj.weight": (WIDTH, WIDTH) for name in "qkvo"}
    shapes |= {f"self_attn.{name}_norm.weight": (128,) for name in "qk"}
    shapes |= {f"{name}_layernorm.weight": (WIDTH,) for name in ("input", "post_attention")}
    return shapes | {f"mlp.{name}_proj.weight": (MLP, WIDTH) for name in ("gate", "up")} | {"mlp.down_proj.weight": (WIDTH, MLP)}


def write_checkpoint(folder: Path, size: float) -> None:
    """Writes a bfloat16 checkpoint of about so many bytes."""
    folder.mkdir(parents=True)
    embeddings = {"model.embed_tokens.weight": (VOCAB, WIDTH), "model.norm.weight": (WIDTH,)}
    a_layer = 2 * (4 * WIDTH * WIDTH + 3 * WIDTH * MLP)
    layers = max(SHARDS, round((size - 2 * VOCAB * WIDTH) / a_layer))
    config = {"model_type": "qwen3", "hidden_size": WIDTH, "num_hidden_layers": layers, "intermediate_size": MLP}
    config |= {"num_attention_heads": WIDTH // 128, "num_key_value_heads": WIDTH // 128, "head_dim": 128, "vocab_size": VOCAB}
    config |= {"rms_norm_eps": 1e-6, "rope_theta": 1e4, "max_position_embeddings": 512, "tie_word_embeddings": True}
    (folder / "config.json").write_text(json.dumps(config))
    for shard in range(SHARDS):
        shapes: dict[str, tuple[int, ...]] = dict(embeddings) if shard == 0 else {}
        for layer in range(shard, layers, SHARDS):
            shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in layer_shapes().items()}
        tensors = {name: mx.random.normal(shape, mx.bfloat16) for name, shape in shapes.items()}
        mx.save_safetensors(str(folder / f"model-{shard + 1:05d}-of-{SHARDS:05d}.safetensors"), tensors)


def largest(folder: Path) -> int:
    """Bytes of the largest file of weights."""
    return max(file.stat().st_size for file in folder.glob("model*.safetensors"))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dflash_mlx.bench.conversion_memory",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("size", type=float, help="GB of the checkpoint")
    parser.add_argument("folder", type=Path, help="a new folder for source and result")
    wanted = parser.parse_args()
    source, result = wanted.folder / "source", wanted.folder / "result"
    writer = multiprocessing.get_context("spawn").Process(target=write_checkpoint, args=(source, wanted.size * GB))
    writer.start()  # apart: a child's peak begins at what its parent holds
    writer.join()
    command = [sys.executable, "-c", "from dflash_mlx.cli import main; main()", "convert", "target", source, "-o", result]
    _, status, used = os.wait4(subprocess.Popen([*map(str, command), "--no-check"]).pid, 0)
    if writer.exitcode or status:
        return 1
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    bound = largest(source) + largest(result) + GIB
    print(f"peak resident {peak / GB:.2f} GB, bound {bound / GB:.2f} GB")
    return int(peak > bound)


if __name__ == "__main__":
    sys.exit(main())
