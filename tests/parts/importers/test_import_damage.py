# SPDX-License-Identifier: MIT
"""Any file is read or refused in one line, however damaged."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.parts.importers import records
from rtqual.parts.importers.detect import formats
from rtqual.parts.importers.records import Circumstances, find_runs, to_record
from rtqual.protocols.record.schema import SeriesKind
from support.command import Fails
from support.import_files import DATA, FILES, read, written

SLOW_FOLDER = [HealthCheck.function_scoped_fixture]
MARKS = "0123456789.-+eE{}[]<>\"':, |*#\n\r\t\x00\x1b&;/=\u0663\ufeff"


def reads_or_refuses(name: str, path: Path) -> None:
    """Only BadInput may come out, in one line; what is read must hold together and be fit for analysis."""
    for unit in ("ns", None) if formats()[name].has_unit else (None,):
        try:
            readings = read(path, unit, name)
        except BadInput as error:
            assert "\n" not in str(error)
            continue
        assert readings
        for reading in readings:
            for series in reading.measurement.series:
                assert (series.counts > 0).all()
                assert (np.diff(series.values) > 0).all()
                assert (series.ordered() is None) is (series.info.kind is not SeriesKind.RAW)
                assert series.info.overflow >= 0
                assert all(math.isfinite(value) for value in series.info.reported.values())


def analysed_or_refused(path: Path) -> None:
    """The way from a file to figures, but for the disk."""
    known = Circumstances("flight")
    try:
        records = [to_record(one, known) for one in find_runs(path, None, known)]
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        for group, members in groups(records).items():
            measure(group, members)


def damaged(data: st.DataObject, name: str) -> bytes:
    file = DATA / data.draw(st.sampled_from(FILES[name]))
    if name == "parquet":
        whole = file.read_bytes()
        start = data.draw(st.integers(0, len(whole)))
        return whole[:start] + data.draw(st.binary(max_size=8)) + whole[start + data.draw(st.integers(0, 8)) :]
    text = file.read_text()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 200)))
    patch = data.draw(st.one_of(st.text(st.sampled_from(MARKS), max_size=30), st.just(text[stop : stop + 300])))
    return (text[:start] + patch + text[stop:]).encode()


@pytest.mark.guest
@pytest.mark.parametrize("name", formats())
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_FOLDER)
@given(content=st.one_of(st.binary(), st.text(st.sampled_from(MARKS)).map(str.encode)))
def test_anything_is_read_or_refused(name: str, content: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    reads_or_refuses(name, path)
    analysed_or_refused(path)


@pytest.mark.guest
@pytest.mark.parametrize("name", formats())
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_FOLDER)
@given(data=st.data())
def test_any_damage_to_a_file_is_read_or_refused(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = written(tmp_path, damaged(data, name))
    reads_or_refuses(name, path)
    analysed_or_refused(path)


@pytest.mark.full
@pytest.mark.parametrize("name", formats())
@settings(max_examples=300, deadline=None, suppress_health_check=SLOW_FOLDER)
@given(data=st.data())
def test_much_damage_to_a_file_is_read_or_refused(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = written(tmp_path, damaged(data, name))
    reads_or_refuses(name, path)
    analysed_or_refused(path)


@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
def test_a_pipe_or_a_device_is_no_file_and_is_not_waited_for(fails: Fails, tmp_path: Path, what: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or a device" in fails(2, "import", tmp_path / what, "--out", tmp_path / "out")


@pytest.mark.parametrize("what", ["longer", "written again, with its times"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Its record would have the hash of another content than its samples are of."""
    path = tmp_path / "log"
    path.write_bytes((DATA / FILES["cyclictest-histogram"][0]).read_bytes())
    hashed = records.sha256

    def meanwhile(file: Path) -> str:
        found, times = hashed(file), file.stat()
        content = file.read_bytes()
        file.write_bytes(content + b"\n" if what == "longer" else content)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        return found

    assert find_runs(path, "cyclictest-histogram", Circumstances("rt"))
    monkeypatch.setattr(records, "sha256", meanwhile)
    with pytest.raises(BadInput, match="log: changed while it was read: import it once its tool has ended"):
        find_runs(path, "cyclictest-histogram", Circumstances("rt"))
