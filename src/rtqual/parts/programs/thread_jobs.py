# SPDX-License-Identifier: MIT
"""Jobs of a thread: due, started, finished, and where the time went.

A job begins when the thread is released from its release point and ends when it enters that point again: not when it
blocks, for a call whose moment has passed does not block, and that is the overrun. It is *due* at the moment that the
thread itself asked a timer for; where no timer released it, at the moment when it was woken, and by whom is told.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

from rtqual.parts.programs.thread_trace import Did, Running, Thread, ThreadStep, ThreadTrace, WaitPoint, ran
from rtqual.protocols.record.schema import LatePart, LateSource

_SLEEPERS = "ktimers/"
_TIMER_THREADS = (_SLEEPERS, "ksoftirqd/")
# Where the CPU was idle nobody was before it: it took the interrupt, and to come to the timer's thread or its own.
_OF_IDLE: dict[LateSource, LateSource] = {"before": "irq", "timer": "switch", "thread": "switch"}
_JOB_BEFORE = "its job before"
_MOST_PARTS = 64  # of a job that are told one by one
Window = tuple[int, int]  # ns of the trace's clock: from, and to without it
_SKIPPED = 1.5  # periods between two releases: one at least did not come


@dataclass
class ThreadJob:
    """One activation of a thread; times of the trace's clock."""

    due_ns: int
    timed: bool  # whether a timer says when it was due
    woken_ns: int
    by: int  # the thread that woke it: of a timer's interrupt, the one that it hit
    started_ns: int
    finished_ns: int = 0  # 0: it was at work when the watching ended
    ran_ns: int = 0
    expired_ns: int = 0  # when its timer did; 0 where none released it
    released_on: int = 0  # the CPU on which its timer expired, or it was woken
    expired_in: int = 0  # the thread in which its timer did, where that is told
    faults: int = 0  # page faults
    upstream: "ThreadJob | None" = None  # another task's job that released it, from whose due time it counts
    waits: Counter[WaitPoint] = field(default_factory=Counter)  # at points of its own, from its start on
    locked: int = 0  # waits inside the kernel
    preempted: int = 0
    entered: int = 0  # the step, among the thread's, at which it entered its release point
    first: int = 0  # its first step
    last: int = 0

    @property
    def response_ns(self) -> int:
        return self.finished_ns - self.due_ns

    @property
    def start_ns(self) -> int:
        """From its due time to its first instruction."""
        return self.started_ns - self.due_ns


def waits_of(thread: Thread, window: Window | None = None) -> Counter[WaitPoint]:
    """How often a thread waited at each point, in a window."""
    counted: Counter[WaitPoint] = Counter()
    point: WaitPoint | None = None
    for step in thread.steps:
        if step.did is Did.ENTER:
            point = step.point
        elif step.did is Did.WAITS and point and (window is None or window[0] <= step.ns < window[1]):
            counted[point] += 1
    return counted


def release_point(thread: Thread, call: str | None = None, window: Window | None = None) -> WaitPoint | None:
    """Where it waits most often while it is judged, or, where it does not wait then, ever: many a thread polls while
    its program starts. Of the points of a system call, where one is named. None where it never waits."""
    for counted in (waits_of(thread, window), waits_of(thread)):
        chosen = [(times, point) for point, times in counted.items() if call in (None, point.call)]
        if chosen:
            return max(chosen, key=lambda pair: pair[0])[1]
    return None


