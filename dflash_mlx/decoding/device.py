"""The device that a pair computes on, for threads that take turns at it."""

import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import cache, partial
from queue import SimpleQueue
from typing import Any, TypeVar

import mlx.core as mx

T = TypeVar("T")


class Device:
    """A stream of MLX that any thread may use, one at a time.

    MLX ties its other streams, and all that is not computed yet on them, to the thread that made them. What it compiles it
    keeps for each thread, and it aborts where a thread with something compiled ends as the process does: what is asked
    from another thread than the main one is done by a thread that never ends.
    """

    def __init__(self) -> None:
        self._lock, self._stream = threading.RLock(), mx.new_thread_unsafe_stream(mx.default_device())

    def do(self, work: Callable[[], T]) -> T:
        """Does something on the stream, when no other thread does."""
        thread = threading.current_thread()
        if thread is threading.main_thread() or isinstance(thread, _Helper):
            with self._lock, mx.stream(self._stream):
                return work()
        return _helper().do(partial(self.do, work))


class Turns(Generator[T, None, None]):
    """A generator whose steps are turns at a device: any thread may take them, and close it while another takes one."""

    def __init__(self, device: Device, steps: Generator[T]) -> None:
        self._device, self._steps = device, steps

    def send(self, value: None) -> T:
        done = object()  # StopIteration would not come through a Future
        step: Any = self._device.do(partial(next, self._steps, done))
        if step is done:
            raise StopIteration
        return step

    def throw(self, *error: Any) -> T:
        return self._device.do(partial(self._steps.throw, *error))

    def close(self) -> None:
        self._device.do(self._steps.close)

    def __del__(self) -> None:
        if not sys.is_finalizing():  # then nobody gives a turn back
            self.close()


class _Helper(threading.Thread):
    """A thread that does what it is given, one thing after the other."""

    def __init__(self) -> None:
        super().__init__(name="dflash-mlx", daemon=True)
        self._given: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    def do(self, work: Callable[[], T]) -> T:
        future: Future[T] = Future()
        self._given.put((future, work))
        return future.result()

    def run(self) -> None:
        while True:
            future, work = self._given.get()
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            del future, work  # or what they hold would stay until there is more to do


@cache
def _helper() -> _Helper:
    helper = _Helper()
    helper.start()
    return helper
