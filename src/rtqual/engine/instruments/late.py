# SPDX-License-Identifier: MIT
"""What made samples late, on any Linux whose kernel has timerlat and the osnoise events, as Debian's have.

timerlat's handler says how long after the expiry it read its clock, and from then on the kernel counts what else the
CPU does until timerlat's thread reads its own. Each event of the trace has its start and, when it is over, its duration
without what interrupted it: NMIs interrupt interrupts, both interrupt softirqs, and all of them threads.
Documentation/trace/timerlat-tracer.rst and osnoise-tracer.rst of the kernel.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from rtqual.base.errors import RunFailed
from rtqual.engine.instruments.tracer import (
    BEGIN,
    END,
    TRACE,
    TimerlatParameters,
    absent,
    is_not_offered,
    latencies,
    measured,
    seconds_of,
    thread_problems,
    tracing,
)
from rtqual.protocols.board import Job, JobOutcome
from rtqual.protocols.instrument import Instrument
from rtqual.protocols.instrument.output import clock_problems, require_success
from rtqual.protocols.record.schema import LatePart, LateSample, Measurement, Series

_WORST_KEPT = 10
_TURNS = (0, 1, 1, 0)  # without the events, and with them: an even drift cancels
_CALLS = ' && echo "$turn" > osnoise/print_stack'
_SCRIPT = f"""{BEGIN}
trap 'echo nop > current_tracer; echo 0 > events/osnoise/enable; echo 0 > osnoise/print_stack; echo 1 > tracing_on' EXIT
for turn in {" ".join(map(str, _TURNS))}; do
echo "turn $turn"
echo "$turn" > events/osnoise/enable{_CALLS} && echo > trace || exit
{TRACE}echo nop > current_tracer || exit
done
echo "{END}"
"""
_TURN = re.compile(r"^turn [01]$", re.MULTILINE)
_SERIES = ({"thread": "thread", "irq": "irq"}, {"thread": "watched thread", "irq": "watched irq"})
_LINES = 40  # of a cycle in the kernel's buffer, its calls included

Source = Literal["nmi", "irq", "softirq", "thread"]
Span = tuple[int, int]
_SOURCES: tuple[Source, ...] = ("nmi", "irq", "softirq", "thread")  # each interrupts those after it
_LINE = re.compile(r" *(\S.*)-(\d+) +\[(\d{1,5})\] +\S+ +\d+\.\d+: (.*)", re.ASCII)
_LATENCY = re.compile(r"#(\d{1,18}) +context +(irq|thread) timer_latency +(\d{1,18}) ns", re.ASCII)
_NOISE = re.compile(
    r"(nmi|irq|softirq|thread)_noise: +(?:((?:\S.*)?):(\d{1,9}) +)?start (\d{1,9})\.(\d{9}) duration (\d{1,12}) ns",
    re.ASCII,
)
_CALL = re.compile(r" => ([A-Za-z_.]\S{0,199})", re.ASCII)  # Linux prints some words of memory behind them, as 0x...
_FROM_KERNEL = ("asm_sysvec_", "asm_common_interrupt", "el1", "__irq_svc")  # entries of interrupts
_FROM_USER = ("el0", "__irq_usr")
_MOST_NAME = 64


class LateParameters(TimerlatParameters):
    calls: bool = True
    """What the timer's interrupt hit, for which the kernel unwinds its stack each time. Half of the cycles run with the
    events, half without."""


class _Late(Instrument):
    """timerlat, watched: what the CPU did in the worst samples, and by how much watching moves them."""

    def job(self, parameters: LateParameters, *, cpus: int, seed: int) -> Job:
        turn = _turn(parameters)
        period_us = parameters.interval // 1_000
        script = _SCRIPT if parameters.calls else _SCRIPT.replace(_CALLS, "")
        return tracing("timerlat", turn, cpus, _LINES * turn.cycles, {"timerlat_period_us": period_us}, script)

    def read(self, parameters: LateParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("timerlat", outcome)
        if is_not_offered(outcome):
            return absent("timerlat", [name for names in _SERIES for name in names.values()])
        turns = _TURN.split(outcome.stdout)[1:]
        if len(turns) != len(_TURNS):
            raise RunFailed(f"timerlat's trace has {len(turns)} turns of {len(_TURNS)}; run it again")
        problems = list(clock_problems(outcome))
        taken: dict[tuple[str, int], list[int]] = {}
        late: list[LateSample] = []
        cycles = _turn(parameters).cycles
        for number, (watched, trace) in enumerate(zip(_TURNS, turns, strict=True)):
            found, missing = latencies(trace, cycles, cpus)
            problems += [*thread_problems("timerlat", trace, cpus, fifo=True), *missing]
            for (context, cpu), samples in found.items():
                taken.setdefault((_SERIES[watched][context], cpu), []).extend(samples)
            if watched:
                late += worst(trace, cycles * sum(_TURNS[:number]), cycles)
        series = [Series.raw(samples, name=name, cpu=cpu) for (name, cpu), samples in taken.items()]
        late.sort(key=lambda late_sample: (-late_sample.value_ns, late_sample.cpu, late_sample.number))
        return replace(measured("timerlat", outcome, series, {}, problems), late=tuple(late[:_WORST_KEPT]))

    def seconds(self, parameters: LateParameters, load: str) -> float:
        return len(_TURNS) * seconds_of(_turn(parameters))


def _turn(parameters: LateParameters) -> LateParameters:
    """Half of the samples without the events and half of those with them."""
    return parameters.model_copy(update={"cycles": -(-parameters.cycles // 2)})


@dataclass(frozen=True)
class _Noise:
    source: Source
    name: str
    start_ns: int  # of the trace's clock
    duration_ns: int  # without what interrupted it


@dataclass
class _Cycle:
    """Of one CPU, from a reading of the thread to the next."""

    number: int = 0
    hit: str = ""  # the thread that the timer's interrupt hit
    irq_ns: int = 0
    thread_ns: int = 0
    noises: list[_Noise] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)  # the innermost first


def worst(trace: str, before: int, cycles: int) -> Iterator[LateSample]:
    """The worst of a turn's first so many samples, numbered after those of the turns before."""
    told = [(cpu, cycle) for cpu, cycle in _cycles(trace) if cycle.number <= cycles]
    told.sort(key=lambda pair: (-pair[1].thread_ns, pair[0], pair[1].number))
    for cpu, cycle in told[:_WORST_KEPT]:
        yield LateSample(
            number=before + cycle.number, cpu=cpu, value_ns=cycle.thread_ns, parts=_parts(cycle), calls=_calls(cycle)
        )


