# SPDX-License-Identifier: MIT
"""OSADL's "RT Dataset" (github.com/osadl/Latencyplot): cyclictest's histograms with the system they were taken on.

Its "RT Cyclictest" is the same without the system. The first of the arrays under "cores" is the list of the bins; each
other has a core's counts. The samples that lie in no bin are those that the run took beyond them: "cycles" tells how
many it took, and "maxima" whether there were any, since a run ends with the first of its threads to end.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, Field

from rtqual.parts.importers import invocation
from rtqual.parts.importers.file_account import bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import KnownPlaces, read_json
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import LARGEST, Tally
from rtqual.protocols.record.schema import Measurement

Count = Annotated[int, Field(ge=0, lt=LARGEST)]
_UNITS_NS = {"microseconds": 1_000, "nanoseconds": 1, "us": 1_000, "ns": 1}
UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "cyclictest's version, and whether its threads had their priority",
)


class _Format(BaseModel):
    name: Literal["RT Dataset", "RT Cyclictest"]


class _Times(BaseModel):
    origin: str | None = None
    dataset: str | None = None


class _System(BaseModel):
    hostname: str | None = None


class _Kernel(BaseModel):
    version: str | None = None
    config: list[str] = []
    cmdline: str | None = None


class _Condition(BaseModel):
    load: str | None = None
    cyclictest: str | None = None
    cycles: Count | None = None
    interval: Count | None = None


class _Latency(BaseModel):
    granularity: str = "microseconds"
    cores: list[list[Count]] = Field(min_length=2)
    maxima: list[Count] | None = None


class _Dataset(BaseModel):
    format: _Format = Field(validation_alias=AliasChoices("format", "format-test"))
    timestamps: _Times = _Times()
    system: _System = _System()
    processor: dict[str, object] = {}
    kernel: _Kernel = _Kernel()
    condition: _Condition = _Condition()
    latency: _Latency


_KNOWN = KnownPlaces(
    used=("format/name", "format-test/name", "timestamps/*", "system/hostname", "processor/**", "kernel/version",
          "kernel/config", "kernel/config/*", "kernel/cmdline", "condition/*", "latency/granularity",
          "latency/cores/*", "latency/cores/*/*", "latency/maxima", "latency/maxima/*"),
    without_data={"format/**": "the file's version", "format-test/**": "the file's version",
                  "system/**": "the machine", "kernel/**": "the kernel", "timestamps/**": "a time",
                  "latency/**": "a figure that follows from the histogram"},
)  # fmt: skip


def read(source: Source, _unit: str | None) -> list[Reading]:
    result, around = read_json(source, _Dataset, _KNOWN, "OSADL's RT Dataset")
    for number, line in around:
        with source.line(number, line):
            pass
    if (unit_ns := _UNITS_NS.get(result.latency.granularity)) is None:
        what = f"granularity {result.latency.granularity[:40]!r}: none of {', '.join(_UNITS_NS)}"
        raise bad(source.path, None, f"{what}; give a file that counts in one of them")
    bins, *cores = result.latency.cores
    if not bins or any(len(core) != len(bins) for core in cores) or bins != list(range(bins[0], bins[0] + len(bins))):
        raise bad(source.path, None, "its first array is not the list of the bins of all others: the file is damaged")
    maxima = result.latency.maxima
    if maxima is not None and len(maxima) != len(cores):
        raise bad(source.path, None, f"{len(maxima)} maxima of {len(cores)} cores: the file is damaged; give all of it")
    tallies = [
        _tally(bins, core, result.condition.cycles, maxima[number] if maxima else None)
        for number, core in enumerate(cores)
    ]
    command = invocation.find(result.condition.cyclictest or "")
    condition = result.condition
    problems = [f"core {number}: {text}" for number, tally in enumerate(tallies) for text in tally.problems()
                if maxima or "above the last bin" not in text]  # fmt: skip
    if maxima and command:
        problems += command.contradictions([tally.samples for tally in tallies])
    parameters = command.parameters if command else {}
    if condition.interval is not None:
        parameters = {"interval": condition.interval * 1_000, **parameters}
    kernel = result.kernel
    return [
        Reading(
            instrument="cyclictest",
            measurement=Measurement(
                tuple(tally.series("latency", unit_ns, number) for number, tally in enumerate(tallies)),
                resolution(unit_ns),
                tuple(problems),
            ),
            parameters=parameters,
            command=command.argv if command else (),
            cpus=len(cores),
            cpus_told=True,
            load=one_line(condition.load) if condition.load else None,
            started=result.timestamps.origin,
            kernel=one_line(kernel.version) if kernel.version else None,
            kernel_cmdline=kernel.cmdline,
            board=one_line(result.system.hostname) if result.system.hostname else None,
            config="\n".join(kernel.config) or None,
            facts={
                "processor": one_line(json.dumps(result.processor, sort_keys=True)[:500]),
                **({} if condition.cycles is not None else {"cycles": "not told"}),
            },
            assumed=("the samples that are in no bin lay above the last one",)
            if any(tally.overflow for tally in tallies)
            else (),
            untold=UNTOLD
            if maxima or condition.cycles is not None
            else (*UNTOLD, "how many samples lay above the last bin"),
        )
    ]


def _tally(bins: Sequence[int], counts: Sequence[int], cycles: int | None, high: int | None) -> Tally:
    """Of a core. Without its maximum, the fewer samples of a thread that fell behind look like overflow."""
    held = {value: count for value, count in zip(bins, counts, strict=True) if count}
    if high is not None and high <= bins[-1]:
        return Tally(held, overflow=0, high=high)
    overflow = None if cycles is None else cycles - sum(held.values())
    return Tally(held, overflow=overflow, limit=bins[-1] + 1, high=high)


FORMAT = Format("osadl", "OSADL's RT Dataset", mark(r'"name"\s*:\s*"RT (Dataset|Cyclictest)"'), read)
