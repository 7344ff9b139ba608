# SPDX-License-Identifier: MIT
"""What studies printed of operations that the probe measures too, under the probe's names for them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from rtqual.base.units import DURATIONS_NS
from rtqual.base.words import listed
from rtqual.engine.analysis.figure.model import Conditions
from rtqual.parts.studies.catalogue import Cell, PrintedTable, Study, study

_BOARDS = ("BeagleBone Black", "SABRELite")
_SPACES = ("user", "kernel")
_MS = DURATIONS_NS["ms"]
_SAMPLES = 500  # "at least 500 iterations of one operation"
_SERIES = {f"{object_} workload": f"{object_} workload: time" for object_ in ("mq", "mutex", "sem")}


def study_text(source: Study) -> str:
    about = source.source
    measured_with = "; ".join(filter(None, (about.hardware, listed(about.systems), listed(about.tools))))
    author = f" ({about.author})" if about.author else ""
    return f"Study {source.key}: {about.title}{author}; {measured_with}."


@dataclass(frozen=True)
class StudyOperations:
    """One system of a study."""

    source: Study
    table: PrintedTable
    system: str
    statistic: str  # as rtqual calls it
    figures_ns: Mapping[str, float]  # operation -> figure
    interval_ns: int | None = None  # as stated
    samples: int | None = None  # of each operation, as stated
    charted: bool = False  # the study draws least, average, largest and deviation of each operation side by side

    @property
    def conditions(self) -> Conditions:
        lengths = () if self.samples is None else (self.samples, self.samples)
        return Conditions({} if self.interval_ns is None else {"interval": self.interval_ns}, lengths)

    @property
    def place(self) -> str:
        return f"study {self.source.source.key}, {self.table.place}"

    @property
    def told(self) -> str:
        method = self.source.source.method
        return f"{study_text(self.source)} {self.table.place}: {self.table.caption}. Its method: {method}."


def operations(family: str) -> tuple[StudyOperations, ...]:
    """Those of a family of the probe (docs/probe.md); none where no study has them."""
    found = {"primitives": _primitives, "itc": _communication, "periodic": _periodic}.get(family)
    return tuple(row for row in found() if row.figures_ns) if found else ()


def _primitives() -> Iterator[StudyOperations]:
    source = study("freertos")
    table = source.table("table1")
    for statistic, column in (("p50", "median"), ("min", "min"), ("max", "max")):
        rows = {_SERIES.get(str(row[0]), str(row[0])): _ns(table, row, column) for row in table.rows}
        yield StudyOperations(source, table, "FreeRTOS, Raspberry Pi 2", statistic, rows, samples=_SAMPLES)


def _communication() -> Iterator[StudyOperations]:
    source = study("xenomai")
    table = source.table("itc-avg")
    for board in _BOARDS:
        for space in _SPACES:
            rows = [r for r in table.rows if r[0] == board and _word(table, r, "space") == space]
            figures = {_word(table, row, "mechanism"): _ns(table, row, "avg") for row in rows}
            # Of the message pipe the interval is not legible.
            yield StudyOperations(source, table, f"Xenomai, {board}, {space} space", "avg", figures, _MS, charted=True)


def _periodic() -> Iterator[StudyOperations]:
    """At both intervals."""
    source = study("xenomai")
    table = source.table("periodic")
    for board in _BOARDS:
        (row,) = (r for r in table.rows if r[0] == board and _word(table, r, "statistic") == "avg")
        for text, ms in product(_SPACES, (1, 10)):
            figures = {name: _ns(table, row, f"{text}_{ms}ms_{name}") for name in ("period", "jitter")}
            yield StudyOperations(source, table, f"Xenomai, {board}, {text} space", "avg", figures, ms * _MS)


def _ns(table: PrintedTable, row: tuple[Cell, ...], column: str) -> float:
    return float(table.number(row, column) * DURATIONS_NS[table.unit_of(column)])


def _word(table: PrintedTable, row: tuple[Cell, ...], column: str) -> str:
    return str(row[1 + table.columns.index(column)])
