# SPDX-License-Identifier: MIT
"""Records on disk: every change to them is found."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.protocols.record import store as store_module
from rtqual.protocols.record.parquet import RAW
from rtqual.protocols.record.schema import SCHEMA_VERSION
from rtqual.protocols.record.store import MANIFEST, SAMPLES, Store, read, verify
from support.store_records import INPUTS, alter, as_version_1, change_manifest, content, record, reseal, vouch


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


@pytest.mark.parametrize("name", [SAMPLES, RAW])
def test_a_truncated_samples_file_is_named(kept: Path, name: str) -> None:
    whole = (kept / name).read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        (kept / name).write_bytes(whole[:size])
        assert f"{kept / name}: the samples are damaged" in refusal(kept)
        vouch(kept)
        assert f"{kept / name}: the samples cannot be read" in refusal(kept)


@pytest.mark.guest
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("name", [SAMPLES, RAW])
def test_every_changed_byte_of_the_samples_is_found(kept: Path, name: str, data: st.DataObject) -> None:
    file = kept / name
    with changed(file, data):
        assert f"{file}: the samples are damaged" in refusal(kept)


@pytest.mark.guest
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("how", [(SAMPLES, True), (RAW, True), (SAMPLES, False)])
def test_no_changed_byte_of_the_samples_changes_a_figure(
    kept: Path, how: tuple[str, bool], data: st.DataObject
) -> None:
    """Where the file's own hash does not show it: that was made anew, or the record is older than such hashes."""
    name, vouched = how
    manifest = (kept / MANIFEST).read_text()
    if not vouched:
        as_before(kept)
    try:
        with changed(kept / name, data):
            if vouched:
                vouch(kept)
            back = read(kept)
    except BadInput as error:
        assert str(kept) in str(error)
    else:  # a byte that says nothing of the samples, as the name of the program that wrote them
        assert [content(s)[:3] for s in back.series] == [content(s)[:3] for s in record().series]
    finally:
        (kept / MANIFEST).write_text(manifest)


@contextmanager
def changed(file: Path, data: st.DataObject) -> Iterator[None]:
    """One byte differs meanwhile."""
    whole = file.read_bytes()
    other = bytearray(whole)
    other[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(other)
    try:
        yield
    finally:
        file.write_bytes(whole)


def as_before(path: Path) -> None:
    """Turn a record into one from before raw.parquet: raw samples among the others, each counted once."""
    raw = path / RAW
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE samples AS FROM '{path / SAMPLES}'")
        if raw.exists():
            connection.execute(f"CREATE TABLE raw AS FROM '{raw}' SELECT series, value, 1 AS count")
            connection.execute("DELETE FROM samples WHERE series IN (FROM raw SELECT series)")
            connection.execute("INSERT INTO samples FROM raw")
            raw.unlink()
        connection.execute(f"COPY samples TO '{path / SAMPLES}' (FORMAT parquet)")
    manifest = json.loads((path / MANIFEST).read_text())
    del manifest["files"]
    (path / MANIFEST).write_text(json.dumps(manifest))
    as_version_1(path)


def test_a_record_of_the_older_layout_is_read_and_checked(kept: Path) -> None:
    as_before(kept)
    back = read(kept)
    assert back.manifest.hash == record().manifest.hash
    assert [content(s) for s in back.series] == [content(s) for s in record().series]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE samples AS FROM '{kept / SAMPLES}'")
        connection.execute(f"COPY (FROM samples ORDER BY value) TO '{kept / SAMPLES}' (FORMAT parquet)")
    assert "their hash differs" in refusal(kept)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT series, value + 1 AS value, count FROM samples",
        "SELECT series, value, count * 2 AS count FROM samples",
        "SELECT series, value, -count AS count FROM samples",
        "SELECT series, value, count + 1000000000000000 AS count FROM samples",
        "SELECT * FROM samples WHERE value <> 2000",
        "SELECT * FROM samples UNION ALL SELECT 0::INTEGER, 7, 1",
        "SELECT * FROM samples UNION ALL SELECT 5::INTEGER, 7, 1",
        "SELECT 1 - series AS series, value, count FROM samples",
        "SELECT * FROM samples ORDER BY value DESC",
        "SELECT series, NULL::BIGINT AS value, count FROM samples",
        "SELECT series, 'x' AS value, count FROM samples",
        "SELECT value FROM samples",
        "SELECT 1 AS x",
    ],
)
@pytest.mark.parametrize("before", [False, True])
def test_samples_altered_by_a_tool_are_found(kept: Path, query: str, before: bool) -> None:
    if before:
        as_before(kept)
    alter(kept / SAMPLES, query)
    assert str(kept / SAMPLES) in refusal(kept)
    if not before:
        vouch(kept)
    text = refusal(kept)
    assert any(
        part in text
        for part in ("their hash differs", "cannot be read", "more series than the manifest", "no histogram")
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT series, value + 1 AS value FROM samples",
        "SELECT * FROM samples ORDER BY value",
        "SELECT * FROM samples WHERE value <> 2",
        "SELECT * FROM samples UNION ALL SELECT 1::INTEGER, 7",
        "SELECT 0::INTEGER AS series, value FROM samples",
        "SELECT series, NULL::BIGINT AS value FROM samples",
        "SELECT value FROM samples",
    ],
)
def test_raw_samples_altered_by_a_tool_are_found(kept: Path, query: str) -> None:
    alter(kept / RAW, query)
    assert f"{kept / RAW}: the samples are damaged" in refusal(kept)
    vouch(kept)
    text = refusal(kept)
    assert any(part in text for part in ("their hash differs", "cannot be read"))


