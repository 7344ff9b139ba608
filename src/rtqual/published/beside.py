# SPDX-License-Identifier: MIT
"""A published table in the shape in which one's own results can stand beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from rtqual.published.audit import Finding, audit
from rtqual.published.study import Table, study
from rtqual.published.wording import plain
from rtqual.units import DURATIONS_NS, SIZES_B

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
    finding: Finding | None  # of the audit, where the figure does not follow from the others


@dataclass(frozen=True)
class Beside:
    """Rows are systems (or operations), columns statistics, named as rtqual names its own where it has them."""

    study: str
    place: str
    title: str
    instrument: str
    load: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Published]]  # row -> column -> figure


def beside(key: str, table_id: str) -> Beside:
    """Raises BadInput for a study or table there is none of."""
    source = study(key)
    table = source.table(table_id)
    return Beside(
        study=source.source.title,
        place=table.place,
        title=table.caption,
        instrument=table.instrument,
        load=table.load,
        columns=tuple(_STATISTICS.get(column, column) for column in table.figure_columns),
        rows={
            table.row_label(row): {
                _STATISTICS.get(column, column): _published(key, table, row, column) for column in table.figure_columns
            }
            for row in table.rows
        },
    )


def _published(key: str, table: Table, row: tuple[Decimal | str, ...], column: str) -> Published:
    number, unit = table.number(row, column), table.unit_of(column)
    factor, base = _FACTORS.get(unit, (1, unit))
    return Published(plain(number), float(number * factor), base, _findings(key).get((table.id, row, column)))


@cache
def _findings(key: str) -> dict[tuple[str, tuple[Decimal | str, ...], str], Finding]:
    """By table, row and column; only figures, not claims."""
    source = study(key)
    return {
        (one.table, row, one.column): one
        for one in audit(source).findings
        if one.table
        for row in source.table(one.table).rows
        if source.table(one.table).row_title(row) == one.row
    }
