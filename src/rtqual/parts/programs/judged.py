# SPDX-License-Identifier: MIT
"""From what a program's threads did to the figures of its tasks: jobs, responses, misses; why the worst were late."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from statistics import median

from rtqual.base.words import clean, count, listed
from rtqual.engine.mission.program import Program, Task
from rtqual.parts.programs.run_report import RunReport
from rtqual.parts.programs.thread_jobs import (
    ThreadJob,
    chained,
    jobs,
    most_missed,
    parts,
    release_point,
    row_of_misses,
    skipped,
    timer_thread,
)
from rtqual.parts.programs.thread_trace import REALTIME, Thread, ThreadTrace, WaitPoint
from rtqual.protocols.record.schema import LateSample, Measurement, Scalar, Series

RESPONSE, START = "response", "start"
_WORST_KEPT = 5  # jobs of each task whose parts are kept
_SHOWN = 6  # threads that a refusal names
_DRIFT = 0.1  # percent of a period
_ROUND_ROBIN = 2  # SCHED_RR of linux/sched.h
# Threads of the kernel that somebody may raise, and the real-time priority that the kernel gives them.
_OF_THE_KERNEL = {"ktimers/": 1, "ksoftirqd/": 0}
_SEEN_OFTEN, _LENT = 5, 10  # whoever waits for one of theirs lends it his priority, but not nine times out of ten
_UNLIKE = 0.01  # of jobs released in another way than the mission says: more of them are a problem


@dataclass
class JudgedTask:
    """A task's jobs in the time that is judged, and of the releases that never came how many."""

    task: Task
    thread: Thread
    point: WaitPoint
    every: list[ThreadJob]  # of the whole run
    inside: list[ThreadJob] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)  # before each job that is inside
    unfinished: int = 0  # jobs at the end whose deadline had passed

    @property
    def finished(self) -> list[ThreadJob]:
        return [job for job in self.inside if job.finished_ns]

    @property
    def missed(self) -> list[bool]:
        """In the order of their releases, those that never came too."""
        found: list[bool] = []
        deadline = self.task.deadline
        for job, gone in zip(self.inside, self.skipped, strict=True):
            found += [True] * gone
            if job.finished_ns:
                found.append(deadline is not None and job.response_ns > deadline)
        return found + [True] * self.unfinished


def judged(program: Program, trace: ThreadTrace, report: RunReport, ticks_per_s: int = 0) -> Measurement:
    """Figures of all tasks; a task that no thread fits, or several, is a problem and has none. `ticks_per_s`: of the
    kernel, 0 where that is not known."""
    problems = [] if trace.whole else ["the program did so much that not all of its events were kept"]
    offset = trace.clock_ns
    begin_ns, end_ns = (report.begin or 0) - offset, (report.end or 0) - offset
    found: dict[str, JudgedTask] = {}
    for task in _in_order(program.tasks):
        thread, why = _thread_of(task, trace)
        point = release_point(thread, task.waits_at, (begin_ns, end_ns)) if thread else None
        if thread is None or point is None:
            problems.append(why or f"task {task.name}: its thread {_named(thread)} never waits, so it has no jobs")
            continue
        every = jobs(thread, point)
        if task.after:
            if task.after not in found:
                continue  # told of that one
            before = found[task.after]
            every = chained(every, before.every, before.thread.tid)
        watched = JudgedTask(task, thread, point, every)
        _take(watched, begin_ns, end_ns)
        found[task.name] = watched
        problems += _problems(watched)
    series: list[Series] = []
    scalars: dict[str, Scalar] = {}
    late: list[LateSample] = []
    absent = {}
    for task in program.tasks:
        if task.name not in found:
            absent[f"{task.name} {RESPONSE}"] = "no job of it was seen"
            continue
        watched = found[task.name]
        if not watched.finished:
            which = f"{_named(watched.thread)} was never released from {watched.point}"
            absent[f"{task.name} {RESPONSE}"] = f"no job of it was seen: {which}"
            continue
        series += _series(watched)
        scalars |= _scalars(watched)
        late += _late(watched, trace)
    scalars |= {f"kernel thread {clean(raised.name)}": Scalar(value=raised.after, unit="1") for raised in report.raised}
    cautions = [*_untold(trace), *_shared(trace), *_unlocked(report), *_unraised(report)]
    cautions += _hidden(trace, report, (begin_ns, end_ns))
    cautions += [text for watched in found.values() for text in _cautions(watched, trace, ticks_per_s)]
    return Measurement(tuple(series), scalars, tuple(problems), absent, tuple(late), tuple(cautions))


