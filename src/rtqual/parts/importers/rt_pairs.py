# SPDX-License-Identifier: MIT
"""pmqtest, ptsematest, svsematest and sigwaittest of rt-tests: how long a message, semaphore or signal takes.

    #0: ID8672, P99, CPU0, I100; #1: ID8673, P99, CPU0, Cycles 1000000
    #1 -> #0, Min    1, Cur    1, Avg    2, Max   11

A pair of threads a line, in us; which of the four tools printed them only the command above says.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series

TOOLS = ("pmqtest", "ptsematest", "svsematest", "sigwaittest")
_PAIR = re.compile(
    r"\s*#(\d{1,4}): ID\s*(\d{1,10}), P(\d{1,3}), CPU(\d{1,4}), I(\d{1,9}); #(\d{1,4}): ID\s*(\d{1,10}), P(\d{1,3}), "
    r"CPU(\d{1,4}),(?: TO (\d{1,6}),)? Cycles (\d{1,12})\s*",
    re.ASCII | re.IGNORECASE,
)
_LINE = re.compile(
    r"\s*#(\d{1,4}) -> #(\d{1,4}), Min\s+(\d{1,12}), Cur\s+(\d{1,12}), Avg\s+(\d{1,12}), Max\s+(\d{1,12})\s*",
    re.ASCII | re.IGNORECASE,
)
_OWN = re.compile(r"\s*#\d{1,4}(:| ->)", re.ASCII)
UNTOLD = ("percentiles: only the smallest, the average and the largest are there", "the program's version")


@dataclass
class _Run:
    above: Above
    pairs: dict[int, re.Match[str]] = field(default_factory=dict)  # by the receiver
    lines: dict[int, re.Match[str]] = field(default_factory=dict)


def read(source: Source, _unit: str | None) -> list[Reading]:
    runs: list[_Run] = []
    for _, line in source.lines(_OWN):
        pair, figures = _PAIR.fullmatch(line), _LINE.fullmatch(line)
        if not pair and not figures:
            continue
        run = runs[-1] if runs else None
        # A live screen shows the pairs again; another run has other threads.
        other = pair and run and int(pair[1]) in run.pairs and run.pairs[int(pair[1])][2] != pair[2]
        if run is None or other or (source.account.parted and run.lines):
            run = _Run(source.begin())
            runs.append(run)
        else:
            source.use()
        if pair:
            run.pairs[int(pair[1])] = pair
        elif figures:
            run.lines[int(figures[2])] = figures
    found = [run for run in runs if run.lines]
    if not found:
        raise bad(source.path, None, "no line '#1 -> #0, Min ...' in it: give the whole output")
    return [_reading(run) for run in found]


def _reading(run: _Run) -> Reading:
    tool = next((name for name in TOOLS if run.above.command(name)), "")
    problems: list[str] = []
    series: list[Series] = []
    for receiver, line in sorted(run.lines.items()):
        low, _, avg, high = (int(line[number]) for number in range(3, 7))
        pair = run.pairs.get(receiver)
        cycles = int(pair[11]) if pair else None
        series.append(
            summary("latency", int(pair[4]) if pair else receiver, 1_000, n=cycles, min=low, avg=avg, max=high)
        )
        if not low <= avg <= high:
            problems.append(f"pair {receiver}: minimum, average and maximum are not in order")
        if pair and int(pair[3]) == 0:
            problems.append(f"pair {receiver}: without a real-time priority (P0)")
    if len({each.info.cpu for each in series}) < len(series):  # threads that share a CPU
        series = [summary("latency", n, 1, **samples.info.reported) for n, samples in enumerate(series)]
    if missing := set(run.pairs) - set(run.lines):
        problems.append(f"{len(missing)} pairs of threads have no figures: the file is cut")
    first = run.pairs.get(min(run.lines))
    return Reading(
        instrument=tool or "rt-tests-pair",
        measurement=Measurement(tuple(series), resolution(1_000), tuple(problems)),
        parameters={"interval": int(first[5]) * 1_000, "priority": int(first[3])} if first else {},
        command=tuple(run.above.command(tool).split()) if tool else (),
        cpus=len(series),
        untold=UNTOLD if tool else (f"which tool it was ({', '.join(TOOLS)}): name it with --instrument", *UNTOLD),
        above=run.above,
    )


FORMAT = Format(
    "rt-tests-pairs",
    "pmqtest, ptsematest, svsematest, sigwaittest",
    mark(r"^\s*#\d{1,4} -> #\d{1,4}, +Min"),
    read,
)
