# SPDX-License-Identifier: MIT
"""Campaigns while they run: what is under way, what is the latest so far, and the user's command when that grows."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import LOCK, RECORDS, alone
from rtqual.engine.campaign.lost import LOST, begun
from rtqual.protocols.record.schema import Record, Series, SeriesKind
from rtqual.protocols.record.store import Store
from rtqual.stages.watched import Watched, largest_of
from support.analysis_records import record
from support.command import Run
from support.gate_records import runs
from support.made_campaign import sealed


def add(folder: Path, records: Sequence[Record]) -> None:
    for one in records:
        Store(folder / RECORDS).write(sealed(one))


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    add(tmp_path, runs([[8_000, 9_000], [7_000, 8_000]]))
    return tmp_path


def test_a_run_that_is_later_than_all_before_it_is_worse(campaign: Path) -> None:
    watched = Watched(campaign)
    list(watched.look())
    (seen,) = watched.groups.values()
    assert seen.worst is not None
    assert (seen.runs, seen.worst.value) == (2, 9_000)
    assert list(watched.look()) == []
    add(campaign, runs([[0], [0], [8_500], [12_000]])[2:])
    (worse,) = watched.look()
    assert (worse.before.value, worse.now.value, worse.group.load) == (9_000, 12_000, "hackbench")
    assert seen.runs == 4


def test_a_second_run_that_tests_whether_the_first_repeats_is_no_run_more(campaign: Path) -> None:
    add(campaign, [record(Series.raw([99_000], name="latency"), seed=1, repeat=1)])
    watched = Watched(campaign)
    list(watched.look())
    assert [seen.runs for seen in watched.groups.values()] == [2]


def test_a_sample_beyond_the_histogram_is_at_least_its_end(tmp_path: Path) -> None:
    more = {"name": "latency", "overflow": 1, "overflow_from": 1_000_000}
    beyond = sealed(record(Series.counted({5_000: 1}, SeriesKind.HISTOGRAM, **more)))
    largest = largest_of(Store(tmp_path).write(beyond), beyond.manifest)
    assert largest is not None
    assert (largest.value, largest.beyond) == (1_000_000, True)


def test_the_first_series_that_is_a_time_counts_and_no_sample_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = Series.raw([9], name="rate", unit="1/s"), Series.raw([3, 7, 5], name="a"), Series.raw([90], name="b")
    whole = sealed(record(series))
    path = Store(tmp_path).write(whole)
    monkeypatch.delattr("rtqual.protocols.record.store.read_samples")
    largest = largest_of(path, whole.manifest)
    assert largest is not None
    assert largest.value == 7


def test_a_file_of_samples_that_is_not_the_one_that_was_written_is_damaged(campaign: Path) -> None:
    path = Store(campaign / RECORDS).paths()[0]
    (path / "samples.parquet").write_bytes(b"PAR1")
    watched = Watched(campaign)
    list(watched.look())
    assert "its hash differs" in watched.damaged[0]
    assert [seen.runs for seen in watched.groups.values()] == [1]


def test_only_runs_of_a_rtqual_that_works_there_are_under_way(campaign: Path) -> None:
    begun(campaign, "abc-0", record(seed=7).inputs, 0)
    watched = Watched(campaign)
    assert (watched.works, watched.running()) == (False, [])  # its rtqual was killed
    with alone(campaign):
        assert watched.works
        assert watched.running() == ["rt: cyclictest, load hackbench, 1 CPU, seed 7"]


def test_a_damaged_record_is_named_and_stops_nothing(campaign: Path) -> None:
    path = Store(campaign / RECORDS).paths()[0]
    (path / "manifest.json").write_text("{}")
    watched = Watched(campaign)
    list(watched.look())
    assert len(watched.damaged) == 1
    assert str(path) in watched.damaged[0]
    assert [seen.runs for seen in watched.groups.values()] == [1]


def test_what_is_damaged_of_the_runs_under_way_stops_nothing(campaign: Path) -> None:
    (campaign / LOST).mkdir()
    with alone(campaign):
        (campaign / LOST / "abc-0.json").write_text("{}")
        (told,) = Watched(campaign).running()
        assert "lost/abc-0.json" in told
        (campaign / LOST / "abc-0.json").unlink()
        (campaign / LOST / "abc-0.json").symlink_to("/dev/zero")
        (told,) = Watched(campaign).running()
        assert "is a link" in told


def test_what_was_damaged_before_is_told_at_once(rtqual: Run, campaign: Path) -> None:
    (Store(campaign / RECORDS).paths()[0] / "manifest.json").write_text("{}")
    shown = rtqual("watch", campaign, "--once")
    assert shown.returncode == 0 and "schema_version is missing" in " ".join(shown.stderr.split())
    assert "1 run" in shown.stdout


def test_a_record_that_is_set_aside_after_it_was_listed_stops_nothing(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = campaign / RECORDS / "gone-0"
    monkeypatch.setattr(Store, "paths", lambda _: [gone])
    watched = Watched(campaign)
    assert list(watched.look()) == []
    assert "gone-0" in watched.damaged[0]


def test_a_lock_that_is_a_pipe_is_not_waited_for(campaign: Path) -> None:
    """A folder that somebody sent."""
    (campaign / LOCK).unlink(missing_ok=True)
    os.mkfifo(campaign / LOCK)
    assert not Watched(campaign).works


def test_a_campaign_that_has_no_record_yet_is_watched(tmp_path: Path) -> None:
    with alone(tmp_path):
        watched = Watched(tmp_path)
        assert list(watched.look()) == []
        assert watched.works


def test_what_is_no_campaign_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no campaign there"):
        Watched(tmp_path)


def test_the_command_looks_once_where_nothing_runs(rtqual: Run, campaign: Path) -> None:
    shown = rtqual("watch", campaign)
    assert (shown.returncode, shown.stderr) == (0, "")
    words = " ".join(shown.stdout.split())
    assert "not running, 2 runs" in words
    assert " 8 us 9 us " in words


@pytest.mark.parametrize(
    ("command", "complaint"),
    [("no-such-program-at-all now", "no such program"), ("'open", "No closing quotation"), (" ", "no such program")],
)
def test_a_command_that_cannot_run_is_refused_at_once(
    rtqual: Run, campaign: Path, command: str, complaint: str
) -> None:
    refused = rtqual("watch", campaign, "--on-worse", command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert complaint in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_the_users_command_runs_without_a_shell_and_is_told_what_is_worse(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rtqual.face.commands import watch

    lock = alone(campaign)
    lock.__enter__()
    naps: list[float] = []

    def sleep(seconds: float) -> None:  # what a campaign does while the command sleeps
        naps.append(seconds)
        if len(naps) == 1:
            add(campaign, runs([[0], [0], [12_000]])[2:])
        else:
            lock.__exit__(None, None, None)

    monkeypatch.setattr(watch.time, "sleep", sleep)
    script = campaign / "script.py"
    script.write_text("import os, sys; print(os.environ['RTQUAL_WORST_NS'], sys.argv[1:]); sys.exit(3)")
    assert watch.watch([campaign], on_worse=f"{sys.executable} {script} $HOME;id") == 0
    out, err = capsys.readouterr()
    assert "running, 2 runs" in " ".join(out.split())  # at first
    assert "largest sample 12 us, before 9 us" in out
    assert f"--on-worse: {sys.executable} ended with 3: 12000 ['$HOME;id']" in err.replace("\n", " ")
