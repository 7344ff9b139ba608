# SPDX-License-Identifier: MIT
"""rtla's text histograms: `timerlat hist` (IRQ, thread and user latencies a CPU) and `osnoise hist` (noise a CPU).

A column a CPU and context; CPUs without samples have none. Rows of zeros are left out unless --with-zeros. Below
"over:" come count, min, avg and max of each column, and with newer versions the same again under "ALL:" for all CPUs
together, which is not read. The number and size of the buckets (-E, -b) are not printed.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.parts.importers.file_account import Above, bad, refuse_damage
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import LARGEST, Tally
from rtqual.protocols.record.schema import Measurement

_TITLE = re.compile(r"\s*# RTLA (timerlat|osnoise) histogram\s*")
_UNIT = re.compile(r"\s*# Time unit is \w+ \((ns|us)\)\s*", re.ASCII)
_DURATION = re.compile(r"\s*# Duration:\s+(\d{1,5}) (\d\d):(\d\d):(\d\d)\s*", re.ASCII)
_HEADER = re.compile(r"\s*Index((?:\s+(?:IRQ|Thr|Usr|CPU)-\d{1,5})+)\s*", re.ASCII)
_ROW = re.compile(r"\s*(\d{1,9})((?:\s+\d{1,18})+)\s*", re.ASCII)
_NONE = "18446744073709551615"  # the minimum of no sample, before 6.10
_FOOTER = re.compile(rf"\s*(over|count|min|avg|max):((?:\s+(?:\d{{1,18}}(?:\.\d{{1,6}})?|-|{_NONE}))*)\s*", re.ASCII)
_ALL = re.compile(r"\s*ALL:(\s+(IRQ|Thr|Usr))+\s*")
_MISSED = re.compile(r"\s*(.{1,60}) events missed, results might not be accurate\s*")
_STOPPED = re.compile(r"\s*rtla (timerlat|osnoise) hit stop tracing\s*")  # what caused it stands below
_MOST_COLUMNS = 3 * 4096
_NO_INDEX = re.compile(r"\s*(IRQ|Thr|Usr|CPU)-\d")
_NO_HEADER = "no header 'Index IRQ-000 ...': it ran with --no-header or --no-index, or saw no sample; run it again"
_OWN = re.compile(r"\s*(#|Index\b|ALL:|over:|count:|min:|avg:|max:|\d+\s)", re.ASCII)
# The thread's latency is the one a real-time task sees, so it comes first.
_SERIES = {"Thr": "thread", "IRQ": "irq", "Usr": "user", "CPU": "noise"}
UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "the period and the priority",
)


@dataclass
class _Run:
    line: int
    columns: list[tuple[str, int]]  # (series, CPU)
    unit: str | None
    duration_s: float | None
    above: Above
    rows: dict[int, list[int]] = field(default_factory=dict)
    footer: dict[str, list[str]] = field(default_factory=dict)
    closed: bool = False  # all its own figures were read
    all_cpus: bool = False  # what follows is of all CPUs together
    cut: tuple[int, str] | None = None
    problems: list[str] = field(default_factory=list)


def read(source: Source, unit: str | None) -> list[Reading]:
    path = source.path
    runs = list(_runs(source))
    if not runs:
        raise bad(path, None, _NO_HEADER)
    last = runs[-1]
    if source.unfinished is not None and not last.closed:
        last.problems.append("the file's last line has no end: it may be cut")
    return [_reading(path, run, unit) for run in runs]


def _runs(source: Source) -> Iterator[_Run]:
    run: _Run | None = None
    title = _Title()
    for number, line in source.lines(_OWN):
        if title.take(line, source):
            pass
        elif title.stopped:
            source.skip("rtla's analysis of what stopped it")
        elif match := _HEADER.fullmatch(line):
            if run:
                yield run
            above = title.above or source.begin()
            if title.above:
                source.use()
            run = _Run(number, _columns(source.path, number, match[1]), title.unit, title.duration_s, above)
            title.above = None
        elif run is None:
            if _NO_INDEX.match(line):
                raise bad(source.path, number, _NO_HEADER)
        elif _take(source, run, number, line):
            source.use()
    if run:
        yield run


def _columns(path: Path, number: int, header: str) -> list[tuple[str, int]]:
    names = (name.split("-") for name in header.split())
    columns = [(_SERIES[kind], int(cpu)) for kind, cpu in names]
    if len(set(columns)) < len(columns) or len(columns) > _MOST_COLUMNS:
        raise bad(path, number, "a column twice, or too many: the file is damaged; give the whole file")
    return columns


@dataclass
class _Title:
    """What stands above a table, and whether rtla's analysis of what stopped it has begun."""

    unit: str | None = None
    duration_s: float | None = None
    stopped: bool = False
    above: Above | None = None

    def take(self, line: str, source: Source) -> bool:
        if _TITLE.fullmatch(line):
            self.unit, self.duration_s, self.stopped = None, None, False
            self.above = source.begin()
            return True
        if _STOPPED.fullmatch(line):
            self.stopped = True
        elif match := _UNIT.fullmatch(line):
            self.unit = match[1]
        elif match := _DURATION.fullmatch(line):
            days, hours, minutes, seconds = map(int, match.groups())
            self.duration_s = float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
        else:
            return False
        source.use()
        return True


