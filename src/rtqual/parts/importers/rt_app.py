# SPDX-License-Identifier: MIT
"""rt-app's log of a thread: a row an activation, in us.

    #idx   perf   run  period       start         end  rel_st  slack  c_duration  c_period  wu_lat
       0   5000  2105   20000  1234567890  1234569995      21  17800        2000     20000      53

`slack` is below zero where the deadline was missed; `wu_lat` is how late the activation began.
"""

import re

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_HEADER = re.compile(r"\s*#?\s*idx\s+perf\s+run\s+period\s+start\s+end\s+rel_st(\s+\w+)*\s*", re.ASCII)
_ROW = re.compile(r"\s*-?\d{1,18}(?:\.\d{1,6})?(?:\s+-?\d{1,18}(?:\.\d{1,6})?){6,20}\s*", re.ASCII)
_SERIES = {"wu_lat": "wake-up latency", "run": "run time", "slack": "slack", "period": "period"}  # the latency first
_NAMES = ("idx", "perf", "run", "period", "start", "end", "rel_st", "slack", "c_duration", "c_period", "wu_lat")


def read(source: Source, _unit: str | None) -> list[Reading]:
    names: list[str] = list(_NAMES)
    rows: list[list[float]] = []
    above = Above()
    for number, line in source.lines(re.compile(r"\s*-?\d+\s+-?\d+\s")):
        if _HEADER.fullmatch(line):
            if rows:
                raise bad(source.path, number, "a header a second time: two threads' logs in one file; split it")
            names = line.replace("#", " ").split()
            source.skip("the columns' names")
        elif _ROW.fullmatch(line):
            cells = [float(cell) for cell in line.split()]
            if len(cells) != len(names):
                raise bad(source.path, number, f"{len(cells)} figures for {len(names)} columns: the log is damaged")
            if rows:
                source.use()
            else:
                above = source.begin()
            rows.append(cells)
    if not rows:
        raise bad(source.path, None, "no row of an activation in it: give the log of one of rt-app's threads")
    columns = {name: [round(row[at] * 1_000) for row in rows] for at, name in enumerate(names)}
    series = [Series.raw(columns[name], name=ours) for name, ours in _SERIES.items() if name in columns]
    missed = sum(slack < 0 for slack in columns.get("slack", []))
    return [
        Reading(
            instrument="rt-app",
            measurement=Measurement(
                tuple(series), {"deadlines missed": Scalar(value=missed, unit="1"), **resolution(1_000)}
            ),
            parameters={"period": columns["c_period"][-1]} if columns.get("c_period") else {},
            cpus=1,
            untold=("the thread's policy and priority, and the workload's file",),
            above=above,
        )
    ]


FORMAT = Format("rt-app", "rt-app's log of a thread", mark(r"^\s*#?\s*idx\s+perf\s+run\s+period"), read)
