# SPDX-License-Identifier: MIT
"""Records of strangers: every read is bounded, and what is no histogram is none, though all hashes fit."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from rtqual.base.errors import BadInput
from rtqual.protocols.record import parquet
from rtqual.protocols.record.parquet import RAW, connected, read_samples
from rtqual.protocols.record.schema import digest, samples_digest
from rtqual.protocols.record.store import MANIFEST, SAMPLES, read, read_manifest
from support.store_records import alter, change_manifest, reseal, vouch


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "error", [duckdb.Error(), duckdb.IOException("\n"), IndexError(), MemoryError(), RuntimeError()]
)
def test_an_error_of_the_library_that_says_nothing_is_called_by_its_name(tmp_path: Path, error: Exception) -> None:
    """DuckDB's for byte 125 of a raw.parquet := 128; what C++ throws comes as Python's own (pybind11)."""
    with pytest.raises(BadInput) as caught, connected(tmp_path / "x"):
        raise error
    assert str(caught.value) == f"{tmp_path / 'x'}: the samples cannot be read: {type(error).__name__}"


def refitted(path: Path) -> None:
    """All of a record's hashes, as somebody would make them anew who knows how."""
    with contextlib.suppress(BadInput):
        vouch(path)
        manifest = read_manifest(path)
        series = tuple(read_samples(path, manifest.series, with_raw=True))
        samples = samples_digest(series, manifest.scalars)
        inputs = manifest.inputs.model_dump(mode="json")
        change_manifest(path, samples_sha256=samples, hash=digest([inputs, samples]))
    vouch(path)


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("SELECT * FROM samples ORDER BY value DESC", "no histogram"),
        ("SELECT * FROM samples UNION ALL SELECT 1::INTEGER, 3, 1", "no histogram"),
        ("SELECT series, value, count - 1 AS count FROM samples", "no histogram"),
        ("SELECT series, value, -count AS count FROM samples", "no histogram"),
        ("SELECT series, value - 4611686018427387904 - 5000 AS value, count FROM samples", "no histogram"),
        ("SELECT series, value, 4611686018427387904 AS count FROM samples", "a series has more than"),
        ("SELECT series, value, 9223372036854775807 AS count FROM samples", "a series has more than"),
        ("SELECT series, value, 18446744073709551615::UBIGINT AS count FROM samples", "cannot be read"),
        ("SELECT series, value, NULL::BIGINT AS count FROM samples", "cannot be read"),
        ("SELECT series, value, 1e300 AS count FROM samples", "cannot be read"),
    ],
)
def test_what_is_no_histogram_is_refused_though_all_its_hashes_fit(kept: Path, query: str, what: str) -> None:
    alter(kept / SAMPLES, query)
    refitted(kept)
    assert what in refusal(kept)


def unpacks_to(file: Path, rows: str) -> None:
    """A file of some KB: what repeats or follows each other takes no room."""
    with duckdb.connect(
        config={"threads": 1, "memory_limit": "400MB", "preserve_insertion_order": False}
    ) as connection:
        connection.execute(
            f"COPY (SELECT 0::INTEGER AS series, {rows}) TO '{file}' "
            "(FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 1000000)"
        )
    assert file.stat().st_size < 2_000_000


@pytest.mark.parametrize(("most_rows", "most_distinct"), [(999_999, 1 << 24), (1 << 28, 999_999)])
def test_a_small_file_that_unpacks_to_rows_without_end_is_refused(
    kept: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int, most_distinct: int
) -> None:
    """Its own rows may ascend; by the footer where there are too many, else by what was read."""
    monkeypatch.setattr(parquet, "MOST_ROWS", most_rows)
    monkeypatch.setattr(parquet, "_MOST_DISTINCT", most_distinct)
    unpacks_to(kept / SAMPLES, "range AS value, 1::BIGINT AS count FROM range(1000000)")
    refitted(kept)
    assert "999,999" in refusal(kept)


def test_raw_samples_without_end_are_refused(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MOST_ROWS", 999_999)
    unpacks_to(kept / RAW, "7::BIGINT AS value FROM range(1000000)")
    vouch(kept)
    assert "999,999" in refusal(kept)


def test_sparse_files_are_refused_before_they_are_read(kept: Path) -> None:
    """Of 40 GiB, which are some KB in an archive."""
    os.truncate(kept / SAMPLES, 40 << 30)
    assert "is larger than 8 GiB" in refusal(kept)
    os.truncate(kept / MANIFEST, 40 << 30)
    assert "holds more than 16,777,216 bytes" in refusal(kept)


@pytest.mark.parametrize(
    "change", [{"overflow": -1}, {"overflow": 2**62}, {"overflow": 10**100}, {"overflow_from": 10**100}]
)
def test_counts_of_a_manifest_are_bounded(kept: Path, change: dict[str, Any]) -> None:
    series = json.loads((kept / MANIFEST).read_text())["series"]
    change_manifest(kept, series=[{**series[0], **change}, *series[1:]])
    reseal(kept)
    assert f"series.0.{next(iter(change))}" in refusal(kept)
