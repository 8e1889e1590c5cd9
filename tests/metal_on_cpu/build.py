"""Compiles a kernel, as kernel.py wrapped it, and the runtime to a program, and keeps it in the cache folder."""

import contextlib
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import mlx.core as mx

from .source import CompileError

HERE = Path(__file__).parent
CACHES = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"  # now: our tests set another one for what they test
KEPT = 30 * 24 * 3600  # seconds since a file in the cache folder was last used
COMMON = "-std=c++17 -Wno-everything -fPIC -fno-exceptions -fno-rtti -fno-stack-protector -fno-threadsafe-statics".split()
COMMON += ["-march=haswell"] if platform.machine().lower() in ("x86_64", "amd64") else []
# Rounds as Metal does: no wider intermediate results, no double literals.
KERNEL = (
    "-Werror=uninitialized -Werror=sometimes-uninitialized "
    "-O1 -g1 -gdwarf-4 -fno-finite-loops -fno-optimize-sibling-calls -ftemplate-depth=2000 "
    "-ftrivial-auto-var-init=pattern -Xclang -cl-single-precision-constant "
    "-Xclang -ffloat16-excess-precision=none -Xclang -fbfloat16-excess-precision=none"
).split()
CHECKS = (
    "-fno-vectorize -fno-slp-vectorize -fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0 "
    "-mllvm -tsan-instrument-read-before-write=1 "
    "-fsanitize=alignment,array-bounds,shift-exponent,integer-divide-by-zero,signed-integer-overflow "
    "-fno-sanitize-recover=all"  # a handler that could return would keep loads from being merged, and they would count twice
).split()
# A call out of the checks, in the assembler's text of either processor and system.
CALL = re.compile(r"^\s*(?:callq?|bl)\s+\*?_?(?:__tsan_|msl_atomic).*$", re.M)
# Apple's that MLX's kernels/utils.h includes; and of MLX's those that overload by address space or wrap Apple's built-ins.
EMPTY_HEADERS = [f"metal_{name}" for name in ("math", "stdlib", "simdgroup")]
EMPTY_HEADERS += [f"mlx/backend/metal/kernels/{name}.h" for name in ("bf16_math", "complex", "logging")]


@cache
def compiler() -> tuple[str, ...]:
    """The command of a C++ compiler that can do it: clang 19 or newer."""
    if chosen := os.environ.get("METAL_ON_CPU_CXX"):
        return tuple(chosen.split())
    if (package := importlib.util.find_spec("ziglang")) and package.origin:
        return (str(Path(package.origin).parent / "zig"), "c++")
    for number in range(29, 18, -1):
        if found := shutil.which(f"clang++-{number}"):
            return (found,)
    raise CompileError("no compiler for Metal kernels on the CPU: pip install ziglang (or clang 19 or newer as clang++-19)")


@cache
def cache_folder() -> Path:
    folder = Path(CACHES) / "dflash-mlx" / "metal_on_cpu"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="metal_on_cpu"))
    for old in folder.glob("*-*"):
        with contextlib.suppress(OSError):  # another process may tidy up too
            if old.stat().st_mtime < time.time() - KEPT:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
    return folder


def build(name: str, code: str, checks: bool, contract: bool) -> Path:
    """The program of a kernel. `contract`: a * b + c in one expression rounds once, as in Metal's safe mode, which is MLX's."""
    flags = [*COMMON, *KERNEL, f"-ffp-contract={'on' if contract else 'off'}", *(CHECKS if checks else [])]
    program = cache_folder() / f"{name[:40]}-{_key(code, *flags)}"
    if not program.exists():
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".") as folder:
            cpp, assembler, result = (Path(folder, name) for name in ("kernel.cpp", "kernel.s", "program"))
            cpp.write_text(code, encoding="utf-8")
            _run(*flags, *_includes(), "-S", str(cpp), "-o", str(assembler), temporary=folder)
            text = _with_lines(assembler.read_text(encoding="latin-1"))  # any bytes may be data
            assembler.write_text(text, encoding="latin-1")
            _run("-nostdlib++", "-s", str(assembler), str(_runtime()), "-lm", "-o", str(result), temporary=folder)
            result.replace(program)
    os.utime(program)
    return program


def _run(*arguments: str, temporary: str) -> None:
    """The compiler. Of zig's own caches only what it needs to link, the same for all kernels, is kept."""
    links = not {"-S", "-c"} & {*arguments}
    zig = {"ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / "zig") if links else temporary, "ZIG_LOCAL_CACHE_DIR": temporary}
    done = subprocess.run([*compiler(), *arguments], capture_output=True, text=True, cwd=temporary, env={**os.environ, **zig})
    if done.returncode:
        raise CompileError(done.stderr[:8000])


@cache
def _surroundings() -> str:
    """All but the kernel that decides what a program is."""
    own = [path.read_text(encoding="utf-8") for path in sorted(HERE.iterdir()) if path.suffix in (".h", ".cpp", ".py")]
    with tempfile.TemporaryDirectory() as folder:  # where some versions of zig leave a file
        asked = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, cwd=folder).stdout
    return "\0".join([*own, *compiler(), asked, mx.__file__, platform.platform()])


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join([_surroundings(), *parts]).encode()).hexdigest()[:20]


@cache
def _runtime() -> Path:
    result = cache_folder() / f"runtime-{_key()}.o"
    if not result.exists():
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".") as folder:
            made = Path(folder, "runtime.o")
            _run(*COMMON, "-O2", "-c", str(HERE / "runtime.cpp"), "-o", str(made), temporary=folder)
            made.replace(result)
    os.utime(result)
    return result


@cache
def _includes() -> list[str]:
    """Where headers are: metal.h; before MLX's, empty ones for Apple's and for what metal.h has instead of MLX's; MLX's."""
    empty = cache_folder() / f"include-{_key()}"
    for name in EMPTY_HEADERS:
        (empty / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / name).touch()
    return [f"-I{folder}" for folder in (HERE, empty, Path(mx.__file__).parent / "include")]


def _with_lines(assembler: str) -> str:
    """The assembler's text with a table of where in the source each check's call stands (runtime.cpp: Line)."""
    files = dict(re.findall(r'^\s*\.file\s+(\d+)(?:\s+"[^"]*")?\s+"([^"]*)"', assembler, re.M))
    places: list[str] = []
    out, place = [], ""
    for line in assembler.splitlines():
        out.append(line)
        if found := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", line):
            place = f"{Path(files.get(found[1], '?')).name}:{found[2]}"
        elif CALL.match(line):
            out.append(f"Lmsl_{len(places)}:")
            places.append(place[-55:])
    section = "__DATA,msl_lines,regular,no_dead_strip" if sys.platform == "darwin" else 'msl_lines,"awR",@progbits'
    out.append(f".section {section}\n.p2align 3")
    for number, place in enumerate(places or [""]):
        out.append(f'.quad {f"Lmsl_{number}" if places else 0}\n.ascii "{place}"\n.zero {56 - len(place)}')
    return "\n".join(out) + "\n"
