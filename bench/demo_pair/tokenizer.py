"""Byte-level BPE tokenizer of the demo pair, learnt from its own text, and the chat template that renders that text."""

import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .text import dialogue, render

PAD, IM_END, MASK = "<|endoftext|>", "<|im_end|>", "<|mask|>"
SPECIALS = [PAD, "<|im_start|>", IM_END, "<think>", "</think>", MASK]  # their ids are their places here
PAD_ID, IM_END_ID, MASK_ID = SPECIALS.index(PAD), SPECIALS.index(IM_END), SPECIALS.index(MASK)
VISIBLE = {"<think>", "</think>"}  # kept when text is decoded without special tokens

# words with the space before them, digits one by one
SPLIT = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

CHAT_TEMPLATE = """\
{%- for message in messages %}
{%- set content = message.content %}
{%- if message.role == "assistant" and "</think>" in content %}
{%- set content = content.split("</think>")[-1].lstrip("\\n") %}
{%- endif %}
{{- "<|im_start|>" + message.role + "\\n" + content + "<|im_end|>\\n" }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- "<|im_start|>assistant\\n" }}
{{- "<think>\\n" if enable_thinking is defined and enable_thinking else "<think>\\n\\n</think>\\n\\n" }}
{%- endif %}
"""


def train_tokenizer() -> Tokenizer:
    """Learns it from 8,000 dialogues."""
    rng = random.Random(7)
    texts = ("".join(text for text, _ in render(dialogue(rng, "training"))) for _ in range(8000))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=1024,
            show_progress=False,
            initial_alphabet=alphabet,
            special_tokens=[AddedToken(token, normalized=False, special=True) for token in SPECIALS],
        ),
    )
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """The files from which transformers and mlx-lm load tokenizer and template."""
    stored = json.loads(tokenizer.to_str())
    for token in stored["added_tokens"]:
        token["special"] = token["content"] not in VISIBLE
    (folder / "tokenizer.json").write_text(json.dumps(stored, ensure_ascii=False))
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": IM_END,
        "pad_token": PAD,
        "bos_token": None,
        "model_max_length": 4096,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")


def encode(tokenizer: Tokenizer, pieces: list[tuple[str, bool]]) -> tuple[list[int], list[bool]]:
    """Ids of a rendered dialogue, and for each id whether it is trained on."""
    ids: list[int] = []
    own: list[bool] = []
    for text, trained_on in pieces:
        new = tokenizer.encode(text).ids
        ids += new
        own += [trained_on] * len(new)
    return ids, own
