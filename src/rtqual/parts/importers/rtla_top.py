# SPDX-License-Identifier: MIT
"""rtla timerlat top and rtla osnoise top: the last state of a table that is drawn again and again, a row a CPU.

    CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
      0 #10080     |        0         0         1        12 |       11         2        10        50
    CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI ...
      0 #58        58000000         1250    99.99784          25           12           0            3 ...

What rtla says of the latency that stopped it (its auto-analysis) is kept with the record.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_NUMBER = r"\s*(?:\d{1,15}|-)"
_LATENCY = re.compile(
    rf"\s*(\d{{1,5}}) #(\d{{1,15}})\s*((?:\|{_NUMBER}(?:\s+(?:\d{{1,15}}|-)){{3}}\s*){{1,3}})\|?\s*", re.ASCII
)
_NOISE = re.compile(
    r"\s*(\d{1,5}) #(\d{1,15})((?:\s+\d{1,18}){2})\s+(\d{1,3}\.\d{1,6})((?:\s+\d{1,15}){2,7})\s*", re.ASCII
)
_UNIT = re.compile(r".*Timer Latency \((us|ns)\).*|.*\bunit\b.*\((us|ns)\).*", re.ASCII)
_HEADING = re.compile(
    r"\s*(Timer Latency|Operating System Noise|(duration: +)?\d{1,6} \d\d:\d\d:\d\d.*\|.*|CPU COUNT.*|CPU Period.*|"
    r"duration: .*|-+\|.*|ALL #.*|\|.*Timer Latency.*|.*\btime is in (us|ns)\b.*)\s*",
    re.ASCII,
)
_STOPPED = re.compile(
    r"\s*(## CPU \d+ hit stop tracing.*|rtla (timerlat|osnoise) hit stop tracing|timerlat hit stop tracing)\s*"
)
_OWN = re.compile(r"\s*\d{1,5} #\d")
_MOST_SAID = 24
_CONTEXTS = ("irq", "thread", "user")
UNTOLD = ("percentiles: only the smallest, the average and the largest sample are there", "the period and the priority")


@dataclass
class _Run:
    above: Above
    latencies: dict[int, re.Match[str]] = field(default_factory=dict)
    noises: dict[int, re.Match[str]] = field(default_factory=dict)
    unit: str | None = None
    said: list[str] = field(default_factory=list)
    stopped: bool = False


def read(source: Source, _unit: str | None) -> list[Reading]:
    runs: list[_Run] = []
    unit: str | None = None
    for number, line in source.lines(_OWN):
        latency, noise = _LATENCY.fullmatch(line), _NOISE.fullmatch(line)
        if latency or noise:
            match = latency or noise
            assert match is not None  # noqa: S101 - one of the two
            held = (runs[-1].latencies if latency else runs[-1].noises) if runs else {}
            if not runs or (int(match[1]) in held and (source.account.parted or runs[-1].stopped)):
                runs.append(_Run(source.begin(), unit=unit))
            else:
                source.use()
            of = runs[-1].latencies if latency else runs[-1].noises
            before = of.get(int(match[1]))
            if before is not None and int(match[2]) < int(before[2]):
                raise bad(
                    source.path, number, f"CPU {match[1]} counts less than before: two runs in one file; split it"
                )
            of[int(match[1])] = match
        elif runs and _STOPPED.fullmatch(line):
            runs[-1].stopped = True
            runs[-1].said.append(one_line(" ".join(line.split())))
            source.skip("rtla's analysis of what stopped it")
        elif runs and runs[-1].stopped and line.strip() and not _HEADING.fullmatch(line):
            runs[-1].said.append(one_line(" ".join(line.split())[:200]))
            source.skip("rtla's analysis of what stopped it")
        elif match := _UNIT.fullmatch(line):
            unit = match[1] or match[2]
            source.skip("a heading")
        elif _HEADING.fullmatch(line):
            source.skip("a heading")
    if not runs:
        raise bad(source.path, None, "no row of a CPU in it: give rtla's whole output")
    return [_of_latencies(run) if run.latencies else _of_noises(run) for run in runs]


def _of_latencies(run: _Run) -> Reading:
    unit = run.unit or "us"
    series: list[Series] = []
    problems: list[str] = []
    for context in ("thread", "irq", "user"):
        for cpu, row in sorted(run.latencies.items()):
            groups = [group.split() for group in row[3].split("|") if group.strip()]
            at = _CONTEXTS.index(context)
            if at >= len(groups):
                continue
            _, low, avg, high = (None if cell == "-" else int(cell) for cell in groups[at])
            if high is None:
                continue
            if low is not None and avg is not None and not low <= avg <= high:
                problems.append(f"{context} on CPU {cpu}: minimum, average and maximum are not in order")
            count = float(row[2]) or None  # that of the interrupts: 0 beside a thread's figures tells nothing of it
            series.append(summary(context, cpu, UNITS_NS[unit], n=count, min=low, avg=avg, max=high))
    return Reading(
        instrument="rtla-timerlat",
        measurement=Measurement(tuple(series), resolution(UNITS_NS[unit]), tuple(problems)),
        command=tuple(run.above.command("rtla").split()),
        cpus=len(run.latencies),
        facts=_said(run),
        assumed=() if run.unit else ("the values are us (rtla's default)",),
        untold=UNTOLD,
        above=run.above,
    )


def _of_noises(run: _Run) -> Reading:
    """Its columns: runtime and noise in us, the CPU left, the largest noise of a period, the largest gap."""
    series, scalars = [], {}
    for cpu, row in sorted(run.noises.items()):
        runtime, noise = (int(cell) for cell in row[3].split())
        largest, single = (int(cell) for cell in row[5].split()[:2])
        series.append(summary("noise", cpu, 1_000, n=float(row[2]), max=largest))
        series.append(summary("largest part of it", cpu, 1_000, n=float(row[2]), max=single))
        scalars[f"noise of CPU {cpu}"] = Scalar(value=100.0 * noise / runtime if runtime else 0.0, unit="%")
    return Reading(
        instrument="rtla-osnoise",
        measurement=Measurement(tuple(series), {**scalars, **resolution(1_000)}),
        command=tuple(run.above.command("rtla").split()),
        cpus=len(run.noises),
        facts=_said(run),
        untold=UNTOLD,
        above=run.above,
    )


def _said(run: _Run) -> dict[str, str]:
    return {"what stopped it": "; ".join(run.said[:_MOST_SAID])} if run.said else {}


FORMAT = Format(
    "rtla-top",
    "rtla timerlat top, rtla osnoise top",
    mark(r"^\s*CPU COUNT\s+\||^\s*CPU Period\s+Runtime\s+Noise|^\s*\d{1,5} #\d{1,15}\s+\|\s+\d"),
    read,
)
