# SPDX-License-Identifier: MIT
"""Records of many raw samples: exact, and in memory that does not grow with their number. Times: `make bench`."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.analysis.figure.asked import QUANTILES
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.parts.importers.detect import detect
from rtqual.protocols.record.parquet import RAW, SAMPLES, InParquet, save, spooled
from rtqual.protocols.record.schema import (
    CHUNK,
    InMemory,
    Int64Array,
    Measurement,
    Order,
    Record,
    Series,
    SeriesInfo,
    SeriesKind,
)
from rtqual.protocols.record.store import Store, read, verify
from support.command import Run, rtqual_command
from support.store_records import alter, content, record, vouch

LIMIT_B = 500e6
NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True)
class Latencies:
    """Made-up latencies in ns with up to 1.3 million distinct values, some at a time."""

    number: int
    piece: int = CHUNK

    def chunks(self) -> Iterator[Int64Array]:
        random = np.random.default_rng(7)
        for start in range(0, self.number, self.piece):
            yield random.lognormal(11.5, 0.9, min(self.piece, self.number - start)).astype(np.int64)

    def histogram(self) -> tuple[Int64Array, Int64Array]:
        counts = np.bincount(self.samples())
        values = np.flatnonzero(counts)
        return values, counts[values]

    def samples(self) -> Int64Array:
        return np.concatenate([*self.chunks()])


def raw(*orders: Order) -> Record:
    infos = [SeriesInfo(name="latency", kind=SeriesKind.RAW, cpu=cpu) for cpu in range(len(orders))]
    return record(Measurement(tuple(map(Series.of_order, orders, infos))))


def in_order(one: Series) -> Int64Array:
    """Every sample of a raw series."""
    order = one.ordered()
    assert order is not None
    return np.concatenate([NOTHING, *order])


def assert_as_numpy_has_them(figures: dict[str, float], samples: Int64Array) -> None:
    """The extremes and, for each quantile, the sample of rank ceil(n q): exactly."""
    ordered, n = np.sort(samples), len(samples)
    ranks = {name: -(-n * q.numerator // q.denominator) for name, q in QUANTILES.items() if n * (1 - q) >= 1}
    wanted = {name: float(ordered[rank - 1]) for name, rank in ranks.items()}
    wanted |= {"min": float(ordered[0]), "max": float(ordered[-1])}
    assert {name: figures[name] for name in wanted} == wanted
    assert figures["avg"] == pytest.approx(samples.mean(), rel=1e-12)
    assert figures["std"] == pytest.approx(samples.std(ddof=1), rel=1e-9)


def figures_of(one: Record) -> dict[str, float]:
    ((group, members),) = groups([one]).items()
    return {name: figure.value for name, figure in measure(group, members).summary.figures.items()}


# --- 10^5 samples


def test_the_figures_are_those_of_numpy_on_the_array(tmp_path: Path) -> None:
    made = Latencies(100_000)
    back = read(Store(tmp_path).write(raw(made)))
    assert_as_numpy_has_them(figures_of(back), made.samples())
    assert np.array_equal(in_order(back.series[0]), made.samples())


def test_a_record_is_the_same_from_pieces_and_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces go through scratch files, which are gone afterwards."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr("rtqual.protocols.record.parquet.CHUNK", 1000)
    made = Latencies(20_000, piece=300)
    whole = raw(InMemory(made.samples()), InMemory(made.samples()[::-1]))
    pieces = raw(made, spooled(iter(np.array_split(made.samples()[::-1], 33))))
    assert list(scratch.iterdir())
    assert pieces.manifest.hash == whole.manifest.hash
    paths = [Store(tmp_path / name).write(one) for name, one in (("pieces", pieces), ("whole", whole))]
    assert content(pieces.series[1])[1:] == content(whole.series[1])[1:]
    del pieces
    assert not list(scratch.iterdir())
    assert [verify(path).manifest.hash for path in paths] == [whole.manifest.hash] * 2


def test_series_are_read_back_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[Order] = [Latencies(10_000), InMemory(NOTHING), Latencies(7_000), Latencies(1)]
    path = Store(tmp_path).write(raw(*orders))
    for page in (1_000, 9_999, 10_000, 10_001, 1 << 20):
        monkeypatch.setattr("rtqual.protocols.record.parquet._PAGE", page)
        for one, made in zip(read(path).series, orders, strict=True):
            assert np.array_equal(in_order(one), np.concatenate([NOTHING, *made.chunks()]))


def test_a_long_verbose_text_goes_through_scratch_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtqual.protocols.record.parquet.CHUNK", 100)
    monkeypatch.setattr("rtqual.parts.importers.source._BLOCK_B", 2000)
    threads = [Latencies(1_000).samples(), Latencies(2_000).samples()[1_000:]]
    path = tmp_path / "verbose.txt"
    rows = [(thread, cycle, value) for cycle in range(1_000) for thread, value in enumerate(t[cycle] for t in threads)]
    path.write_text("".join(f"{thread:8d}:{cycle:8d}:{value:8d}\n" for thread, cycle, value in rows))
    (reading,) = detect(path).read(path, "us")
    for series, samples in zip(reading.measurement.series, threads, strict=True):
        assert isinstance(series.order, InParquet)
        assert np.array_equal(in_order(series), samples * 1000)


def test_every_sample_is_checked_on_demand(
    rtqual: Run, fails: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a record with so many samples that reading trusts the hashes of its files."""
    path = Store(tmp_path).write(raw(Latencies(1_000)))
    monkeypatch.setattr("rtqual.protocols.record.store.THOROUGH", 999)
    alter(path / RAW, "SELECT series, value FROM samples ORDER BY value")
    vouch(path)
    assert rtqual("show", path).returncode == 0
    assert "their hash differs" in fails(2, "show", "--every-sample", path)