def _hidden(trace: ThreadTrace, report: RunReport, judged_ns: tuple[int, int]) -> Iterator[str]:
    """Threads of the kernel that somebody else than the mission gave a priority, or another one than it says."""
    told = {raised.name: raised.after for raised in report.raised}
    seen: dict[str, list[int]] = {}
    for running in (running for some in trace.cpus.values() for running in some):
        if running.tid in trace.threads or not running.name.startswith((*_OF_THE_KERNEL,)):
            continue
        if judged_ns[0] <= running.ns < judged_ns[1]:
            seen.setdefault(running.name, []).append(REALTIME - 1 - running.prio if running.prio < REALTIME else 0)
    for name, priorities in sorted(seen.items()):
        own = next(priority for begin, priority in _OF_THE_KERNEL.items() if name.startswith(begin))
        ran = sorted(priorities)[len(priorities) // _LENT]
        if len(priorities) >= _SEEN_OFTEN and ran > told.get(name, own):
            says = f"where the mission says {told[name]}" if name in told else "which the mission does not say"
            yield (
                f"the kernel's {clean(name)} ran at priority {ran}, {says} (kernel_threads): whoever flies it has to "
                "do the same"
            )


def _unraised(report: RunReport) -> Iterator[str]:
    for name in report.unraised:
        yield f"kernel_threads: this kernel has no thread {clean(name)}, so none was given that priority"


def _in_order(tasks: Sequence[Task]) -> Iterator[Task]:
    """Each after the one that releases it."""
    done: set[str] = set()
    waiting = list(tasks)
    while waiting:
        ready = [task for task in waiting if task.after is None or task.after in done] or waiting
        done |= {task.name for task in ready}
        waiting = [task for task in waiting if task not in ready]
        yield from ready


def _thread_of(task: Task, trace: ThreadTrace) -> tuple[Thread | None, str]:
    """Or why there is none."""
    fitting = [thread for thread in trace.threads.values() if _fits(task, thread)]
    fitting.sort(key=lambda thread: thread.order)
    if task.nth is not None:
        fitting = fitting[task.nth - 1 : task.nth]
    if len(fitting) == 1:
        return fitting[0], ""
    if fitting:
        which = listed([_named(thread) for thread in fitting[:_SHOWN]])
        return (
            None,
            f"task {task.name}: {count(len(fitting), 'thread')} fit it ({which}): say nth, priority or waits_at",
        )
    there = sorted(trace.threads.values(), key=lambda thread: thread.prio)[:_SHOWN]
    has = listed([_named(thread) for thread in there]) or "none"
    return None, f"task {task.name}: no thread fits it; the program's threads were {has}"


def _fits(task: Task, thread: Thread) -> bool:
    if task.thread is not None and not fnmatchcase(thread.name, task.thread):
        return False
    if task.priority is not None and thread.priority != task.priority:
        return False
    return task.waits_at is None or release_point(thread, task.waits_at) is not None


def _named(thread: Thread | None) -> str:
    return f"{clean(thread.name)} at priority {thread.priority}" if thread else "?"


def _take(watched: JudgedTask, begin_ns: int, end_ns: int) -> None:
    """Jobs that were due in the time that is judged."""
    period, deadline = watched.task.period, watched.task.deadline
    gone = [0, *skipped(watched.every, period)] if period and watched.every else [0] * len(watched.every)
    for job, before in zip(watched.every, gone, strict=True):
        if not begin_ns <= job.due_ns < end_ns:
            continue
        if not job.finished_ns:
            watched.unfinished += deadline is not None and job.due_ns + deadline < end_ns
            continue
        watched.inside.append(job)
        watched.skipped.append(before if len(watched.inside) > 1 else 0)


def _problems(watched: JudgedTask) -> Iterator[str]:
    task, some = watched.task, watched.finished
    timed = sum(job.timed for job in some)
    if task.released_by == "timer" and len(some) - timed > _UNLIKE * len(some):
        yield f"task {task.name}: {len(some) - timed} of {count(len(some), 'job')} were released by no timer"
    if task.released_by == "wake" and timed > _UNLIKE * len(some):
        yield f"task {task.name}: {timed} of {count(len(some), 'job')} were released by a timer"


def _series(watched: JudgedTask) -> list[Series]:
    some, name = watched.finished, watched.task.name
    return [
        Series.raw([job.response_ns for job in some], name=f"{name} {RESPONSE}"),
        Series.raw([job.start_ns for job in some], name=f"{name} {START}"),
    ]


def _scalars(watched: JudgedTask) -> dict[str, Scalar]:
    some, task = watched.finished, watched.task
    missed = watched.missed
    figures: dict[str, tuple[float, str]] = {"jobs": (len(missed), "1")}
    if task.deadline:
        figures["missed"] = (sum(missed), "1")
        figures["longest row missed"] = (row_of_misses(missed), "1")
    if task.window:
        figures[f"missed in any {task.window}"] = (most_missed(missed, task.window), "1")
    if task.period:
        figures["skipped"] = (sum(watched.skipped), "1")
    gaps = [b.due_ns - a.due_ns for a, b in pairwise(some)]
    if gaps and all(job.timed for job in some):
        figures["period p50"] = (median(gaps), "ns")
        if task.period:
            figures["drift"] = (100 * (median(gaps) / task.period - 1), "%")
    figures["page faults"] = (sum(job.faults for job in some), "1")
    figures["preempted"] = (sum(job.preempted > 0 for job in some), "1")
    figures["blocked"] = (sum(bool(job.waits or job.locked) for job in some), "1")
    lasted = some[-1].finished_ns - some[0].started_ns
    if lasted > 0:
        figures["CPU share"] = (100 * sum(job.ran_ns for job in some) / lasted, "%")
    return {f"{task.name} {name}": Scalar(value=value, unit=unit) for name, (value, unit) in figures.items()}


def _late(watched: JudgedTask, trace: ThreadTrace) -> Iterator[LateSample]:
    """The worst jobs in parts."""
    numbered = list(enumerate(watched.finished, 1))
    numbered.sort(key=lambda pair: (-pair[1].response_ns, pair[0]))
    name = f"{watched.task.name} {RESPONSE}"
    for number, job in numbered[:_WORST_KEPT]:
        told, cpu = parts(job, watched.thread, trace), watched.thread.steps[job.first].cpu
        yield LateSample(number=number, cpu=cpu, series=name, value_ns=job.response_ns, parts=told, calls=[])


def _cautions(watched: JudgedTask, trace: ThreadTrace, ticks_per_s: int) -> Iterator[str]:
    """What of a task's jobs its owner ought to know, though its figures stand."""
    name, period, some = watched.task.name, watched.task.period, watched.finished
    thread = watched.thread
    expired_in = (timer_thread(job, thread, trace) for job in some)
    below = next((found for found in expired_in if found and found.prio > thread.prio), None)
    if below:
        yield (
            f"task {name}: its timers expire in {clean(below.name)}, a thread of a lower priority than its own: raise "
            "it by kernel_threads, as docs/programs.md says"
        )
    gaps = [b.due_ns - a.due_ns for a, b in pairwise(some)]
    if period and gaps and all(job.timed for job in some):
        if abs(drift := 100 * (median(gaps) / period - 1)) > _DRIFT:
            yield (
                f"task {name}: its period differs by {drift:+.2g} % from what the mission says; a thread that sleeps "
                "relative to now drifts, and its lateness looks perfect"
            )
        if ticks_per_s and period * ticks_per_s % 10**9 == 0:
            yield (
                f"task {name}: its period is a multiple of the kernel's tick, so a run keeps one phase to it; runs of "
                "other seeds begin at others"
            )
    if any(job.faults for job in some):
        yield f"task {name}: page faults came within its jobs: lock its memory with mlockall"


def _untold(trace: ThreadTrace) -> Iterator[str]:
    if trace.untold:
        yield (
            f"the kernel did not report {trace.untold} of its switches to the program's threads: those jobs began "
            "earlier than is shown"
        )


def _shared(trace: ThreadTrace) -> Iterator[str]:
    """Threads that take turns at one real-time priority."""
    at: dict[int, list[Thread]] = {}
    for thread in trace.threads.values():
        if thread.priority and thread.policy == _ROUND_ROBIN:
            at.setdefault(thread.priority, []).append(thread)
    for priority, some in sorted(at.items(), reverse=True):
        if len(some) > 1:
            yield (
                f"{_together(some)} share priority {priority} under SCHED_RR: each may hold the others up for a whole "
                "slice, 100 ms unless the kernel has another setting"
            )


def _together(threads: Sequence[Thread]) -> str:
    """All of them, where each has a name of its own and they are few; else how many, and some names."""
    names = list(dict.fromkeys(clean(thread.name) for thread in threads))
    shown = listed(names[:_SHOWN])
    if len(names) == len(threads) <= _SHOWN:
        return shown
    return f"{len(threads)} threads called {shown}{' or otherwise' if len(names) > _SHOWN else ''}"


def _unlocked(report: RunReport) -> Iterator[str]:
    locked, resident = report.memory.get("end", (0, 0))
    if locked < resident:
        yield "not all of its memory is locked: pages that are gone come back late, mlockall keeps them"
