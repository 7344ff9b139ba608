# SPDX-License-Identifier: MIT
"""Xenomai's latency and klatency, EVL's latmus, and RTAI's latency: a row of figures a second, and a sum (RTS).

    RTT|  00:00:01  (periodic user-mode task, 1000 us period, priority 99)
    RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst
    RTD|      4.374|      5.512|     22.140|       0|     0|      4.374|     22.140
    RTS|      4.374|      5.850|     49.833|       0|     0|    00:00:02/00:00:02

A run that was interrupted has no sum: its rows tell the extremes, and the mean of their averages. Figures below zero
are right: the core sets its timers early by its gravity.
"""

import math
import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

_CELL = r"\s*-?\d{1,9}(?:\.\d{1,3})?\s*"
_TITLE = re.compile(
    r"\s*RTT\|\s*(\d{2,5}):(\d\d):(\d\d)\s*\((?:(?P<what>[a-z -]+?)(?: task)?,\s*)?(?P<period>\d{1,9}) us(?: period)?"
    r"(?:, (?:1|one) thread)?(?:, priority (?P<priority>\d{1,3}))?(?:, CPU ?(?P<cpu>\d{1,4})\S{0,12})?\)\s*",
    re.ASCII | re.IGNORECASE,
)
_HEADER = re.compile(r"\s*RTH\|[-\s]*lat min\|.*", re.ASCII)
_ROW = re.compile(rf"\s*(?:\^C)?\s*RTD\|({_CELL}(?:\|{_CELL})*)", re.ASCII)
_SUM = re.compile(
    rf"\s*RTS\|({_CELL}(?:\|{_CELL}){{3,4}})\|\s*(?:(\d{{2,5}}):(\d\d):(\d\d)/\d{{2,5}}:\d\d:\d\d|{_CELL}(?:\|{_CELL})?)\s*",
    re.ASCII,
)
_SETTING = re.compile(
    r"\s*(== .*|# (?:period|avrgtime) = \d+ \(\w+\)|"
    r"-+\|[-|]*|warming up(?: on CPU\S*)?\.*.*|HS[HDS]\|.*|-+\|--param\|.*|\* \S.*|RTAI Testsuite.*|"
    r"---\|.*)\s*",
    re.ASCII | re.IGNORECASE,
)
_OWN = re.compile(r"\s*RT[TDS]\|", re.ASCII)
_UNIT = re.compile(r"all (?:results|data) in (nano|micro)seconds", re.IGNORECASE)
_MODE = re.compile(r"\s*== Test mode: (.+?)\s*", re.IGNORECASE)
_PERIOD = re.compile(
    r"\s*(?:== Sampling period: (\d{1,9}) us|# period = (\d{1,6})000 \(ns\))\s*", re.IGNORECASE | re.ASCII
)
_KINDS = (("handler", "irq"), ("irq", "irq"), ("kernel", "kernel"), ("user", "user"))
UNTOLD = (
    "percentiles, and how many samples there were: it prints seconds",
    "the core's gravity: whether the figures are what is left of a wake-up after that correction",
    "which core it was, its version and the CPU",
)


@dataclass
class _Run:
    above: Above
    titles: list[str]
    kind: str = ""
    period_us: int | None = None
    priority: int | None = None
    cpu: int | None = None
    unit_ns: int = 1_000
    rtai: bool = False
    latmus: bool = False
    rows: list[list[float]] = field(default_factory=list)
    total: list[float] | None = None
    seconds: int | None = None


