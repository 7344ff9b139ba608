# SPDX-License-Identifier: MIT
"""RTOSBench (gchamp20/RTOSBench): what an operation of a kernel costs, on any system that it was ported to.

    -- round robin context switch results --
    max=15213
    min=1702
    average=2311

The unit is that of the port's clock: nanoseconds on Linux; cycles or ticks elsewhere, which the output does not say.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import UNITS_NS, Reading, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement

_TITLE = re.compile(r"\s*-{2,3} ?([A-Za-z][\w :()/-]{2,60}?) ?-{2,3}\s*")
_FIGURE = re.compile(r"\s*(max|min|average)=(\d{1,12})\s*", re.ASCII)
_SETTING = re.compile(
    r"\s*(setting up (affinity|prio) \d+|(elapsed|(per_)?loop_overhead|iteration|time|tracesize)=-?\d+)\s*", re.ASCII
)
_NAMES = ("max", "min", "average")


@dataclass
class _Run:
    above: Above
    name: str
    figures: dict[str, int] = field(default_factory=dict)


def read(source: Source, unit: str | None) -> list[Reading]:
    runs: list[_Run] = []
    title = ""
    for number, line in source.lines(re.compile(r"\s*(max|min|average)=")):
        if match := _TITLE.fullmatch(line):
            title = one_line(match[1])
            source.skip("a heading")
        elif match := _FIGURE.fullmatch(line):
            if match[1] == "max":
                runs.append(_Run(source.begin(), title or "unnamed"))
            elif not runs or match[1] in runs[-1].figures:
                raise bad(source.path, number, f"'{match[1]}=' without its 'max=': the file is damaged; give all of it")
            else:
                source.use()
            runs[-1].figures[match[1]] = int(match[2])
        elif _SETTING.fullmatch(line):
            source.skip("a setting")
    if not runs or any(set(run.figures) != set(_NAMES) for run in runs):
        raise bad(source.path, None, "not 'max=', 'min=' and 'average=' of each test: it was cut off; give all of it")
    return [_reading(run, unit) for run in runs]


def _reading(run: _Run, unit: str | None) -> Reading:
    high, low, avg = (run.figures[name] for name in _NAMES)
    ordered = low <= avg <= high
    return Reading(
        instrument=f"rtosbench-{'-'.join(run.name.lower().replace(':', ' ').split())}",
        measurement=Measurement(
            (summary("time", None, UNITS_NS[unit or "ns"], min=low, avg=avg, max=high),),
            problems=() if ordered else ("its minimum, average and maximum are not in order",),
        ),
        cpus=1,
        assumed=() if unit else ("its port's clock counts nanoseconds, as on Linux (--unit says another)",),
        untold=("how many measurements there were, percentiles", "the system, its port and the clock"),
        above=run.above,
    )


FORMAT = Format("rtosbench", "RTOSBench", mark(r"^\s*max=-?\d+\s*\n\s*min=-?\d+\s*\n\s*average="), read, has_unit=True)
