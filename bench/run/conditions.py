"""What speaks against trusting a measurement on this machine now: asked before one begins, and after."""

import os
import platform
import re
import subprocess

PRESSURE = {1: "moderate", 2: "heavy", 3: "trapping", 4: "sleeping"}  # OSThermalPressureLevel; 0 is nominal
TIMEOUT = 2.0  # seconds that a command may take; they take milliseconds


def warnings_now(idle: bool = True) -> list[str]:
    """Sentences for the user, each with what to do about it; none where nothing speaks against measuring, or nothing is known.

    Args:
        idle: we have not worked in the last minute, so that the machine's load is others' work.
    """
    return [*(_mac() if platform.system() == "Darwin" else []), *(_load() if idle else [])]


def _mac() -> list[str]:
    warnings = []
    if "Now drawing from 'Battery Power'" in _output("pmset", "-g", "batt"):
        warnings.append("this Mac runs on battery, which makes it slower: plug it in.")
    # macOS 15 calls it powermode, where 2 is High Power Mode.
    if re.search(r"^\s*(lowpowermode|powermode)\s+1\s*$", _output("pmset", "-g"), re.MULTILINE):
        warnings.append("Low Power Mode is on, which makes this Mac slower: switch it off in System Settings, Battery or Energy.")
    key = "com.apple.system.thermalpressurelevel"
    level = re.fullmatch(rf"{re.escape(key)} (\d+)\s*", _output("notifyutil", "-g", key))
    pressure = PRESSURE.get(int(level[1])) if level else None
    speed = re.search(r"CPU_Speed_Limit\s*=\s*(\d+)", _output("pmset", "-g", "therm"))  # says nothing on many Macs
    if pressure:
        warnings.append(f"this Mac is hot and slows itself down (thermal pressure: {pressure}): let it cool for some minutes.")
    elif speed and int(speed[1]) < 100:
        warnings.append(f"this Mac is hot and runs its CPU at {speed[1]}% of its speed: let it cool for some minutes.")
    return warnings


def _load() -> list[str]:
    """A quarter of the cores: an idle desktop stays below that, a build or another model does not."""
    try:
        load = os.getloadavg()[0]
    except OSError:
        return []
    cores = os.cpu_count() or 1
    if load <= max(1.0, cores / 4):
        return []
    return [f"the load over the last minute is {load:.1f} on {cores} cores: close other programs, or wait until they are done."]


def _output(*command: str) -> str:
    """What a command prints; "" when it is not there, fails or hangs."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
