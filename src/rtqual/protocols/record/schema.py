# SPDX-License-Identifier: MIT
"""What a record is: the inputs of one run, the samples it gave, and where it came from."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Int64Array = npt.NDArray[np.int64]
else:
    Int64Array = Any  # numpy is slow to load, so only what looks at samples does

SCHEMA_VERSION = 3
SEALED = 2  # from this version on, manifests have the hash of all that they say; from 3 on, About
CHUNK = 1 << 20  # samples in memory at a time: 8 MiB


class SeriesKind(StrEnum):
    """How much a series knows of its samples."""

    RAW = "raw"  # every sample, in the order it was taken
    HISTOGRAM = "histogram"  # every distinct value and how often it came: exact but for the order
    BINNED = "binned"  # values are edges of the tool's own bins: quantiles carry the bin's width
    SUMMARY = "summary"  # no samples; only what the tool printed


class Timing(StrEnum):
    """What a run's clock counted, and whether that was tested."""

    INSTRUCTIONS = "instructions"  # instruction clock, and a second run gave the same samples
    UNTESTED = "instructions, untested"  # instruction clock, not yet run a second time
    MODELLED = "modelled"  # that clock moved on by a model of memory or disks, and the same of a second run
    MODELLED_UNTESTED = "modelled, untested"
    HOST_TIMED = "host-timed"  # a second run gave other samples, or something in it waits for the host
    REAL = "real"  # the hardware's own time

    @property
    def counted(self) -> bool:
        """Whether executed instructions and nothing else made it."""
        return self in (Timing.INSTRUCTIONS, Timing.UNTESTED)

    @property
    def modelled(self) -> bool:
        return self in (Timing.MODELLED, Timing.MODELLED_UNTESTED)

    @property
    def repeats(self) -> bool:
        """Whether a second run gave the same samples."""
        return self in (Timing.INSTRUCTIONS, Timing.MODELLED)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)  # built by those that meet records


OneLine = Annotated[str, Field(pattern=r"^[^\n]*$")]  # printed among lines of ours, it adds none
MOST_TOLD, MOST_CAVEATS, MOST_UNITS = 400, 8, 64  # characters; entries


class Scalar(_Model):
    """A figure the tool printed or the board read, with its unit ('1/s', 'B', 'ns', '1')."""

    value: float
    unit: str


MOST_SAMPLES = 2**53  # of a series: what counts them may be a float
MOST_VALUE = 2**62  # of a sample, either way: the difference of two is an int64
Count = Annotated[int, Field(ge=0, lt=2**63)]


class SeriesInfo(_Model):
    """One stream of samples. `reported` holds the tool's own min/avg/max in the series' unit."""

    name: str
    unit: str = "ns"
    kind: SeriesKind
    cpu: int | None = None
    # Samples at or above overflow_from, counted but without a value.
    overflow: Annotated[int, Field(ge=0, le=MOST_SAMPLES)] = 0
    overflow_from: Annotated[int, Field(ge=-MOST_VALUE, le=MOST_VALUE)] | None = None
    reported: dict[str, float] = {}


class Order(Protocol):
    """The samples of a raw series in the order they were taken."""

    def chunks(self) -> Iterator[Int64Array]:
        """The samples, about a million at a time, from the first one again each time."""

    def histogram(self) -> tuple[Int64Array, Int64Array]:
        """The distinct values, ascending, and how often each came."""


@dataclass(frozen=True)
class InMemory:
    """The order of samples that fit in memory: those of a fresh measurement."""

    samples: Int64Array

    def chunks(self) -> Iterator[Int64Array]:
        for start in range(0, len(self.samples), CHUNK):
            yield self.samples[start : start + CHUNK]

    def histogram(self) -> tuple[Int64Array, Int64Array]:
        import numpy as np  # noqa: PLC0415

        values, counts = np.unique(self.samples, return_counts=True)
        return values, counts.astype(np.int64)

    def scaled(self, factor: int) -> "InMemory":
        return InMemory(self.samples * factor)


