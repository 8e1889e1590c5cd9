"""Bytes of a cycle, from loaded weights, beside sums made by hand from the sizes in config.json."""

import mlx.core as mx
import pytest
from fixture_data import CHECKPOINTS

from dflash_mlx.bench.roofline.hollow import configs, hollow_pair
from dflash_mlx.bench.roofline.synthetic import Geometry
from dflash_mlx.bench.roofline.traffic import Traffic, cycle_traffic
from dflash_mlx.checkpoint import size_in_memory
from dflash_mlx.drafters import load_drafter
from dflash_mlx.targets import load_target
from dflash_mlx.targets.transformer import TransformerTarget

HIDDEN, VOCAB, HEADS, KV_HEADS, DIM = 64, 256, 4, 2, 16  # of all recorded checkpoints
FLOAT = 4


def target(name: str) -> TransformerTarget:
    loaded = load_target(CHECKPOINTS / f"target_{name}")
    assert isinstance(loaded, TransformerTarget)
    return loaded


def linear(outputs: int, inputs: int, bits: int | None = None, group: int = 64, item: int = FLOAT) -> int:
    """Bytes of a projection; quantised, with a scale and a bias a group."""
    if bits is None:
        return outputs * inputs * item
    return outputs * inputs * bits // 8 + outputs * inputs // group * 2 * item


def attention(bits: int | None = None) -> int:
    """Of a layer without its MLP: norms, q, k, v, o."""
    inputs = sum(linear(outputs, HIDDEN, bits) for outputs in (HEADS * DIM, KV_HEADS * DIM, KV_HEADS * DIM))
    return (2 * HIDDEN + 2 * DIM) * FLOAT + inputs + linear(HIDDEN, HEADS * DIM, bits)


def mlp(intermediate: int, bits: int | None = None) -> int:
    return 2 * linear(intermediate, HIDDEN, bits) + linear(HIDDEN, intermediate, bits)


def keys_and_values(positions: int) -> int:
    return 2 * positions * KV_HEADS * DIM * FLOAT


@pytest.mark.parametrize("name, bits", [("qwen3", None), ("qwen3_4bit", 4)])
def test_a_dense_target_reads_each_weight_and_the_context_once(name: str, bits: int | None) -> None:
    layers, head, accept = cycle_traffic(target(name), None, rows=3, context=100)
    weights = 4 * (attention(bits) + mlp(64, bits)) + 3 * linear(1, HIDDEN, bits)  # and three rows of the embedding
    assert layers == Traffic("4 attention layers", weights, context=4 * keys_and_values(100 + 3))
    logits = 3 * VOCAB * FLOAT
    assert head == Traffic("head", linear(VOCAB, HIDDEN, bits) + HIDDEN * FLOAT, logits=logits)
    assert accept == Traffic("accept", logits=logits) and accept.bytes == logits


def test_a_hybrid_target_reads_and_writes_its_states() -> None:
    parts = {part.part: part for part in cycle_traffic(target("qwen3_5"), None, rows=1, context=100)}
    assert list(parts) == ["6 recurrent layers", "2 attention layers", "head", "accept", "commit"]
    values, channels = 4 * 16, 2 * 2 * 16 + 4 * 16  # outputs of the value heads; those that pass the convolution
    inputs = linear(channels + values + 4 + 4, HIDDEN) + 4 * channels * FLOAT  # with decay and strength a head
    layer = (2 * HIDDEN + 16 + 4 + 4) * FLOAT + inputs + linear(HIDDEN, values) + mlp(64)
    state = (4 * 16 * 16 + 3 * channels) * FLOAT
    assert parts["6 recurrent layers"] == Traffic("6 recurrent layers", 6 * layer + HIDDEN * FLOAT, states=2 * 6 * state)
    gated = attention() + linear(HEADS * DIM, HIDDEN)  # queries come with a gate
    assert parts["2 attention layers"].weights == 2 * (gated + mlp(64))
    assert parts["commit"].bytes == 0


