# SPDX-License-Identifier: MIT
"""A published table in the shape of our own results, so that the two can stand beside each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from rtqual.base.units import DURATIONS_NS, SIZES_B
from rtqual.engine.analysis.figure.model import Conditions
from rtqual.parts.studies.audit import Contradiction, audit
from rtqual.parts.studies.catalogue import Cell, PrintedTable, Study, studies, study
from rtqual.parts.studies.misprint_words import plain

CYCLES = "cycles"  # the column that counts samples
# What the studies call the statistics of rtqual's own summaries.
_STATISTICS = {"max_minus_min": "max-min", "p95_minus_avg": "p95-avg", "median": "p50"}
_FACTORS = {
    name: (factor, base) for base, units in (("ns", DURATIONS_NS), ("B", SIZES_B)) for name, factor in units.items()
}


@dataclass(frozen=True)
class Published:
    """One figure as printed; `value` in nanoseconds or bytes where its unit is a duration or a size."""

    text: str
    value: float
    unit: str
    finding: Contradiction | None  # of the audit, where the figure does not follow from the others


@dataclass(frozen=True)
class BesidePrinted:
    """Rows are systems (or operations), columns statistics, named as rtqual names its own where it has them.

    Differences that another table prints of the same systems are among the columns.
    """

    source: Study
    table: PrintedTable
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Published]]  # row -> column -> figure; what was not printed is absent

    @property
    def conditions(self) -> Conditions:
        """What the study states of how it measured; the samples of a run, where it counts them."""
        counts = [row[CYCLES].value for row in self.rows.values() if CYCLES in row]
        return Conditions(self.table.parameters, (min(counts), max(counts)) if counts else ())


def beside(key: str, table_id: str) -> BesidePrinted:
    """Raises BadInput for an unknown study or table."""
    source = study(key)
    table = source.table(table_id)
    rows = {table.row_label(line): dict(_figures(source, table, line)) for line in table.rows}
    columns = dict.fromkeys(name for figures in rows.values() for name in figures)
    return BesidePrinted(source, table, tuple(columns), rows)


def matching(instrument: str, load: str, cpus: int) -> Iterator[BesidePrinted]:
    """For each study the table of what an instrument measures under a load, of as many CPUs where it can be."""
    for source in studies():
        tables = [table for key, table in source.measured.items() if key[:2] == (instrument, load)]
        if tables:
            yield beside(source.key, min(tables, key=lambda table: table.cpus != cpus).id)


def findings(source: Study, row: str, table: PrintedTable) -> Iterator[Contradiction]:
    """Those of the audit on a system's figures of a table, and on the differences that follow from them."""
    for line in source.named(table, row):
        yield from (published.finding for _, published in _figures(source, table, line) if published.finding)


def _figures(source: Study, table: PrintedTable, line: tuple[Cell, ...]) -> Iterator[tuple[str, Published]]:
    for column in table.figure_columns:
        yield _STATISTICS.get(column, column), _published(source, table, line, column)
    row = source.row_name(table, line)
    for statistic, where in table.differences.items():
        name, column = where.split(".")
        other = source.table(name)
        if row in source.rows_of(other):
            yield statistic, _published(source, other, next(source.named(other, row)), column)


def _published(source: Study, table: PrintedTable, line: tuple[Cell, ...], column: str) -> Published:
    number, unit = table.number(line, column), table.unit_of(column)
    factor, base = _FACTORS.get(unit, (1, unit))
    finding = _findings(source.key).get((table.id, table.row_title(line), column))
    return Published(plain(number), float(number * factor), base, finding)


@cache
def _findings(key: str) -> Mapping[tuple[str, str, str], Contradiction]:
    """By table, row and column; only figures, not claims."""
    return {
        (finding.table, finding.row, finding.column): finding for finding in audit(study(key)).findings if finding.table
    }
