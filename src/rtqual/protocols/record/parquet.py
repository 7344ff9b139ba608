# SPDX-License-Identifier: MIT
"""A record's samples as Parquet, through DuckDB, in memory that does not grow with their number.

samples.parquet  every series as a sparse histogram: number of the series, value, how often it came
raw.parquet      only where there are raw series: their samples in order, number of the series and value

Records written before raw.parquet have the samples of a raw series in samples.parquet, each with a count of one.
"""

import glob
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import duckdb
import numpy as np

from rtqual.base.errors import BadInput, RunFailed, first_line
from rtqual.base.scratch import place_of, scratch
from rtqual.protocols.record.schema import (
    CHUNK,
    MOST_SAMPLES,
    MOST_VALUE,
    InMemory,
    Int64Array,
    Series,
    SeriesInfo,
    SeriesKind,
)

SAMPLES, RAW = "samples.parquet", "raw.parquet"
_MEMORY = "256MB"  # what DuckDB may take for a query; more goes to scratch files
_THREADS = 4  # each has buffers of its own
_PAGE = 2 * CHUNK  # rows of one query: each reads the file's footer anew
# What pybind11 makes of C++'s own exceptions, which DuckDB lets through of damaged files.
_THROWN = (ValueError, TypeError, ArithmeticError, LookupError, MemoryError, RuntimeError)
_EMPTY32, _EMPTY64 = np.empty(0, np.int32), np.empty(0, np.int64)
# Some KB of Parquet may unpack to any number of rows: half a GB in memory, an hour of reading are the most.
MOST_ROWS, _MOST_DISTINCT = 1 << 28, 1 << 24
# Version 2 stores integers as differences: it is smaller, and is read 4 times as fast where values hardly repeat.
_FORMAT = "(FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)"


