# SPDX-License-Identifier: MIT
"""cyclictest's text histogram (-h, -H, --histfile), also bare rows that a script cut out of one.

A row is a bin and a count a thread; -H adds a column with their sum, and a sum or maximum to some of the footer's
lines only: "Min Latencies" and "Avg Latencies" never have one. Rows of zeros may be filtered away; rt-tests 1.x
prints no "Total"; manuals show the footer above the rows. A damaged row at the end is a cut file, in the middle an
error.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.parts.importers import cyclictest_lines, cyclictest_summary, invocation
from rtqual.parts.importers.file_account import Above, bad, refuse_damage
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.invocation import COMMAND, Invocation
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit, thread_cpus
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import LARGEST, Tally
from rtqual.protocols.record.schema import Measurement

_ROW = re.compile(r"\s*(\d{6,9})((?:\s+\d{1,18})+)\s*", re.ASCII)
_FOOTER = re.compile(
    r"\s*#\s*(Total|Min Latencies|Avg Latencies|Max Latencies|Histogram Overflows):((?:\s+\d{1,18})*)\s*", re.ASCII
)
_THREAD = re.compile(r"\s*# Thread (\d{1,4}):((?: \d{1,10})*) *(?:# (\d{1,10}) others)?\s*", re.ASCII)
_SAMPLE = re.compile(r"[ \t]{2,}\d{1,4}:[ \t]*\d{1,15}:[ \t]*\d{1,15}[ \t]*", re.ASCII)
_HEADER = re.compile(r"\s*# Histogram\s*")
_PER_THREAD = ("Min Latencies", "Avg Latencies")  # lines that never have a summary column
UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "the program's version and whether its threads had their priority",
)
_NO_TOTAL = "how many samples there were: without a line 'Total' a lost row shows in the average only"


@dataclass
class _Run:
    """One histogram, as its lines come in."""

    line: int
    above: Above = field(default_factory=Above)
    footer_first: bool = False
    rows: dict[int, tuple[int, ...]] = field(default_factory=dict)  # those with samples only
    columns: int = 0
    last_bin: int = -1
    footer: dict[str, list[int]] = field(default_factory=dict)
    threads_named: int = 0
    overflows_listed: dict[int, int] = field(default_factory=dict)  # by thread, where any are
    row_count: int = 0
    empty_rows: bool = False
    first_bin: int = -1
    problems: list[str] = field(default_factory=list)
    cut: tuple[int, str] | None = None  # a row unlike the others: an error, unless nothing follows

    @property
    def begun(self) -> bool:
        return bool(self.columns or self.footer)

    @property
    def command(self) -> Invocation | None:
        return invocation.find(self.above.command("cyclictest"))

    def ends_before(self, row: re.Match[str] | None, footer: re.Match[str] | None, *, header: bool) -> bool:
        """Whether a line of figures, or a header, is the next run's."""
        if row:
            return int(row[1]) < self.last_bin or bool(self.columns and self.footer and not self.footer_first)
        return footer[1] in self.footer if footer else header and bool(self.columns)


def read(source: Source, unit: str | None) -> list[Reading]:
    path = source.path
    runs = list(_runs(source))
    filled = [run for run in runs if run.columns or run.footer]
    if not filled:
        raise bad(path, None, "a histogram's header without rows or footer: the run was cut off; give a whole file")
    return [_reading(path, run, unit) for run in filled]


def _runs(source: Source) -> Iterator[_Run]:
    run = _Run(1)
    for number, line in source.lines(cyclictest_lines.OWN):
        row, footer = _ROW.fullmatch(line), _FOOTER.fullmatch(line)
        if run.ends_before(row, footer, header=bool(_HEADER.fullmatch(line))):
            yield run
            run = _Run(number)
        if row or footer:
            if run.begun:
                source.use()
            else:
                run.above = source.begin()
                run.footer_first = bool(footer)
        if row:
            _add_row(source.path, number, run, int(row[1]), tuple(map(int, row[2].split())))
        elif footer:
            refuse_damage(source.path, run.cut)
            run.footer[footer[1]] = [int(value) for value in footer[2].split()]
        elif match := _THREAD.fullmatch(line):
            run.threads_named += 1
            if match[2]:
                run.overflows_listed[int(match[1])] = len(match[2].split()) + int(match[3] or 0)
            source.use()
        elif _SAMPLE.fullmatch(line):
            source.skip("a sample of -v, which the histogram holds")
        elif cyclictest_summary.LINE.fullmatch(line.strip()):
            source.skip("a line of -q, which the footer says again")
        else:
            cyclictest_lines.take(source, number, line)
    yield run


def _add_row(path: Path, number: int, run: _Run, bin_: int, counts: tuple[int, ...]) -> None:
    refuse_damage(path, run.cut)
    run.columns = run.columns or len(counts)
    if len(counts) != run.columns:
        run.cut = (number, f"{len(counts)} counts where the rows before have {run.columns}")
        return
    if bin_ == run.last_bin:
        raise bad(path, number, f"bin {bin_} a second time: the file is damaged or joined from two; split it by runs")
    if max(counts) >= LARGEST:
        raise bad(path, number, f"a count of {max(counts)}: this is no cyclictest histogram")
    run.last_bin = bin_
    run.first_bin = bin_ if run.first_bin < 0 else run.first_bin
    run.row_count += 1
    run.empty_rows = run.empty_rows or not any(counts)
    if any(counts):
        run.rows[bin_] = counts