def test_a_tied_head_is_the_embedding_whose_rows_are_not_read_twice() -> None:
    tied, untied = (
        {part.part: part for part in cycle_traffic(target(name), None, rows=4, context=0)}
        for name in ("qwen3_5_tied_4bit", "qwen3_5_4bit")
    )
    assert tied["head"] == untied["head"]
    rows = 4 * linear(1, HIDDEN, 4)
    assert untied["6 recurrent layers"].weights == 6 * tied["1 recurrent layer"].weights + rows


@pytest.mark.parametrize("rows, reached", [(1, 2), (2, 3), (3, 3.5)])  # of 4 experts, each row choosing 2
def test_a_mixture_reads_the_experts_that_its_rows_reach(rows: int, reached: float) -> None:
    layers = cycle_traffic(target("qwen3_moe"), None, rows, context=10)[0]
    assert layers.experts == 2 * reached * mlp(32)
    assert layers.weights == 2 * (attention() + linear(4, HIDDEN)) + rows * linear(1, HIDDEN)  # with what routes them
    hybrid = cycle_traffic(target("qwen3_5_moe"), None, rows, context=10)
    assert [part.experts for part in hybrid[:2]] == [reached * mlp(32)] * 2
    shared = mlp(32) + linear(1, HIDDEN)  # every row meets it
    assert hybrid[1].weights == attention() + linear(HEADS * DIM, HIDDEN) + linear(4, HIDDEN) + shared


def cycle_parts(name: str, rows: int, context: int, bits: int | None = None) -> dict[str, Traffic]:
    of = "qwen3" if name.startswith("dflash1") else "qwen3_5"
    parts = cycle_traffic(target(of), load_drafter(CHECKPOINTS / name, bits), rows, context)
    return {part.part: part for part in parts}


@pytest.mark.parametrize("bits", [None, 4])
def test_a_dflash_drafter_reads_each_weight_once_and_the_head_again(bits: int | None) -> None:
    parts = cycle_parts("dflash1_full", rows=4, context=50, bits=bits)
    assert list(parts) == [
        *("draft block", "draft head", "draft choice"),
        *("4 attention layers", "head", "accept", "injection"),
    ]
    projected = 2 * linear(KV_HEADS * DIM, HIDDEN, bits) + DIM * FLOAT
    assert parts["injection"].weights == linear(HIDDEN, 3 * HIDDEN, bits) + HIDDEN * FLOAT + 3 * projected
    # anchor and mask are two rows of the embedding
    block = 3 * (attention(bits) - projected + mlp(128, bits)) + HIDDEN * FLOAT + 2 * linear(1, HIDDEN)
    assert parts["draft block"] == Traffic("draft block", block, context=3 * keys_and_values(50 + 4))
    assert parts["injection"].context == 3 * keys_and_values(4)
    logits = 3 * VOCAB * FLOAT
    assert parts["draft head"] == Traffic("draft head", linear(VOCAB, HIDDEN), logits=logits)
    assert parts["draft choice"] == Traffic("draft choice", logits=logits)


