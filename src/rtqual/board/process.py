# SPDX-License-Identifier: MIT
"""Programs that run for a job: how long one is waited for, and the end of all when rtqual is interrupted."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rtqual.base.child import with_us

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_FAR = 20  # times its deadline: no program is waited for any longer, whatever it says
_ASLEEP = 0.01  # of the CPU: one that takes less is not kept waiting by others, it has nothing to do
_POLL_S = 0.02

_ends: dict[object, Callable[[], None]] = {}  # of the programs that run
_lock = threading.Lock()


class Patience:
    """A program's deadline, in seconds of CPU that it took: on a busy host it waits for its turn and is not hung."""

    def __init__(self, pid: int, timeout_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stat, self._timeout_s, self._clock = Path(f"/proc/{pid}/stat"), timeout_s, clock
        self._started_s = self._looked_s = clock()
        self._used_s = 0.0  # when it was looked at

    def over(self) -> bool:
        now_s = self._clock()
        waited_s = now_s - self._started_s
        if waited_s < self._timeout_s:
            return False
        used_s = self._cpu_s()
        if used_s >= self._timeout_s or waited_s >= _FAR * self._timeout_s:
            return True
        since_s = now_s - self._looked_s
        if since_s < self._timeout_s:
            return False
        asleep = used_s - self._used_s < _ASLEEP * since_s
        self._looked_s, self._used_s = now_s, used_s
        return asleep

    def _cpu_s(self) -> float:
        """User and system time of all its threads; 0 when it has ended."""
        fields = _fields(self._stat)
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S if fields else 0.0


class GroupPatience(Patience):
    """The same for all of a process group, with the children that its processes have waited for."""

    def __init__(self, group: int, timeout_s: float) -> None:
        super().__init__(group, timeout_s)
        self._group = str(group)

    def _cpu_s(self) -> float:
        every = (_fields(path) for path in Path("/proc").glob("[0-9]*/stat"))
        return sum(sum(map(int, one[11:15])) for one in every if one and one[2] == self._group) / _TICKS_PER_S


def _fields(stat: Path) -> list[str]:
    """What a process's stat says after its name (proc(5)); nothing when it has ended."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []


@contextmanager
def emulator(command: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """QEMU, for as long as the block; it ends with us should we be killed."""
    process = subprocess.Popen(with_us(command), stdin=subprocess.DEVNULL, **how)
    try:
        with registered(process, process.kill):
            yield process
    finally:
        process.kill()
        process.wait()


def wait(process: subprocess.Popen[bytes], timeout_s: float) -> int:
    """Its exit code. Raises TimeoutError."""
    patience = Patience(process.pid, timeout_s)
    while (code := process.poll()) is None:
        if patience.over():
            raise TimeoutError
        time.sleep(_POLL_S)
    return code


def register(program: object, end: Callable[[], None]) -> None:
    """From now on `program` is ended with the others, until it is forgotten."""
    with _lock:
        _ends[program] = end


def forget(program: object) -> None:
    with _lock:
        _ends.pop(program, None)


@contextmanager
def registered(program: object, end: Callable[[], None]) -> Iterator[None]:
    register(program, end)
    try:
        yield
    finally:
        forget(program)


@contextmanager
def ended_if_interrupted(jobs: Collection[Future[Any]]) -> Iterator[None]:
    """Where the block is left by an exception, end the programs that `jobs` wait for, and what these start then."""
    try:
        yield
    except BaseException:
        while not all(job.done() for job in jobs):
            with _lock:
                for end in _ends.values():
                    end()
            time.sleep(_POLL_S)
        raise
