"""What a request did and how fast."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import mlx.core as mx

from dflash_mlx.decoding.block_size import FixedBlockSize, Policy
from dflash_mlx.decoding.loop import Cycle
from dflash_mlx.decoding.sequence import TokenSequence


@dataclass(frozen=True)
class Statistics:
    """Figures of one request so far. Times in seconds, memory in bytes, rates in tokens a second.

    Attributes:
        prompt_tokens: length of the prompt.
        cached_prompt_tokens: how many of them did not have to be computed.
        generated_tokens: tokens handed out, the end-of-sequence token included.
        cycles: draft-verify passes; the first token comes from the prompt's own pass.
        acceptance_length: generated tokens after the first / cycles.
        acceptance_by_position: for each drafted position, how often its token was kept, of a tree one of its tokens.
        block_sizes: how often each block size was used.
        time_to_first_token_s: from the request to the first token.
        prefill_tokens_per_second: prompt tokens / time of their passes.
        tokens_per_second: generated tokens after the first / time after the first.
        plain_tokens_per_second: what plain decoding would reach, estimated; None: not measured.
        peak_memory_bytes: the most that MLX has held in this process.
        device_reads: how often decoding waited for the device to tell it something.
        mode: whether the drafter is at work; where the block size is chosen automatically, this changes as text and costs do.
        mode_reason: why decoding is plain, what is wrong with the drafts or with a kernel; None: there is nothing to tell.
    """

    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    generated_tokens: int = 0
    cycles: int = 0
    acceptance_length: float = 0.0
    acceptance_by_position: list[float] = field(default_factory=list)
    block_sizes: dict[int, int] = field(default_factory=dict)
    time_to_first_token_s: float = 0.0
    prefill_tokens_per_second: float = 0.0
    tokens_per_second: float = 0.0
    plain_tokens_per_second: float | None = None
    peak_memory_bytes: int = 0
    device_reads: int = 0
    mode: Literal["speculative", "plain"] = "plain"
    mode_reason: str | None = None


class Recorder:
    """Counts while a request runs."""

    def __init__(self, prompt_tokens: int, note: str | None = None) -> None:
        """note: what else `mode_reason` shall tell."""
        self.prompt_tokens, self.note = prompt_tokens, note
        self.start = self.prefill_start = self.first_token = self.last_token = time.perf_counter()
        self.generated = self.cycles = self.cached = 0
        self.block_sizes: Counter[int] = Counter()
        self.drafted: Counter[int] = Counter()
        self.accepted: Counter[int] = Counter()

    def prefill_started(self, cached: int) -> None:
        """Notes that the prompt's pass begins, with so many of its tokens known already."""
        self.cached, self.prefill_start = cached, time.perf_counter()

    def first(self) -> None:
        self.first_token = self.last_token = time.perf_counter()
        self.generated = 1

    def cycle(self, cycle: Cycle) -> None:
        self.last_token = time.perf_counter()
        self.generated += len(cycle.token_ids)
        self.cycles += 1
        self.block_sizes[cycle.block_size] += 1
        stopped = cycle.accepted == len(cycle.token_ids)  # behind a stop, nobody knows what would have been kept
        self.drafted.update(range(cycle.accepted if stopped else cycle.deepest))
        self.accepted.update(range(cycle.accepted))

    def statistics(self, sequence: TokenSequence, policy: Policy | FixedBlockSize) -> Statistics:
        after_first = max(0, self.generated - 1)
        plain_seconds = policy.plain_seconds(sequence.position)
        return Statistics(
            prompt_tokens=self.prompt_tokens,
            cached_prompt_tokens=self.cached,
            generated_tokens=self.generated,
            cycles=self.cycles,
            acceptance_length=after_first / self.cycles if self.cycles else 0.0,
            acceptance_by_position=[self.accepted[i] / self.drafted[i] for i in sorted(self.drafted)],
            block_sizes=dict(sorted(self.block_sizes.items())),
            time_to_first_token_s=self.first_token - self.start,
            prefill_tokens_per_second=_rate(self.prompt_tokens - self.cached, self.first_token - self.prefill_start),
            tokens_per_second=_rate(after_first, self.last_token - self.first_token),
            plain_tokens_per_second=1 / plain_seconds if plain_seconds else None,
            peak_memory_bytes=mx.get_peak_memory(),
            device_reads=sequence.device_reads,
            mode="speculative" if policy.speculative else "plain",
            mode_reason="; ".join(reason for reason in (policy.reason, self.note) if reason) or None,
        )


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0
