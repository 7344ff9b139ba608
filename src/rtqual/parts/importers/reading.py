# SPDX-License-Identifier: MIT
"""What a reader hands back: a measurement, and as much of its circumstances as the file tells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtqual.parts.importers.file_account import Above, FileAccount, bad
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

UNITS_NS = {"ns": 1, "us": 1_000}  # what the tools count in
DEFAULT_UNIT = "us"


@dataclass(frozen=True)
class Reading:
    """One run found in a file. None and empty: the file does not tell."""

    instrument: str
    measurement: Measurement
    parameters: Mapping[str, Any] = field(default_factory=dict)  # as rtqual's own instruments name them
    programs: Mapping[str, str] = field(default_factory=dict)  # program -> version
    command: tuple[str, ...] = ()
    cpus: int | None = None
    cpus_told: bool = False  # by the file; else concluded from its threads
    load: str | None = None  # what the tool itself ran beside its measurement
    started: str | None = None
    wall_s: float | None = None
    kernel: str | None = None
    kernel_cmdline: str | None = None
    clocksource: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()  # sentences
    untold: tuple[str, ...] = ()  # sentences: what this format cannot tell
    board: str | None = None  # the machine, where the file names it
    config: str | None = None  # the kernel's configuration, where the file holds it
    above: Above | None = None  # what stands above the run; None where the reader does not tell runs apart so
    account: FileAccount | None = None  # of the whole file, which may hold other runs


def resolution(unit_ns: int) -> dict[str, Scalar]:
    """The step of the figures, where it is coarser than the nanoseconds they are kept in."""
    return {"resolution": Scalar(value=unit_ns, unit="ns")} if unit_ns > 1 else {}


def thread_cpus(threads: list[int], told: Mapping[int, int] | None = None) -> tuple[dict[int, int | None], list[str]]:
    """The CPU that each thread's series is filed under, and what is assumed in it.

    Threads are never pooled: where the file does not tell their CPUs, their own numbers keep them apart.
    """
    if told is not None and all(thread in told for thread in threads):
        return {thread: told[thread] for thread in threads}, []
    if len(threads) == 1:
        return {threads[0]: None}, []
    return {thread: thread for thread in threads}, [
        "the file names threads, not CPUs: thread N is filed as CPU N (true of cyclictest -S, or -a without a list)"
    ]


def settle_unit(path: Path, asked: str | None, told: str | None, evidence: str = "") -> tuple[str, tuple[str, ...]]:
    """The unit of the values and what is assumed in it; `evidence`: what in the file tells it."""
    if told is None:
        unit = asked or DEFAULT_UNIT
        source = "as --unit says" if asked else "the tool's default: the file does not say; --unit ns where it ran -N"
        return unit, (f"the values are {unit} ({source})",)
    if asked and asked != told:
        raise bad(path, None, f"{evidence} makes its values {told}: leave out --unit {asked}")
    return told, ()


def summary(name: str, cpu: int | None, unit_ns: float, **figures: float | None) -> Series:
    """A series of which only figures are known: `n`, and others in units of `unit_ns`. None: not told."""
    reported = {key: float(round(value * (1 if key == "n" else unit_ns), 3))
                for key, value in figures.items() if value is not None}  # fmt: skip
    return Series.counted({}, SeriesKind.SUMMARY, name=name, cpu=cpu, reported=reported)
