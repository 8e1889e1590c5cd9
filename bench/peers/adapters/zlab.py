"""z-lab's MLX loop: `dflash.model_mlx`."""

from collections.abc import Generator
from importlib import import_module
from typing import Any
from unittest import mock

PACKAGES = ("dflash", "mlx", "mlx-lm")


class Engine:
    """z-lab's loop."""

    def __init__(self, target: str, drafter: str) -> None:
        zlab = import_module("dflash.model_mlx")
        self._model, self._tokenizer = zlab.load(target)
        with mock.patch.object(zlab, "snapshot_download", lambda name, **_: name):  # it always asks the Hub
            self._draft = zlab.load_draft(drafter)
        self._stream = zlab.stream_generate

    def answer(
        self, prompt: list[int], block_size: int, max_tokens: int, stop: list[int]
    ) -> Generator[list[int], None, dict[str, Any]]:
        """See serve.py."""
        self._tokenizer.eos_token_ids = stop
        cycles = -1
        responses = self._stream(self._model, self._draft, self._tokenizer, prompt, block_size=block_size, max_tokens=max_tokens)
        for response in responses:
            cycles += bool(response.tokens)
            yield list(response.tokens)
        return {"cycles": cycles}
