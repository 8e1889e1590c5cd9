"""What speaks against measuring now: commands of macOS, played by scripts that print what Macs print."""

import os
import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from dflash_mlx.bench.run import conditions
from dflash_mlx.bench.run.conditions import warnings_now

KEY = "com.apple.system.thermalpressurelevel"
ON_MAINS = "Now drawing from 'AC Power'\n -InternalBattery-0 (id=21758051)\t90%; charging; (no estimate) present: true\n"
ON_BATTERY = (
    "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=21758051)\t78%; discharging; 5:05 remaining present: true\n"
)
SETTINGS = """System-wide power settings:
Currently in use:
 standby              1
 Sleep On Power Button 1
 hibernatefile        /var/vm/sleepimage
 powernap             1
 sleep                1 (sleep prevented by powerd)
 {mode}
 womp                 1
"""
COOL = "Note: No thermal warning level has been recorded\nNote: No performance warning level has been recorded\n"
HOT = "\tCPU_Scheduler_Limit \t= 100\n\tCPU_Available_CPUs \t= 8\n\tCPU_Speed_Limit \t= {}\n"

Mac = Callable[..., None]


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mac:
    """A Mac with nothing to warn of; arguments change what its commands print, None takes one away."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))

    def command(name: str, script: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    def play(
        batt: str = ON_MAINS, mode: str = "lowpowermode         0", therm: str = COOL, level: str = f"{KEY} 0\n", script: str = ""
    ) -> None:
        cases = {"-g batt": batt, "-g": SETTINGS.format(mode=mode), "-g therm": therm}
        branches = "".join(f"'{arguments}') printf '%s' \"{text}\";;\n" for arguments, text in cases.items())
        command("pmset", script or f'case "$*" in\n{branches}*) exit 1;;\nesac')
        command("notifyutil", script or f'[ "$*" = "-g {KEY}" ] && printf "%s" "{level}"')

    play()
    return play


def test_a_cool_idle_mac_on_mains_gets_no_warning(mac: Mac) -> None:
    assert warnings_now() == []


def test_a_mac_on_battery_is_to_be_plugged_in(mac: Mac) -> None:
    mac(batt=ON_BATTERY)
    assert warnings_now() == ["this Mac runs on battery, which makes it slower: plug it in."]


@pytest.mark.parametrize("mode", ["lowpowermode         1", "powermode            1"])
def test_low_power_mode_is_named_under_its_old_and_its_new_name(mac: Mac, mode: str) -> None:
    mac(mode=mode)
    assert [warning.partition(" is on")[0] for warning in warnings_now()] == ["Low Power Mode"]


def test_high_power_mode_is_no_low_power_mode(mac: Mac) -> None:
    mac(mode="powermode            2")
    assert warnings_now() == []


@pytest.mark.parametrize(("level", "name"), [(1, "moderate"), (2, "heavy"), (3, "trapping"), (4, "sleeping")])
def test_thermal_pressure_is_named(mac: Mac, level: int, name: str) -> None:
    mac(level=f"{KEY} {level}\n")
    (warning,) = warnings_now()
    assert f"(thermal pressure: {name})" in warning and "let it cool" in warning


def test_a_limited_cpu_is_named_with_its_limit(mac: Mac) -> None:
    mac(therm=HOT.format(63))
    (warning,) = warnings_now()
    assert "63% of its speed" in warning


def test_a_cpu_at_full_speed_is_not_named(mac: Mac) -> None:
    mac(therm=HOT.format(100))
    assert warnings_now() == []


def test_heat_is_told_once(mac: Mac) -> None:
    mac(therm=HOT.format(63), level=f"{KEY} 2\n")
    assert len(warnings_now()) == 1


def test_all_that_speaks_against_measuring_is_told_together(mac: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    mac(batt=ON_BATTERY, mode="lowpowermode         1", level=f"{KEY} 2\n")
    monkeypatch.setattr(os, "getloadavg", lambda: (64.0, 1.0, 1.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 10)
    assert len(warnings_now()) == 4


def test_after_our_own_work_the_load_says_nothing_of_others(mac: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    mac(level=f"{KEY} 2\n")
    monkeypatch.setattr(os, "getloadavg", lambda: (64.0, 1.0, 1.0))
    (warning,) = warnings_now(idle=False)
    assert "thermal pressure" in warning


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        f"printf '%s' \"{ON_BATTERY}\"; exit 1",
        f"echo '{KEY} 7'",
        f"echo '{KEY} unknown'",
        "echo 'com.apple.system.other 2'",
        "printf '\\377\\376'",
        "echo lowpowermode 10; echo 'CPU_Speed_Limit = fast'",
    ],
)
def test_commands_that_fail_or_print_something_else_give_no_warning(mac: Mac, script: str) -> None:
    mac(script=script)
    assert warnings_now() == []


def test_a_command_that_hangs_is_given_up(mac: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "TIMEOUT", 0.05)
    mac(script="exec /bin/sleep 60")
    assert warnings_now() == []


def test_missing_commands_give_no_warning(mac: Mac, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert warnings_now() == []


def test_other_systems_are_not_asked_for_what_only_macs_know(mac: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    mac(batt=ON_BATTERY)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert warnings_now() == []


@pytest.mark.parametrize(("load", "cores", "told"), [(1.0, 2, False), (1.1, 2, True), (2.5, 10, False), (2.6, 10, True)])
def test_other_programs_at_work_are_told_with_load_and_cores(
    monkeypatch: pytest.MonkeyPatch, load: float, cores: int, told: bool
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 9.0, 9.0))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert [f"{load} on {cores} cores" in warning for warning in warnings_now()] == [True] * told


def test_a_system_without_a_load_gives_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def unobtainable() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(os, "getloadavg", unobtainable)
    assert warnings_now() == []