def test_raw_samples_cost_no_more_than_their_own_bytes(tmp_path: Path) -> None:
    """The number of its series is kept with each sample, and takes next to no space."""
    path = Store(tmp_path / "out").write(raw(Latencies(100_000)))
    save(InMemory(Latencies(100_000).samples()), tmp_path / "alone.parquet")
    assert (path / RAW).stat().st_size < 1.01 * (tmp_path / "alone.parquet").stat().st_size
    assert (path / SAMPLES).exists()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.integers(-5, 30), max_size=20), min_size=1, max_size=4))
def test_histograms_merge_exactly(runs: list[list[int]]) -> None:
    pool = pool_runs([[Series.raw(run, name="s")] for run in runs])
    every = [sample for run in runs for sample in run]
    values, counts = np.unique(np.array(every, np.int64), return_counts=True)
    assert (pool is None) == (not every)
    if pool is not None:
        assert (pool.values.tolist(), pool.counts.tolist()) == (values.tolist(), counts.tolist())


# --- 10^8 samples

MISSION = """\
[mission]
name = "many"
title = "Many samples"
purpose = "Shows that a report of many samples needs little memory."
duration = "1 min"

[[candidate]]
name = "here"
title = "This machine"
this-machine = true

[[requirement]]
name = "wake-up"
instrument = "cyclictest"
load = "none"
statistic = "p99.99"
at_most = "1 ms"

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = ["none"]
runs = 1
"""
# The process that starts another one must be small: a child's peak is at least what its parent held when it forked.
MEASURED = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss * 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def within_limit(*arguments: object) -> str:
    """What rtqual prints; it must not have held more than LIMIT_B at any time."""
    command = [sys.executable, "-c", MEASURED, *rtqual_command(*arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.splitlines()[-1]) <= LIMIT_B
    return done.stdout


@pytest.mark.full
def test_a_hundred_million_samples_fit_in_500_mb_and_give_what_numpy_gives(tmp_path: Path) -> None:
    """Three minutes, 3 GB of memory for numpy, 600 MB of disk."""
    made = Latencies(100_000_000)
    save(spooled(made.chunks()), tmp_path / "samples.parquet")
    out = tmp_path / "out"
    known = ("--unit", "ns", "--candidate", "here", "--board", "local", "--load", "none", "--instrument", "cyclictest")
    (imported,) = json.loads(within_limit("import", tmp_path / "samples.parquet", *known, "--out", out, "--json"))
    path = Path(imported["record"])
    (shown,) = json.loads(within_limit("show", "--every-sample", "--json", path))
    assert shown["hash"] == imported["hash"]
    samples = made.samples()
    assert_as_numpy_has_them({name: figure["value"] for name, figure in shown["figures"].items()}, samples)
    ordered = read(path).series[0].ordered()
    assert ordered is not None
    at = 0
    for chunk in ordered:
        assert np.array_equal(chunk, samples[at : at + len(chunk)])
        at += len(chunk)
    assert at == len(samples)
    (tmp_path / "mission.toml").write_text(MISSION)
    kept.keep(out, MISSION.encode(), "demo", Result((read(path),), {}, {"here": None}))
    within_limit("report", out)
    assert "100,000,000" in (out / "report.md").read_text()
