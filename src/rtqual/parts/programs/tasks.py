# SPDX-License-Identifier: MIT
"""What there is to judge of a program: it is run once, and every thread that waits for something is told as a task."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.scratch import scratch
from rtqual.base.units import format_ns
from rtqual.base.words import clean
from rtqual.engine.boards.here import TRACE, TRACED
from rtqual.engine.boards.jobs import LOG, NOT_SEEN
from rtqual.engine.campaign import trusted
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.plan import own_parameters
from rtqual.engine.campaign.prepared import Prepared
from rtqual.engine.mission import Mission, Program
from rtqual.parts.programs.ftrace import as_log
from rtqual.parts.programs.instrument import processor_of, require_whole
from rtqual.parts.programs.run_report import NAME, RunReport, read_report
from rtqual.parts.programs.thread_jobs import ThreadJob, Window, jobs, release_point
from rtqual.parts.programs.thread_trace import Thread, ThreadTrace, WaitPoint, read
from rtqual.protocols.board import JobOutcome, Machine
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Inputs

_LEAST_JOBS = 5
_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class SeenThread:
    """A thread with its jobs while it was judged."""

    thread: Thread
    point: WaitPoint
    jobs: tuple[ThreadJob, ...]
    wakers: tuple[str, ...]  # the threads of the program that wake it, the most frequent first

    @property
    def timed(self) -> bool:
        return sum(job.timed for job in self.jobs) > len(self.jobs) / 2

    @property
    def period_ns(self) -> int | None:
        """The median between due times, where its own timer releases it."""
        gaps = [b.due_ns - a.due_ns for a, b in pairwise(self.jobs)]
        return round(median(gaps)) if gaps and self.timed else None


@dataclass(frozen=True)
class Looked:
    """All threads of a program in a run of so many ns."""

    program: str
    candidate: str
    lasted_ns: int
    judged_ns: int  # of that, once it was ready and warm
    seen: tuple[SeenThread, ...]  # those with jobs, the highest priority first
    others: tuple[Thread, ...]  # those without
    ended: str  # how, where it was no success


def look(
    mission: Mission, name: str | None, candidate: str | None, *, lets: bool, tell: Callable[[str], None]
) -> Looked:
    """Run a program of the mission once, under its first candidate whose jobs are seen, and say what its threads did.
    Raises BadInput where there is none, RunFailed where it did not run."""
    program = _named(mission, name)
    cell = _cell(mission, program, candidate)
    inputs = Inputs(
        candidate=cell.candidate.name, instrument=cell.instrument.name, load="none", board=cell.board, cpus=1, seed=1,
        parameters=cell.parameters.model_dump(mode="json"), job=cell.job().as_inputs(),
    )  # fmt: skip
    trusted.require([inputs], str(mission.path), mission.folder, lets=lets)
    prepared = Prepared(mission)
    prepared.prepare([cell], tell)
    tell(f"runs {program.name} under {cell.candidate.name}")
    with scratch() as folder:
        start = prepared.start(cell.candidate)
        board = cell.place.open(replace(start, machine=Machine(), scratch=folder / "scratch", tell=tell))
        outcome = board.run(replace(cell.job(), watched=True), seed=1, timeout_s=cell.timeout_s)
    trace, name = _traced(program, outcome)
    report = read_report(outcome.files.get(f"{name}.report", ""))
    window = _window(trace, report)
    seen, others = threads_of(trace, window)
    said = outcome.files.get(f"{NAME}.err", "") + outcome.files.get(f"{NAME}.out", "")
    words = said.strip().splitlines()[-1:] or ["(nothing)"]
    ended = f"it ended with exit code {outcome.exit_code}; its last words: {clean(words[0])[:200]!r}"
    judged_ns = window[1] - window[0] if window else report.lasted_ns
    ended = ended if outcome.exit_code else ""
    return Looked(program.name, cell.candidate.name, report.lasted_ns, judged_ns, seen, others, ended)


def _traced(program: Program, outcome: JobOutcome) -> tuple[ThreadTrace, str]:
    """What its threads did, and the name of that run's files."""
    architecture = processor_of(outcome)
    if TRACE in outcome.files:
        return read(as_log(outcome.files[TRACE], architecture), architecture), TRACED
    if LOG not in outcome.files:
        said = {name: outcome.files.get(f"{NAME}.{name}", "") for name in ("err", "out")}
        require_whole(program, read_report(outcome.files.get(f"{NAME}.report", "")), said, outcome)
        raise RunFailed(outcome.facts.get(NOT_SEEN, "this board does not note the jobs of programs"))
    return read(outcome.files[LOG], architecture), NAME


