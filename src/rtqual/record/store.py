# SPDX-License-Identifier: MIT
"""Records on disk: a directory a run, `<key>-<repeat>/{manifest.json,samples.parquet}`.

A record is written beside its place and renamed, so it is there whole or not at all. Reading checks every hash.
"""

import errno
import glob
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import duckdb
import numpy as np
from pydantic import ValidationError

from rtqual.errors import BadInput, RunFailed
from rtqual.record.schema import (
    SCHEMA_VERSION,
    Inputs,
    Manifest,
    Measurement,
    Provenance,
    Record,
    Series,
    Timing,
    digest,
    samples_digest,
)

MANIFEST, SAMPLES = "manifest.json", "samples.parquet"


def make(inputs: Inputs, measurement: Measurement, provenance: Provenance, *, timing: Timing, repeat: int) -> Record:
    samples = samples_digest(measurement.series, measurement.scalars)
    manifest = Manifest(
        hash=digest([inputs.model_dump(mode="json"), samples]),
        inputs=inputs,
        repeat=repeat,
        timing=timing,
        series=[series.info for series in measurement.series],
        scalars=dict(measurement.scalars),
        problems=list(measurement.problems),
        provenance=provenance,
        samples_sha256=samples,
    )
    return Record(manifest, measurement.series)


class Store:
    """The records of one campaign."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str, repeat: int) -> Path:
        return self.folder / f"{key[:16]}-{repeat}"

    def write(self, record: Record) -> Path:
        """Keep a record, replacing one of the same run. Raises RunFailed when the disk does not take it."""
        target = self.path(record.inputs.key(), record.manifest.repeat)
        fresh = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            fresh.mkdir(parents=True, exist_ok=True)
            _write_samples(fresh / SAMPLES, record.series)
            _write_durably(fresh / MANIFEST, record.manifest.model_dump_json(indent=1) + "\n")
            if target.exists():
                shutil.rmtree(target)
            fresh.rename(target)
        except (OSError, duckdb.Error) as error:
            shutil.rmtree(fresh, ignore_errors=True)
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "the disk is full" if full or "No space" in str(error) else str(error).splitlines()[0]
            raise RunFailed(
                f"{self.folder}: cannot write a record: {what}; finished records are kept: make room, run it again"
            ) from None
        return target

    def paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(p for p in self.folder.iterdir() if p.is_dir() and p.suffix != ".corrupt" and p.name[0] != ".")

    def read_all(self) -> Iterator[Record]:
        yield from (read(path) for path in self.paths())

    def set_aside(self, path: Path) -> Path:
        """Move a corrupt record out of the way, kept for a look."""
        target = path.with_suffix(".corrupt")
        shutil.rmtree(target, ignore_errors=True)
        return path.rename(target)


def read(path: Path) -> Record:
    """Read one record and check it against its hashes. Raises BadInput that names the damaged file."""
    manifest = read_manifest(path)
    series = tuple(_read_samples(path / SAMPLES, manifest))
    if samples_digest(series, manifest.scalars) != manifest.samples_sha256:
        raise BadInput(f"{path / SAMPLES}: the samples are not those the manifest describes (their hash differs)")
    if digest([manifest.inputs.model_dump(mode="json"), manifest.samples_sha256]) != manifest.hash:
        raise BadInput(f"{path / MANIFEST}: the inputs were changed after the run (the record's hash differs)")
    return Record(manifest, series)


def read_manifest(path: Path) -> Manifest:
    file = path / MANIFEST
    try:
        value = json.loads(file.read_bytes())
        version = value.get("schema_version") if isinstance(value, dict) else None
        if type(version) is not int or version < 1:
            raise BadInput(f"{file}: not a record's manifest: schema_version is missing, or no whole number from 1 on")
        if version > SCHEMA_VERSION:
            raise BadInput(
                f"{file}: schema version {version} is newer than this rtqual reads ({SCHEMA_VERSION}): upgrade rtqual"
            )
        return Manifest.model_validate(value)
    except FileNotFoundError:
        raise BadInput(f"{path}: no record there ({MANIFEST} is missing)") from None
    except (OSError, ValueError, RecursionError) as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) if isinstance(error, ValidationError) else ""
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error).splitlines()[0]
        raise BadInput(f"{file}: not a record's manifest: {where + ': ' if where else ''}{what}") from None


def settle_timing(store: Store, records: Sequence[Record]) -> list[Record]:
    """Label every group by what its repeated run gave: a group whose two runs differ is host-timed.

    Returns the first runs only, with the label that now also stands in their manifests.
    """

    def group(record: Record) -> tuple[str, ...]:
        i = record.inputs
        return (i.candidate, i.instrument, i.load, i.board, str(i.cpus))

    settled = []
    for _, members_iterator in groupby(sorted(records, key=group), key=group):
        members = list(members_iterator)
        timing = _timing(members)
        for record in members:
            manifest = record.manifest
            if manifest.timing not in (Timing.REAL, timing):
                manifest = manifest.model_copy(update={"timing": timing})
                _write_durably(
                    store.path(record.inputs.key(), manifest.repeat) / MANIFEST,
                    manifest.model_dump_json(indent=1) + "\n",
                )
            if manifest.repeat == 0:
                settled.append(Record(manifest, record.series))
    return settled


def _timing(members: Iterable[Record]) -> Timing:
    """Of runs with the same inputs: did they give the same samples?"""
    by_key: dict[str, set[str]] = {}
    tested = False
    for record in members:
        hashes = by_key.setdefault(record.inputs.key(), set())
        hashes.add(record.manifest.hash)
        tested |= record.manifest.repeat > 0
    if any(len(hashes) > 1 for hashes in by_key.values()):
        return Timing.HOST_TIMED
    return Timing.INSTRUCTIONS if tested else Timing.UNTESTED


def _write_durably(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with fresh.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(path)


def _write_samples(path: Path, series: Sequence[Series]) -> None:
    """One table for all series, in their order: the row's series by number, its value and how often it came."""
    table = {
        "series": np.concatenate([np.full(len(s.values), i, np.int32) for i, s in enumerate(series)] or [_EMPTY32]),
        "value": np.concatenate([s.values for s in series] or [_EMPTY64]),
        "count": np.concatenate([s.counts for s in series] or [_EMPTY64]),
    }
    with duckdb.connect() as connection:
        connection.register("samples", table)
        name = str(path).replace("'", "''")
        connection.execute(f"COPY samples TO '{name}' (FORMAT parquet, COMPRESSION zstd)")


_EMPTY32, _EMPTY64 = np.empty(0, np.int32), np.empty(0, np.int64)


def _read_samples(path: Path, manifest: Manifest) -> Iterator[Series]:
    if not path.exists():
        raise BadInput(f"{path}: the samples are missing")
    try:
        with duckdb.connect() as connection:
            columns = connection.execute(
                "SELECT series, value, count FROM read_parquet(?, file_row_number=true) ORDER BY file_row_number",
                [glob.escape(str(path))],  # DuckDB takes a name for a pattern
            ).fetchnumpy()
        number = np.asarray(columns["series"], np.int64)
        values, counts = np.asarray(columns["value"], np.int64), np.asarray(columns["count"], np.int64)
    except (duckdb.Error, ValueError, TypeError, OverflowError) as error:
        raise BadInput(f"{path}: the samples cannot be read: {str(error).splitlines()[0]}") from None
    if not np.isin(number, np.arange(len(manifest.series))).all():
        raise BadInput(f"{path}: the samples have more series than the manifest: they are not of this record")
    for index, info in enumerate(manifest.series):
        yield Series(info, values[number == index], counts[number == index])