class _Release:
    """A thread in its release point's call, until it is released."""

    def __init__(self, entered: ThreadStep, number: int, pending: ThreadStep | None) -> None:
        self.entered, self.number = entered, number
        self.asked_ns = entered.due_ns
        self.expired = pending  # a timer that expired while the job before was at work
        self.waits = False
        self.woken: ThreadStep | None = None

    def job(self, started_ns: int, number: int) -> ThreadJob:
        due_ns = self.expired.due_ns if self.expired else self.asked_ns
        expired_ns = self.expired.ns if self.expired else 0
        if not due_ns:
            due_ns = self.woken.ns if self.woken else self.entered.ns
        timed = bool(self.expired or self.asked_ns)
        woken = self.woken or self.entered
        return ThreadJob(
            due_ns, timed, woken.ns, woken.by, started_ns, expired_ns=expired_ns,
            released_on=(self.expired or woken).cpu, expired_in=self.expired.by if self.expired else 0,
            entered=self.number, first=number,
        )  # fmt: skip


class _Walk:
    """Through a thread's steps."""

    def __init__(self, point: WaitPoint) -> None:
        self.point = point
        self.done: list[ThreadJob] = []
        self.job: ThreadJob | None = None
        self._release: _Release | None = None
        self._pending: ThreadStep | None = None  # a timer that expired while a job was at work
        self._at: WaitPoint | None = None
        self._runs_since: int | None = None

    def take(self, number: int, step: ThreadStep) -> None:
        if step.did is Did.ENTER:
            self._leaves_release()
            self._at = step.point
        if self.job and self._runs_since is not None and step.did is not Did.EXPIRED:
            self.job.ran_ns += step.ns - self._runs_since
            self._runs_since = step.ns
        match step.did:
            case Did.ENTER if step.point == self.point:
                self._finishes(number, step)
            case Did.EXPIRED:
                self._expires(step)
            case Did.WOKEN if self._release and self._release.waits and not self._release.woken:
                self._release.woken = step
            case Did.RUNS:
                self._runs(number, step)
            case Did.WAITS | Did.LOCKED | Did.PREEMPTED:
                self._stops(step)
            case Did.FAULTS if self.job:
                self.job.faults += 1
            case Did.ENDED:
                self.job = self._release = None  # it ends within its last job, which is none

    def _leaves_release(self) -> None:
        """It did not wait at its release point: the moment had passed."""
        if self._release and not self._release.waits:
            self.job = self._release.job(self._release.entered.ns, self._release.number)
            self._runs_since, self._release = self.job.started_ns, None

    def _finishes(self, number: int, step: ThreadStep) -> None:
        if self.job:
            self.job.finished_ns, self.job.last = step.ns, number
            self.done.append(self.job)
        self.job, self._release, self._pending = None, _Release(step, number, self._pending), None

    def _expires(self, step: ThreadStep) -> None:
        if self._release and not self._release.woken:
            self._release.expired = step
        elif self.job:
            self._pending = step

    def _runs(self, number: int, step: ThreadStep) -> None:
        if self._release and self._release.woken:
            self.job, self._release = self._release.job(step.ns, number), None
        self._runs_since = step.ns

    def _stops(self, step: ThreadStep) -> None:
        self._runs_since = None
        if self._release and step.did is Did.WAITS:
            self._release.waits = True
        elif self.job and step.did is Did.WAITS and self._at:
            self.job.waits[self._at] += 1
        elif self.job:
            self.job.locked += step.did is Did.LOCKED
            self.job.preempted += step.did is Did.PREEMPTED


def jobs(thread: Thread, point: WaitPoint) -> list[ThreadJob]:
    """Of a thread's release point, in order. The last may not have finished."""
    walk = _Walk(point)
    for number, step in enumerate(thread.steps):
        walk.take(number, step)
    if walk.job:
        walk.job.last = len(thread.steps)
        walk.done.append(walk.job)
    return walk.done


def chained(some: Sequence[ThreadJob], upstream: Sequence[ThreadJob], tid: int) -> list[ThreadJob]:
    """Jobs that another task's jobs release, due when those were. Jobs that it did not release are left out.

    Each of `upstream`'s jobs releases as many as it wakes while it is at work; `tid` is its thread's.
    """
    found, at = [], 0
    for job in some:
        while at < len(upstream) and upstream[at].finished_ns and upstream[at].finished_ns < job.woken_ns:
            at += 1
        if at < len(upstream) and job.by == tid and upstream[at].started_ns <= job.woken_ns:
            job.due_ns, job.timed, job.upstream = upstream[at].due_ns, upstream[at].timed, upstream[at]
            found.append(job)
    return found


