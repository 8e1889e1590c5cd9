"""mlx-dspark: its DFlash loop."""

from collections.abc import Generator
from importlib import import_module
from typing import Any

PACKAGES = ("mlx-dspark", "mlx", "mlx-lm")


class Stops:
    """In place of a tokenizer: mlx-dspark would stop at every token that is called like an end."""

    def __init__(self, ids: list[int]) -> None:
        self.eos_token_ids = ids

    def decode(self, ids: list[int]) -> str:
        """The text of an answer, which nobody reads."""
        return ""


class Engine:
    """mlx-dspark's `dflash_generate`."""

    def __init__(self, target: str, drafter: str) -> None:
        dspark = import_module("mlx_dspark")
        self._target, _ = dspark.load_target(target, require_tap=True)
        self._draft, _ = dspark.load_dflash(drafter, quantize=False)  # else to 4 bits
        self._generate = dspark.dflash_generate

    def answer(
        self, prompt: list[int], block_size: int, max_tokens: int, stop: list[int]
    ) -> Generator[list[int], None, dict[str, Any]]:
        """See serve.py. It tells nothing before the end: the times are its own, after the prompt's pass."""
        result = self._generate(
            self._target,
            Stops(stop),
            self._draft,
            prompt_ids=prompt,
            max_new_tokens=max_tokens,
            max_draft_tokens=block_size - 1,
        )
        yield result.token_ids
        return {"cycles": result.num_rounds, "first_s": result.prefill_seconds, "seconds": result.decode_seconds}
