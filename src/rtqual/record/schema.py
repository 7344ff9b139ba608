# SPDX-License-Identifier: MIT
"""What a record is: the inputs of one run, the samples it gave, and where it came from."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1
Int64Array = npt.NDArray[np.int64]


class Kind(StrEnum):
    """How much a series knows of its samples."""

    RAW = "raw"  # every sample, in the order it was taken
    HISTOGRAM = "histogram"  # every distinct value and how often it came: exact but for the order
    BINNED = "binned"  # values are edges of the tool's own bins: quantiles carry the bin's width
    SUMMARY = "summary"  # no samples; only what the tool printed


class Timing(StrEnum):
    """What a run's clock counted, and whether that was tested."""

    INSTRUCTIONS = "instructions"  # instruction clock, and a second run gave the same samples
    UNTESTED = "instructions, untested"  # instruction clock, not yet run a second time
    HOST_TIMED = "host-timed"  # a second run gave other samples, or something in it waits for the host
    REAL = "real"  # the hardware's own time


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scalar(_Model):
    """A figure the tool printed or the board read, with its unit ('1/s', 'B', 'ns', '1')."""

    value: float
    unit: str


class SeriesInfo(_Model):
    """One stream of samples. `reported` holds the tool's own min/avg/max in the series' unit."""

    name: str
    unit: str = "ns"
    kind: Kind
    cpu: int | None = None
    overflow: int = 0  # samples at or above overflow_from, counted but without a value
    overflow_from: int | None = None
    reported: dict[str, float] = {}


@dataclass(frozen=True)
class Series:
    """A series with its samples: `values` (ascending unless raw) each seen `counts` times."""

    info: SeriesInfo
    values: Int64Array
    counts: Int64Array

    @classmethod
    def raw(cls, values: list[int], **info: Any) -> Self:
        return cls(SeriesInfo(kind=Kind.RAW, **info), np.array(values, np.int64), np.ones(len(values), np.int64))

    @classmethod
    def counted(cls, counts: dict[int, int], kind: Kind = Kind.HISTOGRAM, **info: Any) -> Self:
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


class Inputs(_Model):
    """Everything that decides what a run measures; its hash is the cell's key.

    Host facts and wall times are not in here, so two identical deterministic runs have the same hash.
    """

    candidate: str
    instrument: str
    load: str
    board: str
    cpus: int
    seed: int
    parameters: dict[str, Any] = {}  # the instrument's, from the mission and its scale
    job: dict[str, Any] = {}  # the exact command lines
    artefacts: dict[str, str] = {}  # sha256 of kernel, initramfs, agent...; versions of the board's programs

    def key(self) -> str:
        return digest(self.model_dump(mode="json"))


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
    provenance: Provenance
    samples_sha256: str


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


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of a value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def samples_digest(series: tuple[Series, ...], scalars: Mapping[str, Scalar]) -> str:
    """sha256 over every sample and every figure, independent of how they are stored."""
    sha = hashlib.sha256(json.dumps({k: v.model_dump() for k, v in sorted(scalars.items())}).encode())
    for one in series:
        sha.update(one.info.model_dump_json().encode())
        sha.update(one.values.astype("<i8").tobytes())
        sha.update(one.counts.astype("<i8").tobytes())
    return sha.hexdigest()
