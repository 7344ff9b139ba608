# SPDX-License-Identifier: MIT
"""Records on disk: a directory a run, `<key>-<repeat>/`, with manifest.json and the Parquet files (parquet.py).

A record is written beside its place and renamed, so it is there whole or not at all.

Reading checks the hash of every file. It also checks the hash over the samples, on which the record's own hash rests,
unless there are more than THOROUGH raw ones: going through those in their order takes ten times as long as reading
their histogram. verify() does so whatever their number.
"""

import errno
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from pydantic import ValidationError

from rtqual.base import unlinked
from rtqual.base.cache import settle
from rtqual.base.errors import BadInput, NewerVersion, RunFailed, first_line, naming
from rtqual.protocols.record.files import file_digest
from rtqual.protocols.record.parquet import RAW, SAMPLES, largest, read_samples, row_count, write_samples
from rtqual.protocols.record.schema import (
    CHUNK,
    MODELS,
    SCHEMA_VERSION,
    SEALED,
    About,
    Inputs,
    Manifest,
    Measurement,
    Provenance,
    Record,
    Series,
    Timing,
    digest,
    parse,
    samples_digest,
)

MANIFEST = "manifest.json"
THOROUGH = CHUNK
_MOST_MANIFEST_B = 16 << 20  # JSON takes some twenty times as much once it is read


def make(
    inputs: Inputs,
    measurement: Measurement,
    provenance: Provenance,
    *,
    timing: Timing,
    repeat: int,
    about: About | None = None,
) -> Record:
    samples = samples_digest(measurement.series, measurement.scalars)
    manifest = Manifest(
        hash=digest([inputs.model_dump(mode="json"), samples]),
        inputs=inputs,
        repeat=repeat,
        timing=timing,
        series=[series.info for series in measurement.series],
        scalars=dict(measurement.scalars),
        problems=list(measurement.problems),
        absent=dict(measurement.absent),
        late=list(measurement.late) or None,
        cautions=list(measurement.cautions) or None,
        about=about,
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
            for place in (self.folder, target, fresh):
                unlinked.require(place.parent, place.name)
            fresh.mkdir(parents=True, exist_ok=True)
            files = {}
            for name in write_samples(fresh, record.series):
                settle(fresh / name)
                files[name] = file_digest(fresh / name)
            _write_manifest(fresh, record.manifest.model_copy(update={"files": files}))
            if target.exists():
                shutil.rmtree(target)
            fresh.rename(target)
        except (OSError, duckdb.Error) as error:
            shutil.rmtree(fresh, ignore_errors=True)
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            what = "the disk is full" if full or "No space" in str(error) else first_line(error)
            raise RunFailed(
                f"{self.folder}: cannot write a record: {what}; finished records are kept: make room, run it again"
            ) from None
        return target

    def paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(
            p
            for p in self.folder.iterdir()
            if p.is_dir() and not p.is_symlink() and p.suffix != ".corrupt" and p.name[0] != "."
        )

    def read_all(self) -> Iterator[Record]:
        yield from (read(path) for path in self.paths())

    def set_aside(self, path: Path) -> Path:
        """Move a corrupt record out of the way, kept for a look."""
        target = path.with_suffix(".corrupt")
        shutil.rmtree(target, ignore_errors=True)
        return path.rename(target)


def read(path: Path) -> Record:
    """Read one record and check it against its hashes. Raises BadInput that names the damaged file."""
    record = _read(path)
    raw = row_count(path / RAW) if RAW in record.manifest.files else 0
    counted = sum(int(series.counts.sum()) for series in record.series if series.order is not None)
    if raw <= THOROUGH or raw != counted:
        _check_samples(path, record)
    return record


def verify(path: Path) -> Record:
    """Read one record and check every sample, however many there are."""
    record = _read(path)
    _check_samples(path, record)
    return record


def largest_sample(path: Path, manifest: Manifest, series: int) -> int | None:
    """The largest value of a record's series, of the file that was written; no sample is kept. Raises BadInput."""
    unlinked.require(path, SAMPLES)
    _check_file(path / SAMPLES, manifest.files.get(SAMPLES))
    return largest(path / SAMPLES, series)


def _read(path: Path) -> Record:
    manifest = read_manifest(path)
    if not manifest.files.keys() <= {SAMPLES, RAW}:
        raise BadInput(f"{path / MANIFEST}: names files that no record has")
    for name in (SAMPLES, RAW):
        unlinked.require(path, name)
    for name in manifest.files or (SAMPLES,):
        _check_file(path / name, manifest.files.get(name))
    series = tuple(read_samples(path, manifest.series, with_raw=bool(manifest.files)))
    return Record(manifest, series)


def _check_file(file: Path, expected: str | None) -> None:
    if not file.exists():
        raise BadInput(f"{file}: the samples are missing")
    try:
        if expected is not None and file_digest(file) != expected:
            raise BadInput(
                f"{file}: the samples are damaged: the file is not the one that was written (its hash differs)"
            )
    except OSError as error:
        raise BadInput(f"{file}: the samples cannot be read: {error.strerror}") from None


def _check_samples(path: Path, record: Record) -> None:
    """Against the hash over all samples; histograms that are kept beside raw samples against these."""
    manifest = record.manifest
    raw = (series for series in record.series if series.order is not None and manifest.files)
    if samples_digest(record.series, manifest.scalars) != manifest.samples_sha256 or not all(map(_counted, raw)):
        raise BadInput(f"{path / SAMPLES}: the samples are not those the manifest describes (their hash differs)")


def _counted(series: Series) -> bool:
    fresh = Series.of_order(series.order, series.info) if series.order else series
    return np.array_equal(series.values, fresh.values) and np.array_equal(series.counts, fresh.counts)


def read_manifest(path: Path) -> Manifest:
    file = path / MANIFEST
    try:
        value = parse(unlinked.read(path, MANIFEST, _MOST_MANIFEST_B))
        version = value.get("schema_version") if isinstance(value, dict) else None
        if type(version) is not int or version < 1:
            raise BadInput(f"{file}: not a record's manifest: schema_version is missing, or no whole number from 1 on")
        if version > SCHEMA_VERSION:
            raise NewerVersion(
                f"{file}: schema version {version} is newer than this rtqual reads ({SCHEMA_VERSION}): upgrade rtqual"
            )
        manifest = Manifest.model_validate(value)
        if digest([manifest.inputs.model_dump(mode="json"), manifest.samples_sha256]) != manifest.hash:
            raise BadInput(f"{file}: the inputs were changed after the run (the record's hash differs)")
        if (version >= SEALED or manifest.manifest_sha256) and _seal(value) != manifest.manifest_sha256:
            raise BadInput(f"{file}: was changed after the run (its hash differs): measure again")
        return manifest
    except FileNotFoundError:
        raise BadInput(f"{path}: no record there ({MANIFEST} is missing)") from None
    except (OSError, ValueError, RecursionError) as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))[:80] if isinstance(error, ValidationError) else ""
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else first_line(error)
        raise BadInput(f"{file}: not a record's manifest: {where + ': ' if where else ''}{what}") from None


