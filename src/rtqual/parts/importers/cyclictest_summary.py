# SPDX-License-Identifier: MIT
"""cyclictest's line a thread (-q, or its live screen), which other systems' versions of it print as well:

    T: 0 (  612) P:80 I:1000 C:  10000 Min:      5 Act:    9 Avg:    8 Max:      41

A live screen repeats the lines: of a run only the last of each thread counts.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from rtqual.parts.importers import cyclictest_lines
from rtqual.parts.importers.account import bad
from rtqual.parts.importers.invocation import COMMAND, Invocation
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit, thread_cpus
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Kind, Measurement, Series

LINE = re.compile(
    r"T:\s*(\d{1,4}) \(\s*(\d{1,12})\) P:\s*(\d{1,3}) I:\s*(\d{1,12}) C:\s*(\d{1,15}) "
    r"Min:\s*(\d{1,15}) Act:(\s*\d{1,15}) Avg:\s*(\d{1,15}) Max:\s*(\d{1,15})(?!\d)",
    re.ASCII,
)
_WIDTHS = {8: "ns", 5: "us"}  # of the figure after "Act:", padded: print_stat() makes it wider under -N
UNTOLD = (
    "percentiles: only the smallest, the average and the largest sample are there",
    "the samples: nothing is known of their distribution, order or drift",
    "the kernel, the machine and the program's version",
)


@dataclass(frozen=True)
class _Line:
    number: int
    thread: int
    task: str
    priority: int
    interval_us: int
    cycles: int
    low: int
    avg: int
    high: int
    unit: str | None  # as the padding tells

    def may_become(self, later: "_Line") -> bool:
        """Whether `later` can be the same run's line, shown again."""
        if self.cycles == 0:  # a first screen, drawn before the thread ran: no task yet
            return True
        if later.task != self.task or later.cycles < self.cycles:
            return False
        if later.cycles == self.cycles:
            return (later.low, later.avg, later.high) == (self.low, self.avg, self.high)
        return later.low <= self.low and later.high >= self.high


def read(source: Source, unit: str | None) -> list[Reading]:
    path = source.path
    runs: list[dict[int, _Line]] = [{}]
    command: Invocation | None = None
    for number, text in source.lines(cyclictest_lines.OWN):
        found = [] if LINE.sub("", text).strip() else list(LINE.finditer(text))
        for match in found:
            line = _line(number, match)
            before = runs[-1].get(line.thread)
            if before is not None and not before.may_become(line):
                runs.append({})
            runs[-1][line.thread] = line
        if found:
            source.use()
        elif cyclictest_lines.HISTOGRAM.fullmatch(text):
            source.skip("a line of the histogram, which --format cyclictest-histogram reads")
        else:
            command = cyclictest_lines.take(source, number, text) or command
    if not runs[0]:
        raise bad(path, None, "no line 'T: 0 (...) ... Min: ... Max: ...' in it: give the output of cyclictest -q")
    told = command if len(runs) == 1 else None  # whose it is of several is not known
    return [_reading(path, run, told, unit, source.unfinished) for run in runs]


def _line(number: int, match: re.Match[str]) -> _Line:
    act = match[7]
    return _Line(
        number=number,
        thread=int(match[1]),
        task=match[2],
        priority=int(match[3]),
        interval_us=int(match[4]),
        cycles=int(match[5]),
        low=int(match[6]),
        avg=int(match[8]),
        high=int(match[9]),
        unit=_WIDTHS.get(len(act)) if len(act) > len(act.strip()) + 1 else None,
    )


def _reading(
    path: Path, run: dict[int, _Line], command: Invocation | None, asked: str | None, unfinished: int | None
) -> Reading:
    numbers = sorted(run)
    unit, assumed = _unit(path, run, command, asked)
    unit_ns = UNITS_NS[unit]
    cpus, by_number = thread_cpus(numbers, command.cpus(max(numbers) + 1) if command else None)
    problems = []
    series = []
    for number in numbers:
        line = run[number]
        if line.cycles and not line.low <= line.avg <= line.high:
            problems.append(f"cyclictest thread {number}: minimum, average and maximum are not in order")
        if line.number == unfinished:
            problems.append(f"cyclictest thread {number}: its line has no end: the maximum may be cut")
        reported = {"n": line.cycles, "min": line.low * unit_ns, "avg": line.avg * unit_ns, "max": line.high * unit_ns}
        told = reported if line.cycles else {}
        series.append(Series.counted({}, Kind.SUMMARY, name="latency", cpu=cpus[number], reported=told))
    first = run[numbers[0]]
    if command:
        problems += command.contradictions([run[number].cycles for number in numbers])
        problems += _settings(command, first)
    return Reading(
        instrument="cyclictest",
        measurement=Measurement(tuple(series), resolution(unit_ns), tuple(problems)),
        parameters={"interval": first.interval_us * 1_000, "priority": first.priority},
        command=command.argv if command else (),
        cpus=len(numbers),
        assumed=(*assumed, *by_number),
        untold=UNTOLD,
    )


def _settings(command: Invocation, first: _Line) -> list[str]:
    """Where the lines are not those of the command line."""
    told = {"interval": first.interval_us * 1_000, "priority": first.priority}
    return [
        f"its command line asks for {name} {value}, its lines have {told[name]}"
        for name, value in command.parameters.items()
        if told[name] != value
    ]


def _unit(
    path: Path, run: dict[int, _Line], command: Invocation | None, asked: str | None
) -> tuple[str, tuple[str, ...]]:
    """The unit, told by the command line or the figures' padding, else as asked, else the default."""
    if command:
        return settle_unit(path, asked, command.unit, COMMAND)
    padded = {line.unit for line in run.values() if line.unit}
    return settle_unit(path, asked, padded.pop() if len(padded) == 1 else None, "the padding of 'Act:'")
