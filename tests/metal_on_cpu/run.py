"""Runs a compiled kernel once, in a process of its own, and reads its report."""

import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Options:
    """How dispatches are compiled and run."""

    checks: bool = True  # off: many times faster, no findings, no bytes
    contract: bool = False  # a * b + c in one expression rounds once
    simd_order: int = 0  # of additions in simd_sum, which no GPU promises: 0, 1 or 2, see msl_reduce in metal.h
    reverse: bool = False  # SIMD groups and lanes take their turns last to first
    timeout: float = 120.0  # seconds for a dispatch


class Buffer(NamedTuple):
    name: str
    data: bytes | None  # None: an output that starts uninitialised
    element: int  # bytes
    output_bytes: int | None = None  # None: an input


@dataclass(frozen=True)
class Traffic:
    """Bytes of one buffer."""

    size: int  # of the whole buffer
    read: int  # every load of every thread
    written: int  # every store
    unique: int  # touched at least once
    lines: int  # lines of 128 bytes touched, each counted once a threadgroup: what a GPU fetches if threadgroups share nothing


@dataclass(frozen=True)
class Run:
    """What one dispatch did. Without checks there are no findings and all traffic is 0."""

    name: str
    grid: tuple[int, ...]
    threadgroup: tuple[int, ...]
    findings: list[str]  # empty: nothing wrong
    buffers: dict[str, Traffic]
    barriers: int  # threadgroup barriers, summed over threadgroups
    simd_barriers: int
    collectives: int
    threadgroup_memory: int  # bytes


class KernelCrash(Exception):
    """The dispatch did not end, or ended without a report."""


def run(
    program: Path,
    name: str,
    buffers: list[Buffer],
    grid: Sequence[int],
    threadgroup: Sequence[int],
    options: Options,
) -> tuple[Run, list[bytes]]:
    """The report and the outputs' bytes."""
    request = [struct.pack("<10Q", options.checks, options.simd_order, options.reverse, *grid, *threadgroup, len(buffers))]
    for b in buffers:
        size = len(b.data or b"") if b.output_bytes is None else b.output_bytes
        request += [struct.pack("<4Q", size, b.element, b.output_bytes is not None, b.data is not None), b.data or b""]
    try:
        done = subprocess.run([program], input=b"".join(request), capture_output=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        raise KernelCrash(
            f"kernel {name} did not end within {options.timeout:g} s: a loop without end, or a wait for another thread"
        ) from None
    report, mark, rest = done.stdout.partition(b"\noutputs\n")
    if done.returncode or not mark:
        raise KernelCrash(f"kernel {name} crashed (exit code {done.returncode}) {done.stderr.decode(errors='replace')[:500]}")
    traffic: dict[str, Traffic] = {}
    findings: list[str] = []
    counts = [0] * 4
    for line in report.decode().splitlines():
        what, _, values = line.partition(" ")
        if what == "finding":
            count, kind, place, detail = values.split("\t")
            detail = re.sub(r"\b(buffer|output) (\d+)", lambda match: buffers[int(match[2]) - 1].name, detail)
            findings.append(f"{kind} at {place or '?'}: {detail} ({count} x)")
        elif what == "buffer":
            b = buffers[len(traffic)]
            traffic[b.name] = Traffic(len(b.data or b"") if b.output_bytes is None else b.output_bytes, *map(int, values.split()))
        else:
            counts = [int(value) for value in values.split()]
    outputs = []
    for b in buffers:
        if b.output_bytes is not None:
            outputs.append(rest[: b.output_bytes])
            rest = rest[b.output_bytes :]
    return Run(name, tuple(grid), tuple(threadgroup), findings, traffic, *counts), outputs