def _take(source: Source, run: _Run, number: int, line: str) -> bool:
    """A line below a header. Whether it was used; the figures of all CPUs are skipped."""
    path = source.path
    if match := _MISSED.fullmatch(line):
        run.problems.append(f"rtla missed events ({match[1]}): its results might not be accurate")
    elif _ALL.fullmatch(line):
        run.closed = run.all_cpus = True
    elif run.all_cpus and (match := _FOOTER.fullmatch(line)) and match[1] != "over":
        source.skip("a figure of all CPUs together")
        return False
    elif run.closed:
        return False
    elif match := _ROW.fullmatch(line):
        _add_row(path, run, number, int(match[1]), [int(count) for count in match[2].split()])
    elif match := _FOOTER.fullmatch(line):
        refuse_damage(path, run.cut)
        values = match[2].split()
        if match[1] in run.footer:
            raise bad(path, number, f"'{match[1]}:' a second time: the file is damaged; give the whole file")
        if len(values) != len(run.columns):
            run.cut = (number, f"{len(values)} figures for {len(run.columns)} columns")
        else:
            run.footer[match[1]] = values
            run.closed = match[1] == "max"
    else:
        return False
    return True


def _add_row(path: Path, run: _Run, number: int, index: int, counts: list[int]) -> None:
    refuse_damage(path, run.cut)
    if len(counts) != len(run.columns):
        run.cut = (number, f"{len(counts)} counts for {len(run.columns)} columns")
    elif index in run.rows or max(counts) >= LARGEST:
        raise bad(path, number, f"bucket {index} twice, or an impossible count: the file is damaged")
    else:
        run.rows[index] = counts


def _reading(path: Path, run: _Run, asked: str | None) -> Reading:
    if run.cut:
        run.problems.append(f"line {run.cut[0]} is cut: {run.cut[1]}")
    unit, assumed = settle_unit(path, asked, run.unit, "its header")
    unit_ns = UNITS_NS[unit]
    # Buckets start at multiples of their size, which is not printed: it cannot be larger than what divides them all.
    width = math.gcd(*run.rows) or 1
    noise = run.columns[0][0] == "noise"
    seen = [i for i, (name, _) in enumerate(run.columns) if name != "user" or _tally(run, i, width).samples]
    unseen = [f"no latency of the user thread on CPU {cpu}" for i, (_, cpu) in enumerate(run.columns) if i not in seen]
    order = sorted(seen, key=lambda i: (list(_SERIES.values()).index(run.columns[i][0]), i))
    series, problems = [], list(run.problems)
    for column in order:
        name, cpu = run.columns[column]
        tally = _tally(run, column, width)
        series.append(tally.series(name, unit_ns, cpu))
        problems += [f"rtla's {name} on CPU {cpu}: {text}" for text in tally.problems()]
    return Reading(
        instrument="rtla-osnoise" if noise else "rtla-timerlat",
        measurement=Measurement(tuple(series), resolution(unit_ns), tuple(problems)),
        cpus=len({cpu for _, cpu in run.columns}),
        wall_s=run.duration_s,
        above=run.above,
        assumed=(
            *assumed,
            *unseen,
            *((f"its buckets are {width} {unit} wide, as their numbers suggest",) if width > 1 else ()),
        ),
        untold=UNTOLD,
    )


def _tally(run: _Run, column: int, width: int) -> Tally:
    def told(name: str) -> float | None:
        values = run.footer.get(name)
        return None if values is None or values[column] in ("-", _NONE) else float(values[column])

    def whole(name: str) -> int | None:
        value = told(name)
        return None if value is None else int(value)

    counts = {index: row[column] for index, row in run.rows.items()}
    over, count = whole("over"), whole("count")
    return Tally(
        counts,
        width=width,
        binned=None if count is None else count - (over or 0),
        overflow=over,
        low=whole("min"),
        avg=told("avg"),
        high=whole("max"),
    )


FORMAT = Format(
    "rtla",
    "rtla timerlat hist, rtla osnoise hist",
    mark(r"# RTLA (timerlat|osnoise) histogram|^\s*Index(\s+(IRQ|Thr|Usr|CPU)-\d{1,5})+\s*$"),
    read,
    has_unit=True,
)