def _cycles(trace: str) -> list[tuple[int, _Cycle]]:
    """Those of which both latencies are in the trace, with their CPUs."""
    running: dict[int, _Cycle] = {}
    told: list[tuple[int, _Cycle]] = []
    for line in trace.splitlines():
        if call := _CALL.fullmatch(line):
            if told:
                told[-1][1].calls.append(call[1])
        elif found := _LINE.fullmatch(line):
            comm, pid, cpu, what = found[1], found[2], int(found[3]), found[4]
            cycle = running.setdefault(cpu, _Cycle())
            if noise := _NOISE.fullmatch(what):
                source, name, number, s, ns, duration_ns = noise.groups()
                named = "" if name is None else _named(name, number) if source == "thread" else name[:_MOST_NAME]
                start_ns = int(s) * 10**9 + int(ns)
                cycle.noises.append(_Noise(cast("Source", source), named, start_ns, int(duration_ns)))
            elif latency := _LATENCY.fullmatch(what):
                if latency[2] == "irq":
                    cycle.number, cycle.irq_ns, cycle.hit = int(latency[1]), int(latency[3]), _named(comm, pid)
                else:
                    cycle.thread_ns = int(latency[3])
                    del running[cpu]
                    if cycle.number == int(latency[1]) and 0 < cycle.thread_ns >= cycle.irq_ns:
                        told.append((cpu, cycle))
    return told


def _named(comm: str, pid: str) -> str:
    return f"{comm}:{pid}"[:_MOST_NAME]


