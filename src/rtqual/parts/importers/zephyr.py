# SPDX-License-Identifier: MIT
"""Zephyr's latency_measure: what each of the kernel's operations costs on average; and Thread-Metric of any system:
how often a test's loop ran in each period.

    thread.yield.preemptive.ctx.k_to_k   - Context switch via k_yield   :   329 cycles ,   2741 ns :
    **** Thread-Metric Preemptive Scheduling Test **** Relative Time: 30
    Time Period Total:  12345678
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_FIGURE = re.compile(
    r"\s*(?P<name>[A-Za-z][\w.+]{2,60}?)\s+-\s+(?P<what>\S[^:]{0,100}?)\s*:\s*(?P<cycles>\d{1,15}) cycles ?,\s*"
    r"(?P<ns>\d{1,15}) ns\s*:?\s*(?P<note>FAIL[^:]{0,80})?\s*",
    re.ASCII,
)
_OLD = re.compile(
    r"\s*(?P<what>[A-Za-z(][^:]{5,100}?)\s*:\s*(?P<cycles>\d{1,15}) cycles ?,\s*(?P<ns>\d{1,15}) ns\s*:?\s*"
    r"(?P<note>FAIL[^:]{0,80})?\s*",
    re.ASCII,
)
_OTHER = re.compile(
    r"\s*(\*\*\* Booting .{1,120} \*\*\*|-+\||[=*-]{3,}|\|?-+\|?|(Running|START|PASS|TESTSUITE|SUITE|Timing "
    r"results:).*|"
    r"PROJECT EXECUTION SUCCESSFUL|\| *(Measurement|Timing).*)\s*"
)
_VERSION = re.compile(r"\*\*\* Booting (Zephyr OS \S*.{0,80}?) \*\*\*")
_OWN = re.compile(r"\s*\S.*\d+ cycles ?,")
_TITLE = re.compile(r"\s*\*{4} (?:Thread-Metric )?(.{3,60}?) Test \*{4}\s+Relative Time:\s*(\d{1,9})\s*", re.ASCII)
_TOTAL = re.compile(r"\s*Time Period Total:\s+(\d{1,18})\s*", re.ASCII)
_DETAIL = re.compile(r"\s*(tm_\w+|[\w ]{2,40} [Cc]ounter\w*|Average\b.{0,40}):?\s+\d{1,18}\s*", re.ASCII)


def read(source: Source, _unit: str | None) -> list[Reading]:
    scalars: dict[str, Scalar] = {}
    above, version = Above(), ""
    problems: list[str] = []
    for number, line in source.lines(_OWN):
        if match := _FIGURE.fullmatch(line) or _OLD.fullmatch(line):
            name = one_line(match.groupdict().get("name") or " ".join(match["what"].split()))
            if name in scalars:
                what = f"{name[:60]!r} a second time: two runs in one file; split it"
                raise bad(source.path, number, what)
            if scalars:
                source.use()
            else:
                above = source.begin()
            if match.groupdict().get("note"):
                problems.append(f"{name} failed")
                continue
            scalars[name] = Scalar(value=int(match["ns"]), unit="ns")
        elif _OTHER.fullmatch(line):
            if match := _VERSION.search(line):
                version = one_line(match[1].strip())
            source.skip("a heading")
    if not scalars:
        raise bad(source.path, None, "no line '... : N cycles , N ns' in it: give latency_measure's output")
    return [
        Reading(
            instrument="zephyr-latency_measure",
            measurement=Measurement((), scalars, tuple(problems)),
            cpus=1,
            kernel=version or None,
            untold=("samples and extremes: it prints averages", "the clock that it counts, and whether it was tested"),
            above=above,
        )
    ]


@dataclass
class _Periods:
    above: Above
    test: str
    times: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)


def read_thread_metric(source: Source, _unit: str | None) -> list[Reading]:
    """A record a test, of the totals of its periods."""
    runs: list[_Periods] = []
    for number, line in source.lines(re.compile(r"\s*Time Period")):
        if match := _TITLE.fullmatch(line):
            if not int(match[2]):
                raise bad(source.path, number, "a relative time of 0: no period had passed; give the whole output")
            if runs and runs[-1].test == match[1] and int(match[2]) > runs[-1].times[-1]:
                source.use()
            else:
                runs.append(_Periods(source.begin(), match[1]))
            runs[-1].times.append(int(match[2]))
        elif match := _TOTAL.fullmatch(line):
            if not runs or len(runs[-1].totals) >= len(runs[-1].times):
                raise bad(
                    source.path, number, "a total without its title above: lines are missing; give the whole output"
                )
            runs[-1].totals.append(int(match[1]))
            source.use()
        elif _DETAIL.fullmatch(line):
            source.skip("a part of a total")
    found = [run for run in runs if run.totals]
    if not found:
        raise bad(source.path, None, "no line 'Time Period Total:' in it: give the whole output")
    return [_metric(run) for run in found]


def _metric(run: _Periods) -> Reading:
    steps = {later - earlier for earlier, later in zip([0, *run.times], run.times, strict=False)}
    problems = [] if len(run.totals) == len(run.times) else ["its last period has no total: the file is cut"]
    if len(steps) > 1:
        problems.append("its periods are not equally long")
    if not all(run.totals):
        problems.append("a period in which its loop never ran")
    period_s = max(steps)
    name = "-".join(one_line(run.test).lower().split())
    return Reading(
        instrument=f"thread-metric-{name}",
        measurement=Measurement(
            (Series.raw(run.totals, name="loops a period", unit="1"),),
            {"loops a second": Scalar(value=sum(run.totals) / len(run.totals) / period_s, unit="1/s")},
            tuple(problems),
        ),
        parameters={"period": period_s * 1_000_000_000},
        wall_s=float(run.times[-1]),
        untold=("latencies: it counts how often a loop ran", "the system and its version"),
        above=run.above,
    )


LATENCY_MEASURE = Format("zephyr", "Zephyr's latency_measure", mark(r":\s*\d+ cycles ?,\s*\d+ ns"), read)
THREAD_METRIC = Format(
    "thread-metric", "Thread-Metric", mark(r"^\s*\*{4} .* Test \*{4}\s+Relative Time:"), read_thread_metric
)
