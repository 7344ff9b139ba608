# SPDX-License-Identifier: MIT
"""hackbench's output: a time a run; the lines before it say what was passed between how many."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtqual.importer.reading import Reading, resolution
from rtqual.importer.source import Lines, bad
from rtqual.instrument.hackbench import RESOLUTION_NS, TIME, seconds_ns
from rtqual.record.schema import Measurement, Series

_MODE = re.compile(r"Running in (process|threaded) mode with (\d{1,9}) groups", re.ASCII)
_LOOPS = re.compile(r"Each sender will pass (\d{1,12}) messages of (\d{1,12}) bytes", re.ASCII)
UNTOLD = (
    "whether messages went through sockets or pipes, and the scheduling policy",
    "the kernel, the machine, its CPUs and the program's version",
)


@dataclass
class _Runs:
    """Runs one after another with the same parameters."""

    parameters: dict[str, Any]
    times_ns: list[int] = field(default_factory=list)


def read(path: Path, _unit: str | None) -> list[Reading]:
    lines = Lines(path)
    series = [_Runs({})]
    said: dict[str, Any] = {}
    waiting: int | None = None  # the line of a run whose time has not come
    for number, line in lines:
        text = line.strip()
        if match := _MODE.search(text):
            said, waiting = {"mode": match[1], "groups": int(match[2])}, number
        elif match := _LOOPS.search(text):
            said |= {"loops": int(match[1]), "bytes": int(match[2])}
        elif match := TIME.fullmatch(text):
            if said != series[-1].parameters:
                series.append(_Runs(dict(said)))
            series[-1].times_ns.append(seconds_ns(match[1]))
            waiting = None
    found = [runs for runs in series if runs.times_ns]
    if not found:
        raise bad(path, None, "no line 'Time: 0.000' in it: hackbench failed or was cut off; give a whole output")
    cut = () if waiting is None else (f"the run at line {waiting} printed no time: it failed or was cut off",)
    return [_reading(runs, cut if runs is found[-1] else ()) for runs in found]


def _reading(runs: _Runs, problems: tuple[str, ...]) -> Reading:
    series = Series.raw(runs.times_ns, name="time")
    return Reading(
        instrument="hackbench",
        measurement=Measurement((series,), resolution(RESOLUTION_NS), problems),
        parameters=runs.parameters,
        untold=UNTOLD,
    )
