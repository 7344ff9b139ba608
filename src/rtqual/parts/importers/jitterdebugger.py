# SPDX-License-Identifier: MIT
"""jitterdebugger's JSON (results.json): filled bins for each measuring thread.

Its histogram is 1 ms long, in whatever unit; longer samples are in `count` but in no bin. The keys under "cpu" count
the threads, which are on other CPUs where -a chose some.
"""

import re
from typing import Annotated

from pydantic import BaseModel, Field

from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import KnownPlaces, read_json
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import LARGEST, Tally
from rtqual.protocols.record.schema import Measurement

_OWN = re.compile(r"\s*(T:|affinity:)")
_HISTOGRAM_NS = 1_000_000
UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "the command line: interval and priority",
    "the CPUs, where -a chose some: its keys count threads",
)
Count = Annotated[int, Field(ge=0, lt=LARGEST)]


class _Cpu(BaseModel):
    histogram: dict[Count, Count]
    count: Count
    min: Count  # an empty thread has 2^64 - 1 here, a late clock wraps to about that: both are refused
    max: Count
    avg: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _System(BaseModel):
    release: str | None = None
    version: str | None = None
    machine: str | None = None
    resolution_in_ns: int | None = None
    cpus_online: int | None = None


class _Result(BaseModel):
    cpu: dict[Annotated[int, Field(ge=0, lt=2**31)], _Cpu] = Field(min_length=1)
    sysinfo: _System = _System()


_KNOWN = KnownPlaces(
    used=(
        *("sysinfo/release", "sysinfo/version", "sysinfo/machine", "sysinfo/resolution_in_ns", "sysinfo/cpus_online"),
        *("cpu/*/histogram", "cpu/*/histogram/*", *(f"cpu/*/{name}" for name in ("count", "min", "max", "avg"))),
    ),
    without_data={"version": "the file's version", "sysinfo/*": "the machine"},
)
_SCREEN = re.compile(
    r"\s*(affinity: [\d,-]+( = \d+ \[0x[0-9A-Fa-f]+\])?|"
    r"T: *\d+ \( *\d+\) A: *\d+ C: *\d+ Min: *\d+ Avg: *[\d.]+ Max: *\d+)\s*",
    re.ASCII,
)


def read(source: Source, unit: str | None) -> list[Reading]:
    path = source.path
    result, around = read_json(source, _Result, _KNOWN, "jitterdebugger's JSON")
    for number, line in around:
        with source.line(number, line, _OWN):
            if _SCREEN.fullmatch(line):
                source.skip("its screen, which the JSON says again")
    step_ns = result.sysinfo.resolution_in_ns
    told = {1: "ns", 1_000: "us"}.get(step_ns) if step_ns is not None else None
    if step_ns is not None and told is None:
        raise bad(path, None, f"a resolution of {step_ns} ns is none of jitterdebugger's (1 or 1000)")
    unit_name, assumed = settle_unit(path, unit, told, "its resolution_in_ns")
    unit_ns = UNITS_NS[unit_name]
    tallies = {cpu: _tally(cpu_figures, unit_ns) for cpu, cpu_figures in sorted(result.cpu.items())}
    series = tuple(tally.series("latency", unit_ns, cpu) for cpu, tally in tallies.items())
    problems = [f"jitterdebugger thread {cpu}: {text}" for cpu, tally in tallies.items() for text in tally.problems()]
    system = result.sysinfo
    if system.cpus_online is not None and not 0 < len(tallies) <= system.cpus_online:
        problems.append(f"{system.cpus_online} CPUs were online, but {len(tallies)} threads measured")
    return [
        Reading(
            instrument="jitterdebugger",
            measurement=Measurement(series, resolution(unit_ns), tuple(problems)),
            cpus=len(tallies),
            kernel=" ".join(part for part in (system.release, system.version) if part) or None,
            facts={"machine": system.machine} if system.machine else {},
            assumed=(*assumed, "thread N is filed as CPU N (true without -a)"),
            untold=UNTOLD,
        )
    ]


def _tally(cpu: _Cpu, unit_ns: int) -> Tally:
    overflow = cpu.count - sum(cpu.histogram.values())
    end = _HISTOGRAM_NS // unit_ns
    limit = end if max(cpu.histogram, default=0) < end else None
    return Tally(cpu.histogram, overflow=overflow, limit=limit, low=cpu.min, avg=cpu.avg, high=cpu.max)


FORMAT = Format("jitterdebugger", "jitterdebugger's JSON", mark(r'"cpu"\s*:\s*\{'), read, has_unit=True)
