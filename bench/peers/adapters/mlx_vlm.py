"""mlx-vlm: its DFlash loop."""

from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import mlx.core as mx

PACKAGES = ("mlx-vlm", "mlx")


class Engine:
    """mlx-vlm's `generate_step` with a drafter."""

    def __init__(self, target: str, drafter: str) -> None:
        self._model = import_module("mlx_vlm.utils").load_model(Path(target))
        self._draft, self._kind = import_module("mlx_vlm.speculative.drafters").load_drafter(drafter)
        self._draft.prefer_requested_block_size = True  # else it begins at 3 rows and goes to 5, whatever is asked
        self._step = import_module("mlx_vlm.generate").generate_step

    def answer(
        self, prompt: list[int], block_size: int, max_tokens: int, stop: list[int]
    ) -> Generator[list[int], None, dict[str, Any]]:
        """See serve.py."""
        done = getattr(self._draft, "speculative_total_rounds", 0)  # it comes into being with the first round
        tokens = self._step(
            mx.array([prompt]),
            self._model,
            None,
            None,
            max_tokens=max_tokens,
            temperature=0.0,
            draft_model=self._draft,
            draft_kind=self._kind,
            draft_block_size=block_size,
        )
        for token, _ in tokens:
            yield [int(token)]
            if token in stop:
                break
        return {"cycles": getattr(self._draft, "speculative_total_rounds", 0) - done}
