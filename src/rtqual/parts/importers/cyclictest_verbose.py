# SPDX-License-Identifier: MIT
"""cyclictest's verbose output (-v): every sample, as lines of thread:cycle:value.

Two habits of its print_stat(): a value of 0 is printed with the number of an earlier cycle, and -o N prints the
largest of every N samples only. So the cycle numbers tell whether every sample is there.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rtqual.engine.instruments.cyclictest.verbose import BARE, PADDED, samples
from rtqual.parts.importers import cyclictest_lines, cyclictest_summary, invocation
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.invocation import COMMAND, Invocation
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit, thread_cpus
from rtqual.parts.importers.source import Source, cleaned
from rtqual.protocols.record.parquet import Spool
from rtqual.protocols.record.schema import Int64Array, Measurement, Series, SeriesInfo, SeriesKind

UNTOLD = (
    "the last samples of a thread: cyclictest may end before it prints them",
    "the program's version and whether its threads had their priority",
)


@dataclass
class _Thread:
    samples: Spool = field(default_factory=Spool)
    lines: int = 0
    last: int = -1  # the largest cycle number so far

    def add(self, path: Path, thread: int, cycles: Int64Array, values: Int64Array) -> None:
        steps = np.diff(cycles, prepend=self.last)
        back = np.flatnonzero((steps < 0) & (values > 0))
        if len(back):
            raise bad(
                path,
                None,
                f"thread {thread} starts again at cycle {cycles[back[0]]} after {self.last + steps[: back[0]].sum()}: "
                "two runs in one file; split it",
            )
        self.samples.add(values)
        self.lines += len(values)
        self.last = max(self.last, int(cycles.max()))

    def problem(self) -> str | None:
        missing = self.last + 1 - self.lines
        if missing <= 0:
            return None
        return f"{missing} of {self.last + 1} samples are missing: lines were lost, or -o left only maxima"


def read(source: Source, unit: str | None) -> list[Reading]:
    path = source.path
    threads: dict[int, _Thread] = {}
    style: re.Pattern[bytes] | None = None
    ended, lines = True, 0
    for piece in source.blocks():
        ended = piece.endswith(b"\n")
        block = piece[: piece.rfind(b"\n") + 1]  # a line without an end may be cut inside its value
        style = style or next((pattern for pattern in (PADDED, BARE) if pattern.search(block)), None)
        found = samples(block, style or PADDED)
        for thread in np.unique(found[:, 0]).tolist():
            of_thread = found[found[:, 0] == thread]
            threads.setdefault(thread, _Thread()).add(path, thread, of_thread[:, 1], of_thread[:, 2].copy())
        _rest(source, block, style or PADDED, lines, len(found))
        source.account.used += len(found)
        lines += block.count(b"\n")
        if not ended:
            source.account.skipped["a last line without its end"] += 1
    if not threads:
        raise bad(path, None, "no sample in it (thread:cycle:value): give the output of cyclictest -v")
    problems = () if ended else ("the file's last line has no end: the file may be cut",)
    return [_reading(path, threads, invocation.find(source.account.everything().command("cyclictest")), unit, problems)]


def _rest(source: Source, block: bytes, style: re.Pattern[bytes], before: int, samples_found: int) -> None:
    """Account for the lines that are no samples; `before`: lines before the block."""
    left = style.sub(b"", block).split(b"\n")[:-1]
    others = 0
    for number, raw in enumerate(left, before + 1):
        if not raw or raw.isspace():
            continue
        others += 1
        text = cleaned(raw)
        if cyclictest_lines.HISTOGRAM.fullmatch(text) or cyclictest_summary.LINE.fullmatch(text.strip()):
            source.account.skipped["a line of the summary, which other formats read"] += 1
        else:
            cyclictest_lines.take_from(source, number, text)
    if blank := len(left) - others - samples_found:
        source.account.skipped["blank"] += blank
    if source.account.in_doubt and samples_found:
        places = [before + 1 + block.count(b"\n", 0, match.start()) for match in style.finditer(block)]
        source.account.refuse_between(0 if source.account.used else places[0], places[-1])


def _reading(
    path: Path,
    threads: dict[int, _Thread],
    command: Invocation | None,
    unit: str | None,
    cut: tuple[str, ...],
) -> Reading:
    told_unit, assumed = settle_unit(path, unit, command.unit if command else None, COMMAND)
    unit_ns = UNITS_NS[told_unit]
    numbers = sorted(threads)
    cpus, by_number = thread_cpus(numbers, command.cpus(max(numbers) + 1) if command else None)
    series, problems = [], list(cut)
    for number in numbers:
        info = SeriesInfo(name="latency", kind=SeriesKind.RAW, cpu=cpus[number])
        series.append(Series.of_order(threads[number].samples.order().scaled(unit_ns), info))
        problem = threads[number].problem()
        if problem:
            problems.append(f"cyclictest thread {number}: {problem}")
    if command:
        cycles = [threads[number].last + 1 for number in numbers]
        problems += command.contradictions(cycles, may_miss=max(cycles) // 10 + 16)  # it may end before it prints them
    return Reading(
        instrument="cyclictest",
        measurement=Measurement(tuple(series), resolution(unit_ns), tuple(problems)),
        parameters=command.parameters if command else {},
        command=command.argv if command else (),
        cpus=len(numbers),
        assumed=(*assumed, *by_number),
        untold=UNTOLD,
    )


FORMAT = Format(
    "cyclictest-verbose",
    "cyclictest -v: every sample",
    mark(
        r"^[ \t]{2,}\d{1,4}:[ \t]*\d{1,15}:[ \t]*\d{1,15}[ \t]*$|"
        r"(^\d{1,4}:\d{1,15}:\d{1,15}[ \t]*\n){3}"  # where a script took the blanks out
    ),
    read,
    has_unit=True,
)
