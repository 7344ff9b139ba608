# SPDX-License-Identifier: MIT
"""Records on disk: whole or not there, and every change to them found."""

import errno
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput, RunFailed
from rtqual.record import store as store_module
from rtqual.record.files import file_digest
from rtqual.record.parquet import RAW
from rtqual.record.schema import SCHEMA_VERSION, Inputs, Kind, Measurement, Provenance, Record, Scalar, Series, Timing
from rtqual.record.store import MANIFEST, SAMPLES, Store, make, read, settle_timing, verify

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


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "records")


@pytest.fixture
def kept(store: Store) -> Path:
    return store.write(record())


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def change_manifest(path: Path, **changes: Any) -> None:
    file = path / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


# --- what is written is what is read


VALUES = st.integers(-(2**62), 2**62)
SERIES = st.one_of(
    st.builds(lambda values: Series.raw(values, name="r"), st.lists(VALUES)),
    st.builds(
        lambda counts, kind: Series.counted(counts, kind, name="c", cpu=3),
        st.dictionaries(VALUES, st.integers(1, 2**40)),
        st.sampled_from([Kind.HISTOGRAM, Kind.BINNED]),
    ),
    st.builds(lambda: Series.counted({}, Kind.SUMMARY, name="s", reported={"avg": 0.1})),
)
SCALARS = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.builds(Scalar, value=st.floats(allow_nan=False, allow_infinity=False), unit=st.text(max_size=3)),
    max_size=3,
)


def content(series: Series) -> tuple[Any, ...]:
    """All that a series holds."""
    order = series.ordered()
    in_order = None if order is None else [sample for chunk in order for sample in chunk.tolist()]
    return series.info, series.values.tolist(), series.counts.tolist(), in_order


@settings(deadline=None, max_examples=25)
@given(st.lists(SERIES, max_size=4), SCALARS)
def test_a_record_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, series: list[Series], scalars: dict[str, Scalar]
) -> None:
    written = record(Measurement(tuple(series), scalars))
    back = read(Store(tmp_path_factory.mktemp("s")).write(written))
    assert back.manifest.model_copy(update={"files": {}}) == written.manifest
    assert [content(s) for s in back.series] == [content(s) for s in series]


@pytest.mark.parametrize("name", ["plain", "with 'quotes'", "glob[1]*?", "{a,b}", "späce $HOME `x`", "-0"])
def test_a_record_may_lie_in_any_folder(tmp_path: Path, name: str) -> None:
    path = Store(tmp_path / name).write(record())
    assert read(path).manifest.hash == record().manifest.hash
    assert [one.manifest.hash for one in Store(tmp_path / name).read_all()] == [record().manifest.hash]


def test_another_folder_that_matches_as_a_pattern_is_not_read_instead(tmp_path: Path) -> None:
    """DuckDB reads patterns: 'run[1]' would be 'run1'."""
    path = Store(tmp_path / "run[1]").write(record())
    other = Store(tmp_path / "run1").write(record(Measurement((Series.raw([9], name="time"),))))
    assert path.name == other.name
    assert [s.total for s in read(path).series] == [6, 3]


# --- the hash


def test_equal_inputs_and_samples_have_the_same_hash_whatever_the_host() -> None:
    one = record()
    two = record(wall_s=99.0, started="2030-01-01T00:00:00+00:00", command=["y"], facts={"host": "other"}, repeat=1)
    assert one.manifest.hash == two.manifest.hash
    assert one.manifest.hash == record(timing=Timing.HOST_TIMED).manifest.hash


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2}, {"candidate": "b"}, {"load": "hackbench"}, {"board": "local"}, {"cpus": 2},
        {"parameters": {"cycles": 1}}, {"job": {"measure": "x"}}, {"artefacts": {"kernel": "00"}},
    ],
)  # fmt: skip
def test_another_input_is_another_hash_and_another_place(change: dict[str, Any]) -> None:
    other = INPUTS.model_copy(update=change)
    assert record(inputs=other).manifest.hash != record().manifest.hash
    assert other.key() != INPUTS.key()


@pytest.mark.parametrize(
    "measurement",
    [
        Measurement((Series.counted({1000: 3, 2000: 2}, name="latency"),)),
        Measurement((Series.counted({1000: 3}, name="latency", cpu=1),)),
        Measurement((Series.counted({1000: 3}, name="latency", overflow=1),)),
        Measurement((Series.counted({1000: 3}, name="latency"),), {"x": Scalar(value=1, unit="1")}),
        Measurement((Series.counted({1000: 3}, name="latency"),), {"x": Scalar(value=1, unit="s")}),
        Measurement(),
    ],
)
def test_another_sample_is_another_hash(measurement: Measurement) -> None:
    base = Measurement((Series.counted({1000: 3}, name="latency"),))
    assert record(measurement).manifest.hash != record(base).manifest.hash


# --- damage


