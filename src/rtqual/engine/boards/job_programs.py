# SPDX-License-Identifier: MIT
"""Programs that run for a job, and how long one is waited for."""

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rtqual.base.child import with_us
from rtqual.base.interrupt import registered

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_FAR = 20  # times its deadline: no program is waited for any longer, whatever it says
_ASLEEP = 0.01  # of the time: one that runs or waits for a CPU for less has nothing to do
_HELD_UP = 0.25  # of the time: so long the thread that drives a program waited itself
_POLL_S = 0.02
_KILLED_S = 10.0


class Starved(TimeoutError):
    """At the far deadline: a program had work, and the host left it too little of CPU or disk. It has not hung."""


class Patience:
    """A program's deadline, in seconds of CPU that it took: on a busy host it waits for its turn and is not hung.

    It waits for its disk, too, and for us, who tell it what to do and may have to wait ourselves.
    """

    def __init__(self, pid: int, timeout_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stat, self._timeout_s, self._clock = Path(f"/proc/{pid}/stat"), timeout_s, clock
        self._started_s = self._looked_s = clock()
        self._used_s = self._waited_s = 0.0  # when it was looked at
        self._faults, self._own_s = 0, 0.0
        self._own = Path("/proc/thread-self/schedstat")
        self.starved = False

    def over(self) -> bool:
        now_s = self._clock()
        waited_s = now_s - self._started_s
        if waited_s < self._timeout_s:
            return False
        used_s = self._cpu_s()
        if used_s >= self._timeout_s:
            return True
        if waited_s >= _FAR * self._timeout_s:
            self.starved = True
            return True
        since_s = now_s - self._looked_s
        if since_s < self._timeout_s:
            return False
        waiting_s, faults = self._waiting_s(), self._disk_faults()
        kept_s = max(waiting_s - self._waited_s, 0)  # less where a thread has ended
        own_s = _kept_waiting_s(self._own)
        asleep = used_s - self._used_s + kept_s < _ASLEEP * since_s and faults == self._faults
        held_up = own_s - self._own_s > _HELD_UP * since_s
        self._looked_s, self._used_s, self._waited_s = now_s, used_s, waiting_s
        self._faults, self._own_s = faults, own_s
        return asleep and not held_up

    def expired(self) -> TimeoutError:
        """What to raise once it is over."""
        return Starved() if self.starved else TimeoutError()

    def _disk_faults(self) -> int:
        """Pages that it had to wait for until they were read."""
        fields = _fields(self._stat)
        return int(fields[9]) if fields else 0

    def _cpu_s(self) -> float:
        """User and system time of all its threads; 0 when it has ended."""
        fields = _fields(self._stat)
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S if fields else 0.0

    def _waiting_s(self) -> float:
        return _waiting_s([self._stat.parent])


class GroupPatience(Patience):
    """The same for all of a process group, with the children that its processes have waited for."""

    def __init__(self, group: int, timeout_s: float) -> None:
        super().__init__(group, timeout_s)
        self._group = group

    def _cpu_s(self) -> float:
        return sum(sum(map(int, fields[11:15])) for fields in _group(self._group).values()) / _TICKS_PER_S

    def _waiting_s(self) -> float:
        return _waiting_s(_group(self._group))


def too_busy(where: str, timeout_s: float) -> str:
    """What is said of a run that was starved."""
    return f"{where}: this machine is too busy: it left the run less than {timeout_s:.0f} s of CPU: run it again"


def await_killed(group: int) -> None:
    """Until none of a killed process group runs any more, which takes a while on a busy machine; not for ever, since
    one that waits for its disk cannot be killed."""
    until_s = time.monotonic() + _KILLED_S
    while any(fields[0] != "Z" for fields in _group(group).values()) and time.monotonic() < until_s:
        time.sleep(_POLL_S)


def _group(group: int) -> dict[Path, list[str]]:
    """The processes of a group: folders in /proc -> what stat says of them."""
    stats = ((path.parent, _fields(path)) for path in Path("/proc").glob("[0-9]*/stat"))
    return {folder: fields for folder, fields in stats if fields[2:3] == [str(group)]}


def _fields(stat: Path) -> list[str]:
    """What a process's stat says after its name (proc(5)); nothing when it has ended."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _waiting_s(processes: Iterable[Path]) -> float:
    """Time for which their threads waited while others had the CPUs (Linux's Documentation/scheduler/sched-stats.rst);
    0 where the kernel does not count it."""
    return sum(_kept_waiting_s(path) for each in processes for path in each.glob("task/*/schedstat"))


def _kept_waiting_s(schedstat: Path) -> float:
    """A thread's; 0 where it has ended."""
    with suppress(OSError):
        return int(schedstat.read_text().split()[1]) / 1e9
    return 0.0


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


def wait(process: subprocess.Popen[bytes], timeout_s: float, enough: Callable[[], bool] = lambda: False) -> int | None:
    """Its exit code; None as soon as it did enough, and runs on. Raises TimeoutError; Starved where the host did it."""
    patience = Patience(process.pid, timeout_s)
    while (code := process.poll()) is None:
        if patience.over():
            raise patience.expired()
        if enough():
            return None
        time.sleep(_POLL_S)
    return code