@contextmanager
def connected(what: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB for reading a file. Raises BadInput that names it when it cannot be read."""
    try:
        with connect() as connection:
            yield connection
    except (duckdb.Error, *_THROWN) as error:
        raise BadInput(f"{what}: the samples cannot be read: {first_line(error)}") from None


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of one's own."""
    try:
        with _database().cursor() as connection:
            yield connection
    except (duckdb.FatalException, duckdb.InternalException):
        _database.cache_clear()  # after such an error it answers nothing more
        raise


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for the process, with nothing in it: to start another takes ten times as long as to read a small record."""
    return duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "threads": min(_THREADS, os.cpu_count() or 1),
            "preserve_insertion_order": True,  # or a query may give the samples in another order
            "enable_external_file_cache": False,  # files are read to see what is in them now
            "temp_directory": str(place_of("duckdb")),
        }
    )


def table(*paths: Path, numbered: bool = False) -> str:
    """Parquet files as one table of SQL, in their order; `numbered`: with the number of the row in its file."""
    names = ", ".join(literal(glob.escape(str(path))) for path in paths)  # DuckDB takes a name for a pattern
    return f"read_parquet([{names}]{', file_row_number = true' if numbered else ''})"


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True)
class InParquet:
    """Samples in a column of Parquet files, in the order of their rows."""

    paths: tuple[Path, ...]
    column: str = "value"  # as SQL
    scale: int = 1
    series: int | None = None  # of a record's file: the number of the series
    scratch: object = None  # what removes the files when nobody needs them any more

    def chunks(self) -> Iterator[Int64Array]:
        for path in self.paths:
            with connected(path) as connection:
                numbered = table(path, numbered=True)
                first, end = connection.execute(
                    f"FROM {numbered} SELECT min(file_row_number), max(file_row_number) + 1 {self._where()}"
                ).fetchall()[0]
                for start in range(first or 0, end or 0, _PAGE):
                    among = f"file_row_number >= {start} AND file_row_number < {min(start + _PAGE, end)}"
                    found = connection.execute(self._select(numbered, among)).fetchnumpy()
                    yield from InMemory(np.asarray(found["value"], np.int64)).chunks()

    def scaled(self, factor: int) -> "InParquet":
        return replace(self, scale=self.scale * factor)

    def query(self) -> str:
        """Gives DuckDB the samples as `value`."""
        return self._select(table(*self.paths))

    def histogram(self) -> tuple[Int64Array, Int64Array]:
        with connected(self.paths[0]) as connection:
            found = connection.execute(
                f"FROM ({self.query()}) SELECT value, count(*) AS count GROUP BY value ORDER BY value "
                f"LIMIT {_MOST_DISTINCT + 1}"
            ).fetchnumpy()
        if len(found["value"]) > _MOST_DISTINCT:
            raise _too_many(self.paths[0], _MOST_DISTINCT, "different samples")
        return np.asarray(found["value"], np.int64), np.asarray(found["count"], np.int64)

    def _select(self, rows: str, *among: str) -> str:
        scaled = f" * {self.scale}" if self.scale != 1 else ""
        return f"FROM {rows} SELECT {self.column}::BIGINT{scaled} AS value {self._where(*among)}"

    def _where(self, *among: str) -> str:
        conditions = [*among, *([] if self.series is None else [f"series = {self.series}"])]
        return f"WHERE {' AND '.join(conditions)}" if conditions else ""


class Scratch:
    """A folder that goes when nobody needs it any more."""

    def __init__(self) -> None:
        held = ExitStack()
        self.folder = held.enter_context(scratch())
        weakref.finalize(self, held.close)


class Spool:
    """Takes samples a piece at a time, and keeps what is more than a piece in scratch files."""

    def __init__(self) -> None:
        self._pieces: list[Int64Array] = []
        self._held = 0
        self._parts: list[Path] = []
        self._scratch: Scratch | None = None

    def add(self, samples: Int64Array) -> None:
        self._pieces.append(samples)
        self._held += len(samples)
        if self._held >= CHUNK:
            self._flush()

    def order(self) -> InMemory | InParquet:
        """All samples that were added."""
        if not self._parts:
            return InMemory(np.concatenate([_EMPTY64, *self._pieces]))
        if self._held:
            self._flush()
        return InParquet(tuple(self._parts), scratch=self._scratch)

    def _flush(self) -> None:
        self._scratch = self._scratch or Scratch()
        held = InMemory(np.concatenate(self._pieces))
        self._pieces, self._held = [], 0
        self._parts.append(self._scratch.folder / f"{len(self._parts)}.parquet")
        try:
            save(held, self._parts[-1])
        except duckdb.Error as error:
            raise RunFailed(f"{self._parts[-1]}: cannot keep samples: {first_line(error)}: make room") from None


def write_samples(folder: Path, series: Sequence[Series]) -> list[str]:
    """Write the files of all series and return their names. Raises duckdb.Error."""
    columns = {
        "series": np.concatenate([np.full(len(s.values), i, np.int32) for i, s in enumerate(series)] or [_EMPTY32]),
        "value": np.concatenate([s.values for s in series] or [_EMPTY64]),
        "count": np.concatenate([s.counts for s in series] or [_EMPTY64]),
    }
    orders = {
        i: s.order if isinstance(s.order, InMemory | InParquet) else spooled(s.order.chunks())
        for i, s in enumerate(series)
        if s.order is not None
    }
    with connect() as connection:
        connection.register("samples", columns)
        copy(connection, "FROM samples", folder / SAMPLES)
        if not orders:
            return [SAMPLES]
        each = [
            f"FROM ({_query(connection, order)}) SELECT {i}::INTEGER AS series, value" for i, order in orders.items()
        ]
        copy(connection, " UNION ALL ".join(each), folder / RAW)
    return [SAMPLES, RAW]


def spooled(pieces: Iterator[Int64Array]) -> InMemory | InParquet:
    """Samples that come only once, kept so that they can be gone through again."""
    spool = Spool()
    for piece in pieces:
        spool.add(piece)
    return spool.order()


def _query(connection: duckdb.DuckDBPyConnection, order: InMemory | InParquet) -> str:
    """What gives DuckDB the samples as `value`, in their order."""
    if isinstance(order, InParquet):
        return order.query()
    view = f"samples{id(order)}"
    connection.register(view, {"value": np.ascontiguousarray(order.samples)})
    return f"FROM {view}"


def save(order: InMemory | InParquet, path: Path) -> None:
    """Write samples to a file of their own, in the column `value`. Raises duckdb.Error."""
    with connect() as connection:
        copy(connection, _query(connection, order), path)


def copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    connection.execute(f"COPY ({query}) TO {literal(str(path))} {_FORMAT}")


def row_count(path: Path) -> int:
    """As the file's footer says. Raises BadInput for more than a record's file may have."""
    with connected(path) as connection:
        rows = connection.execute(f"FROM parquet_file_metadata({literal(glob.escape(str(path)))}) SELECT num_rows")
        count = int(rows.fetchall()[0][0])
    if not 0 <= count <= MOST_ROWS:
        raise _too_many(path, MOST_ROWS, "samples")
    return count


def largest(path: Path, series: int) -> int | None:
    """The largest sample of a series in a record's samples.parquet; None where it has none."""
    with connected(path) as connection:
        found = connection.execute(f"FROM {table(path)} SELECT max(value)::BIGINT WHERE series = {int(series)}")
        value = found.fetchall()[0][0]
    return None if value is None else int(value)


def _too_many(path: Path, most: int, what: str) -> BadInput:
    return BadInput(f"{path}: more than {most:,} {what}, which no record has")


def read_samples(folder: Path, infos: Sequence[SeriesInfo], *, with_raw: bool) -> Iterator[Series]:
    """The series of a record; `with_raw`: it has its raw samples in a file of their own."""
    path = folder / SAMPLES
    apart = [] if with_raw else [i for i, info in enumerate(infos) if info.kind is SeriesKind.RAW]
    held: list[list[tuple[Int64Array, Int64Array]]] = [[] for _ in infos]
    for number, values, counts in _histograms(path, apart):
        if len(number) and not 0 <= number[0] <= number[-1] < len(infos):
            raise BadInput(f"{path}: the samples have more series than the manifest: they are not of this record")
        ends = np.searchsorted(number, np.arange(len(infos) + 1)).tolist() if len(number) else []
        for pieces, first, end in zip(held, ends, ends[1:], strict=False):
            if first < end:
                pieces.append((values[first:end], counts[first:end]))
    for i, (info, pieces) in enumerate(zip(infos, held, strict=True)):
        if i in apart:
            yield Series.of_order(InParquet((path,), series=i), info)
        else:
            order = InParquet((folder / RAW,), series=i) if info.kind is SeriesKind.RAW else None
            yield Series(info, *_whole(path, pieces), order)


def _histograms(path: Path, apart: Sequence[int]) -> Iterator[tuple[Int64Array, Int64Array, Int64Array]]:
    """Series, value and count of the rows in their order, a piece at a time, but for those of the series `apart`.

    Raises BadInput where they are no histograms: values of a series ascend strictly, and each came at least once.
    """
    before, rows_read = (-1, 0), 0
    but_for = f" AND series NOT IN ({', '.join(map(str, apart))})" if apart else ""
    for start in range(0, row_count(path), _PAGE):
        with connected(path) as connection:
            rows = connection.execute(
                f"FROM {table(path, numbered=True)} "
                "SELECT series::BIGINT AS series, value::BIGINT AS value, count::BIGINT AS count "
                f"WHERE file_row_number >= {start} AND file_row_number < {start + _PAGE}{but_for}"
            ).fetchnumpy()
            if any(np.ma.is_masked(row) for row in rows.values()):
                raise ValueError("a row lacks its value")
            number, values, counts = (np.asarray(rows[name], np.int64) for name in ("series", "value", "count"))
        rows_read += len(number)
        if rows_read > _MOST_DISTINCT:
            raise _too_many(path, _MOST_DISTINCT, "different samples")
        if not len(number):
            continue
        series, value = np.concatenate([[before[0]], number]), np.concatenate([[before[1]], values])
        ascending = (series[1:] > series[:-1]) | ((series[1:] == series[:-1]) & (value[1:] > value[:-1]))
        if not ascending.all() or counts.min() < 1 or not -MOST_VALUE <= values.min() <= values.max() <= MOST_VALUE:
            raise BadInput(f"{path}: the samples are no histogram: values ascend, and each is counted at least once")
        before = (int(number[-1]), int(values[-1]))
        yield number, values, counts


def _whole(path: Path, pieces: Sequence[tuple[Int64Array, Int64Array]]) -> tuple[Int64Array, Int64Array]:
    if not pieces:
        return _EMPTY64, _EMPTY64
    values, counts = (np.concatenate(each) for each in zip(*pieces, strict=True)) if len(pieces) > 1 else pieces[0]
    if counts.sum(dtype=np.float64) > MOST_SAMPLES:
        raise BadInput(f"{path}: a series has more than {MOST_SAMPLES:,} samples, which no record has")
    return values, counts