def test_many_raw_samples_are_trusted_to_their_file_and_verified_on_demand(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As 10^8 would be."""
    monkeypatch.setattr(store_module, "THOROUGH", 2)
    path = store.write(record())
    assert [content(s) for s in verify(path).series] == [content(s) for s in read(path).series]
    alter(path / RAW, "SELECT series, value FROM samples ORDER BY value")
    assert f"{path / RAW}: the samples are damaged" in refusal(path)
    vouch(path)
    read(path)
    with pytest.raises(BadInput, match="their hash differs"):
        verify(path)


def test_changed_inputs_are_found(kept: Path) -> None:
    manifest = json.loads((kept / MANIFEST).read_text())
    for change in ({"seed": 7}, {"candidate": "better"}, {"artefacts": {"kernel": "1"}}, {"job": {"a": 1}}):
        change_manifest(kept, inputs={**manifest["inputs"], **change})
        assert "the inputs were changed after the run" in refusal(kept)


@pytest.mark.parametrize("change", [{"hash": "0" * 64}, {"samples_sha256": "0" * 64}, {"scalars": {}}, {"series": []}])
def test_a_changed_manifest_is_found(kept: Path, change: dict[str, Any]) -> None:
    change_manifest(kept, **change)
    refusal(kept)


def test_a_record_of_a_newer_schema_asks_for_an_upgrade(kept: Path) -> None:
    """Checked before anything else: a newer manifest has fields that this rtqual does not know."""
    change_manifest(kept, schema_version=SCHEMA_VERSION + 1, novelty={"a": 1})
    assert f"schema version {SCHEMA_VERSION + 1} is newer" in refusal(kept)
    assert refusal(kept).endswith("upgrade rtqual")


@pytest.mark.parametrize("version", [str(SCHEMA_VERSION + 1), SCHEMA_VERSION + 0.5, None, -1, 0, True, [1], "x"])
def test_a_schema_version_that_is_none_is_refused(kept: Path, version: Any) -> None:
    change_manifest(kept, schema_version=version)
    assert "schema_version" in refusal(kept)


@pytest.mark.parametrize(
    "content",
    [b"", b"not JSON", b"[]", b"null", b"7", b'"x"', b"{}", b'{"schema_version": 1}', b"\xff\xfe", b"\0" * 100,
     b"[" * 100_000, b'{"schema_version": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_what_is_not_a_manifest_is_named(kept: Path, content: bytes) -> None:
    (kept / MANIFEST).write_bytes(content)
    refusal(kept)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_bytes_in_the_manifest_change_inputs_or_samples_unseen(kept: Path, data: st.DataObject) -> None:
    file = kept / MANIFEST
    whole = bytearray(file.read_bytes())
    try:
        at = data.draw(st.integers(0, len(whole)))
        gone = data.draw(st.integers(0, 20))
        file.write_bytes(whole[:at] + data.draw(st.binary(max_size=20)) + whole[at + gone :])
        back = read(kept)
    except BadInput as error:
        assert str(kept) in str(error)
        assert "\n" not in str(error)
    else:
        assert back.inputs == INPUTS
        assert [s.info for s in back.series] == [s.info for s in record().series]
        assert back.manifest.scalars == record().manifest.scalars
    finally:
        file.write_bytes(whole)


def test_missing_files_are_named(kept: Path, tmp_path: Path) -> None:
    for name in (RAW, SAMPLES):
        (kept / name).unlink()
        assert f"{kept / name}: the samples are missing" in refusal(kept)
    (kept / MANIFEST).unlink()
    assert "no record there" in refusal(kept)
    assert "no record there" in refusal(tmp_path / "nowhere")


def test_files_that_are_folders_are_named(kept: Path) -> None:
    (kept / SAMPLES).unlink()
    (kept / SAMPLES).mkdir()
    refusal(kept)
    (kept / MANIFEST).unlink()
    (kept / MANIFEST).mkdir()
    refusal(kept)


@pytest.mark.parametrize(
    "change",
    [{"problems": []}, {"repeat": 1}, {"timing": "real"}, {"absent": {"max": "no"}}, {"files": {}}, {"provenance": {}},
     {"manifest_sha256": None}],
)  # fmt: skip
def test_all_that_a_manifest_says_is_hashed(kept: Path, change: dict[str, Any]) -> None:
    manifest = json.loads((kept / MANIFEST).read_text())
    if "provenance" in change:
        change = {"provenance": {**manifest["provenance"], "kernel": "another"}}
    assert manifest["problems"] and manifest["schema_version"] == SCHEMA_VERSION
    change_manifest(kept, **change)
    assert "was changed after the run (its hash differs)" in refusal(kept)


def test_a_record_of_version_1_is_read_and_keeps_its_name(kept: Path) -> None:
    name = read(kept).manifest.hash
    as_version_1(kept)
    back = read(kept).manifest
    assert (back.hash, back.schema_version, back.problems) == (name, 1, ["one problem"])


@pytest.mark.parametrize("name", [MANIFEST, SAMPLES, RAW])
def test_a_link_in_a_record_is_refused(kept: Path, tmp_path: Path, name: str) -> None:
    (kept / name).rename(tmp_path / "elsewhere")
    (kept / name).symlink_to(tmp_path / "elsewhere")
    assert f"{kept / name}: is a link" in refusal(kept)


def test_a_record_names_no_files_but_its_own(kept: Path) -> None:
    change_manifest(kept, files={"../../../../../dev/zero": "0"})
    reseal(kept)
    assert "names files that no record has" in refusal(kept)
