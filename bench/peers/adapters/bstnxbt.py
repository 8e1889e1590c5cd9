"""The other dflash-mlx, by bstnxbt: it has our package's name, and an environment of its own."""

from collections.abc import Generator
from importlib import import_module
from typing import Any

PACKAGES = ("dflash-mlx", "mlx", "mlx-lm")


class Engine:
    """Its stream of events, set as it comes: n-gram copies, and blocks of more than 4 rows shortened where little is kept."""

    def __init__(self, target: str, drafter: str) -> None:
        runtime = "dflash_mlx.runtime"
        self._context = import_module(f"{runtime}.context").build_offline_runtime_context()
        load = import_module(f"{runtime}.bundle").load_runtime_bundle
        self._bundle = load(model_ref=target, draft_ref=drafter, verify_config=self._context.verify)
        self._stream = import_module(runtime).stream_dflash_generate

    def answer(
        self, prompt: list[int], block_size: int, max_tokens: int, stop: list[int]
    ) -> Generator[list[int], None, dict[str, Any]]:
        """See serve.py."""
        bundle, cycles = self._bundle, None
        events = self._stream(
            target_model=bundle.target_model,
            target_ops=bundle.target_ops,
            tokenizer=bundle.tokenizer,
            draft_model=bundle.draft_model,
            draft_backend=bundle.draft_backend,
            prompt_tokens_override=prompt,
            max_new_tokens=max_tokens,
            block_tokens=block_size,
            stop_token_ids=stop,
            runtime_context=self._context,
        )
        for event in events:
            cycles = getattr(event, "cycles_completed", cycles)
            if (token := getattr(event, "token_id", None)) is not None:
                yield [int(token)]
        return {"cycles": cycles}
