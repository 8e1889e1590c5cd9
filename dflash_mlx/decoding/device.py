"""The device that a pair computes on, for threads that take turns at it."""

import atexit
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import cache, partial
from queue import SimpleQueue
from typing import Any, TypeVar

import mlx.core as mx

from dflash_mlx.errors import RequestError

PATIENCE = 10.0  # seconds that the end of a process waits for what the helper is doing

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
        if not _is_own(threading.current_thread()):
            return _helper().do(partial(self.do, work))
        with self._lock, mx.stream(self._stream):
            return work()

    def soon(self, work: Callable[[], None]) -> None:
        """The same without waiting, as garbage collection must, which may come anywhere: now, or in the helper."""
        if not (_is_own(threading.current_thread()) and self._lock.acquire(blocking=False)):
            return _helper().soon(partial(self.do, work))
        try:
            with mx.stream(self._stream):
                work()
        finally:
            self._lock.release()


class Turns(Generator[T, None, None]):
    """A generator whose steps are turns at a device: any thread may take them, and close it while another takes one."""

    def __init__(self, device: Device, steps: Generator[T]) -> None:
        self._device, self._steps = device, steps

    def _turn(self, work: Callable[[], Any]) -> Any:
        if self._steps.gi_running:  # type: ignore[attr-defined]
            raise RequestError("a reply is under way, and this was called from within it.", "Call it between two chunks.")
        return work()

    def send(self, value: None) -> T:
        done = object()  # StopIteration would not come through a Future
        step: Any = self._device.do(partial(self._turn, partial(next, self._steps, done)))
        if step is done:
            raise StopIteration
        return step

    def throw(self, *error: Any) -> T:
        return self._device.do(partial(self._turn, partial(self._steps.throw, *error)))

    def close(self) -> None:
        self._device.do(partial(self._turn, self._steps.close))

    def __del__(self) -> None:
        if not sys.is_finalizing():  # then nobody gives a turn back
            self._device.soon(self._steps.close)


class _Helper(threading.Thread):
    """A thread that does what it is given, one thing after the other."""

    def __init__(self) -> None:
        super().__init__(name="dflash-mlx", daemon=True)
        self._given: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    def do(self, work: Callable[[], T]) -> T:
        future: Future[T] = Future()
        self._given.put((future, work))
        try:
            return future.result()
        finally:
            del future  # an error's traceback holds this frame, and so all that the error has come through

    def soon(self, work: Callable[[], None]) -> None:
        self._given.put((Future(), work))

    def run(self) -> None:
        while True:
            future, work = self._given.get()
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            del future, work  # or what they hold would stay until there is more to do

    def rest(self) -> None:
        """Keeps it from running while the process ends: a thread that then waits for Python is ended, and MLX aborts."""
        resting, never = threading.Event(), threading.Lock()
        never.acquire()

        def stop() -> None:
            resting.set()
            never.acquire()

        self.soon(stop)
        resting.wait(PATIENCE)


def _is_own(thread: threading.Thread) -> bool:
    """Whether a thread computes what it asks for itself."""
    return thread is threading.main_thread() or isinstance(thread, _Helper)


@cache
def _helper() -> _Helper:
    helper = _Helper()
    helper.start()
    atexit.register(helper.rest)
    return helper
