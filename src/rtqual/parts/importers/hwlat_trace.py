# SPDX-License-Identifier: MIT
"""The trace of the kernel's hwlat tracer, as hwlatdetect reads it: every window with a gap over the threshold.

    <...>-3638  [001] d... 19452.055471: #1     inner/outer(us):   12/14    ts:1499801089.066141940
    <...>-1729  [001] d...   689.556542: #6     inner/outer(us):    8/9     ts:1581527489.12 nmi-total:4 nmi-count:1

The gap is the longer of the two: inside of a turn of its loop, or from one turn to the next. Mails and books wrap it.
"""

import re

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_BEGUN = re.compile(r"\s*\S.{0,40}-\d{1,10} +\[\d{1,5}\](?: +[^\s:\d]\S{0,16})? +\d{1,12}\.\d{1,9}: +#\d.*", re.ASCII)
_SAMPLE = re.compile(
    r"\s*\S.{0,40}-\d{1,10} +\[(?P<cpu>\d{1,5})\](?: +[^\s:\d]\S{0,16})? +\d{1,12}\.\d{1,9}: +#(?P<number>\d{1,12}) +"
    r"inner/outer\(us\): +(?P<inner>\d{1,12})/(?P<outer>\d{1,12}) +ts: ?\d{1,12}\.\d{1,9}(?: +count:\d{1,12})?"
    r"(?: +nmi-total:\d{1,15})?(?P<nmi> +nmi-count:\d{1,12})?\s*",
    re.ASCII,
)
_OWN = re.compile(r".*inner/outer|\s*\d+/\d+ +ts:|\s*ts:")


def read(source: Source, _unit: str | None) -> list[Reading]:
    gaps: dict[int, list[int]] = {}
    numbers: list[int] = []
    above, interrupted, wrapped = Above(), 0, ""
    for number, line in source.lines(_OWN):
        match = _SAMPLE.fullmatch(f"{wrapped.rstrip()} {line.lstrip()}" if wrapped else line)
        if wrapped and not match:
            raise bad(source.path, number, "not the rest of the sample above it: the trace is damaged; give all of it")
        if not match and not (_BEGUN.fullmatch(line) and "inner/outer(us):" in line):
            if line.lstrip().startswith("#"):
                source.skip("a heading")
            continue
        if numbers or wrapped:
            source.use()
        else:
            above = source.begin()
        wrapped = "" if match else line
        if match:
            gaps.setdefault(int(match["cpu"]), []).append(max(int(match["inner"]), int(match["outer"])))
            numbers.append(int(match["number"]))
            interrupted += bool(match["nmi"])
    if wrapped:
        raise bad(source.path, None, "its last sample has no end: it was cut off; give the whole trace")
    if not gaps:
        raise bad(source.path, None, "no sample 'inner/outer(us):' in it: give the trace")
    problems = []
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        problems.append("samples are missing, or are of two runs: their numbers do not follow")
    return [
        Reading(
            instrument="hwlat",
            measurement=Measurement(
                tuple(
                    Series.raw([us * 1_000 for us in some], name="gap", cpu=cpu) for cpu, some in sorted(gaps.items())
                ),
                {"gaps beside an NMI": Scalar(value=interrupted, unit="1"), **resolution(1_000)},
                tuple(problems),
            ),
            cpus=len(gaps),
            untold=("gaps below its threshold, and the threshold", "what made a gap: it says when, not why"),
            above=above,
        )
    ]


FORMAT = Format("hwlat-trace", "a trace of the kernel's hwlat", mark(r"\[\d+\].*: +#\d+ +inner/outer\(us\):"), read)