def _seal(value: dict[str, Any]) -> str:
    """Of all that a manifest says: problems, timing, repeat, what is absent, and where it comes from."""
    return digest({name: item for name, item in value.items() if name != "manifest_sha256"})


def settle_timing(store: Store, records: Sequence[Record], *, fixed: Collection[str] = ()) -> list[Record]:
    """Label every group by what its repeated run gave: a group whose two runs differ is host-timed.

    Records of the boards `fixed` keep theirs. Returns the first runs only, with the label that now also stands in
    their manifests.
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
            if manifest.timing not in (Timing.REAL, timing) and record.inputs.board not in fixed:
                manifest = manifest.model_copy(update={"timing": timing})
                manifest = _write_manifest(store.path(record.inputs.key(), manifest.repeat), manifest)
            if manifest.repeat == 0:
                settled.append(Record(manifest, record.series))
    return settled


def _timing(members: Iterable[Record]) -> Timing:
    """Of runs with the same inputs: did they give the same samples?"""
    by_key: dict[str, set[str]] = {}
    tested = modelled = False
    for record in members:
        modelled |= bool(MODELS & record.inputs.artefacts.keys())
        hashes = by_key.setdefault(record.inputs.key(), set())
        hashes.add(record.manifest.hash)
        tested |= record.manifest.repeat > 0
    if any(len(hashes) > 1 for hashes in by_key.values()):
        return Timing.HOST_TIMED
    if modelled:
        return Timing.MODELLED if tested else Timing.MODELLED_UNTESTED
    return Timing.INSTRUCTIONS if tested else Timing.UNTESTED


def _write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """As it was written: whole or not at all, also when the power fails. One of an older version stays of that."""
    unsaid = {name for name in ("late", "cautions", "about") if getattr(manifest, name) is None}
    if manifest.schema_version >= SEALED:
        said = json.loads(manifest.model_dump_json(exclude=unsaid))
        manifest = manifest.model_copy(update={"manifest_sha256": _seal(said)})
    path = folder / MANIFEST
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with naming(path), fresh.open("w") as file:
            file.write(manifest.model_dump_json(indent=1, exclude=unsaid) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    fresh.rename(path)
    return manifest