def _reading(path: Path, run: _Run, unit: str | None) -> Reading:
    command = run.command
    if run.cut:
        run.problems.append(f"line {run.cut[0]} is cut: {run.cut[1]}")
    threads = _thread_count(path, run)
    told_unit, assumed = settle_unit(path, unit, command.unit if command else None, COMMAND)
    unit_ns = UNITS_NS[told_unit]
    cpus, by_number = thread_cpus(list(range(threads)), command.cpus(threads) if command else None)
    problems = [*run.problems, *_summary_problems(run, threads), *_gaps(run)]
    tallies = [_tally(run, thread) for thread in range(threads)]
    if command:
        problems += command.contradictions([tally.samples or tally.binned for tally in tallies])
    for thread, tally in enumerate(tallies):
        problems += [f"cyclictest thread {thread}: {text}" for text in tally.problems()]
        listed = run.overflows_listed.get(thread)
        if listed is not None and tally.overflow is not None and listed != tally.overflow:
            problems.append(f"cyclictest thread {thread}: {tally.overflow} samples overflowed, but {listed} are listed")
    series = tuple(tally.series("latency", unit_ns, cpus[thread]) for thread, tally in enumerate(tallies))
    return Reading(
        instrument="cyclictest",
        measurement=Measurement(series, resolution(unit_ns), tuple(problems)),
        parameters=command.parameters if command else {},
        command=command.argv if command else (),
        cpus=threads,
        assumed=(*assumed, *by_number),
        untold=UNTOLD if "Total" in run.footer else (*UNTOLD, _NO_TOTAL),
        above=run.above,
    )


def _gaps(run: _Run) -> list[str]:
    """Rows of zeros are all printed or all filtered away: between them none is missing."""
    missing = run.last_bin - run.first_bin + 1 - run.row_count
    return [f"{missing} rows between the first and the last are missing"] if run.empty_rows and missing > 0 else []


def _thread_count(path: Path, run: _Run) -> int:
    """How many of the columns are threads: all, or all but -H's summary."""
    footers = {len(run.footer[name]) for name in _PER_THREAD if run.footer.get(name)}
    told = footers or ({run.threads_named} if run.threads_named else set())
    if not run.columns:  # the rows were filtered away, only the footer is left
        columns = max(map(len, run.footer.values()), default=0)
        told = told or {columns}
    if len(told) > 1:
        raise bad(path, run.line, "its footer's lines name different numbers of threads: the file is damaged")
    if told:
        threads = told.pop()
        if threads < 1 or (run.columns and run.columns not in (threads, threads + 1)):
            raise bad(
                path,
                run.line,
                f"{run.columns} columns of counts, but a footer for {threads} threads: the file is damaged",
            )
        return threads
    # No footer: a last column that is always the sum of two or more others is -H's summary.
    summed = run.columns > 2 and bool(run.rows) and all(sum(row[:-1]) == row[-1] for row in run.rows.values())
    return run.columns - 1 if summed else run.columns


def _tally(run: _Run, thread: int) -> Tally:
    def told(name: str) -> int | None:
        values = run.footer.get(name, [])
        return values[thread] if thread < len(values) else None

    counts = {bin_: row[thread] for bin_, row in run.rows.items()}
    total, overflow = told("Total"), told("Histogram Overflows")
    if not overflow and not any(counts.values()) and (total == 0 or (total is None and run.columns)):
        return Tally({}, binned=0)  # a thread without samples has cyclictest's starting values: min 1000000, max 0
    limit = run.command.histogram_limit if run.command else None
    seen = run.last_bin + 1 if run.columns else None
    return Tally(
        counts,
        binned=total,
        overflow=overflow,
        limit=max(limit or 0, seen) if seen is not None else limit,
        low=told("Min Latencies"),
        avg=told("Avg Latencies"),
        high=told("Max Latencies"),
    )


def _summary_problems(run: _Run, threads: int) -> list[str]:
    """Where -H's summary is not the sum, or maximum, of the threads."""
    problems = []
    if run.columns > threads:
        wrong = [bin_ for bin_, row in run.rows.items() if sum(row[:threads]) != row[threads]]
        if wrong:
            problems.append(f"the summary column is not the sum of the threads in {len(wrong)} bins, first {wrong[0]}")
    for name, values in run.footer.items():
        expected = max(values[:threads], default=0) if name == "Max Latencies" else sum(values[:threads])
        if len(values) < threads:
            problems.append(f"its footer's line {name!r} has figures for {len(values)} of {threads} threads")
        elif len(values) > threads and (len(values) > threads + 1 or values[threads] != expected):
            problems.append(f"the summary in its footer's line {name!r} does not follow from the threads")
    return problems


FORMAT = Format(
    "cyclictest-histogram",
    "cyclictest -h or -H",
    mark(r"^\s*\d{6,9}(\s+\d{1,18})+\s*$|^\s*# (Histogram|Min Latencies:|Max Latencies:)"),
    read,
    has_unit=True,
)
