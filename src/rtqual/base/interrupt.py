# SPDX-License-Identifier: MIT
"""What threads wait for, and how it ends when rtqual is interrupted: only its main thread hears of that."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_T = TypeVar("_T")
_POLL_S = 0.02

_ends: dict[object, Callable[[], None]] = {}
_lock = threading.Lock()


def register(waited: object, end: Callable[[], None]) -> None:
    """From now on what is `waited` for is ended with the others, until it is forgotten."""
    with _lock:
        _ends[waited] = end


def forget(waited: object) -> None:
    with _lock:
        _ends.pop(waited, None)


@contextmanager
def registered(waited: object, end: Callable[[], None]) -> Iterator[None]:
    register(waited, end)
    try:
        yield
    finally:
        forget(waited)


class Threads:
    """Jobs in threads, and their ends. All that happens comes through one pipe, a signal as it arrives: who waits for a
    lock does not hear one that came just before, or to another thread; and an exception in the midst of what a pool or
    a future does may leave a lock taken."""

    def __init__(self, pool: "ThreadPoolExecutor") -> None:
        self._pool = pool
        self._over: deque[Future[Any]] = deque()
        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._mouth, False)
        known = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        self._handlers = {int(number): handler for number, handler in known.items() if callable(handler)}

    def submit(self, call: Callable[..., _T], *given: Any) -> "Future[_T]":
        job = self._pool.submit(call, *given)
        job.add_done_callback(self._ended)
        return job

    def ended(self) -> "Future[Any]":
        """The next job that ended. Raises what an interrupt raises."""
        while number := os.read(self._ear, 1)[0]:
            if handler := self._handlers.get(number):
                handler(number, None)
        return self._over.popleft()

    def _ended(self, job: "Future[Any]") -> None:
        self._over.append(job)
        os.write(self._mouth, b"\0")

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """An interrupt is heard by `ended`, or when this is left. For the main thread."""
        before = signal.set_wakeup_fd(self._mouth)
        for number in self._handlers:
            signal.signal(number, lambda *_: None)
        try:
            yield
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before)
        os.set_blocking(self._ear, False)
        with suppress(BlockingIOError):
            while True:
                self.ended()

    def close(self) -> None:
        os.close(self._ear)
        os.close(self._mouth)


@contextmanager
def threads(count: int) -> Iterator[Threads]:
    """Where the block is left by an exception, what the threads wait for is ended, and what they begin to wait for
    then; jobs that have not begun never do."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - and logging, are slow to load

    pool = ThreadPoolExecutor(count)
    jobs = Threads(pool)
    try:
        with jobs.deaf():
            yield jobs
    except BaseException:
        ending = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True})
        ending.start()
        while ending.is_alive():
            with _lock:
                for end in _ends.values():
                    end()
            ending.join(_POLL_S)
        raise
    finally:
        pool.shutdown()
        jobs.close()
