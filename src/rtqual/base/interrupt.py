# SPDX-License-Identifier: MIT
"""What threads wait for, and how it ends when rtqual is interrupted: only its main thread hears of that."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

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


@contextmanager
def threads(count: int) -> Iterator["ThreadPoolExecutor"]:
    """Where the block is left by an exception, what the threads wait for is ended, and what they begin to wait for
    then; jobs that have not begun never do."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - and logging, are slow to load

    # An interrupt may fall between a thread's start and the pool's taking notice of it.
    workers: list[threading.Thread] = []
    pool = ThreadPoolExecutor(count, initializer=lambda: workers.append(threading.current_thread()))
    try:
        yield pool
    except BaseException:
        ending = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True})
        ending.start()
        while ending.is_alive() or any(worker.is_alive() for worker in workers):
            with _lock:
                for end in _ends.values():
                    end()
            ending.join(_POLL_S)
        raise
    pool.shutdown()