def read(source: Source, _unit: str | None) -> list[Reading]:  # noqa: PLR0912 - a branch a kind of line
    runs: list[_Run] = []
    said: dict[str, str] = {}
    for number, line in source.lines(_OWN):
        if match := _TITLE.fullmatch(line):
            if not runs or runs[-1].total or not _same(runs[-1], match):
                runs.append(_begun(source.begin(), said))
                _settle(runs[-1], match)
            else:
                source.use()
        elif match := _ROW.fullmatch(line):
            if not runs or runs[-1].total:
                runs.append(_begun(source.begin(), said))
            else:
                source.use()
            cells = [float(cell) for cell in match[1].split("|")]
            at = 5 if runs[-1].rtai else 3
            if (
                len(cells) <= at
                or math.copysign(1, cells[at]) < 0
                or (runs[-1].rows and len(cells) != len(runs[-1].rows[0]))
            ):
                raise bad(
                    source.path, number, "a row unlike the others, or a number of overruns that is none: it is damaged"
                )
            runs[-1].rows.append(cells)
        elif match := _SUM.fullmatch(line):
            if not runs or runs[-1].total:
                runs.append(_begun(source.begin(), said))
            else:
                source.use()
            runs[-1].total = [float(cell) for cell in match[1].split("|")]
            if math.copysign(1, runs[-1].total[3]) < 0:
                raise bad(source.path, number, "a number of overruns that is none: the file is damaged")
            if match[2]:
                runs[-1].seconds = (int(match[2]) * 60 + int(match[3])) * 60 + int(match[4])
            said = {}
        elif _HEADER.fullmatch(line):
            if "ovl min" in line:
                said["rtai"] = "yes"
                if runs and not runs[-1].rows:
                    runs[-1].rtai = True
            source.skip("a heading")
        elif _SETTING.fullmatch(line):
            for name, pattern in (("mode", _MODE), ("period", _PERIOD)):
                if match := pattern.fullmatch(line):
                    said[name] = match[match.lastindex or 1]
            if match := _UNIT.search(line):
                said["unit"] = match[1].lower()
            source.skip("a setting")
    found = [run for run in runs if run.rows or run.total]
    if not found:
        raise bad(source.path, None, "no row 'RTD|' or 'RTS|' with figures in it: give the output of latency or latmus")
    return [_reading(run) for run in found]


_PLOT = re.compile(r"# ([a-z ()]{3,24}|OVERRUNS|IN-BAND SWITCHES): +(\S.{0,300}?)\s*")
_PLOT_BIN = re.compile(r"(\d{1,7})\+? (\d{1,12})\s*", re.ASCII)
_PLOT_KERNEL = re.compile(r"# (Linux version .{1,200}?)\s*")


def read_plot(source: Source, _unit: str | None) -> list[Reading]:  # noqa: PLR0912 - a branch a kind of line
    """latmus -g: its figures in us as comments, and a count for each whole microsecond."""
    said: dict[str, str] = {}
    bins: dict[int, int] = {}
    kernel = ""
    above: Above | None = None
    for number, line in source.lines(re.compile(r"# (min|avg|max) latency|\d")):
        kernel_line, fact, count = (pattern.fullmatch(line) for pattern in (_PLOT_KERNEL, _PLOT, _PLOT_BIN))
        if not (kernel_line or fact or count):
            if line.startswith("# "):
                source.skip("the machine")
            elif _OWN.match(line) or _HEADER.fullmatch(line):
                source.skip("a row of its screen")
            continue
        if above is None:
            above = source.begin()
        else:
            source.use()
        if kernel_line:
            kernel = kernel_line[1].removeprefix("Linux version ")
        elif fact:
            said[fact[1]] = fact[2]
        elif count:
            if int(count[1]) in bins:
                raise bad(source.path, number, f"bin {count[1]} a second time: two plots in one file; split it")
            bins[int(count[1])] = int(count[2])
    try:
        figures = {name: float(said[f"{name} latency"]) for name in ("min", "avg", "max")}
        held = sum(bins.values())
        taken = int(said["sample count"]) if "sample count" in said else held  # told since libevl 8
        period_us = int(said["sampling period"].split()[0])
        priority = int(said["thread priority"])
    except (KeyError, ValueError, IndexError):
        raise bad(
            source.path,
            None,
            "no 'min latency', 'sampling period' or 'thread priority': give latmus's whole plot",
        ) from None
    # Its figures are of whole seconds; its bins have the second that the end cuts off, too.
    problems = [f"its bins hold {held} of {taken} samples"] if held < taken and bins else []
    if not 0 < period_us < 10**9 or not 0 < priority < 100 or not 0 < taken < 10**15:
        raise bad(
            source.path, None, "its period, priority or sample count is none: the plot is damaged; give all of it"
        )
    if not -1e6 < figures["min"] <= figures["avg"] <= figures["max"] < 1e9:
        problems.append("its minimum, average and maximum are not in order, or no latencies")
    filled = [us for us, count in bins.items() if count]
    if filled and not max(figures["min"], 0) - 1 <= min(filled) <= figures["max"]:
        problems.append(
            f"its first bin is {min(filled)} us, its own figures go from {figures['min']} to {figures['max']}"
        )
    elif filled and figures["min"] < 0 < min(filled):
        problems.append(f"its minimum is below zero, its first bin {min(filled)} us")
    reported = {name: value * 1_000 for name, value in figures.items()}
    counts = {us * 1_000 + 500: count for us, count in bins.items() if count}
    binned = figures["min"] >= 0 and bool(counts)
    series = Series.counted(
        counts if binned else {},
        SeriesKind.BINNED if binned else SeriesKind.SUMMARY,
        name="latency",
        reported=reported if binned else {"n": float(taken), **reported},
    )
    kind = _kind(said.get("context", ""))
    return [
        Reading(
            instrument=f"latmus-{kind}" if kind else "latmus",
            measurement=Measurement((series,), resolution(1), tuple(problems)),
            parameters={"interval": period_us * 1_000, "priority": priority},
            cpus=1,
            kernel=kernel or None,
            clocksource=said.get("clocksource"),
            facts={"clock gravity": said["clock gravity"]} if "clock gravity" in said else {},
            untold=("values below a microsecond, and the order of the samples",),
            above=above,
        )
    ]


