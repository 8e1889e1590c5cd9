"""What a stretch of time cost in energy: macOS's powermetrics, read while something else is measured."""

import platform
import re
import subprocess
import threading
import time
from contextlib import suppress
from typing import NamedTuple, Self

INTERVAL = 0.2  # seconds a sample
PATIENCE = 1.0  # seconds until powermetrics has ended: it notices that nobody reads when it writes its next sample
# A password is never asked for (-n), and each line is written at once (-b 1).
COMMAND = ("sudo", "-n", "powermetrics", "--samplers", "cpu_power,gpu_power", "-i", f"{INTERVAL * 1000:.0f}", "-b", "1")

HEAD = re.compile(r"\*\*\* Sampled system activity .*\((\d+(?:\.\d+)?)ms elapsed\)")
POWER = re.compile(r"Combined Power .*: (\d+(?:\.\d+)?) mW")  # since macOS 13, and MLX asks for 14


class Sample(NamedTuple):
    """Mean power over the `seconds` that ended at `end`, on the clock of time.perf_counter."""

    end: float
    seconds: float
    watts: float


class PowerMeter:
    """Measures what CPU, GPU and Neural Engine take, as macOS estimates it, memory and display left out.

    A context manager. Where powermetrics is not there or not permitted (it wants a `sudo -v` before), nothing is measured and
    nothing is said. Apple calls the figures estimates, to compare on one machine and not between machines.

    Attributes:
        samples: what came in so far, in order.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._child: subprocess.Popen[str] | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._news = threading.Condition()
        self._reading = False

    def __enter__(self) -> Self:
        if platform.system() == "Darwin":
            # In our session and process group: sudo remembers a password by terminal, and Ctrl-C is to reach powermetrics.
            with suppress(OSError):
                self._child = subprocess.Popen(
                    COMMAND,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    encoding="utf-8",
                    errors="replace",
                )
                self._reading = True
                self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is None:
            return
        self._reading = False
        # Not permitted where sudo ran it as root: the reader closes the pipe, and the next write ends it.
        with suppress(PermissionError):
            self._child.terminate()
        self._reader.join(PATIENCE)
        try:
            self._child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            with suppress(PermissionError):
                self._child.kill()
                self._child.wait()

    def joules(self, start: float, end: float) -> float | None:
        """The energy of a window of time.perf_counter, in joules.

        Mean power of the samples that overlap the window, each weighted by how much it does, times the window: a window shorter
        than a sample gets its share of it. Waits for the sample that `end` falls into, three samples at most.

        Returns:
            None where samples cover less than half of the window.
        """
        with self._news:
            patience = max(0.0, end + 3 * INTERVAL - time.perf_counter())
            self._news.wait_for(lambda: not self._reading or (self.samples and self.samples[-1].end >= end), patience)
            samples = list(self.samples)
        overlaps = [max(0.0, min(end, s.end) - max(start, s.end - s.seconds)) for s in samples]
        covered = sum(overlaps)
        if covered == 0 or covered < (end - start) / 2:
            return None
        return sum(overlap * s.watts for overlap, s in zip(overlaps, samples)) / covered * (end - start)

    def _read(self) -> None:
        assert self._child and self._child.stdout
        end = seconds = 0.0
        with self._child.stdout as lines:
            for line in lines:
                if not self._reading:
                    break
                if head := HEAD.match(line):
                    end, seconds = time.perf_counter(), float(head[1]) / 1000
                elif power := POWER.match(line):
                    with self._news:
                        self.samples.append(Sample(end, seconds, float(power[1]) / 1000))
                        self._news.notify_all()
        with self._news:
            self._reading = False
            self._news.notify_all()