@pytest.mark.parametrize("name", [SAMPLES, RAW])
def test_a_truncated_samples_file_is_named(kept: Path, name: str) -> None:
    whole = (kept / name).read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        (kept / name).write_bytes(whole[:size])
        assert f"{kept / name}: the samples are damaged" in refusal(kept)
        vouch(kept)
        assert f"{kept / name}: the samples cannot be read" in refusal(kept)


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
    """Where the file's own hash does not tell: it was made anew, or the record is older than those."""
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
    """One byte is another one meanwhile."""
    whole = file.read_bytes()
    other = bytearray(whole)
    other[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(other)
    try:
        yield
    finally:
        file.write_bytes(whole)


def vouch(path: Path) -> None:
    """Make the hashes of the files fit again, as somebody would who changes a record on purpose."""
    files = json.loads((path / MANIFEST).read_text())["files"]
    change_manifest(path, files={name: file_digest(path / name) for name in files})


def as_before(path: Path) -> None:
    """Make a record one of the time before raw.parquet: raw samples among the others, each counted once."""
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


def test_a_record_of_before_is_read_and_checked(kept: Path) -> None:
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
    assert any(part in text for part in ("their hash differs", "cannot be read", "more series than the manifest"))


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


def alter(file: Path, query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE samples AS SELECT * FROM read_parquet(?)", [str(file)])
        connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")


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
    """Told before anything else: a newer manifest has fields this one does not know."""
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
def test_what_is_no_manifest_is_named(kept: Path, content: bytes) -> None:
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


# --- writing


def test_a_record_of_the_same_run_is_replaced(store: Store) -> None:
    store.write(record(wall_s=1.0))
    path = store.write(record(wall_s=2.0))
    assert read(path).manifest.provenance.wall_s == 2.0
    assert store.paths() == [path]


def test_a_write_that_fails_midway_leaves_the_old_record_and_nothing_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = store.write(record(wall_s=1.0))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for step in ("write_samples", "_write_manifest"):
        with monkeypatch.context() as patch:
            patch.setattr(store_module, step, full)
            with pytest.raises(RunFailed, match="the disk is full; finished records are kept: make room"):
                store.write(record(wall_s=2.0))
        assert read(old).manifest.provenance.wall_s == 1.0
        assert list(store.folder.iterdir()) == [old]


def test_a_record_half_written_when_killed_is_no_record(store: Store) -> None:
    """SIGKILL leaves a folder with a dot; it is not taken for a record."""
    path = store.write(record())
    shutil.copytree(path, path.with_name(f".{path.name}.4711"))
    (path.with_name(f".{path.name}.4711") / MANIFEST).unlink()
    assert store.paths() == [path]
    assert len(list(store.read_all())) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted: run the tests as root ({mounted.stderr.decode().strip()})")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_loses_no_finished_record(small_disk: Path) -> None:
    store = Store(small_disk / "records")
    written: list[Path] = []
    chance = random.Random(1)  # noqa: S311 what does not compress
    noise = Measurement((Series.raw([chance.getrandbits(60) for _ in range(2000)], name="time"),))
    with pytest.raises(RunFailed) as caught:
        for seed in range(100):
            written.append(store.write(record(noise, INPUTS.model_copy(update={"seed": seed}))))
    assert "the disk is full" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert written
    assert sorted(written) == store.paths()
    assert [read(path).series[0].total for path in written] == [2000] * len(written)
    assert [path.name for path in store.folder.iterdir() if path.name[0] == "."] == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed, match="cannot write a record"):
        Store(tmp_path / "file" / "records").write(record())


def test_a_corrupt_record_is_set_aside_and_kept(store: Store, kept: Path) -> None:
    for _ in range(2):  # a second time in the same place too
        aside = store.set_aside(store.write(record()))
        assert (aside / MANIFEST).exists()
        assert store.paths() == []


# --- what a repeated run says of the clock


def settled(store: Store, *records: Record) -> set[tuple[int, Timing]]:
    for one in records:
        store.write(one)
    settle_timing(store, [read(path) for path in store.paths()])
    return {(read(path).manifest.repeat, read(path).manifest.timing) for path in store.paths()}


OTHER = Measurement((Series.raw([1], name="time"),))


def test_runs_that_are_alike_prove_the_instruction_clock(store: Store) -> None:
    found = settled(store, record(), record(repeat=1, wall_s=9.0))
    assert found == {(0, Timing.INSTRUCTIONS), (1, Timing.INSTRUCTIONS)}


def test_runs_that_differ_are_host_timed_with_all_their_group(store: Store) -> None:
    other_seed = record(inputs=INPUTS.model_copy(update={"seed": 2}))
    assert settled(store, record(), record(OTHER, repeat=1), other_seed) == {
        (0, Timing.HOST_TIMED),
        (1, Timing.HOST_TIMED),
    }


def test_a_group_without_a_repeat_is_untested(store: Store) -> None:
    assert settled(store, record()) == {(0, Timing.UNTESTED)}


def test_another_group_keeps_its_own_label(store: Store) -> None:
    loaded = INPUTS.model_copy(update={"load": "hackbench"})
    records = [record(), record(OTHER, repeat=1), record(inputs=loaded), record(inputs=loaded, repeat=1)]
    for one in records:
        store.write(one)
    first_runs = settle_timing(store, [read(path) for path in store.paths()])
    assert {one.inputs.load: one.manifest.timing for one in first_runs} == {
        "none": Timing.HOST_TIMED,
        "hackbench": Timing.INSTRUCTIONS,
    }


def test_the_hardwares_time_stays_real(store: Store) -> None:
    assert settled(store, record(timing=Timing.REAL)) == {(0, Timing.REAL)}