def _begun(above: Above, said: dict[str, str]) -> _Run:
    run = _Run(above, [], rtai="rtai" in said)
    run.kind = _kind(said.get("mode", ""))
    run.period_us = int(said["period"]) if "period" in said else None
    run.unit_ns = 1 if said.get("unit") == "nano" else 1_000
    return run


def _settle(run: _Run, match: re.Match[str]) -> None:
    run.kind = _kind(match["what"] or "") or run.kind
    run.latmus = (match["what"] or "").lower() in ("user", "kernel", "irq")  # Xenomai writes "periodic user-mode task"
    run.period_us = int(match["period"])
    run.priority = int(match["priority"]) if match["priority"] else None
    run.cpu = int(match["cpu"]) if match["cpu"] else None


def _same(run: _Run, match: re.Match[str]) -> bool:
    """Whether a title, which is printed again every 21 rows, goes on with a run: its time does not start anew."""
    hours, minutes, seconds = (int(part) for part in match.groups()[:3])
    return (hours * 60 + minutes) * 60 + seconds >= len(run.rows) - 1 and (
        run.period_us in (None, int(match["period"]))
    )


def _kind(text: str) -> str:
    return next((kind for word, kind in _KINDS if word in text.lower()), "")


def _reading(run: _Run) -> Reading:
    problems: list[str] = []
    assumed: list[str] = []
    overruns: float | None = None
    switches: float | None = None
    if run.total:
        low, avg, high, overruns = run.total[:4]
        switches = run.total[4] if len(run.total) > 4 else None
    else:
        problems.append("it has no sum (RTS): it was interrupted, or the file is cut off")
        assumed.append("the average is that of its rows' averages")
        rows = run.rows
        if run.rtai:
            low, high = min(row[1] for row in rows), max(row[4] for row in rows)
            avg, overruns = sum(row[2] for row in rows) / len(rows), rows[-1][5]
            problems.clear()  # RTAI's never prints one
        else:
            low = min(row[-2] if len(row) > 5 else row[0] for row in run.rows)  # the best and worst so far
            high = max(row[-1] if len(row) > 5 else row[2] for row in run.rows)
            avg = sum(row[1] for row in run.rows) / len(run.rows)
            overruns = rows[-1][3]
    if not low <= avg <= high:
        problems.append("its minimum, average and maximum are not in order")
    if overruns:
        problems.append(f"{overruns:.0f} overruns: so many periods passed without a sample of their own")
    scalars = {"overruns": overruns, "mode switches": switches}
    told = {"interval": run.period_us and run.period_us * 1_000, "priority": run.priority}
    name = "latmus" if run.latmus or run.above.command("latmus", earlier=True) else "latency"
    return Reading(
        instrument=f"{name}-{run.kind}" if run.kind else name,
        measurement=Measurement(
            (summary("latency", run.cpu, run.unit_ns, min=low, avg=avg, max=high),),
            {
                **{key: Scalar(value=value, unit="1") for key, value in scalars.items() if value is not None},
                **resolution(1),
            },
            tuple(problems),
        ),
        parameters={key: value for key, value in told.items() if value is not None},
        command=tuple((run.above.command(name, earlier=True)).split()),
        cpus=1,
        wall_s=None if run.seconds is None else float(run.seconds),
        assumed=tuple(assumed),
        untold=UNTOLD,
        above=run.above,
    )


PLOT = Format("latmus-plot", "latmus -g: EVL's histogram", mark(r"^# min latency: "), read_plot)
SCREEN = Format("xenomai", "Xenomai's latency, EVL's latmus, RTAI's latency", mark(r"^\s*RT[TDSH]\|"), read)
