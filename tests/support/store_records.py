# SPDX-License-Identifier: MIT
"""Records for the store, and how the tests alter what lies on the disk."""

import json
from pathlib import Path
from typing import Any

import duckdb

from rtqual.protocols.record.files import file_digest
from rtqual.protocols.record.schema import Inputs, Measurement, Provenance, Record, Scalar, Series, Timing, digest
from rtqual.protocols.record.store import MANIFEST, make

PROVENANCE = Provenance(rtqual="1", mission_sha256="0", started="2026-01-01T00:00:00+00:00", wall_s=1.5, command=["x"])
INPUTS = Inputs(candidate="a", instrument="cyclictest", load="none", board="virtual", cpus=1, seed=1)
MEASUREMENT = Measurement(
    (Series.counted({1000: 3, 2000: 1}, name="latency", cpu=0, overflow=2, overflow_from=5000),
     Series.raw([3, 1, 2], name="time")),
    {"rate": Scalar(value=0.1, unit="1/s")},
    ("one problem",),
)  # fmt: skip


def record(
    measurement: Measurement = MEASUREMENT,
    inputs: Inputs = INPUTS,
    *,
    repeat: int = 0,
    timing: Timing = Timing.UNTESTED,
    **provenance: Any,
) -> Record:
    return make(inputs, measurement, PROVENANCE.model_copy(update=provenance), timing=timing, repeat=repeat)


def change_manifest(path: Path, **changes: Any) -> None:
    file = path / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def content(series: Series) -> tuple[Any, ...]:
    """All that a series holds."""
    order = series.ordered()
    in_order = None if order is None else [sample for chunk in order for sample in chunk.tolist()]
    return series.info, series.values.tolist(), series.counts.tolist(), in_order


def vouch(path: Path) -> None:
    """Make the hashes of the files fit again, as somebody would who changes a record on purpose."""
    files = json.loads((path / MANIFEST).read_text())["files"]
    change_manifest(path, files={name: file_digest(path / name) for name in files})
    reseal(path)


def reseal(path: Path) -> None:
    """The manifest's own hash too."""
    manifest = json.loads((path / MANIFEST).read_text())
    del manifest["manifest_sha256"]
    change_manifest(path, manifest_sha256=digest(manifest))


def as_version_1(path: Path) -> None:
    manifest = json.loads((path / MANIFEST).read_text())
    del manifest["manifest_sha256"]
    (path / MANIFEST).write_text(json.dumps({**manifest, "schema_version": 1}))


def as_version(version: int, record: Record) -> Record:
    """As a rtqual of that version kept it."""
    return Record(record.manifest.model_copy(update={"schema_version": version, "about": None}), record.series)


def alter(file: Path, query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE samples AS SELECT * FROM read_parquet(?)", [str(file)])
        connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
