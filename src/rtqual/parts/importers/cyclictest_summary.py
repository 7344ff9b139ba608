# SPDX-License-Identifier: MIT
"""cyclictest's line a thread (-q, or its live screen), which other systems' versions of it print as well:

    T: 0 (  612) P:80 I:1000 C:  10000 Min:      5 Act:    9 Avg:    8 Max:      41

A live screen repeats the lines: of a run only the last of each thread counts. A heading, a command or another kernel
between the lines of a thread ends a run.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.parts.importers import cyclictest_lines, invocation
from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format
from rtqual.parts.importers.invocation import COMMAND, Invocation
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit, thread_cpus
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series, SeriesKind

LINE = re.compile(
    r"T: {0,9}(\d{1,4}) {0,9}\( {0,12}(\d{1,12}) {0,9}\) {0,9}(?:P: {0,9}(\d{1,3}) {1,9})?I: {0,12}(\d{1,12}) {1,9}"
    r"C: {0,15}(\d{1,15}) {1,9}Min: {0,15}(\d{1,15}) {1,9}Act:( {0,15}\d{1,15}) {1,9}(?:Avg: {0,15}(\d{1,15}) {1,9})?"
    r"Max: {0,15}(\d{1,15})(?!\d)",
    re.ASCII | re.IGNORECASE,
)
_WIDTHS = {8: "ns", 5: "us"}  # of the figure after "Act:", padded: print_stat() makes it wider under -N
UNTOLD = (
    "percentiles: only the smallest, the average and the largest sample are there",
    "the samples: nothing is known of their distribution, order or drift",
    "the program's version",
)


@dataclass(frozen=True)
class _Line:
    number: int
    thread: int
    task: str
    priority: int | None  # cyclicdeadline has none
    interval_us: int
    cycles: int
    low: int
    avg: int | None  # the first versions print none
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
    runs: list[_Run] = []
    for number, text in source.lines(cyclictest_lines.OWN):
        found = [] if LINE.sub("", text).strip() else [_line(number, match) for match in LINE.finditer(text)]
        begun = len(runs)
        for line in found:
            before = runs[-1].lines.get(line.thread) if runs else None
            other = before is not None and (not before.may_become(line) or (source.account.parted and before.cycles))
            if not runs or other:
                runs.append(_Run())
            runs[-1].lines[line.thread] = line
        if len(runs) > begun:
            runs[begun].above = source.begin()
        elif found:
            source.use()
        elif cyclictest_lines.HISTOGRAM.fullmatch(text):
            source.skip("a line of the histogram, which --format cyclictest-histogram reads")
        else:
            cyclictest_lines.take(source, number, text)
    if not runs:
        raise bad(path, None, "no line 'T: 0 (...) ... Min: ... Max: ...' in it: give the output of cyclictest -q")
    return [_reading(path, run.lines, run.above, unit) for run in runs]


@dataclass
class _Run:
    """The last line of each thread, and what stands above the first."""

    lines: dict[int, _Line] = field(default_factory=dict)
    above: Above = field(default_factory=Above)


def _line(number: int, match: re.Match[str]) -> _Line:
    act = match[7]
    return _Line(
        number=number,
        thread=int(match[1]),
        task=match[2],
        priority=int(match[3]) if match[3] else None,
        interval_us=int(match[4]),
        cycles=int(match[5]),
        low=int(match[6]),
        avg=int(match[8]) if match[8] else None,
        high=int(match[9]),
        unit=_WIDTHS.get(len(act)) if len(act) > len(act.strip()) + 1 else None,
    )


def _reading(path: Path, run: dict[int, _Line], above: Above, asked: str | None) -> Reading:
    numbers, command = sorted(run), invocation.find(above.command("cyclictest"))
    unit, assumed = _unit(path, run, command, asked)
    unit_ns = UNITS_NS[unit]
    cpus, by_number = thread_cpus(numbers, command.cpus(max(numbers) + 1) if command else None)
    problems = []
    series = []
    for number in numbers:
        line = run[number]
        if line.cycles and not line.low <= (line.low if line.avg is None else line.avg) <= line.high:
            problems.append(f"cyclictest thread {number}: minimum, average and maximum are not in order")
        figures = {"min": line.low, "avg": line.avg, "max": line.high}
        reported = {name: value * unit_ns for name, value in figures.items() if value is not None}
        told = {"n": line.cycles, **reported} if line.cycles else {}
        series.append(Series.counted({}, SeriesKind.SUMMARY, name="latency", cpu=cpus[number], reported=told))
    if usual := [number for number in numbers if run[number].priority == 0 and run[number].cycles]:
        problems.append(f"cyclictest thread {usual[0]}: without a real-time priority (P: 0)")
    if not any(line.cycles for line in run.values()):
        problems.append("cyclictest took no sample")
    first = run[numbers[0]]
    if command:
        alike = len({line.interval_us for line in run.values()}) == 1
        problems += command.contradictions([run[number].cycles for number in numbers], alike=alike)
        problems += _settings(command, first)
    return Reading(
        instrument="cyclictest" if first.priority is not None else "cyclicdeadline",
        measurement=Measurement(tuple(series), resolution(unit_ns), tuple(problems)),
        parameters={name: value for name, value in _settings_of(first).items() if value is not None},
        command=command.argv if command else (),
        cpus=len(numbers),
        assumed=(*assumed, *by_number),
        untold=UNTOLD,
        above=above,
    )


def _settings(command: Invocation, first: _Line) -> list[str]:
    """Where the lines are not those of the command line."""
    told = _settings_of(first)
    return [
        f"its command line asks for {name} {value}, its lines have {told[name]}"
        for name, value in command.parameters.items()
        if told[name] != value
    ]


def _settings_of(line: _Line) -> dict[str, int | None]:
    return {"interval": line.interval_us * 1_000, "priority": line.priority}


def _unit(
    path: Path, run: dict[int, _Line], command: Invocation | None, asked: str | None
) -> tuple[str, tuple[str, ...]]:
    """The unit, told by the command line or the figures' padding, else as asked, else the default."""
    if command:
        return settle_unit(path, asked, command.unit, COMMAND)
    padded = {line.unit for line in run.values() if line.unit}
    return settle_unit(path, asked, padded.pop() if len(padded) == 1 else None, "the padding of 'Act:'")


FORMAT = Format("cyclictest-summary", "cyclictest -q: a line a thread", LINE, read, has_unit=True)
