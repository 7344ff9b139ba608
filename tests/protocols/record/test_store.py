# SPDX-License-Identifier: MIT
"""Records on disk: read as they were written, whole or not there."""

import errno
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import RunFailed
from rtqual.protocols.record import store as store_module
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind, Timing
from rtqual.protocols.record.store import MANIFEST, Store, read
from support.small_disk import mounted_disk
from support.store_records import INPUTS, content, record

# --- what is written is what is read


VALUES = st.integers(-(2**62), 2**62)
SERIES = st.one_of(
    st.builds(lambda values: Series.raw(values, name="r"), st.lists(VALUES)),
    st.builds(
        lambda counts, kind: Series.counted(counts, kind, name="c", cpu=3),
        st.dictionaries(VALUES, st.integers(1, 2**40)),
        st.sampled_from([SeriesKind.HISTOGRAM, SeriesKind.BINNED]),
    ),
    st.builds(lambda: Series.counted({}, SeriesKind.SUMMARY, name="s", reported={"avg": 0.1})),
)
SCALARS = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.builds(Scalar, value=st.floats(allow_nan=False, allow_infinity=False), unit=st.text(max_size=3)),
    max_size=3,
)


@settings(deadline=None, max_examples=25)
@given(st.lists(SERIES, max_size=4), SCALARS)
def test_a_record_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, series: list[Series], scalars: dict[str, Scalar]
) -> None:
    written = record(Measurement(tuple(series), scalars))
    back = read(Store(tmp_path_factory.mktemp("s")).write(written))
    assert back.manifest.model_copy(update={"files": {}, "manifest_sha256": None}) == written.manifest
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
    with mounted_disk(tmp_path / "small", "256k") as folder:
        yield folder


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