def test_a_dflash_2_drafter_reads_rows_of_its_codebooks() -> None:
    parts = cycle_parts("dflash2_full", rows=4, context=50)
    rank, candidates = 8, 8
    assert parts["draft choice"].weights == linear(rank, HIDDEN) + 3 * (1 + candidates) * rank * FLOAT
    convolution = 2 * 2 * HIDDEN * FLOAT + linear(2 * 2 * HIDDEN // 16, HIDDEN)
    projected = 2 * linear(KV_HEADS * DIM, HIDDEN) + DIM * FLOAT
    layer = attention() - projected + mlp(128) + 2 * convolution
    assert parts["draft block"].weights == 3 * layer + HIDDEN * FLOAT + 2 * linear(1, HIDDEN)


@pytest.mark.parametrize("context, seen", [(10, 10), (15, 15), (16, 15), (1000, 15)])  # of a window of 16, one is the anchor
def test_a_window_ends_what_is_read_of_the_context(context: int, seen: int) -> None:
    block = cycle_parts("dflash2_swa", rows=4, context=context)["draft block"]
    assert block.context == 2 * keys_and_values(seen + 4) + keys_and_values(context + 4)  # the layer between sees all


@pytest.mark.parametrize("name", ["qwen3_4bit", "qwen3_5", "qwen3_5_tied"])
@pytest.mark.parametrize("drafter_name", ["dflash1_full", "dflash2_swa"])
def test_every_weight_of_a_cycle_stands_in_one_part(name: str, drafter_name: str) -> None:
    loaded, drafter = target(name), load_drafter(CHECKPOINTS / drafter_name)
    parts = {part.part: part for part in cycle_traffic(loaded, drafter, rows=4, context=50)}
    tied = loaded.args.tie_word_embeddings
    table, row = (linear(count, HIDDEN, 4 if name == "qwen3_4bit" else None) for count in (VOCAB, 1))
    read = size_in_memory(loaded.module) + size_in_memory(drafter) + table  # the head by both
    read += 0 if tied else (4 + 2) * row - table
    if drafter_name == "dflash2_swa":
        read -= (2 * VOCAB - 3 * (1 + 8)) * 8 * FLOAT  # of the codebooks, the rows that stay
    assert sum(part.weights for part in parts.values()) == read


def test_the_bytes_of_the_published_pair_are_those_of_its_sizes() -> None:
    loaded, drafter = hollow_pair(*configs("Qwen3.8-27B"))
    parts = {part.part: part for part in cycle_traffic(loaded, drafter, rows=4, context=4096)}
    assert parts["48 recurrent layers"].states == 2 * 48 * (48 * 128 * 128 * 4 + 3 * 10240 * 2)
    assert parts["16 attention layers"].context == 16 * (4096 + 4) * 2 * 4 * 256 * 2
    assert parts["draft block"].context == 5 * (2047 + 4) * 2 * 8 * 128 * 2
    head = linear(248320, 5120, bits=4, item=2)
    assert parts["draft head"].weights == head and parts["head"].weights == head + 5120 * 2
    plain = cycle_traffic(loaded, None, rows=1, context=0)
    assert [part.part for part in plain] == ["48 recurrent layers", "16 attention layers", "head", "accept", "commit"]
    assert sum(part.bytes for part in plain) == pytest.approx(14.4e9 + 0.3e9, rel=0.01)


def test_a_fused_input_projection_and_a_mixture_of_512_experts_are_counted_too() -> None:
    loaded, drafter = hollow_pair(*configs("Qwen3-Coder-Next"))
    parts = {part.part: part for part in cycle_traffic(loaded, drafter, rows=1, context=300)}
    assert parts["36 recurrent layers"].states == 2 * 36 * (32 * 128 * 128 * 4 + 3 * 8192 * 2)
    assert parts["12 attention layers"].context == 12 * (300 + 1) * 2 * 2 * 256 * 2
    expert = 3 * linear(512, 2048, bits=4, item=2)  # gate, up and down: of the same size
    assert parts["36 recurrent layers"].experts == pytest.approx(36 * 10 * expert)


def test_layers_of_another_dtype_have_other_states() -> None:
    geometry = Geometry(512, 4, 1024, 4, 2, 128, 4, 128, 512, drafter_layers=2, taps=3)
    loaded, drafter = hollow_pair(geometry.target_config["text_config"], geometry.drafter_config)
    assert loaded.dtype == mx.bfloat16
    parts = {part.part: part for part in cycle_traffic(loaded, drafter, rows=2, context=7)}
    assert parts["1 attention layer"].context == (7 + 2) * 2 * 2 * 128 * 2
    assert parts["3 recurrent layers"].states == 2 * 3 * (4 * 128 * 128 * 4 + 3 * 3 * 4 * 128 * 2)