def skipped(some: Sequence[ThreadJob], period_ns: int) -> list[int]:
    """How many releases did not come before each job but the first, by the gaps between due times."""
    gaps = (b.due_ns - a.due_ns for a, b in pairwise(some))
    return [round(gap / period_ns) - 1 if gap >= _SKIPPED * period_ns else 0 for gap in gaps]


def row_of_misses(missed: Sequence[bool]) -> int:
    """The longest row of deadlines missed one after the other."""
    longest = row = 0
    for flag in missed:
        row = row + 1 if flag else 0
        longest = max(longest, row)
    return longest


def most_missed(missed: Sequence[bool], window: int) -> int:
    """The most deadlines missed of any so many jobs in a row."""
    sums = [0, *accumulate(missed)]
    return max((end - sums[max(0, at - window)] for at, end in enumerate(sums)), default=0)


def timer_thread(job: ThreadJob, thread: Thread, trace: ThreadTrace) -> Running | None:
    """The thread of the kernel in which a job's timer expired; None where an interrupt did it, or nobody knows.

    Where it is not told: PREEMPT_RT wakes sleepers without a real-time priority in `ktimers/N`, and no others.
    """
    running = trace.cpus.get(job.released_on, ())
    at = bisect_right(running, job.expired_ns, key=lambda pair: pair.ns)
    if not at or not job.expired_ns:
        return None
    last = running[at - 1]
    if job.expired_in:
        return last if last.tid == job.expired_in and last.name.startswith(_TIMER_THREADS) else None
    return last if not thread.priority and last.name.startswith(_SLEEPERS) else None


def parts(job: ThreadJob, thread: Thread, trace: ThreadTrace) -> list[LatePart]:
    """What the time from due to finished was, without a gap: they add up to the response time.

    before: until its timer expired, with who ran (irq: nobody did, so it was the timer's interrupt itself); timer: the
    same where the timer expires in a thread of the kernel, which others were before; thread: it could run, and another
    thread of as high a priority did; sibling: the same by a thread of the same program, which no kernel mends, or the
    one that was to release it was at work; held: it could run, and one of a lower priority went on (preemption was
    off, or the kernel's softirqs ran in it); switch: it could run, and nobody else is known to have run; own: it ran,
    by name where that was still its job before; wait: it waited, at a system call of its own or for a lock in the
    kernel.
    """
    told = _parts(job, thread, trace, job.finished_ns)
    found = [
        *_joined(
            LatePart(source=source, begin_ns=begin - job.due_ns, duration_ns=end - begin, name=name)
            for source, begin, end, name in told
        )
    ]
    if len(found) > _MOST_PARTS:
        rest = found[_MOST_PARTS - 1 :]
        lasted = sum(late_part.duration_ns for late_part in rest)
        found[_MOST_PARTS - 1 :] = [
            LatePart(source="untold", begin_ns=rest[0].begin_ns, duration_ns=lasted, name=f"{len(rest)} further parts")
        ]
    return found


class _Part(NamedTuple):
    """Times of the trace's clock."""

    source: LateSource
    begin_ns: int
    end_ns: int
    name: str


