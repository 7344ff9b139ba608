# SPDX-License-Identifier: MIT
"""An interrupted rtqual waits for nothing: neither programs, nor what another rtqual holds."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from rtqual.base.cache import locked
from rtqual.base.errors import RunFailed
from rtqual.base.interrupt import threads
from rtqual.engine.boards.job_programs import emulator


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Shells start what runs in the background with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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


@pytest.mark.parametrize(("sent", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, InterruptedError)])
def test_an_interrupt_that_does_not_wake_the_main_thread_is_heard(sent: signal.Signals, raised: type) -> None:
    """It comes just before the main thread waits, or the system hands it to another thread."""

    def terminated(*_: object) -> None:
        raise InterruptedError

    def one() -> None:
        with emulator(("sleep", "1000")) as program:
            time.sleep(0.2)  # it waits by now
            signal.pthread_kill(threading.get_ident(), sent)
            program.wait()

    before = signal.signal(signal.SIGTERM, terminated)
    try:
        with pytest.raises(raised), threads(1) as jobs:
            jobs.submit(one)
            jobs.ended()
        assert signal.getsignal(signal.SIGTERM) is terminated
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_interrupt_at_any_moment_ends_the_jobs() -> None:
    main, rounds = threading.get_ident(), 0

    def one() -> None:
        for _ in range(rounds * 37 % 400):
            pass
        signal.pthread_kill(main, signal.SIGINT)

    while rounds < 200:
        rounds += 1
        with pytest.raises(KeyboardInterrupt), threads(1) as jobs:
            jobs.submit(one)
            while True:
                jobs.ended()
                jobs.submit(time.sleep, 0)


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
