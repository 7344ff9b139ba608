# SPDX-License-Identifier: MIT
"""perf sched: `latency` (a row a task) and `timehist` (a row a switch), of the time from wake-up to running.

ps:20861              |      7.376 ms |       12 | avg:    0.283 ms | max:    2.774 ms | max at: 25989955.091678 s
 991963.885740 [0001]  sleep[16999]                     1000.104      0.006      0.269
"""

import re

from rtqual.parts.importers.file_account import Above, bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series

_ROW = re.compile(
    r"\s*(?P<task>\S.{0,64}?)\s*\|\s*(?P<runtime>\d{1,12}\.\d{1,6}) ms \|\s*(?P<switches>\d{1,12}) \|\s*(?:avg:)?\s*"
    r"(?P<avg>\d{1,12}\.\d{1,6}) ms \|\s*(?:max:)?\s*(?P<max>\d{1,12}\.\d{1,6}) ms \|"
    r"(?:\s*max (?:at|start|end):\s*\d{1,12}\.\d{1,6} s ?\|?)*\s*",
    re.ASCII,
)
_TOTAL = re.compile(r"\s*TOTAL:\s*\|\s*\d{1,12}\.\d{1,6} ms \|\s*\d{1,12} \|\s*", re.ASCII)
_HEADING = re.compile(r"\s*(-[-|\s]*|Task\s+\|.*|INFO: .*|Samples .*callchains\..*|time\s+cpu\b.*|\[tid/pid\].*)\s*")
_SWITCH = re.compile(
    r"\s*(?P<time>\d{1,12}\.\d{3,6})\s+"
    r"\[(?P<cpu>\d{1,5})\]\s+(?:[a-z]\s+)?(?P<task>\S.{0,40}?)\s+(?P<wait>\d{1,9}\.\d{3})\s+"
    r"(?P<delay>\d{1,9}\.\d{3})\s+(?P<run>\d{1,9}\.\d{3})(?:\s+\d{1,9}\.\d{3})?(?:\s+[A-Z])?\s*(?P<chain>\s[A-Za-z_].*)?",
    re.ASCII,
)
_EVENT = re.compile(r"\s*\d{1,12}\.\d{6} \[\d{1,5}\].*(awakened|migrated|next):.*")
_PID = re.compile(r"\[\d{1,10}(/\d{1,10})?\]$|:\d{1,10}$|:\(\d{1,6}\)$", re.ASCII)
_MOST_TASKS = 4096
_LOST = "events that perf lost, and the tasks that did not run meanwhile"


def read_latency(source: Source, _unit: str | None) -> list[Reading]:
    """A series a task. Equal names are numbered."""
    rows: list[re.Match[str]] = []
    above = Above()
    for _, line in source.lines(re.compile(r"\s*\S.*\|")):
        if match := _ROW.fullmatch(line):
            if rows:
                source.use()
            else:
                above = source.begin()
            rows.append(match)
        elif _TOTAL.fullmatch(line) or _HEADING.fullmatch(line):
            source.skip("a heading or sum")
    if not rows or len(rows) > _MOST_TASKS:
        raise bad(source.path, None, f"{len(rows)} rows of tasks in it: give the output of perf sched latency")
    problems, series, seen = [], [], set[str]()
    for row in rows:
        name = one_line(row["task"])
        while name in seen:
            name += "'"
        seen.add(name)
        if float(row["avg"]) > float(row["max"]):
            problems.append(f"{name}: its average delay is above its maximum")
        series.append(summary(name, None, 1e6, n=float(row["switches"]), avg=float(row["avg"]), max=float(row["max"])))
    return [
        Reading(
            instrument="perf-sched-latency",
            measurement=Measurement(tuple(series), resolution(1_000), tuple(problems)),
            command=tuple(above.command("perf").split()),
            untold=("single delays, and percentiles", _LOST),
            above=above,
        )
    ]


def read_timehist(source: Source, _unit: str | None) -> list[Reading]:
    """A series a task's name: every delay from its wake-up to its running."""
    delays: dict[str, list[int]] = {}
    above, count = Above(), 0
    for number, line in source.lines(re.compile(r"\s*\d+\.\d+\s")):
        if match := _SWITCH.fullmatch(line):
            if count:
                source.use()
            else:
                above = source.begin()
            count += 1
            name = one_line(_PID.sub("", match["task"])) or "?"
            if name == "<idle>":
                continue
            delays.setdefault(name, []).append(int(match["delay"].replace(".", "")) * 1_000)
            if len(delays) > _MOST_TASKS:
                raise bad(source.path, number, f"more than {_MOST_TASKS} tasks: choose some with --comm")
        elif _HEADING.fullmatch(line):
            source.skip("a heading")
        elif _EVENT.fullmatch(line):
            source.skip("an event that is no switch")
    if not delays:
        raise bad(source.path, None, "no row of a task in it: give the output of perf sched timehist")
    return [
        Reading(
            instrument="perf-sched-timehist",
            measurement=Measurement(
                tuple(Series.raw(some, name=name) for name, some in delays.items()), resolution(1_000)
            ),
            command=tuple(above.command("perf").split()),
            untold=(_LOST,),
            above=above,
        )
    ]


LATENCY = Format("perf-sched-latency", "perf sched latency", mark(r"^\s*Task +\| +Runtime ms"), read_latency)
TIMEHIST = Format("perf-sched-timehist", "perf sched timehist", mark(r"wait time +sch delay +run time"), read_timehist)
