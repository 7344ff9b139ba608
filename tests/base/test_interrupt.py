# SPDX-License-Identifier: MIT
"""An interrupted rtqual waits for nothing: neither programs, nor what another rtqual holds."""

import os
import subprocess
import threading
import time
from concurrent.futures import Future
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from rtqual.base.cache import locked
from rtqual.base.errors import RunFailed
from rtqual.base.interrupt import threads
from rtqual.board.process import emulator


def test_what_threads_wait_for_is_ended_and_what_they_start_then() -> None:
    def one() -> None:
        for _ in range(3):
            with emulator(("sleep", "1000")) as program:
                program.wait()

    started = time.monotonic()
    jobs: list[Future[None]] = []
    with pytest.raises(KeyboardInterrupt), threads(2) as pool:
        jobs += [pool.submit(one), pool.submit(one)]
        raise KeyboardInterrupt
    assert time.monotonic() - started < 30  # not 3000
    assert all(job.done() for job in jobs)
    assert subprocess.run(["pgrep", "-P", str(os.getpid()), "sleep"], check=False, capture_output=True).stdout == b""


def test_a_thread_that_the_pool_has_not_heard_of_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes just when it has begun its job."""
    start, begun = threading.Thread.start, threading.Event()

    def one() -> None:
        with emulator(("sleep", "1000")) as program:
            begun.set()
            program.wait()

    def interrupted(thread: threading.Thread) -> None:
        monkeypatch.undo()
        start(thread)
        begun.wait()
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), threads(1) as pool:
        pool.submit(one)
    assert begun.is_set() and set(threading.enumerate()) == before


def test_a_thread_waits_no_longer_for_a_lock_that_another_rtqual_holds(tmp_path: Path) -> None:
    def one() -> None:
        with locked(tmp_path / "kernel"):
            raise AssertionError("it is held")

    with (tmp_path / "kernel.lock").open("w") as held:
        flock(held, LOCK_EX)  # by a descriptor of its own, as another process has it
        with pytest.raises(KeyboardInterrupt), threads(1) as pool:
            job = pool.submit(one)
            while not job.running():
                time.sleep(0.01)
            raise KeyboardInterrupt
        assert isinstance(job.exception(), RunFailed)
