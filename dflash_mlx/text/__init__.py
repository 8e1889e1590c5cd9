"""Between text and token ids: a model's tokenizer and chat template, and an answer's text as it grows."""

from dflash_mlx.text.answer import THINKING, StopTexts, TextStream, Thinking, closed
from dflash_mlx.text.tokenizer import Prompt, Tokenizer

__all__ = ["THINKING", "Prompt", "StopTexts", "TextStream", "Thinking", "Tokenizer", "closed"]
