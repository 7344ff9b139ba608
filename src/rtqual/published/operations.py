# SPDX-License-Identifier: MIT
"""What studies printed of operations that the probe measures too, under the probe's names for them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rtqual.base.units import DURATIONS_NS
from rtqual.study.catalogue import Cell, Study, Table, study

_BOARDS = ("BeagleBone Black", "SABRELite")
_SPACES = ("user", "kernel")
_SERIES = {f"{object_} workload": f"{object_} workload: time" for object_ in ("mq", "mutex", "sem")}


@dataclass(frozen=True)
class Operations:
    """One system of a study."""

    source: Study
    table: Table
    system: str
    statistic: str  # as rtqual calls it
    figures_ns: Mapping[str, float]  # operation -> figure


def operations(family: str) -> tuple[Operations, ...]:
    """Those of a family of the probe (docs/probe.md); none where no study has them."""
    found = {"primitives": _primitives, "itc": _communication, "periodic": _periodic}.get(family)
    return tuple(one for one in found() if one.figures_ns) if found else ()


def _primitives() -> Iterator[Operations]:
    source = study("freertos")
    table = source.table("table1")
    rows = {_SERIES.get(str(row[0]), str(row[0])): _ns(table, row, "median") for row in table.rows}
    yield Operations(source, table, "FreeRTOS, Raspberry Pi 2", "p50", rows)


def _communication() -> Iterator[Operations]:
    source = study("xenomai")
    table = source.table("itc-avg")
    for board in _BOARDS:
        for one in _SPACES:
            rows = [r for r in table.rows if r[0] == board and _word(table, r, "space") == one]
            figures = {_word(table, row, "mechanism"): _ns(table, row, "avg") for row in rows}
            yield Operations(source, table, f"Xenomai, {board}, {one} space", "avg", figures)


def _periodic() -> Iterator[Operations]:
    """At an interval of 1 ms, the probe's own."""
    source = study("xenomai")
    table = source.table("periodic")
    for board in _BOARDS:
        (row,) = (r for r in table.rows if r[0] == board and _word(table, r, "statistic") == "avg")
        for one in _SPACES:
            figures = {name: _ns(table, row, f"{one}_1ms_{name}") for name in ("period", "jitter")}
            yield Operations(source, table, f"Xenomai, {board}, {one} space", "avg", figures)


def _ns(table: Table, row: tuple[Cell, ...], column: str) -> float:
    return float(table.number(row, column) * DURATIONS_NS[table.unit_of(column)])


def _word(table: Table, row: tuple[Cell, ...], column: str) -> str:
    return str(row[1 + table.columns.index(column)])
