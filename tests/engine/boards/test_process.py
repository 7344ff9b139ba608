# SPDX-License-Identifier: MIT
"""How long a program is waited for: it is judged by the CPU time that it took, not by what others left it."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rtqual.engine.boards import job_programs
from rtqual.engine.boards.job_programs import Patience, Starved, emulator

SPINS, SLEEPS = ("sh", "-c", "while :; do :; done"), ("sleep", "1000")


@contextmanager
def starved(pid: int) -> Iterator[None]:
    """As on a machine where others take nine tenths of the CPU."""
    enough = threading.Event()

    def hold() -> None:
        while not enough.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.045)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.005)

    holding = threading.Thread(target=hold)
    holding.start()
    try:
        yield
    finally:
        enough.set()
        holding.join()


def cpu_s(pid: int) -> float:
    return Patience(pid, 1)._cpu_s()


@pytest.mark.parametrize("command", [SPINS, SLEEPS])
def test_a_program_that_spins_or_sleeps_for_ever_is_ended(command: tuple[str, ...]) -> None:
    started = time.monotonic()
    with emulator(command) as program, pytest.raises(TimeoutError):
        job_programs.wait(program, 0.4)
    assert time.monotonic() - started >= 0.4
    assert program.returncode == -signal.SIGKILL


@pytest.mark.guest
def test_a_program_that_is_starved_is_given_the_cpu_time_of_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_programs, "_FAR", 1000)  # a busy machine may leave it far less than the tenth
    with emulator(SPINS) as program:
        with starved(program.pid), pytest.raises(TimeoutError):
            job_programs.wait(program, 0.4)
        assert cpu_s(program.pid) >= 0.4


def test_a_program_that_ends_meanwhile_is_not_hung() -> None:
    with emulator(("sh", "-c", "sleep 0.1; exit 7")) as program:
        assert job_programs.wait(program, 60) == 7


@pytest.mark.parametrize(
    ("cpu_share", "waiting_share", "own_share", "faults_per_s", "ended_s"),
    [
        (1.0, 0, 0, 0, 10),  # by its CPU time
        (0.5, 0, 0, 0, 20),
        (0.1, 0, 0, 0, 100),
        (0.02, 0, 0, 0, 200),  # by the far deadline
        (0.001, 0, 0, 0, 10),  # asleep
        (0.001, 0.9, 0, 0, 200),  # others have the CPU
        (0.001, 0, 0.9, 0, 200),  # others have the CPU that we need to tell it what to do
        (0.001, 0, 0.1, 0, 10),  # as on any machine that is used
        (0.001, 0, 0, 2, 200),  # it waits for its disk
        (2.0, 0, 0, 0, 10),  # two threads: never before its deadline
    ],
)
def test_when_patience_ends_and_whose_fault_it_is(
    cpu_share: float, waiting_share: float, own_share: float, faults_per_s: float, ended_s: float, tmp_path: Path
) -> None:
    now = 0.0
    patience = Patience(1, 10, clock=lambda: now)
    patience._stat, patience._own = tmp_path / "stat", tmp_path / "own"
    (tmp_path / "task/1").mkdir(parents=True)
    while not patience.over():
        now += 0.1
        ticks = int(now * cpu_share * os.sysconf("SC_CLK_TCK"))
        patience._stat.write_text(f"1 (a) name) R {' '.join('0' * 8)} {int(now * faults_per_s)} 0 {ticks} 0 0 0\n")
        (tmp_path / "own").write_text(f"0 {int(now * own_share * 1e9)} 1\n")
        (tmp_path / "task/1/schedstat").write_text(f"0 {int(now * waiting_share * 1e9)} 1\n")
        assert now < 1000
    assert now == pytest.approx(ended_s, rel=0.02, abs=0.2)
    assert isinstance(patience.expired(), Starved) is (ended_s == 200)


def test_a_program_that_did_enough_is_not_waited_for() -> None:
    with emulator(SLEEPS) as sleeper:
        assert job_programs.wait(sleeper, 1000, lambda: True) is None
