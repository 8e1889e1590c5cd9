"""The power meter: its arithmetic against closed formulas, its child played by a script that prints what powermetrics prints."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dflash_mlx.bench.run.energy import PowerMeter, Sample

# one sample of `powermetrics --samplers cpu_power,gpu_power`, shortened; it says to be longer than it is, to leave no gaps
SAMPLE = r"""
*** Sampled system activity (Wed Dec 17 09:48:34 2025 +0100) (2000.25ms elapsed) ***


**** Processor usage ****

E-Cluster HW active frequency: 1132 MHz
CPU Power: 3200 mW
GPU Power: 900 mW
ANE Power: 0 mW
Combined Power (CPU + GPU + ANE): 4100 mW

**** GPU usage ****

GPU HW active frequency: 444 MHz
GPU Power: 900 mW
"""
MEASURING = f"while :; do /bin/sleep 0.05; /bin/cat <<'end' || exit\n{SAMPLE}\nend\ndone"

Sudo = Callable[[str], Path]


@pytest.fixture
def sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sudo:
    """Puts a `sudo` of our own on a Mac's PATH; gives the file in which it leaves its process id and arguments."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setenv("PATH", str(tmp_path))

    def play(script: str) -> Path:
        (tmp_path / "sudo").write_text(f'#!/bin/sh\necho $$ "$@" > "{tmp_path}/called"\n{script}\n')
        (tmp_path / "sudo").chmod(0o755)
        return tmp_path / "called"

    return play


