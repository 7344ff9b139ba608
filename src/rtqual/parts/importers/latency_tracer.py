# SPDX-License-Identifier: MIT
"""The kernel's latency tracers (irqsoff, preemptoff, preemptirqsoff, wakeup, wakeup_rt...): the longest section.

    # irqsoff latency trace v1.1.5 on 4.4.27-rt37
    # latency: 253 us, #180/180, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:8)
    #  => started at: apic_timer_interrupt

One figure, the largest since the tracer was switched on; the calls below it are its story and are not read.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement

_QUOTED = r"\s*(?:>+\s*)*(?:[*+-]\s+)?"
_TITLE = re.compile(
    rf"{_QUOTED}#?\s*(\w[\w ]{{1,20}}?) latency trace v[\d.]{{1,10}}(?: on (\S{{1,120}}))?(?: #)?\s*", re.ASCII
)
_FIGURE = re.compile(
    rf"{_QUOTED}#?\s*latency: (\d{{1,15}}) us, #(\d{{1,12}})/(\d{{1,12}}), CPU#(\d{{1,4}}) \| \(M:\s?(\w+)"
    r"(?: VP:\d{1,6},(?: KP:\d{1,6},(?: SP:\d{1,6}(?: HP:\d{1,6})?)?)?)?(?: #P:(\d{1,5}))?\)?\s*",  # a mail may cut it
    re.ASCII,
)
_TASK = re.compile(
    rf"{_QUOTED}#?\s*\| task: (.{{1,64}}?) \(.{{0,80}}policy:(\d{{1,2}}) rt_prio:(\d{{1,3}})\)\s*", re.ASCII
)
_OWN = re.compile(r"[\s>#*]*(latency:|\w+ latency trace|\| task:|=(3D)?> (started|ended))")
_EDGE = re.compile(rf"{_QUOTED}#?\s*(?:=|=3D)> (started|ended) at:\s+(\S{{1,120}})\s*")
_TRACER = re.compile(rf"{_QUOTED}#\s*tracer: \w+\s*")
UNTOLD = ("all but the longest section: how many there were, and how long they were", "how long it was watched")


@dataclass
class _Run:
    above: Above
    tracer: str
    kernel: str | None
    figure: re.Match[str] | None = None
    facts: dict[str, str] = field(default_factory=dict)


def read(source: Source, _unit: str | None) -> list[Reading]:
    runs: list[_Run] = []
    for _, line in source.lines(_OWN):
        if match := _TITLE.fullmatch(line):
            runs.append(_Run(source.begin(), match[1].replace(" ", "-"), match[2]))
        elif runs and runs[-1].figure is None and (match := _FIGURE.fullmatch(line)):
            runs[-1].figure = match
            source.use()
        elif runs and (match := _TASK.fullmatch(line)):
            source.use()
            runs[-1].facts |= {"task": one_line(match[1]), "task's priority": match[3]}
        elif runs and (match := _EDGE.fullmatch(line)):
            source.use()
            runs[-1].facts[f"{match[1]} at"] = one_line(match[2])
        elif _TRACER.fullmatch(line):
            source.skip("a heading")
        elif runs and runs[-1].figure:
            source.skip("a line of the trace")
    found = [run for run in runs if run.figure]
    if not found:
        raise bad(
            source.path, None, "no line 'latency: ... us' below the tracer's title: the trace is cut; give all of it"
        )
    return [_reading(run, run.figure) for run in found if run.figure]


def _reading(run: _Run, figure: re.Match[str]) -> Reading:
    return Reading(
        instrument=f"tracer-{run.tracer}",
        measurement=Measurement(
            (summary("longest", int(figure[4]), 1_000, max=int(figure[1])),),
            resolution(1_000),
            () if int(figure[1]) else ("the tracer saw no section: it was not on, or nothing happened",),
        ),
        cpus=int(figure[6]) if figure[6] and int(figure[6]) else None,
        kernel=run.kernel,
        facts={**run.facts, "preemption model": figure[5]},
        untold=UNTOLD,
        above=run.above,
    )


FORMAT = Format(
    "latency-tracer",
    "irqsoff, preemptoff, wakeup and their like of the kernel",
    mark(r"latency trace v[\d.]+( on \S|\s*$)"),
    read,
)
