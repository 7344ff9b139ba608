# SPDX-License-Identifier: MIT
"""hackbench's output: a time a run; the lines before it say what was passed between how many.

Whether through sockets or pipes it does not print: the command above a run tells.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from rtqual.engine.instruments.hackbench import RESOLUTION_NS, TIME, seconds_ns
from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series

_MODE = re.compile(
    r"Running in (process|threaded) mode with (\d{1,9}) groups"
    r"(?: using (\d{1,9}) file descriptors each \(== (\d{1,18}) tasks\))?",
    re.ASCII,
)
_CUT = re.compile(
    r"Running in (?:process|threaded) mode with \d{1,9} groups using \d{1,9} file descriptors( each)?", re.ASCII
)
_LOOPS = re.compile(r"Each sender will pass (\d{1,12}) messages of (\d{1,12}) bytes", re.ASCII)
_OLD = re.compile(r"Running with (\d{1,9})\*40 \(== \d{1,12}\) tasks\.?", re.ASCII)  # before rt-tests 0.85
_OWN = re.compile(r"\s*(Time:|Running (in|with)\b|Each sender)")
_WAY = "whether messages went through sockets or pipes"
UNTOLD = ("the scheduling policy", "its CPUs and the program's version")


@dataclass
class _Runs:
    """Runs one after another with the same parameters."""

    parameters: dict[str, Any]
    above: Above = field(default_factory=Above)
    times_ns: list[int] = field(default_factory=list)


def read(source: Source, _unit: str | None) -> list[Reading]:  # noqa: PLR0912 - a way a line
    path = source.path
    problems: list[str] = []
    series = [_Runs({})]
    said: dict[str, Any] = {}
    above = Above()
    waiting: int | None = None  # the line of a run whose time has not come
    wrapped = ""  # a run's first line, which a mail broke
    for number, line in source.lines(_OWN):
        text = f"{wrapped} {line.strip()}".strip()
        if _CUT.fullmatch(text):
            above, wrapped = source.begin(), text
        elif match := _MODE.fullmatch(text) or _OLD.fullmatch(text):
            problems += _unfinished(waiting)
            if wrapped:
                source.use()
            else:
                above = source.begin()
            wrapped = ""
            said, waiting = {**_said(match), **_transport(above)}, number
            if match.re is _MODE and match[3] and int(match[2]) * int(match[3]) != int(match[4]):
                problems.append(f"line {number}: {match[2]} groups of {match[3]} are not {match[4]} tasks")
        elif wrapped:
            raise bad(path, number, "not the rest of the line above it: the file is damaged; give the whole output")
        elif match := _LOOPS.fullmatch(text):
            said |= {"loops": int(match[1]), "bytes": int(match[2])}
            source.use()
        elif match := TIME.fullmatch(text):
            if waiting is None:  # the lines above its time were left out
                above = source.begin()
                said |= _transport(above)
            else:
                source.use()
            if said != series[-1].parameters or above.label != series[-1].above.label:
                series.append(_Runs(dict(said), above))
            series[-1].times_ns.append(seconds_ns(match[1]))
            waiting = None
    found = [runs for runs in series if runs.times_ns]
    if not found:
        raise bad(path, None, "no line 'Time: 0.000' in it: hackbench failed or was cut off; give a whole output")
    problems += _unfinished(waiting)
    return [_reading(runs, tuple(problems)) for runs in found]


def _said(match: re.Match[str]) -> dict[str, Any]:
    return {"groups": int(match[1])} if match.re is _OLD else {"mode": match[1], "groups": int(match[2])}


def _transport(above: Above) -> dict[str, Any]:
    """Through what, where a command stands above the run."""
    command = above.command("hackbench", earlier=True).split()
    if not command:
        return {}
    return {"transport": "pipes" if any(re.fullmatch(r"--?pipe|-[TPF]*p\w*", word) for word in command) else "sockets"}


def _unfinished(waiting: int | None) -> list[str]:
    return [] if waiting is None else [f"the run at line {waiting} printed no time: it failed or was cut off"]


def _reading(runs: _Runs, problems: tuple[str, ...]) -> Reading:
    series = Series.raw(runs.times_ns, name="time")
    return Reading(
        instrument="hackbench",
        measurement=Measurement((series,), resolution(RESOLUTION_NS), problems),
        parameters=runs.parameters,
        untold=UNTOLD if "transport" in runs.parameters else (_WAY, *UNTOLD),
        above=runs.above,
    )


FORMAT = Format(
    "hackbench",
    "hackbench",
    mark(r"^\s*Time: \d{1,9}\.\d{3}\s*$|Running in (process|threaded) mode with"),
    read,
)