def _named(mission: Mission, name: str | None) -> Program:
    names = [program.name for program in mission.programs]
    if not names:
        raise BadInput(f"{mission.path}: has no [[program]] to look at (docs/programs.md)")
    if name is not None and name not in names:
        raise BadInput(f"{mission.path}: has no program {name!r}, but {', '.join(names)}")
    return next(program for program in mission.programs if name in (None, program.name))


def _cell(mission: Mission, program: Program, candidate: str | None) -> Cell:
    for option in mission.candidates:
        place = option.place
        seen = place and (place.here or (place.starts and place.linux and place.repeats))
        if candidate in (None, option.name) and place and seen:
            parameters = own_parameters(mission, program)
            return Cell(option, all_instruments()[program.instrument], parameters, "none", 1, 1, place)
    raise BadInput(
        f"{mission.path}: has no candidate {candidate or ''} on the virtual board or this machine".replace("  ", " ")
    )


def _window(trace: ThreadTrace, report: RunReport) -> Window | None:
    """What is judged: once the program is ready and warm. None where it did not come to that."""
    if report.begin is None or report.end is None:
        return None
    return report.begin - trace.clock_ns, report.end - trace.clock_ns


def threads_of(trace: ThreadTrace, window: Window | None = None) -> tuple[tuple[SeenThread, ...], tuple[Thread, ...]]:
    """Threads with jobs in a window, by priority; and those without."""
    seen: list[SeenThread] = []
    others: list[Thread] = []
    for thread in trace.threads.values():
        point = release_point(thread, None, window)
        some = [job for job in jobs(thread, point) if job.finished_ns] if point else []
        some = [job for job in some if window is None or window[0] <= job.due_ns < window[1]]
        if point is None or len(some) < _LEAST_JOBS:
            others.append(thread)
            continue
        wakers = Counter(job.by for job in some if not job.timed)
        known = [trace.threads[tid].name for tid, _ in wakers.most_common() if tid in trace.threads]
        seen.append(SeenThread(thread, point, tuple(some), tuple(dict.fromkeys(known))))
    seen.sort(key=lambda seen: (seen.thread.prio, seen.thread.order))
    return tuple(seen), tuple(others)


def tables(seen: Sequence[SeenThread]) -> str:
    """As [[program.task]], to be pasted into the mission."""
    named = Counter(watched.thread.name for watched in seen)
    names: list[str] = []
    text = ""
    for watched in seen:
        name = _SLUG.sub("-", watched.thread.name.lower()).strip("-") or "task"
        while name in names:
            name = f"{name}-{len(names) + 1}"
        names.append(name)
        lines = ["[[program.task]]", f'name = "{name}"', *_which(watched, seen, alone=named[watched.thread.name] == 1)]
        released = "timer" if watched.timed else "wake"
        lines.append(f'released_by = "{released}"{_by(watched)}')
        if watched.period_ns:
            lines.append(f'period = "{_round(watched.period_ns)}"  # seen: {format_ns(watched.period_ns)}')
        worst = max(job.response_ns for job in watched.jobs)
        lines.append(f'# deadline = "..."  # of {len(watched.jobs)} jobs the longest took {format_ns(worst)}')
        text += "\n".join(lines) + "\n\n"
    return text


def _which(watched: SeenThread, seen: Sequence[SeenThread], *, alone: bool) -> list[str]:
    quoted = clean(watched.thread.name).replace("\\", "?").replace('"', "?").replace("*", "?").replace("[", "?")
    lines = [f'thread = "{quoted}"']
    if alone:
        return lines
    alike = [other for other in seen if other.thread.name == watched.thread.name]
    if len({other.thread.priority for other in alike}) == len(alike):
        return [*lines, f"priority = {watched.thread.priority}"]
    same = [
        other
        for other in alike
        if other.thread.priority == watched.thread.priority and other.point.call == watched.point.call
    ]
    lines += [f"priority = {watched.thread.priority}", f'waits_at = "{watched.point.call}"']
    return lines if len(same) == 1 else [*lines, f"nth = {same.index(watched) + 1}"]


def _by(seen: SeenThread) -> str:
    by = f", by {', '.join(seen.wakers[:3])}" if seen.wakers else ""
    return f"  # at {seen.point}{by}"


def _round(period_ns: int) -> str:
    """As somebody would have written it: 4 ms, where 3,999,996 ns were seen."""
    for digits in (1, 2, 3, 4):
        written = format_ns(float(f"{period_ns:.{digits}g}"))
        value, unit = written.split()
        scale = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}.get(unit, 0)
        if scale and abs(float(value.replace(",", "")) * scale / period_ns - 1) < 0.001:
            return f"{value.replace(',', '')} {unit}"
    return f"{period_ns} ns"