def _parts(cycle: _Cycle) -> list[LatePart]:
    """They add up to the sample. Where no event says when the handler read its clock, all after it is untold."""
    irq_ns, read_ns = _handler(cycle)
    expiry_ns = read_ns - cycle.irq_ns
    free = [(read_ns, expiry_ns + cycle.thread_ns)]
    placed: list[tuple[Span, str, str]] = []
    for source in _SOURCES if read_ns else ():
        some = sorted((noise for noise in cycle.noises if noise.source == source), key=lambda noise: noise.start_ns)
        # From the thread that it hit the kernel takes all of the interrupt, with what was before the reading.
        back_ns = read_ns - irq_ns if source == "thread" else 0
        lasting = [
            (
                noise,
                noise.duration_ns + (back_ns if noise.start_ns == read_ns else 0) - max(0, read_ns - noise.start_ns),
            )
            for noise in some
        ]
        taken = [*_taken(free, lasting)]
        placed += [(span, source, noise.name) for span, noise in taken]
        free = _without(free, [span for span, _ in taken])
    over_ns = max((end for (_, end), *_ in placed), default=expiry_ns + cycle.thread_ns)
    placed += [(span, "switch" if span[0] >= over_ns else "untold", "") for span in free if span[0] < span[1]]
    before = LatePart(source="before", begin_ns=0, duration_ns=cycle.irq_ns, name=_hit(cycle))
    after = [
        LatePart.model_validate(
            {"source": source, "begin_ns": begin - expiry_ns, "duration_ns": end - begin, "name": name}
        )
        for (begin, end), source, name in sorted(placed)
    ]
    return [before, *after]


def _handler(cycle: _Cycle) -> Span:
    """When the interrupt of timerlat's timer began, and when its handler read its clock; zeros if no event says so.
    The thread that the interrupt hit is counted from that reading on."""
    begun = [noise.start_ns for noise in cycle.noises if noise.source == "thread"]
    ascending = sorted(begun)
    for irq in cycle.noises:
        end_ns = irq.start_ns + irq.duration_ns
        first = bisect_left(ascending, irq.start_ns) if irq.source == "irq" else len(begun)
        if first < len(begun) and ascending[first] <= end_ns:
            return irq.start_ns, next(ns for ns in begun if irq.start_ns <= ns <= end_ns)
    return 0, 0


def _taken(free: Sequence[Span], lasting: Iterable[tuple[_Noise, int]]) -> Iterator[tuple[Span, _Noise]]:
    """Each one's first so many ns of what is free from its start on, and of none before it; they come by their start.
    In one pass: a run has an interrupt's storm, and a board may say anything."""
    at, from_ns = 0, 0
    for noise, lasts_ns in lasting:
        from_ns, left_ns = max(from_ns, noise.start_ns), lasts_ns
        while left_ns > 0 and at < len(free):
            start, end = free[at]
            first = max(start, from_ns)
            took_ns = min(left_ns, end - first)
            if took_ns <= 0:
                at += 1
                continue
            yield (first, first + took_ns), noise
            from_ns, left_ns = first + took_ns, left_ns - took_ns


def _without(free: Iterable[Span], taken: Iterable[Span]) -> list[Span]:
    """Both ascending; what is taken lies within what is free."""
    left: list[Span] = []
    cuts = deque(taken)
    for start, end in free:
        while cuts and cuts[0][0] < end:
            begin, stop = cuts.popleft()
            left.append((start, begin))
            start = stop  # noqa: PLW2901 what is left of it
        left.append((start, end))
    return [span for span in left if span[0] < span[1]]


def _hit(cycle: _Cycle) -> str:
    """The thread that the timer's interrupt hit; an event's own name, for the trace may have lost it ('<...>')."""
    pid = cycle.hit.rpartition(":")[2]
    threads = (noise.name for noise in cycle.noises if noise.source == "thread")
    return next((name for name in threads if name.rpartition(":")[2] == pid), cycle.hit)


def _calls(cycle: _Cycle) -> list[str]:
    """What was called where the timer's interrupt came, without the interrupt's own calls; nothing in user space."""
    calls = cycle.calls[::-1]
    for place in range(len(calls) - 1, -1, -1):
        if calls[place].startswith((*_FROM_KERNEL, *_FROM_USER)):
            return [] if calls[place].startswith(_FROM_USER) else calls[:place]
    return calls


LATE = _Late(
    several=True,
    name="timerlat-late",
    title="What made the kernel's own timer thread late (timerlat with the osnoise events)",
    program="sh",
    parameters=LateParameters,
    caveats=(
        "The threads are the kernel's own, of priority 95, and do nothing.",
        "Watching disturbs: half of the samples are taken without it, to say by how much.",
    ),
)
