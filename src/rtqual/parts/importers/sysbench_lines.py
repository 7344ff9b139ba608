# SPDX-License-Identifier: MIT
"""The lines of sysbench's output: those that hold its figures, and those known to hold none."""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.source import Source

_N = r"\d{1,20}(?:\.\d{1,6})?"
_MS = r"\d{1,20}\.\d\d(?:ms)?"  # always two decimals: fewer, and the line is cut
# A figure that stands once in a run.
_ONCE = {
    name: re.compile(pattern, re.ASCII)
    for name, pattern in {
        "threads": r"Number of threads: +\d{1,9}",
        "primes": r"(Primer? numbers limit|Maximum prime number checked in CPU test): +\d{1,9}",
        "total time": rf"total time: +{_N}s",
        "time elapsed": rf"time elapsed: +{_N}s",  # 1.1
        "eps": rf"events/s \(eps\): +{_N}",
        "events": r"total number of events: +\d{1,15}",
        "min": rf"min: +{_MS}",
        "avg": rf"avg: +{_MS}",
        "max": rf"max: +{_MS}",
        "percentile": rf"(approx\. +)?\d{{1,3}}(th)? percentile: +{_MS}",
        "sum": rf"sum: +{_MS}",
        "execution": rf"total time taken by event execution: +{_N}s?",
        "speed": rf"events per second: +{_N}",
        "operations": rf"(Operations performed|Total operations): +\d+ \( *{_N} (ops/sec|per second)\)",
        "transferred": rf"{_N} Mi?B transferred \({_N} Mi?B/sec\)",
        "requests": rf"{_N} Requests/sec executed",
        "fairness, events": rf"events \(avg/stddev\): +{_N}/{_N}",
        "fairness, time": rf"execution time \(avg/stddev\): +{_N}/{_N}",
        **{name: rf"{re.escape(name)}: +{_N}" for name in
           ("reads/s", "writes/s", "fsyncs/s", "read, MiB/s", "written, MiB/s")},
    }.items()
}  # fmt: skip
_BIN = re.compile(r" *\d{1,6}\.\d{3} \|[* ]{40} \d{1,12}", re.ASCII)
_WITHOUT_DATA = {
    "an intermediate report": re.compile(r"\[ *\d+s *\] .*"),
    "a debug line": re.compile(r"DEBUG: .*"),
    "a total of the files": re.compile(
        rf"Operations performed: +\d+ reads?, \d+ writes?, \d+ Other = \d+ Total|"
        rf"Read {_N}\w* +Written {_N}\w* +Total transferred {_N}\w* +\({_N}\w*/sec\)|"
        rf"\d+ bytes written in {_N} seconds \({_N} \w+/sec\)\.|Removing test files\.*",
        re.ASCII,
    ),
    "a database's figure": re.compile(
        rf"(read|write|other|total|transactions|queries|ignored errors|reconnects|deadlocks|read/write requests|"
        rf"other operations|queries performed): +\d+( +\({_N} per sec\.\))?",
        re.ASCII,
    ),
}
# How lines of figures begin: one that begins so and is none is damaged, wherever it stands.
_OWN = re.compile(
    r"\s*(total (time|number)|time elapsed|min:|avg:|max:|sum:|approx\.|\d+(th)? percentile|events|execution|"
    r"reads/s|writes/s|"
    r"fsyncs/s|read, |written, |Primer? |Maximum prime|events per second|\S+ *Requests/sec|\S+ *Mi?B transferred|"
    r"\d+\.\d+ *[|*]|Operations|Total operations|Number of threads)",
    re.ASCII,
)
_BANNER = re.compile(r"[ \t]*sysbench v?(\d[\w.-]{0,30})(:? .*)?", re.ASCII)
_STARTED = "Threads started!"


@dataclass
class BannerPart:
    """What one banner, or none, stands above: a run, or a preparation. `lines`: those with figures."""

    line: int
    version: str | None = None
    started: bool = False
    finished: bool = False  # it has statistics
    seen: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    above: Above | None = None

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


def parts(source: Source) -> list[BannerPart]:
    """All parts of the file, every line accounted for."""
    found = [BannerPart(1)]
    for number, line in source.lines(_OWN):
        text = line.strip()
        if match := _BANNER.fullmatch(line):
            found.append(BannerPart(number, match[1], above=source.begin()))
        else:
            _take(source, found[-1], number, line, text)
    return found


def _take(source: Source, part: BannerPart, number: int, line: str, text: str) -> None:
    once = next((name for name, pattern in _ONCE.items() if pattern.fullmatch(text)), None)
    if once is not None:
        if once in part.seen:
            what = f"{once!r} a second time in a run: a line is damaged, or the next run's beginning is missing"
            raise bad(source.path, number, f"{what}; split the file")
        part.seen.add(once)
    if once is not None or _BIN.fullmatch(line.rstrip()):
        part.lines.append(line)
        if part.above is None:
            part.above = source.begin()
        else:
            source.use()
        return
    reason = next((reason for reason, known in _WITHOUT_DATA.items() if known.fullmatch(text)), None)
    if text.startswith(_STARTED):
        part.started = True
    if text in ("General statistics:", "Test execution summary:", "Throughput:"):
        part.finished = True
    if reason is not None:
        source.skip(reason)
    elif text and part.version and not part.started and not _OWN.match(line):
        part.lines.append(line)  # it may name the test
        source.skip("a setting")
    elif text and not any(character.isnumeric() for character in text):
        part.lines.append(line)  # a heading, judged as any other line