@dataclass(frozen=True)
class Series:
    """A series as a sparse histogram: distinct `values`, ascending, each seen `counts` times.

    It is exact whatever the number of samples, and histograms merge (pool.py). A raw series also has
    its samples in their order.
    """

    info: SeriesInfo
    values: Int64Array
    counts: Int64Array
    order: Order | None = None  # of a raw series

    @classmethod
    def raw(cls, samples: Sequence[int] | Int64Array, **info: Any) -> Self:
        """A series from its samples in the order they were taken."""
        import numpy as np  # noqa: PLC0415

        return cls.of_order(InMemory(np.asarray(samples, np.int64)), SeriesInfo(kind=SeriesKind.RAW, **info))

    @classmethod
    def of_order(cls, order: Order, info: SeriesInfo) -> Self:
        """A raw series wherever its samples are."""
        values, counts = order.histogram()
        return cls(info, values, counts, order)

    @classmethod
    def counted(cls, counts: dict[int, int], kind: SeriesKind = SeriesKind.HISTOGRAM, **info: Any) -> Self:
        import numpy as np  # noqa: PLC0415

        ordered = sorted(counts.items())
        return cls(
            SeriesInfo(kind=kind, **info),
            np.array([value for value, _ in ordered], np.int64),
            np.array([count for _, count in ordered], np.int64),
        )

    @property
    def total(self) -> int:
        """Samples taken, those that overflowed included."""
        return int(self.counts.sum()) + self.info.overflow

    def ordered(self) -> Iterator[Int64Array] | None:
        """The samples of a raw series in their order, about a million at a time; None where only counts are known."""
        return None if self.order is None else self.order.chunks()


# A parameter that no kernel knows, by which boots of one kernel differ.
BOOT = "rtqual.boot="


def unvaried(parameters: str) -> str:
    """A kernel's parameters without that."""
    return re.sub(rf"(^| ){re.escape(BOOT)}x*", "", parameters)


class Inputs(_Model):
    """Everything that decides what a run measures; its hash is the cell's key.

    Host facts and wall times are not in here, so two identical deterministic runs have the same hash.
    """

    candidate: OneLine
    instrument: OneLine
    load: OneLine
    board: OneLine
    cpus: int
    seed: int
    parameters: dict[str, Any] = {}  # the instrument's, from the mission and its scale
    job: dict[str, Any] = {}  # the exact command lines
    artefacts: dict[str, str] = {}  # sha256 of kernel, initramfs, agent...; versions of the board's programs

    def key(self) -> str:
        return digest(self.model_dump(mode="json"))

    @property
    def measurement(self) -> str:
        """What runs of one measurement have in common: all but the seed and the boot that a run began from."""
        artefacts = {name: unvaried(text) for name, text in self.artefacts.items()}
        return digest([self.parameters, artefacts])


# The artefacts of runs whose time is partly a model's.
MODEL, DISKS = "memory model", "disk models"
MODELS = frozenset({MODEL, DISKS})


LateSource = Literal[
    "before", "timer", "nmi", "irq", "softirq", "thread", "switch", "untold", "own", "sibling", "held", "wait"
]


class LatePart(_Model):
    """Of a late sample, as a tracer of the system it was measured on told it."""

    source: LateSource
    begin_ns: Count  # since the timer's expiry
    duration_ns: Count
    name: OneLine  # of the interrupt, softirq or thread; what ran until the timer's interrupt came


class LateSample(_Model):
    """A sample whose parts follow each other from the timer's expiry and add up to it."""

    number: Count  # among its CPU's samples, from 1
    cpu: Count
    series: OneLine = ""  # where an instrument has several; of the CPU's own where it is empty
    value_ns: Count
    parts: list[LatePart]
    calls: list[OneLine]  # what the timer's interrupt hit, the innermost last


# Facts of a run: how long its system took to come to rest after the boot (rest.py); that it was reset instead; by
# how much it began later than those that begin at once.
WAITED_NS, RESET, LATER_S = "rest_ns", "rest_reset", "begun_later_s"