def _parts(job: ThreadJob, thread: Thread, trace: ThreadTrace, end_ns: int) -> Iterator[_Part]:
    """Until then, at most."""
    entered_ns = thread.steps[job.entered].ns  # before, it was at its job before
    entered_ns = min(max(job.due_ns, entered_ns), end_ns)
    released_ns = min(max(entered_ns, job.expired_ns or job.woken_ns), end_ns)
    started_ns = min(max(released_ns, job.started_ns), end_ns)
    if job.upstream:
        yield from _upstream(job.upstream, trace.threads[job.by], trace, released_ns)
    else:
        for part in _steps(thread, trace, (0, job.entered), (job.due_ns, entered_ns)):
            yield part._replace(name=_JOB_BEFORE) if part.source == "own" else part
        source: LateSource = "timer" if timer_thread(job, thread, trace) else "before"
        yield from _others(source, thread, trace, (entered_ns, released_ns, job.released_on))
    yield from _others("thread", thread, trace, (released_ns, started_ns, thread.steps[job.first].cpu))
    yield from _steps(thread, trace, (job.first, job.last), (started_ns, end_ns))


def _upstream(job: ThreadJob, thread: Thread, trace: ThreadTrace, end_ns: int) -> Iterator[_Part]:
    """What the time was until another thread's job released this one."""
    for part in _parts(job, thread, trace, end_ns):
        yield part._replace(source="sibling", name=f"{thread.name}:{thread.tid}") if part.source == "own" else part


def _others(source: LateSource, thread: Thread, trace: ThreadTrace, span: tuple[int, int, int]) -> Iterator[_Part]:
    """Who ran on a CPU, of what is `source`; `span`: from, to, the CPU."""
    begin_ns, end_ns, cpu = span
    for begin, end, who in ran(trace.cpus.get(cpu, ()), begin_ns, end_ns):
        if who is None or who.tid in (0, thread.tid):
            idle = who is not None and who.tid == 0
            yield _Part(_OF_IDLE[source] if idle else "switch" if source == "thread" else source, begin, end, "")
            continue
        kind = source
        if source == "thread" and who.prio > thread.prio and thread.priority:
            kind = "held"
        elif source == "thread" and who.tid in trace.threads:
            kind = "sibling"
        yield _Part(kind, begin, end, f"{who.name}:{who.tid}")


def _steps(thread: Thread, trace: ThreadTrace, numbers: tuple[int, int], window: tuple[int, int]) -> Iterator[_Part]:
    """What a thread did within a window, by its steps of these numbers; it runs at the first."""
    at_ns, until_ns = window
    doing, at = "own", None
    for step in thread.steps[numbers[0] : numbers[1] + 1]:
        end_ns = min(step.ns, until_ns)
        if step.did is Did.ENTER:
            at = step.point
        if step.did in (Did.EXPIRED, Did.FAULTS) or (step.did is Did.ENTER and step.ns < until_ns):
            continue
        if end_ns > at_ns:
            if doing == "own":
                yield _Part("own", at_ns, end_ns, "")
            elif doing == "ready":
                yield from _others("thread", thread, trace, (at_ns, end_ns, step.cpu))  # where it came to run at last
            else:
                waker = trace.threads.get(step.by) if step.did is Did.WOKEN else None
                by = f", until {waker.name}:{waker.tid}" if waker else ""
                yield _Part("wait", at_ns, end_ns, f"{doing.removeprefix('wait ')}{by}")
            at_ns = end_ns
        match step.did:
            case Did.RUNS:
                doing = "own"
            case Did.PREEMPTED | Did.WOKEN:
                doing = "ready" if doing != "own" or step.did is Did.PREEMPTED else doing
            case Did.WAITS:
                doing = f"wait {at or ''}"
            case Did.LOCKED:
                doing = "wait lock in the kernel"
    if at_ns < until_ns and doing == "own":
        yield _Part("own", at_ns, until_ns, "")  # it was at work when the watching ended


def _joined(some: Iterator[LatePart]) -> Iterator[LatePart]:
    """Parts of the same kind that follow each other are one."""
    last: LatePart | None = None
    for late_part in some:
        if not late_part.duration_ns:
            continue
        if last and (last.source, last.name) == (late_part.source, late_part.name):
            last = last.model_copy(update={"duration_ns": last.duration_ns + late_part.duration_ns})
            continue
        if last:
            yield last
        last = late_part
    if last:
        yield last
