"""mlx-lm: plain decoding."""

from collections.abc import Generator
from typing import Any

from mlx_lm import load, stream_generate

PACKAGES = ("mlx-lm", "mlx")


class Engine:
    """mlx-lm's plain decoding. The drafter and the block size mean nothing to it."""

    def __init__(self, target: str, drafter: str) -> None:
        self._model, self._tokenizer, *_ = load(target)

    def answer(
        self, prompt: list[int], block_size: int, max_tokens: int, stop: list[int]
    ) -> Generator[list[int], None, dict[str, Any]]:
        """See serve.py."""
        self._tokenizer.eos_token_ids = stop
        for response in stream_generate(self._model, self._tokenizer, prompt, max_tokens=max_tokens):
            yield [response.token]
        return {"cycles": None}
