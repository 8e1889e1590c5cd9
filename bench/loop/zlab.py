"""z-lab's MLX loop (`dflash` 0.1.0 on PyPI) behind the calls of `dflash_mlx.bench.loop.engines`.

It is optional: `pip install --no-deps dflash==0.1.0` beside dflash-mlx. It patches mlx-lm while it runs, so it gets a
process of its own (`dflash_mlx.bench.loop.worker`).
"""

from pathlib import Path
from typing import Any
from unittest import mock

import mlx.core as mx

from .controlled import Plan
from .engines import timed


class ZLab:
    """z-lab's loop with a DFlash 2 drafter."""

    def __init__(self, pair: str) -> None:
        import dflash.model_mlx as zlab  # type: ignore[import-not-found, import-untyped, unused-ignore]

        class Controlled(zlab.DFlash2DraftModel):  # the loop asks for this class
            plan: Plan | None = None

            def propose(self, inputs: mx.array, hidden: mx.array, cache: list[Any], *args: Any, **kwargs: Any) -> Any:
                tokens, candidates, q = super().propose(inputs, hidden, cache, *args, **kwargs)
                if self.plan is not None:
                    position = cache[0].offset  # the context's rows: the anchor stands behind them
                    tokens = self.plan.apply(tokens[0], position, self.config.vocab_size)[None]
                return tokens, candidates, q

        self._zlab = zlab
        self.model, self.tokenizer = zlab.load(pair)
        with mock.patch.object(zlab, "snapshot_download", lambda name, **_: name):  # it always asks the Hub
            real = zlab.load_draft(str(Path(pair) / "drafter"))
        self.draft = Controlled(real.config)
        self.draft.update(real.parameters())
        self.draft.eval()

    def answer(self, prompt: list[int], guess: list[int]) -> list[int]:
        """What its loop says, as many tokens as `guess`, which is what it drafts: the nearer, the sooner.

        Its answer need not be plain decoding's: while it verifies, its recurrent layers round otherwise than mlx-lm's.
        """
        drafts, tokens = self.draft.config.block_size - 1, list[int]()
        self.control(prompt, guess, [1.0] * drafts, 0)
        responses = self._zlab.stream_generate(self.model, self.draft, self.tokenizer, prompt, max_tokens=len(guess))
        for response in responses:
            tokens += response.tokens
        return tokens

    def control(self, prompt: list[int], answer: list[int], rates: list[float], seed: int) -> None:
        """From now on drafts go by this plan."""
        self.draft.plan = Plan(prompt, answer, rates, seed)

    def run(self, prompt: list[int], block_size: int, cycles: int) -> dict[str, Any]:
        """Decodes greedily for so many cycles after the first token; see `timed`."""
        responses = self._zlab.stream_generate(
            self.model, self.draft, self.tokenizer, prompt, block_size=block_size, max_tokens=(cycles + 2) * block_size
        )
        return timed((response.tokens for response in responses), cycles)
