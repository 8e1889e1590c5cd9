"""What `dflash-mlx doctor` checks of the machine and the installation, without a model."""

import importlib.util
import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, get_args

GB = 10**9


class Check(NamedTuple):
    """A line of the report.

    figures: the numbers behind `value`, for programs.
    """

    name: str
    value: str
    ok: bool = True
    figures: dict[str, Any] | None = None


def machine_checks() -> Iterator[Check]:
    """Versions, device, memory, caches."""
    # Here, and not at the top: --help need not wait for MLX.
    import mlx.core as mx

    for package in ("dflash-mlx", "mlx", "mlx-lm"):
        yield Check(package, version(package))
    yield Check("Python", platform.python_version())
    on_mac = platform.system() == "Darwin"
    system = f"macOS {platform.mac_ver()[0]}" if on_mac else f"{platform.system()} {platform.release()}"
    yield Check("system", f"{system}, {platform.machine()}", not on_mac or platform.machine() == "arm64")
    device = "GPU" if mx.default_device() == mx.gpu else "CPU"
    yield Check("device", f"{device} of {mx.device_info()['device_name']}")
    metal = mx.metal.is_available()
    missing = f"{'not available' if on_mac else 'only Macs have it'}; the CPU computes, by MLX's own ops"
    yield Check("Metal", "available" if metal else missing, metal or not on_mac)
    if not metal:
        yield _harness()
    yield _memory()
    yield _bandwidth()
    yield _exact()
    yield _hub_cache()
    yield _measurements()


def _harness() -> Check:
    """Whether the tests can run the Metal kernels here; see tests/metal_on_cpu/README.md in the repository."""
    import dflash_mlx

    repository = Path(dflash_mlx.__file__).parent.parent
    compilers = (shutil.which(f"clang++-{number}") for number in range(19, 30))
    if not (repository / "tests" / "metal_on_cpu").is_dir():
        return Check("Metal harness", "not part of an installed package: a clone of the repository runs the kernels on a CPU")
    if importlib.util.find_spec("ziglang") is None and not any(compilers):
        return Check("Metal harness", "there, without a compiler: pip install ziglang")
    return Check("Metal harness", "there: pytest tests/kernels runs the Metal kernels' source on this CPU, checked")


def _memory() -> Check:
    import mlx.core as mx

    from dflash_mlx.loading.memory import available

    total, room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), available()
    recommended = "max_recommended_working_set_size" in mx.device_info()
    source = " (the working set that Metal recommends)" if recommended else ""
    value = f"{total / GB:.1f} GB, of which a model may take {room / GB:.1f} GB{source}"
    return Check("memory", value, figures={"total_bytes": total, "model_bytes": room})


def _bandwidth() -> Check:
    from dflash_mlx.bench.roofline.bandwidth import measured_bandwidth

    best = measured_bandwidth() / GB
    return Check("memory bandwidth", f"{best:.0f} GB/s, reading", figures={"gb_per_second": round(best, 1)})


def _exact() -> Check:
    from dflash_mlx.targets.row_invariance import Op, rows_apart

    apart = [op for op in get_args(Op) if rows_apart(op)]
    if not apart:
        value = "rows are computed together: no slower than fast"
    elif len(apart) == len(get_args(Op)):
        value = "without kernels, rows are computed one by one: no faster than plain decoding"
    else:
        value = f"rows are computed one by one in {', '.join(apart)}: slower than fast"
    return Check("exact verification", value)


def _hub_cache() -> Check:
    from huggingface_hub import constants

    from dflash_mlx.loading.known_pairs import known_pairs

    cache = Path(constants.HF_HUB_CACHE)
    there = next(place for place in (cache, *cache.absolute().parents) if place.is_dir())
    free = shutil.disk_usage(there).free
    smallest = min(known_pairs(), key=lambda pair: pair.download)
    value = f"{cache}, {free / GB:.1f} GB free"
    if constants.HF_HUB_OFFLINE:
        value += ", downloads switched off (HF_HUB_OFFLINE)"
    if not os.access(there, os.W_OK):
        return Check("Hub cache", f"{value}, not writable", False)
    if free < smallest.download:
        return Check(
            "Hub cache", f"{value}; the smallest known pair, {smallest.family}, is {smallest.download / GB:.1f} GB", False
        )
    return Check("Hub cache", value)


def _measurements() -> Check:
    from dflash_mlx.tuning.user_cache import folder

    costs, kernels = (len(list(folder(kind).glob("*.json"))) for kind in ("costs", "kernels"))
    place = folder("costs").parent
    there = next(above for above in (place, *place.parents) if above.is_dir())
    if not os.access(there, os.W_OK):
        return Check("measurements", f"{place}, not writable: measured again by every process", False)
    value = f"of passes {costs}, of kernels {kernels}, in {place}; delete to measure again"
    return Check("measurements", value, figures={"costs": costs, "kernels": kernels})