Told = Annotated[OneLine, Field(max_length=MOST_TOLD)]


class About(_Model):
    """What rtqual knew of the instrument and the load when it measured: reports need neither (about.py)."""

    title: Told = ""  # of the instrument; empty where no part brought it
    program: Told = ""
    caveats: Annotated[tuple[Told, ...], Field(max_length=MOST_CAVEATS)] = ()
    family: Told = ""  # which benchmarks of a battery,
    space: Told = ""  # and where they ran
    periodic: bool = True  # whether samples are taken at an interval, as far as is known
    units: Annotated[dict[Told, Told], Field(max_length=MOST_UNITS)] = {}  # of its parameters
    load: Told = ""  # the load's title


class Provenance(_Model):
    """Where and how a run was made. What could not be read is absent, not guessed."""

    rtqual: str
    mission_sha256: str
    started: str | None  # UTC, ISO 8601
    wall_s: float | None
    command: list[str]  # runs the same again by hand
    tools: dict[str, str] = {}  # program -> version
    kernel: str | None = None  # uname -r -v
    kernel_cmdline: str | None = None
    clocksource: str | None = None
    clock_resolution_ns: int | None = None
    threads: list[dict[str, Any]] = []  # effective policy, priority and affinity of the instrument's threads
    page_faults: int | None = None
    facts: dict[str, str] = {}  # everything else: governor, hypervisor, steal, preemption model...


class Manifest(_Model):
    schema_version: int = SCHEMA_VERSION
    hash: str  # of inputs and samples
    inputs: Inputs
    repeat: int = 0  # 1: the same inputs once more, to test that a run is deterministic
    timing: Timing
    series: list[SeriesInfo]
    scalars: dict[str, Scalar] = {}
    problems: list[str] = []  # each a reason to refuse a verdict that rests on this record
    absent: dict[str, str] = {}  # what the system does not offer to measure, and why: no figure, never zero
    late: list[LateSample] | None = None  # the worst samples, where the instrument saw what made them late
    cautions: list[OneLine] | None = None  # what a reader must know and a verdict may stand
    about: About | None = None
    provenance: Provenance
    samples_sha256: str
    files: dict[str, str] = {}  # the Parquet files and their hashes (files.py); none in the first records
    manifest_sha256: str | None = None  # of all the rest, set where it is written (store.py)


@dataclass(frozen=True)
class Record:
    manifest: Manifest
    series: tuple[Series, ...]

    @property
    def inputs(self) -> Inputs:
        return self.manifest.inputs


@dataclass(frozen=True)
class Measurement:
    """What an instrument read out of a run."""

    series: tuple[Series, ...] = ()
    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    absent: Mapping[str, str] = field(default_factory=dict)
    late: tuple[LateSample, ...] = ()
    cautions: tuple[str, ...] = ()


def parse(content: bytes) -> Any:
    """JSON of a file. Raises ValueError, also for half of a surrogate pair, which cannot be written again."""
    value = json.loads(content)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of a value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def samples_digest(series: tuple[Series, ...], scalars: Mapping[str, Scalar]) -> str:
    """sha256 over every sample and every figure, independent of how they are stored.

    A series goes in as its values and how often each came; of a raw one, that is every sample in its order, then as
    many ones.
    """
    import numpy as np  # noqa: PLC0415

    sha = hashlib.sha256(json.dumps({k: v.model_dump() for k, v in sorted(scalars.items())}).encode())
    for each in series:
        sha.update(each.info.model_dump_json().encode())
        samples = 0
        for chunk in each.ordered() or (each.values,):
            sha.update(np.ascontiguousarray(chunk, "<i8").data)
            samples += len(chunk)
        for counts in (each.counts,) if each.order is None else _ones(samples):
            sha.update(np.ascontiguousarray(counts, "<i8").data)
    return sha.hexdigest()


def _ones(number: int) -> Iterator[Int64Array]:
    import numpy as np  # noqa: PLC0415

    ones = np.ones(min(number, CHUNK), np.int64)
    for start in range(0, number, CHUNK):
        yield ones[: number - start]
