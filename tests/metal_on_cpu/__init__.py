"""Runs `mx.fast.metal_kernel` sources on the CPU, checked. Entry points; see README.md."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .prototype import msl


@dataclass(frozen=True)
class Traffic:
    """Bytes of one buffer in one dispatch."""

    size: int  # of the whole buffer
    read: int  # every load counted
    written: int  # every store counted
    unique: int  # bytes touched at least once
    lines: int  # 128-byte lines touched, counted once per threadgroup


@dataclass(frozen=True)
class Run:
    """What one dispatch did."""

    name: str
    findings: list[str]  # empty: nothing wrong
    buffers: dict[str, Traffic]
    barriers: int  # threadgroup barriers, summed over threadgroups
    simd_barriers: int
    collectives: int
    threadgroup_memory: int  # bytes
    seconds: float


def metal_kernel(
    name: str,
    input_names: list[str],
    output_names: list[str],
    source: str,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
) -> Any:
    """As `mx.fast.metal_kernel`; the returned callable runs on the CPU, at once."""
    return msl.Kernel(name, input_names, output_names, source, header, ensure_row_contiguous, atomic_outputs)


def last_run() -> Run:
    """The last dispatch of this process."""
    record = msl.LOG[-1]
    stats = record["stats"]
    return Run(
        record["name"],
        [f"{e.kind} (x{e.count}): {e.detail}" for e in record["errs"]],
        {n: Traffic(b["size"], b["rd"], b["wr"], b["unique"], b["tg_lines"]) for n, b in record["bufs"].items()},
        stats["tg_barriers"],
        stats["sg_barriers"],
        stats["collectives"],
        stats["tg_mem"],
        record["run_s"],
    )


@contextlib.contextmanager
def options(checks: bool = True, contract: bool = False, simd_order: int = 0, reverse: bool = False) -> Iterator[None]:
    """Inside: with or without checks; multiply-adds contracted or not; the order of additions in simd_sum (0 butterfly from
    lane distance 1, 1 lane after lane, 2 butterfly from 16); SIMD groups run last to first."""
    old = dict(msl.OPT)
    msl.OPT.update(check=checks, contract="fast" if contract else "off", order=simd_order, sched=int(reverse))
    try:
        yield
    finally:
        msl.OPT.update(old)


BARRIER = re.compile(r"\b(?:threadgroup|simdgroup)_barrier\s*\([^()]*\)\s*;")


def count_barriers(source: str) -> int:
    return len(BARRIER.findall(source))


def without_barrier(source: str, n: int) -> str:
    """`source` with its n-th barrier (from 0, in the order of the text) taken out."""
    found = list(BARRIER.finditer(source))[n]
    return source[: found.start()] + ";" + source[found.end() :]
