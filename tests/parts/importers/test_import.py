# SPDX-License-Identifier: MIT
"""Import: which format a file has, that both ways to write a run give the same figures, and the records made."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.asked import QUANTILES
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.parts.importers import records
from rtqual.parts.importers.detect import detect, formats, named
from rtqual.parts.importers.records import Circumstances, import_files
from rtqual.parts.importers.words import as_dict, lines
from rtqual.protocols.record.schema import Series, SeriesKind, Timing
from rtqual.protocols.record.store import Store
from support.import_files import (
    DATA,
    EVERY_FILE,
    FILES,
    imported,
    in_order,
    read,
    read_one,
    refusal,
    summary,
    text_of,
    written,
)

# --- which format ---------------------------------------------------------------------------------------------------


def test_every_format_has_a_file_here() -> None:
    assert set(FILES) == set(formats())
    assert {file for _, file in EVERY_FILE} == {path.name for path in DATA.iterdir()} - {"README.md"}


@pytest.mark.parametrize(("name", "file"), EVERY_FILE)
def test_the_format_is_found(name: str, file: str) -> None:
    assert detect(DATA / file).name == name


@pytest.mark.parametrize(("name", "file"), EVERY_FILE)
def test_line_ends_of_windows_a_mark_in_front_and_terminal_colours_change_nothing(
    name: str, file: str, tmp_path: Path
) -> None:
    if name == "parquet":
        pytest.skip("no text")
    plain = (DATA / file).read_bytes()
    other = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")
    if name in ("cyclictest-histogram", "cyclictest-summary", "sysbench", "hackbench", "rtla"):
        other = re.sub(rb"(?m)$\r", b"\x1b[0m\r", other)
    path = written(tmp_path, other, file)
    assert detect(path).name == name
    for ours, theirs in zip(read(path), read(DATA / file), strict=True):
        assert ours.measurement.scalars == theirs.measurement.scalars
        assert ours.measurement.problems == theirs.measurement.problems
        assert [one.info for one in ours.measurement.series] == [one.info for one in theirs.measurement.series]
        for a, b in zip(ours.measurement.series, theirs.measurement.series, strict=True):
            assert np.array_equal(a.values, b.values)
            assert np.array_equal(a.counts, b.counts)
            assert a.ordered() is b.ordered() is None or in_order(a) == in_order(b)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip: unpack it first"),
        ("T: 0".encode("utf-16"), "iconv -f UTF-16"),
        (
            b"hello\n",
            "none of the formats known: name one with --format (parquet, probe, histogram-table, csv, rteval, ",
        ),
    ],
)
def test_what_no_reader_reads_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        detect(written(tmp_path, content))


def test_a_folder_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        detect(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        detect(tmp_path / "none")
    with pytest.raises(BadInput, match="--format nonsense: not known; write one of parquet"):
        named("nonsense")


def test_a_folder_without_end_is_refused_before_it_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="empty: no file in it: name a folder with 1 to 100,000"):
        import_files([tmp_path / "empty"], tmp_path / "out", Circumstances())
    monkeypatch.setattr(records, "_MOST_FILES", 20)
    with pytest.raises(BadInput, match="/proc holds more than 20 files"):
        import_files([Path("/proc")], tmp_path / "out", Circumstances())


@pytest.mark.parametrize("name", formats())
def test_the_wrong_reader_says_what_it_wants(name: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "something else\n"), format_name=name)


# --- the same run as histogram and sample by sample ------------------------------------------------------------------


def runs_seen_both_ways(path: Path) -> list[tuple[Series, Series]]:
    """Of one output that holds both, the threads whose last samples were printed too: (raw, histogram)."""
    every = read_one(path, format_name="cyclictest-verbose").measurement
    binned = read_one(path, format_name="cyclictest-histogram").measurement
    assert every.problems == binned.problems == ()
    by_cpu = {raw.info.cpu: raw for raw in every.series}  # a thread may have printed nothing at all
    pairs = [(by_cpu.get(histogram.info.cpu), histogram) for histogram in binned.series]
    return [(raw, histogram) for raw, histogram in pairs if raw and raw.total == histogram.total]


def assert_same_quantiles(raw: Series, histogram: Series) -> None:
    """A quantile among overflowed samples is known to lie there."""
    assert (raw.info.kind, histogram.info.kind) == (SeriesKind.RAW, SeriesKind.HISTOGRAM)
    assert raw.info.cpu == histogram.info.cpu
    samples, limit = np.repeat(raw.values, raw.counts), histogram.info.overflow_from
    held = samples[: len(samples) - histogram.info.overflow]
    assert np.array_equal(np.repeat(histogram.values, histogram.counts), held)
    assert all(sample >= limit for sample in samples[len(held) :])
    ranks = histogram.counts.cumsum()
    for q in QUANTILES.values():
        rank = math.ceil(len(samples) * q)
        if rank <= len(held):
            assert histogram.values[np.searchsorted(ranks, rank)] == samples[rank - 1]
    assert (histogram.info.reported["min"], histogram.info.reported["max"]) == (samples[0], samples[-1])


def test_a_histogram_gives_the_quantiles_of_the_samples_of_the_same_run() -> None:
    pairs = runs_seen_both_ways(DATA / "cyclictest-verbose-and-histogram.txt")
    assert len(pairs) == 2
    for raw, histogram in pairs:
        assert_same_quantiles(raw, histogram)


def test_the_figures_of_both_records_are_the_same(tmp_path: Path) -> None:
    path = DATA / "cyclictest-verbose-and-histogram.txt"
    known = Circumstances("flight")
    (every,) = import_files([path], tmp_path / "a", known, format_name="cyclictest-verbose")
    (binned,) = import_files([path], tmp_path / "b", known, format_name="cyclictest-histogram")
    assert summary(every).figures == summary(binned).figures
    assert summary(every).per_cpu == summary(binned).per_cpu
    assert {"p50", "p99", "max"} <= set(summary(every).figures)


def test_cyclictest_here_gives_the_same_quantiles_both_ways(tmp_path: Path) -> None:
    if shutil.which("cyclictest") is None:
        pytest.skip("cyclictest is not installed here: apt-get install rt-tests")
    if subprocess.run(["chrt", "-f", "80", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("SCHED_FIFO is not allowed here: run as root or raise the rtprio limit")
    argv = ["cyclictest", "-m", "-a", "-t2", "-p80", "-i500", "-l400", "-h2000", "-v"]
    pairs: list[tuple[Series, Series]] = []
    for _ in range(10):  # it may end before it has printed every thread's last samples
        output = subprocess.run(argv, check=True, capture_output=True, timeout=60).stdout
        pairs = runs_seen_both_ways(written(tmp_path, output))
        if pairs:
            break
    assert pairs
    for raw, histogram in pairs:
        assert_same_quantiles(raw, histogram)


# --- records --------------------------------------------------------------------------------------------------------


def test_records_say_what_they_are(tmp_path: Path) -> None:
    (one,) = imported(DATA / "cyclictest-one-thread.txt", tmp_path)
    (kept,) = Store(tmp_path / "records").read_all()
    assert kept.manifest.model_copy(update={"files": {}, "manifest_sha256": None}) == one.record.manifest
    assert (kept.manifest.timing, kept.inputs.board, kept.inputs.load) == (Timing.REAL, "imported", "unknown")
    provenance = kept.manifest.provenance
    assert (provenance.kernel, provenance.started, provenance.wall_s, provenance.tools) == (None, None, None, {})
    assert "the order of the samples" in provenance.facts["not told by the file"]
    assert "the load is filed as 'unknown'" in provenance.facts["assumed"]


def test_the_same_file_again_is_the_same_run_and_another_is_a_further_one(tmp_path: Path) -> None:
    first = DATA / "cyclictest-one-thread.txt"
    other = written(tmp_path, first.read_text().replace("# /dev", "# again /dev"))
    for path in (first, first, written(tmp_path, first.read_bytes(), "copy.txt"), other):
        imported(path, tmp_path / "out", load="none")
    records = list(Store(tmp_path / "out" / "records").read_all())
    assert len(records) == 2
    ((group, members),) = groups(records).items()
    assert not [text for text in measure(group, members).summary.problems if "different parameters" in text]


def test_runs_of_two_versions_are_not_one_measurement(tmp_path: Path) -> None:
    newer = written(tmp_path, text_of("sysbench-0.4.txt").replace("0.4.12", "0.5"))
    both = imported(DATA / "sysbench-0.4.txt", tmp_path) + imported(newer, tmp_path)
    ((group, members),) = groups([one.record for one in both]).items()
    assert any("different parameters or programs" in text for text in measure(group, members).summary.problems)


def test_nothing_is_kept_when_one_file_cannot_be_read(tmp_path: Path) -> None:
    bad = written(tmp_path, "# Histogram\n")
    with pytest.raises(BadInput):
        import_files([DATA / "cyclictest-one-thread.txt", bad], tmp_path / "out", Circumstances("flight"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (Circumstances(" "), "--candidate"),
        (Circumstances("a", load="x\ny"), "--load"),
        (Circumstances("a", cpus=0), "--cpus 0"),
        (Circumstances("a", unit="ms"), "--unit ms: write one of ns, us"),
        (Circumstances("a", unit="ns"), "names its units itself"),
    ],
)
def test_what_the_user_says_is_checked(known: Circumstances, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        import_files([DATA / "hackbench.txt"], tmp_path, known)


def test_what_was_read_and_what_a_file_cannot_tell_are_printed(tmp_path: Path) -> None:
    runs = imported(DATA / "hackbench.txt", tmp_path, load="none")
    told = "\n".join(lines(runs))
    assert "hackbench (bytes" not in told and "hackbench (groups 1, loops 10, mode process), load none; record" in told
    assert told.count("cannot tell: whether messages went through sockets") == 1
    assert "read: 2 samples: every sample in its order" in told
    one = as_dict(runs[0])
    assert json.loads(json.dumps(one)) == one
    assert (one["format"], one["samples"], one["cpus"]) == ("hackbench", 2, 1)
