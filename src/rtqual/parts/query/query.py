# SPDX-License-Identifier: MIT
"""`rtqual query`: the records of many campaigns and boards, asked in SQL.

What the records say is read as everywhere, with all its hashes, into tables in memory. Then DuckDB is locked: whatever
a query says, it reads no other file, opens no connection, changes nothing, and takes no more memory and time than
stated here. The folders may be a stranger's, and the query may come with them.
"""

import json
import resource
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.find import find
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read
from rtqual.stages.select import evidence_of

ROWS = 100_000  # of an answer; more are said to be there
_TIME_S, _MEMORY_MIB = 60.0, 512
_READING_S = 600.0  # of all folders, before a query begins
_BEYOND_B = 3 * 2**30  # of addresses, for what DuckDB does not count as its memory
_LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": f"{_MEMORY_MIB}MiB",
    "threads": 2,
    "temp_directory": "",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
_TEXTS = "MAP(VARCHAR, VARCHAR)"
_RECORDS = {
    "id": "INTEGER",
    "campaign": "VARCHAR",
    "hash": "VARCHAR",
    "candidate": "VARCHAR",
    "instrument": "VARCHAR",
    "load": "VARCHAR",
    "board": "VARCHAR",
    "board_name": "VARCHAR",
    "cpus": "INTEGER",
    "seed": "BIGINT",
    "repeat": "INTEGER",
    "timing": "VARCHAR",
    "started": "TIMESTAMP",
    "wall_s": "DOUBLE",
    "kernel": "VARCHAR",
    "rtqual": "VARCHAR",
    "problems": "VARCHAR[]",
    "scalars": "MAP(VARCHAR, DOUBLE)",
    "facts": _TEXTS,
    "artefacts": _TEXTS,
}
_SERIES = {
    "number": "INTEGER",
    "id": "INTEGER",
    "series": "VARCHAR",
    "unit": "VARCHAR",
    "kind": "VARCHAR",
    "cpu": "INTEGER",
}
_VERDICTS = {
    "campaign": "VARCHAR",
    "board": "VARCHAR",
    "ground": "VARCHAR",
    "candidate": "VARCHAR",
    "rank": "INTEGER",
    "score": "DOUBLE",
    "may_fly": "VARCHAR",
    "requirement": "VARCHAR",
    "outcome": "VARCHAR",
    "measured": "DOUBLE",
    "unit": "VARCHAR",
    "reason": "VARCHAR",
}
# A value beyond a histogram's end is known to be at least where that ends, or not at all.
_SAMPLES = """\
CREATE VIEW samples AS SELECT records.*, series, unit, kind, cpu, value, count, beyond
FROM kept.histograms JOIN kept.series USING (number) JOIN records USING (id)
"""
# Each board and model over time. The same record again, or the run that tests determinism, is no further draw. What
# lies beyond a histogram's end is counted, and is in no mean.
_BOARDS = """\
CREATE VIEW boards AS
SELECT board, board_name, month, candidate, instrument, load, series, unit, count(DISTINCT hash) AS runs,
  count(DISTINCT hash) FILTER (len(problems) > 0) AS refused, sum(count) AS samples,
  sum(value * count) FILTER (NOT beyond) / sum(count) FILTER (NOT beyond) AS mean,
  min(value) FILTER (seen >= 0.99 * every) AS p99, max(value) AS worst, sum(count) FILTER (beyond) AS beyond_end
FROM (SELECT *, sum(count) OVER (alike ORDER BY value) AS seen, sum(count) OVER alike AS every
      FROM (SELECT *, strftime(started, '%Y-%m') AS month FROM samples
            WHERE id IN (SELECT min(id) FROM records GROUP BY hash))
      WINDOW alike AS (PARTITION BY board, board_name, month, candidate, instrument, load, series, unit))
GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True)
class Answer:
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    more: bool  # rows than these


def query(sql: str, folders: Sequence[Path]) -> Answer:
    """Raises BadInput for a folder that holds no sound record, and for a query that DuckDB or rtqual refuses."""
    statement, named = _statement(sql), _named(folders)
    with duckdb.connect(config=_LOCKED) as connection:
        try:
            _load(connection, named, sql.lower())
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            connection.execute("BEGIN TRANSACTION READ ONLY")
        except duckdb.Error as error:
            raise BadInput(f"{named[0][0]}: the records fit no table: {_first(error)}") from None
        with _bounded(connection):
            try:
                answer = connection.execute(statement)
                columns = tuple(str(pair[0]) for pair in answer.description or ())
                rows = answer.fetchmany(ROWS + 1)
            except duckdb.InterruptException:
                raise BadInput(f"the query took more than {_TIME_S:.0f} s: narrow it with WHERE") from None
            except (duckdb.OutOfMemoryException, MemoryError):
                raise BadInput(
                    f"the query takes more than {_MEMORY_MIB} MiB: narrow it with WHERE, or aggregate sooner"
                ) from None
            except (duckdb.Error, ValueError, OverflowError, TypeError) as error:  # Python has no such date
                raise BadInput(f"the query cannot be answered: {_first(error)}") from None
    return Answer(columns, rows[:ROWS], len(rows) > ROWS)


def _statement(sql: str) -> duckdb.Statement:
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise BadInput(f"the query is no SQL: {_first(error)}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise BadInput("the query must be one SELECT; it can read the views records, samples, boards and verdicts")
    return statements[0]


def _first(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


@contextmanager
def _bounded(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Time and memory, also that which DuckDB's own limit does not count."""
    clock = threading.Timer(_TIME_S, connection.interrupt)
    before = resource.getrlimit(resource.RLIMIT_AS)
    used_b = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most_b = used_b + _BEYOND_B
    clock.daemon = True
    clock.start()
    resource.setrlimit(resource.RLIMIT_AS, (most_b if before[1] < 0 else min(most_b, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        clock.cancel()


def _named(folders: Sequence[Path]) -> list[tuple[str, Path]]:
    """Campaigns or folders of records under the names that tell them apart; in a folder of campaigns, each of them."""
    every: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(f"{folder}: no folder there: give those of campaigns")
        whole = (folder / kept.CAMPAIGN).exists() or (folder / kept.RECORDS).exists()
        inside = [] if whole else [path for path in sorted(folder.iterdir()) if not path.is_symlink()]
        every += [path for path in inside if (path / kept.CAMPAIGN).exists()] or [folder]
    every = list(dict.fromkeys(every))
    short = [path.resolve().name for path in every]
    return list(zip(short if len(set(short)) == len(short) else map(str, every), every, strict=True))


def _load(connection: duckdb.DuckDBPyConnection, named: Sequence[tuple[str, Path]], sql: str) -> None:
    """Only what the query names: samples may be many, and a verdict takes seconds."""
    records: list[tuple[str, Record]] = []
    verdicts: list[dict[str, object]] = []
    end_s = time.monotonic() + _READING_S
    for name, folder in named:
        _in_time(folder, end_s)
        if (folder / kept.CAMPAIGN).exists():
            campaign = kept.load(folder)
            records += [(name, record) for record in campaign.result.records]
            verdicts += _verdicts(name, campaign) if "verdicts" in sql else []
        else:
            for path in find(folder):
                _in_time(path, end_s)
                records.append((name, read(path)))
    rows = [_row(number, name, record) for number, (name, record) in enumerate(records)]
    connection.execute("CREATE SCHEMA kept")
    _table(connection, "records", _RECORDS, rows)
    _table(connection, "verdicts", _VERDICTS, verdicts)
    _samples(connection, [record for _, record in records] if "samples" in sql or "boards" in sql else [])


def _in_time(path: Path, end_s: float) -> None:
    if time.monotonic() > end_s:
        raise BadInput(f"{path}: to read as far as this took more than {_READING_S:.0f} s: give fewer folders")


def _table(
    connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], rows: list[dict[str, object]]
) -> None:
    shape = json.dumps([columns])
    typed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    connection.execute(f"CREATE TABLE {name} ({typed})")
    made = f"INSERT INTO {name} SELECT unnest(from_json(?, '{shape}'), max_depth := 2)"
    connection.execute(made, [json.dumps(rows)])


def _row(number: int, campaign: str, record: Record) -> dict[str, object]:
    manifest, inputs, made = record.manifest, record.inputs, record.manifest.provenance
    return {
        "id": number,
        "campaign": campaign,
        "hash": manifest.hash,
        "board_name": made.facts.get("board"),
        "repeat": manifest.repeat,
        "timing": manifest.timing.value,
        "started": _time(made.started),
        "problems": manifest.problems,
        "scalars": {name: scalar.value for name, scalar in manifest.scalars.items()},
        **{name: getattr(made, name) for name in ("wall_s", "kernel", "rtqual", "facts")},
        **{
            name: getattr(inputs, name)
            for name in ("candidate", "instrument", "load", "board", "cpus", "seed", "artefacts")
        },
    }


def _time(text: str | None) -> str | None:
    try:
        return datetime.fromisoformat(text or "").astimezone(UTC).replace(tzinfo=None).isoformat()
    except (ValueError, OverflowError):
        return None


def _samples(connection: duckdb.DuckDBPyConnection, records: Sequence[Record]) -> None:
    every = [(number, series) for number, record in enumerate(records) for series in record.series]
    rows: list[dict[str, object]] = [
        {"number": n, "id": number, "series": series.info.name, "unit": series.info.unit,
         "kind": series.info.kind.value, "cpu": series.info.cpu}
        for n, (number, series) in enumerate(every)
    ]  # fmt: skip
    _table(connection, "kept.series", _SERIES, rows)
    beyond = [(n, series.info) for n, (_, series) in enumerate(every) if series.info.overflow]
    columns = {
        "number": np.concatenate(
            [np.empty(0, np.int64), *(np.full(len(s.values), n) for n, (_, s) in enumerate(every))]
        ),
        "value": np.concatenate([np.empty(0, np.int64), *(series.values for _, series in every)]),
        "count": np.concatenate([np.empty(0, np.int64), *(series.counts for _, series in every)]),
    }
    connection.register("given", columns)
    connection.execute("CREATE TABLE kept.histograms AS SELECT *, false AS beyond FROM given")
    connection.unregister("given")
    for n, info in beyond:
        row = [n, info.overflow_from, info.overflow]
        connection.execute("INSERT INTO kept.histograms VALUES (?, ?, ?, true)", row)
    connection.execute(_SAMPLES)
    connection.execute(_BOARDS)


def _verdicts(campaign: str, its: kept.Kept) -> Iterator[dict[str, object]]:
    """A row a requirement, and one for a candidate without any."""
    for verdict in evidence_of(its).verdicts:
        for standing in verdict.standings:
            row: dict[str, object] = {
                "campaign": campaign, "board": verdict.board, "ground": verdict.ground.value,
                "candidate": standing.candidate, "rank": standing.rank, "score": standing.total,
                "may_fly": standing.may_fly.value,
            }  # fmt: skip
            for gate in standing.gates:
                figure = gate.measured
                yield row | {
                    "requirement": gate.requirement, "outcome": gate.outcome.value, "reason": gate.reason,
                    "measured": figure.value if figure else None, "unit": figure.unit if figure else None,
                }  # fmt: skip
            if not standing.gates:
                yield row
