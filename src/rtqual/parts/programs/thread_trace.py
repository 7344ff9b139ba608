# SPDX-License-Identifier: MIT
"""What the threads of a program did, from a log of events: of the plugin (jobs.c), or of a kernel's tracer.

A thread waits at *points*: a system call with what it waits for (a clock, a descriptor, a futex). What it did is a list
of steps in the order of time.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from rtqual.base.architecture import Architecture
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.calls import FUTEX, NO_PLACE, SLEEP, WAITING

_FUTEX_WAITS = {0, 6, 9, 11, 13}  # FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI, _LOCK_PI2 of linux/futex.h
_FUTEX_OPERATION = 0x7F
_CONDITION_B = 64  # glibc's condition variables wait at two words of as many bytes
_INTERRUPTIBLE = 1  # of a task's state: it waits for what it asked for, not for a lock inside the kernel
_DEAD = 0x80
_SOON_NS = 50_000  # a timer that wakes by a signal or a descriptor does it within its own function
_FIELDS = 7
UNTOLD = 1  # of a line that says that a thread runs: nobody told when it began to, only that it did by then
REALTIME = 100  # the kernel's prio below which a thread is a real-time one


class WaitPoint(NamedTuple):
    """Where a thread waits: a system call, and what it waits for there (0 where that is another address each time)."""

    call: str
    place: int

    def __str__(self) -> str:
        return f"{self.call}({self.place:x})" if self.place else self.call


class Did(Enum):
    ENTER = "enter"  # a system call that may wait
    EXPIRED = "expired"  # a timer that wakes it
    WOKEN = "woken"
    RUNS = "runs"
    WAITS = "waits"  # for what it asked for
    LOCKED = "locked"  # for something inside the kernel
    PREEMPTED = "preempted"
    FAULTS = "faults"  # takes a page fault
    ENDED = "ended"


class ThreadStep(NamedTuple):
    ns: int
    did: Did
    cpu: int
    point: WaitPoint | None = None  # of ENTER
    due_ns: int = 0  # of ENTER: the moment that it asks for, 0 where it asks for none; of EXPIRED: when it was due
    by: int = 0  # of WOKEN: the thread that did it; of EXPIRED: the one in which it expired, where that is told


@dataclass
class Thread:
    """A thread of the program; its name is the one it had last, its priority the one that it came to run at most often:
    some give theirs back at the end, and one that holds a lock is lent another's."""

    tid: int
    process: int
    order: int  # among all of them, by when they were first seen
    name: str = ""
    prio: int = 0  # as the kernel counts: 99 less the real-time priority
    policy: int = 0
    steps: list[ThreadStep] = field(default_factory=list)
    ran_at: Counter[tuple[int, int]] = field(default_factory=Counter)  # priority and policy -> how often it came to run

    @property
    def priority(self) -> int:
        """Its real-time priority, 0 where it has none."""
        return REALTIME - 1 - self.prio if self.prio < REALTIME else 0


class Running(NamedTuple):
    """From then on a CPU runs this thread."""

    ns: int
    tid: int
    name: str
    prio: int  # as the kernel counts


@dataclass
class ThreadTrace:
    """All that was noted."""

    threads: dict[int, Thread] = field(default_factory=dict)
    cpus: dict[int, list[Running]] = field(default_factory=dict)  # ascending; told where a thread of the program waits
    whole: bool = False  # whether nothing was lost
    untold: int = 0  # how often a thread ran, and was not seen to begin
    clock_ns: int = 0  # how much further CLOCK_MONOTONIC is than the trace's times


class _Line(NamedTuple):
    ns: int
    kind: str
    cpu: int
    tid: int
    a: int
    b: int
    c: int
    name: str


def _lines(text: str) -> Iterator[_Line]:
    for number, line in enumerate(text.splitlines(), 1):
        if line in ("end", "full"):
            yield _Line(0, line, 0, 0, 0, 0, 0, "")
            return
        words = line.split(" ", _FIELDS)
        try:
            ns, kind, *numbers = words[:_FIELDS]
            cpu, tid, a, b, c = map(int, numbers)
            yield _Line(int(ns), kind, cpu, tid, a, b, c, words[_FIELDS] if len(words) > _FIELDS else "")
        except ValueError:
            raise RunFailed(f"the log of a program's jobs is damaged at line {number}: {line[:60]!r}") from None


def _left(state: int) -> Did:
    """Why a thread runs no more, by the state that the kernel has it in."""
    if state & _DEAD:
        return Did.ENDED
    return Did.WAITS if state & _INTERRUPTIBLE else Did.LOCKED if state else Did.PREEMPTED


