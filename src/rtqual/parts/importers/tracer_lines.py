# SPDX-License-Identifier: MIT
"""The trace of the kernel's timerlat and osnoise tracers, from tracefs or trace-cmd: every sample by CPU and context.

      <idle>-0       [000] d..h1..     3.338566: #1     context    irq timer_latency      1214 ns
       <...>-110     [000] .......     3.387564: 50000        292  99.41600     120      0      0     14      0     10

A thread's id and a trace's events between them are not samples.
"""

import re

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series

_ON_CPU = (
    r"\s*\S.{0,40}-\d{1,10} +(?:\( *[-\d]+\) )?\[(?P<cpu>\d{1,5})\](?: +[^\s:\d]\S{0,16}| +\.\S{0,16})? "
    r"+\d{1,12}\.\d{1,9}: +"
)
_LATENCY = re.compile(
    _ON_CPU + r"(?:timerlat(?:_sample)?: +)?#(?P<id>\d{1,18}) +context +(?P<context>irq|thread|user-ret|user) +"
    r"timer_latency +(?P<ns>\d{1,18}) ns\s*",
    re.ASCII,
)
_NOISE = re.compile(
    _ON_CPU + r"(?:osnoise: +)?(?P<runtime>\d{1,12}) +(?P<noise>\d{1,12}) +\d{1,3}\.\d{1,5} +(?P<single>\d{1,12})"
    r"(?: +\d{1,12}){5}\s*",
    re.ASCII,
)
_EVENT = re.compile(_ON_CPU + r"(?!.*timer_latency)[A-Za-z_<].*", re.ASCII)
_OWN = re.compile(r".*timer_latency|\s*\S.{0,40}-\d+ +.{0,12}\[")
_HEADING = re.compile(
    r"\s*(#.*|cpus=\d+|CPU \d+ is empty|version = \d+|=> .*|\(\w+/\d+\) \d+ \d+|end of the trace)\s*", re.ASCII
)
_LOST = re.compile(r"\s*CPU:?\s*\d+ \[(LOST|\d+) .*|.*\bEVENTS (DROPPED|LOST)\b.*", re.IGNORECASE)
_NAMES = {"thread": "thread", "irq": "irq", "user-ret": "user", "user": "user"}


def read(source: Source, _unit: str | None) -> list[Reading]:
    latencies: dict[tuple[str, int], list[tuple[int, int]]] = {}
    noises: dict[int, list[tuple[int, int, int]]] = {}
    above, problems = Above(), []
    for _, line in source.lines(_OWN):
        latency, noise = _LATENCY.fullmatch(line), _NOISE.fullmatch(line)
        if latency or noise:
            if latencies or noises:
                source.use()
            else:
                above = source.begin()
        if latency:
            place = _NAMES[latency["context"]], int(latency["cpu"])
            latencies.setdefault(place, []).append((int(latency["id"]), int(latency["ns"])))
        elif noise:
            some = int(noise["runtime"]), int(noise["noise"]), int(noise["single"])
            noises.setdefault(int(noise["cpu"]), []).append(some)
        elif _LOST.fullmatch(line):
            problems.append("the trace lost events: its buffer was too small")
            source.skip("a loss")
        elif _EVENT.fullmatch(line):
            source.skip("an event that is no sample")
        elif _HEADING.fullmatch(line):
            source.skip("a heading")
    if not latencies and not noises:
        raise bad(source.path, None, "no sample of timerlat or osnoise in it: give the trace")
    readings = []
    if latencies:
        order = sorted(latencies, key=lambda place: (list(_NAMES).index(place[0]), place[1]))
        missing = [place for place in order if _gaps(latencies[place])]
        problems_of = [
            f"{name} on CPU {cpu}: activations are missing between the first and the last" for name, cpu in missing
        ]
        readings.append(
            Reading(
                instrument="timerlat",
                measurement=Measurement(
                    tuple(Series.raw([ns for _, ns in latencies[p]], name=p[0], cpu=p[1]) for p in order),
                    problems=tuple(dict.fromkeys((*problems, *problems_of))),
                ),
                cpus=len({cpu for _, cpu in order}),
                untold=("the period and the priority",),
                above=above,
            )
        )
    if noises:
        series = [
            Series.raw([row[at] * 1_000 for row in rows], name=name, cpu=cpu)
            for name, at in (("noise", 1), ("largest part of it", 2))
            for cpu, rows in sorted(noises.items())
        ]
        runtimes = {row[0] for rows in noises.values() for row in rows}
        readings.append(
            Reading(
                instrument="osnoise",
                measurement=Measurement(tuple(series), resolution(1_000), tuple(dict.fromkeys(problems))),
                parameters={"interval": max(runtimes) * 1_000},
                cpus=len(noises),
                untold=("what made the noise: events beside it may tell",),
                above=above,
            )
        )
    return readings


def _gaps(samples: list[tuple[int, int]]) -> bool:
    """Activations are numbered; a user's thread may skip those that it was late for."""
    return samples[-1][0] - samples[0][0] + 1 != len(samples)


FORMAT = Format(
    "tracer",
    "a trace of the kernel's timerlat or osnoise",
    mark(
        r" +context +(irq|thread|user-ret|user) +timer_latency +\d+ ns|^# tracer: osnoise|\[\d+\].*: "
        r"+(osnoise: +)?\d+ +\d+ +\d+\.\d{5} "
    ),
    read,
)
