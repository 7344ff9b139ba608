# SPDX-License-Identifier: MIT
"""A published system's figures as records, one for each instrument, load and number of CPUs a study printed.

A record holds what was printed and nothing else: no samples, no statistic that the study leaves out. Differences are
computed from the figures like any other record's; those the study printed itself stand beside them, as scalars.
"""

from collections.abc import Iterator

from rtqual import __version__
from rtqual.base.units import DURATIONS_NS
from rtqual.base.words import listed
from rtqual.engine.analysis.figure.summary import RESOLUTION
from rtqual.engine.mission import PUBLISHED
from rtqual.parts.studies.beside import CYCLES
from rtqual.parts.studies.catalogue import Cell, PrintedTable, Study, study, systems
from rtqual.parts.studies.rounded import exponent
from rtqual.protocols.instrument.about import about_inputs
from rtqual.protocols.record.facts import COMMAND, PRINTED_IN, STUDY
from rtqual.protocols.record.schema import Inputs, Measurement, Provenance, Record, Scalar, Series, SeriesKind, Timing
from rtqual.protocols.record.store import make

AS_PRINTED = " as printed"  # ends the names of differences that the study printed
_STATISTICS = frozenset({"min", "avg", "max", "p95"})


def records(system: str, candidate: str, mission_sha256: str = "") -> Iterator[Record]:
    """What was printed of a system that `systems()` names. Times in ns."""
    key, row = systems()[system]
    source = study(key)
    for table in source.measured.values():
        if row in source.rows_of(table):
            yield _record(source, table, row, candidate, mission_sha256)


def _record(source: Study, table: PrintedTable, row: str, candidate: str, mission_sha256: str) -> Record:
    lines = list(source.named(table, row))  # a line for each CPU where the table has them apart
    scalars = {RESOLUTION: Scalar(value=_step_ns(table, lines), unit="ns"), **_scalars(table, lines)}
    inputs = Inputs(
        candidate=candidate,
        instrument=table.instrument,
        load=table.load,
        board=PUBLISHED,
        cpus=table.cpus or 1,
        seed=0,
        job={"study": source.key, "table": table.id, "row": row},
    )
    provenance = Provenance(
        rtqual=__version__,
        mission_sha256=mission_sha256,
        started=None,
        wall_s=None,
        command=[],
        facts={
            STUDY: f"{source.source.title} ({source.source.author})",
            "system": table.row_title(lines[0]),
            "hardware": source.source.hardware,
            "tools": "; ".join(source.source.tools),
            COMMAND: table.command,
            PRINTED_IN: listed(places(source, table)),
            "cpus": str(table.cpus or "not stated, filed as 1"),
        },
    )
    measured = Measurement(tuple(_series(table, line) for line in lines), scalars | _differences(source, table, row))
    return make(inputs, measured, provenance, timing=Timing.REAL, repeat=0, about=about_inputs(inputs))


def places(source: Study, table: PrintedTable) -> list[str]:
    """Where a table's figures are printed, and the differences that follow from them."""
    others = (source.table(where.partition(".")[0]).place for where in table.differences.values())
    return list(dict.fromkeys((table.place, *others)))


def _series(table: PrintedTable, line: tuple[Cell, ...]) -> Series:
    unit_ns = DURATIONS_NS[table.unit]
    printed = {name: float(table.number(line, name) * unit_ns) for name in table.columns if name in _STATISTICS}
    if CYCLES in table.columns:
        printed["n"] = float(table.number(line, CYCLES))
    cpu = int(table.number(line, "cpu")) if "cpu" in table.columns else None
    return Series.counted({}, SeriesKind.SUMMARY, name="latency", unit="ns", reported=printed, cpu=cpu)


def _step_ns(table: PrintedTable, lines: list[tuple[Cell, ...]]) -> float:
    """The last digit that was printed."""
    figures = (table.number(line, name) for line in lines for name in table.columns if name in _STATISTICS)
    return float(DURATIONS_NS[table.unit]) * 10.0 ** min(map(exponent, figures))


def _scalars(table: PrintedTable, lines: list[tuple[Cell, ...]]) -> dict[str, Scalar]:
    """Figures that are no durations: requests per second."""
    others = (name for name in table.figure_columns if table.unit_of(name) not in ("1", *DURATIONS_NS))
    return {name: Scalar(value=float(table.number(lines[0], name)), unit=table.unit_of(name)) for name in others}


def _differences(source: Study, table: PrintedTable, row: str) -> dict[str, Scalar]:
    printed = {}
    for statistic, where in table.differences.items():
        name, column = where.split(".")
        if row in source.rows_of(source.table(name)):
            unit_ns = DURATIONS_NS[source.table(name).unit]
            value = float(source.figures((name, row, column))[0].value * unit_ns)
            printed[statistic + AS_PRINTED] = Scalar(value=value, unit="ns")
    return printed
