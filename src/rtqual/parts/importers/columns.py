# SPDX-License-Identifier: MIT
"""Samples in a column of a table, in the order they were taken: a Parquet file, or comma-separated text.

Whole nanoseconds are kept. Text may have fractions of its unit (a program that prints 12.345 us) and values below zero
(a thread that woke early); what lies below a nanosecond is rounded, which is said. Parquet has whole numbers.
"""

import csv
import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from rtqual.base.errors import first_line
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit
from rtqual.parts.importers.source import Source, cleaned, open_file
from rtqual.parts.importers.tally import LARGEST
from rtqual.protocols.record.parquet import InParquet, Scratch, connect, connected, copy, literal, name, table
from rtqual.protocols.record.schema import Measurement, Series, SeriesInfo, SeriesKind

_INTEGERS = frozenset(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")) | {
    "INTEGER",
    "UINTEGER",
}
_UNIT = re.compile(r"[\s_.([]+(ns|us|µs)[)\]]?\s*")  # at the end of a column's name
_NUMBER = re.compile(r"[-+]?\d*\.?\d+([eE][-+]?\d+)?\.?", re.ASCII)
_LONGEST_LINE_B = 1 << 20
UNTOLD = (
    "what was measured and with what: say it with --instrument",
    "whether samples are missing, the CPUs",
)


def read_parquet(source: Source, unit: str | None, column: str | None = None) -> list[Reading]:
    path = source.path
    with connected(path) as connection:
        rows = connection.execute(f"DESCRIBE FROM {table(path)}").fetchall()
    types = {str(row[0]): str(row[1]) for row in rows}
    whole = [text for text, type_ in types.items() if type_ in _INTEGERS]
    if column is None and not whole:
        held = _listed([f"{text} {type_}" for text, type_ in types.items()])
        raise bad(path, None, f"no column of whole numbers (it has {held}): give samples in whole nanoseconds")
    chosen = _chosen(path, column, list(types), whole)
    if chosen not in whole:
        raise bad(path, None, f"column {chosen!r} is {types[chosen]}: give whole numbers, as of nanoseconds")
    beside = [kind for kind in types if kind != chosen]
    unit_name, told = _unit_of(path, chosen, unit)
    order = InParquet((path,), name(chosen))
    _check(path, order, chosen, UNITS_NS[unit_name], None)
    readings = _reading(order.scaled(UNITS_NS[unit_name]), chosen, told, UNITS_NS[unit_name], beside)
    _account(source, readings)
    return readings


def _account(source: Source, readings: Sequence[Reading], *, header: bool = False) -> None:
    """Every row is a sample, or the file was refused."""
    source.account.of = "rows"
    source.account.used = sum(series.total for reading in readings for series in reading.measurement.series)
    if header:
        source.account.skipped["the columns' names"] += 1


def read_csv(source: Source, unit: str | None, column: str | None = None) -> list[Reading]:
    path, number = source.path, 1
    with open_file(path) as file:
        line = cleaned(file.readline(_LONGEST_LINE_B))
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        ended = file.read(1) in (b"\n", b"\r")
    try:
        cells = [cell.strip() for cell in next(csv.reader([line]), [])] or [""]
    except csv.Error as error:
        raise bad(path, number, f"{error}: give comma-separated text") from None
    header = not any(_NUMBER.fullmatch(cell) for cell in cells)
    if header and any(_NUMBER.fullmatch(cell.replace('"', "").strip()) for cell in cells):
        raise bad(path, number, "a number with a stray quotation mark, which is no column's name: correct the line")
    titles = cells if header else ["value"] if len(cells) == 1 else [f"column {i}" for i in range(1, len(cells) + 1)]
    if len(set(titles)) < len(titles):
        raise bad(path, number, "two columns have the same name: give each its own")
    chosen = _chosen(path, column, titles, titles)
    columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(titles)))
    text = f"trim(c{titles.index(chosen)})"
    scratch = Scratch()
    how = f"auto_detect = false, header = {header}, delim = ',', quote = '\"', max_line_size = {_LONGEST_LINE_B}"
    rows = f"read_csv({literal(glob.escape(str(path)))}, {how}, columns = {{{columns}}})"
    # Anything else becomes NULL. The cast is exact: it keeps twelve digits behind the point.
    unit_name, told = _unit_of(path, chosen, unit)
    number_text = f"regexp_full_match({text}, '[-+]?[0-9]{{1,18}}([.][0-9]{{1,12}})?')"
    exact = f"CASE WHEN {number_text} THEN {text}::DECIMAL(38, 12) * {UNITS_NS[unit_name]} END"
    told_too = f"contains({text}, '.') AS fine, exact <> round(exact) AS rounded"
    whole = f"{exact} AS exact, TRY_CAST(round(exact) AS BIGINT) AS value, {told_too}"
    try:
        with connect() as connection:
            copy(connection, f"FROM {rows} SELECT {whole}", scratch.folder / "column.parquet")
    except duckdb.Error as error:
        line_number = re.search(r"CSV Error on Line: (\d+)", str(error))
        what = "cannot be read as comma-separated text" if line_number else first_line(error)
        raise bad(
            path, int(line_number[1]) if line_number else None, f"{what}: every line must have {len(titles)} cells"
        ) from None
    order = InParquet((scratch.folder / "column.parquet",), scratch=scratch)
    beside = [title for title in titles if title != chosen]
    with connected(path) as connection:
        kept = table(scratch.folder / "column.parquet")
        fine, rounded = connection.execute(
            f"FROM {kept} SELECT coalesce(bool_or(fine), false), count(*) FILTER (rounded)"
        ).fetchall()[0]
    assumed = [f"{rounded} values are rounded to a nanosecond"] if rounded else []
    assumed += [] if ended else ["its last row, which has no end, is whole"]
    _check(path, order, chosen, 1, number + header, below_zero=True)
    readings = _reading(order, chosen, told, 1 if fine else UNITS_NS[unit_name], beside, assumed)
    _account(source, readings, header=header)
    return readings


