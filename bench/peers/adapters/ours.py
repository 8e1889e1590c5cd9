"""dflash-mlx."""

from collections.abc import Generator
from typing import Any

import dflash_mlx as dm

PACKAGES = ("dflash-mlx", "mlx", "mlx-lm")


class Engine:
    """Our loop, and our plain decoding where the block size is 1."""

    def __init__(self, target: str, drafter: str) -> None:
        self._pair = dm.load(target, drafter, drafter_bits=None)  # as the others have it

    def questions(self, conversations: list[list[dict[str, str]]]) -> dict[str, Any]:
        """What every engine is asked: token ids of the prompts, the ids that end an answer, the drafter's block size."""
        assert self._pair.drafter
        return {
            "prompts": [self._pair.tokenizer.encode(messages) for messages in conversations],
            "stop": sorted(self._pair.tokenizer.eos_token_ids),
            "block_size": self._pair.drafter.config.block_size,
        }

    def answer(
        self, prompt: list[int], block_size: int, max_tokens: int, stop: list[int]
    ) -> Generator[list[int], None, dict[str, Any]]:
        """See serve.py. `stop` is what our own tokenizer says."""
        cycles = -1  # the first chunk comes from the prompt's own pass
        greedy = dm.Sampling(temperature=0.0)
        for chunk in self._pair.stream(prompt, max_tokens=max_tokens, block_size=block_size, sampling=greedy):
            cycles += 1
            yield list(chunk.token_ids)
        return {"cycles": cycles if block_size > 1 else None}
