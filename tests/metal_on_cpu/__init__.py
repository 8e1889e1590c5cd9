"""Runs Metal kernels on the CPU with Metal's execution model, checked. See README.md."""

from .kernel import last_run, metal_kernel, options, recording
from .run import KernelCrash, Options, Run, Traffic
from .source import CompileError, count_barriers, lint, without_barrier

__all__ = [
    "CompileError",
    "KernelCrash",
    "Options",
    "Run",
    "Traffic",
    "count_barriers",
    "last_run",
    "lint",
    "metal_kernel",
    "options",
    "recording",
    "without_barrier",
]