def alive(called: Path) -> bool:
    try:
        os.kill(int(called.read_text().split()[0]), 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < deadline
        time.sleep(0.01)


def meter_of(*samples: tuple[float, float, float]) -> PowerMeter:
    meter = PowerMeter()
    meter.samples += [Sample(*sample) for sample in samples]
    return meter


def test_constant_power_is_power_times_time() -> None:
    meter = meter_of(*((0.2 * (i + 1), 0.2, 12.5) for i in range(50)))
    for start, end in ((0.0, 10.0), (1.0, 3.0), (0.33, 7.77), (2.05, 2.06)):
        assert meter.joules(start, end) == pytest.approx(12.5 * (end - start))


def test_a_ramp_is_integrated_exactly() -> None:
    # Power 3t: the mean over a sample is 3 times its middle, and a window of whole samples gets 3/2 (end^2 - start^2).
    meter = meter_of(*((0.25 * (i + 1), 0.25, 3 * (0.25 * i + 0.125)) for i in range(40)))
    assert meter.joules(1.0, 9.0) == pytest.approx(1.5 * (9.0**2 - 1.0**2))


def test_samples_at_the_edges_count_by_their_share() -> None:
    meter = meter_of((1.0, 1.0, 10.0), (2.0, 1.0, 20.0), (3.0, 1.0, 40.0))
    assert meter.joules(0.75, 2.5) == pytest.approx(0.25 * 10 + 1.0 * 20 + 0.5 * 40)


def test_a_window_shorter_than_a_sample_gets_its_share_of_it() -> None:
    meter = meter_of((1.0, 1.0, 10.0), (2.0, 1.0, 20.0))
    assert meter.joules(1.25, 1.5) == pytest.approx(0.25 * 20)


def test_samples_of_unequal_length_count_by_their_length() -> None:
    meter = meter_of((0.1, 0.1, 100.0), (1.0, 0.9, 10.0))
    assert meter.joules(0.0, 1.0) == pytest.approx(0.1 * 100 + 0.9 * 10)


def test_a_gap_is_taken_to_be_like_the_rest() -> None:
    meter = meter_of((1.0, 1.0, 10.0), (2.5, 1.0, 10.0))
    assert meter.joules(0.0, 2.5) == pytest.approx(25.0)


def test_a_window_without_samples_has_no_energy() -> None:
    meter = meter_of((1.0, 1.0, 10.0))
    assert meter.joules(1.0, 2.0) is None
    assert PowerMeter().joules(0.0, 1.0) is None


def test_a_window_that_is_mostly_unknown_has_no_energy() -> None:
    meter = meter_of((1.0, 1.0, 10.0))
    assert meter.joules(0.0, 2.1) is None
    assert meter.joules(0.0, 1.9) == pytest.approx(19.0)


def test_a_window_of_no_length_has_no_energy() -> None:
    assert meter_of((1.0, 1.0, 10.0)).joules(0.5, 0.5) is None


def test_powermetrics_is_read_while_it_runs(sudo: Sudo) -> None:
    called = sudo(MEASURING)
    with PowerMeter() as meter:
        wait_for(lambda: meter.samples)
        start = time.perf_counter()
        time.sleep(0.2)
        end = time.perf_counter()
        joules = meter.joules(start, end)
    assert joules == pytest.approx(4.1 * (end - start))  # every sample says 4.1 W: the sum of CPU, GPU and Neural Engine
    assert {(sample.seconds, sample.watts) for sample in meter.samples} == {(2.00025, 4.1)}
    assert all(a.end < b.end for a, b in zip(meter.samples, meter.samples[1:]))
    assert meter.joules(start, end) == joules  # what was measured stays known
    arguments = called.read_text().split()[1:]
    assert arguments == "-n powermetrics --samplers cpu_power,gpu_power -i 200 -b 1".split()


def test_the_sample_in_which_a_window_ends_is_waited_for(sudo: Sudo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dflash_mlx.bench.run.energy.INTERVAL", 5.0)  # however slow this machine is
    sudo(MEASURING)
    with PowerMeter() as meter:
        wait_for(lambda: meter.samples)
        end = time.perf_counter()
        assert meter.joules(end - 0.01, end) == pytest.approx(0.041)
    assert meter.samples[-1].end >= end


@pytest.mark.parametrize(
    "script", ["echo 'sudo: a password is required' >&2; exit 1", "echo powermetrics: unrecognized; exit 64", ":"]
)
def test_no_permission_is_no_error_and_says_nothing(sudo: Sudo, script: str, capfd: pytest.CaptureFixture[str]) -> None:
    sudo(script)
    with PowerMeter() as meter:
        start = time.perf_counter()
        assert meter.joules(start, start + 0.5) is None
    assert capfd.readouterr() == ("", "")


def test_no_sudo_is_no_error(sudo: Sudo) -> None:
    with PowerMeter() as meter:
        assert meter.joules(0.0, 1.0) is None


def test_other_systems_start_nothing(sudo: Sudo, monkeypatch: pytest.MonkeyPatch) -> None:
    called = sudo(MEASURING)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    with PowerMeter() as meter:
        assert meter.joules(0.0, 1.0) is None
    assert not called.exists()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ZeroDivisionError])
def test_no_child_is_left_behind(sudo: Sudo, interruption: type[BaseException]) -> None:
    called = sudo(MEASURING)
    with pytest.raises(interruption):
        with PowerMeter() as meter:
            wait_for(lambda: meter.samples)
            assert alive(called)
            raise interruption
    assert not alive(called)


def test_a_child_that_may_not_be_signalled_ends_by_its_pipe(sudo: Sudo, monkeypatch: pytest.MonkeyPatch) -> None:
    """As under sudo, whose process belongs to root."""
    called = sudo(MEASURING)

    def refuse(*_: object) -> None:
        raise PermissionError

    with PowerMeter() as meter:
        wait_for(lambda: meter.samples)
        assert meter._child
        monkeypatch.setattr(meter._child, "send_signal", refuse)
    assert not alive(called)


def test_a_child_that_heeds_nothing_is_killed(sudo: Sudo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dflash_mlx.bench.run.energy.PATIENCE", 0.1)
    called = sudo("trap '' TERM PIPE\necho deaf\nwhile :; do /bin/sleep 0.05; done")
    with PowerMeter():
        wait_for(lambda: called.exists() and called.read_text())
    assert not alive(called)
