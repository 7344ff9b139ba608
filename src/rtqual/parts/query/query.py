# SPDX-License-Identifier: MIT
"""`rtqual query`: the records of many campaigns and boards, asked in SQL.

What the query names is read as everywhere, with all its hashes, into tables in memory: figures and verdicts from the
campaigns' digests, samples only where they are asked for. Then DuckDB is locked: whatever
a query says, it reads no other file, opens no connection, changes nothing, and takes no more memory and time than
stated here. The folders may be a stranger's, and the query may come with them.
"""

import json
import math
import resource
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import duckdb
import numpy as np

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.digest import Digest
from rtqual.engine.campaign.find import find
from rtqual.parts.query.views import BOARDS, FIGURES, RECORDS, SAMPLES, SERIES, VERDICTS
from rtqual.protocols.record.schema import Manifest, Record
from rtqual.protocols.record.store import read, read_manifest
from rtqual.stages.digests import digest_of

ROWS = 100_000  # of an answer; more are said to be there
_TIME_S, _MEMORY_MIB = 60.0, 512
_AT_ONCE = 10_000  # rows that are put into a table
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


@dataclass(frozen=True)
class QueryAnswer:
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    more: bool  # rows than these


def query(sql: str, folders: Sequence[Path]) -> QueryAnswer:
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
    return QueryAnswer(columns, rows[:ROWS], len(rows) > ROWS)


def _statement(sql: str) -> duckdb.Statement:
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise BadInput(f"the query is no SQL: {_first(error)}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise BadInput(
            "the query must be one SELECT; it can read the views records, samples, boards, figures and verdicts"
        )
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
    """Only what the query names: samples may be many. Figures and verdicts stand in the campaigns' digests."""
    sampled = "samples" in sql or "boards" in sql
    records: list[Record] = []
    digests: list[tuple[str, Digest]] = []
    end_s = time.monotonic() + _READING_S

    for _, folder in named:
        _in_time(folder, end_s)
        if not (folder / kept.CAMPAIGN).exists():
            find(folder)  # whatever is asked, a folder without any is none to ask

    def rows() -> Iterator[dict[str, object]]:
        number = 0
        for name, folder in named:
            for manifest in _records(folder, records if sampled else None):
                _in_time(folder, end_s)
                yield _row(number, name, manifest)
                number += 1

    connection.execute("CREATE SCHEMA kept")
    _table(connection, "records", RECORDS, rows() if sampled or "records" in sql else ())
    for name, folder in named if "verdicts" in sql or "figures" in sql else ():
        _in_time(folder, end_s)
        if (folder / kept.CAMPAIGN).exists():
            digests.append((name, digest_of(folder)))
    _table(connection, "verdicts", VERDICTS, (row for name, found in digests for row in _verdicts(name, found)))
    figures = digests if "figures" in sql else []
    _table(connection, "figures", FIGURES, (row for name, found in figures for row in _figures(name, found)))
    _samples(connection, records)


def _records(folder: Path, whole: list[Record] | None) -> Iterator[Manifest]:
    """The manifests of a folder's records; `whole` takes these with their samples."""
    if whole is None and (folder / kept.CAMPAIGN).exists():
        yield from kept.manifests(folder)
    elif whole is None:
        yield from map(read_manifest, find(folder))
    else:
        finished = (folder / kept.CAMPAIGN).exists()
        for record in kept.load(folder).result.records if finished else map(read, find(folder)):
            whole.append(record)
            yield record.manifest


def _in_time(path: Path, end_s: float) -> None:
    if time.monotonic() > end_s:
        raise BadInput(f"{path}: to read as far as this took more than {_READING_S:.0f} s: give fewer folders")


def _table(
    connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], rows: Iterable[dict[str, object]]
) -> None:
    """Column by column, all as text, so that nobody guesses a type from the first rows; lists and maps as JSON."""
    typed = ", ".join(f'"{column}" {kind}' for column, kind in columns.items())
    nested = {column for column, kind in columns.items() if not kind.isalpha()}
    taken = ", ".join(
        f"""from_json("{column}", '{json.dumps(_shape(kind))}')""" if column in nested else f'"{column}"'
        for column, kind in columns.items()
    )
    connection.execute(f"CREATE TABLE {name} ({typed})")
    left = iter(rows)
    while some := list(islice(left, _AT_ONCE)):
        given = {
            column: np.array([_text(row.get(column), column in nested) for row in some], object) for column in columns
        }
        connection.register("given", given)
        connection.execute(f"INSERT INTO {name} (FROM given SELECT {taken})")
        connection.unregister("given")


def _shape(kind: str) -> str | list[str]:
    """A column's type as from_json has it."""
    return [kind.removesuffix("[]")] if kind.endswith("[]") else kind


def _text(value: object, nested: bool) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value) if nested else str(value)


def _row(number: int, campaign: str, manifest: Manifest) -> dict[str, object]:
    inputs, made = manifest.inputs, manifest.provenance
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
    _table(connection, "kept.series", SERIES, rows)
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
    connection.execute(SAMPLES)
    connection.execute(BOARDS)


def _verdicts(campaign: str, found: Digest) -> Iterator[dict[str, object]]:
    """A row a requirement, and one for a candidate without any."""
    for verdict in found.body.verdicts:
        for standing in verdict.standings:
            row: dict[str, object] = {
                "campaign": campaign, "board": verdict.board, "ground": verdict.ground.value,
                "candidate": standing.candidate, "rank": standing.rank, "score": standing.score,
                "may_fly": standing.may_fly.value,
            }  # fmt: skip
            for gate in standing.gates:
                yield row | {
                    "requirement": gate.requirement, "outcome": gate.outcome.value, "reason": gate.reason,
                    "measured": gate.value, "unit": gate.unit,
                }  # fmt: skip
            if not standing.gates:
                yield row


def _figures(campaign: str, found: Digest) -> Iterator[dict[str, object]]:
    for of in found.body.groups:
        row: dict[str, object] = {
            "campaign": campaign, "board": of.board, "board_name": of.names[0] if len(of.names) == 1 else None,
            "candidate": of.candidate, "kernel": of.kernels[0] if len(of.kernels) == 1 else None,
            "instrument": of.instrument, "load": of.load, "cpus": of.cpus, "timing": of.timing.value,
            "began": _time(of.began), "problems": found.texts(of.problems),
        }  # fmt: skip
        for name, figure in found.figures(of).items():
            ends = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
            low, high = (end if end is None or math.isfinite(end) else None for end in ends)
            yield row | {
                "figure": name, "value": figure.value, "low": low, "high": high, "unit": figure.unit,
                "samples": figure.n, "runs": figure.runs, "why_no_interval": figure.why_no_interval or None,
            }  # fmt: skip
