# SPDX-License-Identifier: MIT
"""cyclictest's verbose output (-v): every sample, as lines of thread:cycle:value.

Two habits of its print_stat(): a value of 0 is printed with the number of an earlier cycle, and -o N prints the
largest of every N samples only. So the cycle numbers tell whether every sample is there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rtqual.importer import invocation
from rtqual.importer.invocation import COMMAND, Invocation
from rtqual.importer.reading import UNITS_NS, Reading, resolution, settle_unit, thread_cpus
from rtqual.importer.source import bad, blocks, cleaned
from rtqual.record.schema import Int64Array, Kind, Measurement, Series, SeriesInfo

_LINE = rb"\d{1,4}:[ \t]*\d{1,15}:[ \t]*\d{1,15}(?=[ \t]*\r?$)"
# cyclictest pads its figures; where a script took the blanks out, a time of day looks like a sample.
_PADDED, _BARE = (re.compile(start + _LINE, re.MULTILINE) for start in (rb"^[ \t]{2,}", rb"^"))
UNTOLD = (
    "the last samples of a thread: cyclictest may end before it prints them",
    "the kernel, the machine, the program's version and whether its threads had their priority",
)


@dataclass
class _Thread:
    values: list[Int64Array] = field(default_factory=list)
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
        self.values.append(values)
        self.lines += len(values)
        self.last = max(self.last, int(cycles.max()))

    def problem(self) -> str | None:
        missing = self.last + 1 - self.lines
        if missing <= 0:
            return None
        return f"{missing} of {self.last + 1} samples are missing: lines were lost, or -o left only maxima"


def read(path: Path, unit: str | None) -> list[Reading]:
    threads: dict[int, _Thread] = {}
    command: Invocation | None = None
    style: re.Pattern[bytes] | None = None
    ended = True
    for piece in blocks(path):
        ended = piece.endswith(b"\n")
        block = piece[: piece.rfind(b"\n") + 1]  # a line without an end may be cut inside its value
        style = style or next((one for one in (_PADDED, _BARE) if one.search(block)), None)
        samples = _samples(block, style or _PADDED)
        for thread in np.unique(samples[:, 0]).tolist():
            of_thread = samples[samples[:, 0] == thread]
            threads.setdefault(thread, _Thread()).add(path, thread, of_thread[:, 1], of_thread[:, 2].copy())
        command = command or next(_commands(block), None)
    if not threads:
        raise bad(path, None, "no sample in it (thread:cycle:value): give the output of cyclictest -v")
    problems = () if ended else ("the file's last line has no end: the file may be cut",)
    return [_reading(path, threads, command, unit, problems)]


def _samples(block: bytes, style: re.Pattern[bytes]) -> Int64Array:
    """(N, 3): thread, cycle, value. Whatever is not a whole sample's line is left out."""
    found = style.findall(block)
    numbers = b" ".join(found).replace(b":", b" ")
    return np.fromstring(numbers.decode("ascii"), dtype=np.int64, sep=" ").reshape(-1, 3)


def _commands(block: bytes) -> Iterator[Invocation]:
    start = block.find(b"cyclictest")
    if start >= 0:
        begin = block.rfind(b"\n", 0, start) + 1
        found = invocation.find(cleaned(block[begin : start + 4096].split(b"\n", 1)[0]))
        if found:
            yield found


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
        values = np.concatenate(threads[number].values) * unit_ns
        info = SeriesInfo(name="latency", kind=Kind.RAW, cpu=cpus[number])
        series.append(Series(info, values, np.ones(len(values), np.int64)))
        problem = threads[number].problem()
        if problem:
            problems.append(f"cyclictest thread {number}: {problem}")
    return Reading(
        instrument="cyclictest",
        measurement=Measurement(tuple(series), resolution(unit_ns), tuple(problems)),
        parameters=command.parameters if command else {},
        command=command.argv if command else (),
        cpus=len(numbers),
        assumed=(*assumed, *by_number),
        untold=UNTOLD,
    )