def _chosen(path: Path, asked: str | None, columns: Sequence[str], fit: Sequence[str]) -> str:
    """The column to read: the one asked for, else the only one that fits."""
    if asked is not None:
        if asked not in columns:
            raise bad(path, None, f"has no column {asked[:40]!r}: --column takes one of {_listed(columns)}")
        return asked
    if len(fit) > 1:
        raise bad(path, None, f"several columns that may be meant ({_listed(fit)}): name one with --column")
    return fit[0]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns[:20]) + (", ..." if len(columns) > 20 else "")


def _unit_of(path: Path, column: str, unit: str | None) -> tuple[str, tuple[str, ...]]:
    """The unit of a column, by its name or as --unit says, and what is assumed in it."""
    match = _UNIT.search(column)
    told = match[1].replace("µ", "u") if match and match.end() == len(column) else None
    if unit is None and told is None:
        raise bad(path, None, f"does not say the unit of column {column!r}: say --unit ns or --unit us")
    return settle_unit(path, unit, told, f"the name of column {column!r}")


def _reading(
    order: InParquet,
    column: str,
    told: Sequence[str],
    step_ns: int,
    beside: Sequence[str],
    assumed: Sequence[str] = (),
) -> list[Reading]:
    """`order`: the samples in ns. `told`: what is assumed in their unit. `beside`: the columns that are not read."""
    match = _UNIT.search(column)
    named = match is not None and match.end() == len(column)
    info = SeriesInfo(name=_UNIT.sub("", column) if named else column, kind=SeriesKind.RAW)
    series = Series.of_order(order, info)
    return [
        Reading(
            instrument="samples",
            measurement=Measurement((series,), resolution(step_ns)),
            assumed=(
                *told,
                *assumed,
                *([f"the columns {_listed(beside)} say nothing of the samples"] if beside else []),
            ),
            untold=UNTOLD,
        )
    ]


def _check(
    path: Path, order: InParquet, column: str, unit_ns: int, first_line: int | None, *, below_zero: bool = False
) -> None:
    """Every sample must be a number, from 0 to what is no longer a measurement. `first_line`: of text's samples."""
    (file,) = order.paths
    value = order.column
    with connected(path) as connection:
        low, high, rows, numbers = connection.execute(
            f"FROM {table(file)} SELECT min({value}), max({value}), count(*), count({value})"
        ).fetchall()[0]
        least = -LARGEST if below_zero else 0
        if rows == numbers > 0 and low * unit_ns >= least and high * unit_ns <= LARGEST:
            return
        if not rows:
            raise bad(path, None, f"column {column!r} has no samples: give a file that has")
        broken = f"{value} IS NULL OR {value} < {least} OR {value} > {LARGEST // unit_ns}"
        row, what = connection.execute(
            f"FROM {table(file, numbered=True)} SELECT file_row_number, {value} "
            f"WHERE {broken} ORDER BY file_row_number LIMIT 1"
        ).fetchall()[0]
    where = f"row {row + 1} of column {column!r}" if first_line is None else f"column {column!r}"
    kind = "number with up to 18 digits" if below_zero else "whole number"
    found = (
        f"no {kind}"
        if what is None
        else f"{what}, which is {'no measurement' if below_zero or what > 0 else 'below zero'}"
    )
    raise bad(path, None if first_line is None else first_line + row, f"{where} has {found}: leave such rows out")


PARQUET = Format(
    "parquet", "a column of a Parquet file", mark(r"\APAR1"), read_parquet, has_unit=True, has_columns=True
)
_CELL = r"[ \t]*-?[\d.]*(?:[eE][-+]?\d+)?[ \t]*"
CSV = Format(
    "csv",
    "a column of comma-separated text",
    mark(rf"\A([^\n]*\n)?({_CELL},)*[ \t]*-?\d+(?:\.\d+)?[ \t]*(,{_CELL})*\n"),
    read_csv,
    has_unit=True,
    has_columns=True,
)