class _Reader:
    """Takes the lines in their order."""

    def __init__(self, architecture: Architecture) -> None:
        self.trace = ThreadTrace()
        self._calls = WAITING[architecture.name]
        self._timers: dict[int, _Line] = {}  # CPU -> a timer without a thread that expired last
        self._owners: dict[int, int] = {}  # such a timer -> the thread that it woke last
        self._take = {
            "n": self._named, "s": self._enters, "x": self._own_timer, "t": self._timer, "w": self._woken,
            "i": self._runs, "o": self._leaves, "r": self._other, "c": self._clock, "f": self._faults,
            "end": self._end, "full": self._full,
        }  # fmt: skip

    def take(self, line: _Line) -> None:
        if line.kind not in self._take:
            raise RunFailed(f"the log of a program's jobs has a line of an unknown kind: {line.kind[:20]!r}")
        self._take[line.kind](line)

    def whole(self) -> ThreadTrace:
        for thread in self.trace.threads.values():
            thread.steps.sort(key=lambda step: step.ns)
            for (prio, policy), _ in thread.ran_at.most_common(1):
                thread.prio, thread.policy = prio, policy
        for some in self.trace.cpus.values():
            some.sort(key=lambda running: running.ns)
        return self.trace

    def _thread(self, tid: int) -> Thread:
        threads = self.trace.threads
        if tid not in threads:
            threads[tid] = Thread(tid, 0, len(threads))
        return threads[tid]

    def _step(self, line: _Line, did: Did, **more: Any) -> None:
        self._thread(line.tid).steps.append(ThreadStep(line.ns, did, line.cpu, **more))

    def _left_over(self, cpu: int) -> None:
        """A timer that woke nobody: whom it woke before is still at work."""
        timer = self._timers.pop(cpu, None)
        if timer and timer.b in self._owners:
            self._expired(timer, self._owners[timer.b])

    def _expired(self, timer: _Line, tid: int) -> None:
        self._thread(tid).steps.append(ThreadStep(timer.ns, Did.EXPIRED, timer.cpu, due_ns=timer.a, by=timer.c))

    def _named(self, line: _Line) -> None:
        thread = self._thread(line.tid)
        thread.process, thread.prio, thread.policy, thread.name = line.a, line.b, line.c, line.name

    def _enters(self, line: _Line) -> None:
        name = self._calls.get(line.a, str(line.a))
        if name == FUTEX and line.c & _FUTEX_OPERATION not in _FUTEX_WAITS:
            return
        place = 0 if name in NO_PLACE else line.b & -_CONDITION_B if name == FUTEX else line.b
        self._step(line, Did.ENTER, point=WaitPoint(name, place), due_ns=line.c if name == SLEEP else 0)

    def _own_timer(self, line: _Line) -> None:
        self._step(line, Did.EXPIRED, due_ns=line.a)

    def _timer(self, line: _Line) -> None:
        self._left_over(line.cpu)
        self._timers[line.cpu] = line

    def _woken(self, line: _Line) -> None:
        if line.cpu in self._timers and line.ns - self._timers[line.cpu].ns < _SOON_NS:
            timer = self._timers.pop(line.cpu)
            self._owners[timer.b] = line.tid
            self._expired(timer, line.tid)
        self._step(line, Did.WOKEN, by=line.a)

    def _runs(self, line: _Line) -> None:
        self._left_over(line.cpu)
        self.trace.untold += line.a == UNTOLD
        self._step(line, Did.RUNS)
        thread = self._thread(line.tid)
        thread.ran_at[thread.prio, thread.policy] += 1
        self._on_cpu(line, thread.name, thread.prio)

    def _faults(self, line: _Line) -> None:
        self._step(line, Did.FAULTS)

    def _leaves(self, line: _Line) -> None:
        self._step(line, _left(line.a))

    def _other(self, line: _Line) -> None:
        self._on_cpu(line, line.name, line.a)

    def _on_cpu(self, line: _Line, name: str, prio: int) -> None:
        self.trace.cpus.setdefault(line.cpu, []).append(Running(line.ns, line.tid, name, prio))

    def _clock(self, line: _Line) -> None:
        self.trace.clock_ns = line.a

    def _end(self, _: _Line) -> None:
        self.trace.whole = True

    def _full(self, _: _Line) -> None:
        self.trace.whole = False


def read(text: str, architecture: Architecture) -> ThreadTrace:
    """The plugin's log. Raises RunFailed, with the line, where it is damaged."""
    reader = _Reader(architecture)
    for line in _lines(text):
        reader.take(line)
    return reader.whole()


def ran(running: Sequence[Running], begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, Running | None]]:
    """Who ran in between, without a gap: begin, end and the thread; None where nothing was noted."""
    first = bisect_right(running, begin_ns, key=lambda row: row.ns)
    at, last = begin_ns, running[first - 1] if first else None
    for number in range(first, len(running)):
        pair = running[number]
        if pair.ns >= end_ns:
            break
        yield at, pair.ns, last
        at, last = pair.ns, pair
    if at < end_ns:
        yield at, end_ns, last
