# SPDX-License-Identifier: MIT
"""Records replayed under another mission, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.replay import ReplayBoard
from rtqual.engine.campaign import folder as kept
from rtqual.protocols.board import Command, Job
from rtqual.protocols.record.schema import Timing
from rtqual.protocols.record.store import Store, read
from support.command import Run


@pytest.fixture
def again(campaign: Path, mission_file: Path, tmp_path: Path) -> Path:
    """The small campaign's mission, of its records."""
    path = tmp_path / "again.toml"
    replay = f'replay = "{campaign}/debian-rt"'
    path.write_text(mission_file.read_text().replace('package = "linux-image-rt-amd64"', replay))
    return path


def test_the_same_samples_are_judged_under_another_mission(
    rtqual: Run, campaign: Path, again: Path, tmp_path: Path
) -> None:
    done = rtqual("select", again, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    old = {(r.inputs.load, r.inputs.seed): r.manifest for r in Store(campaign / "records").read_all()}
    new = list(Store(tmp_path / "out/records").read_all())
    assert len(new) == 4, "a replay has no repeat"
    for record in new:
        was = old[record.inputs.load, record.inputs.seed]
        assert record.manifest.samples_sha256 == was.samples_sha256
        assert record.manifest.provenance.facts["replayed"] == was.hash
        assert (record.inputs.board, record.manifest.timing) == ("replay", Timing.INSTRUCTIONS)
    assert kept.load(tmp_path / "out").result.configs == kept.load(campaign).result.configs
    assert "Verdict, replay board" in done.stdout
    assert "4 of 4 runs are done already" in rtqual("select", again, "--out", tmp_path / "out").stderr


def test_what_was_not_recorded_fails_and_is_named(rtqual: Run, again: Path, tmp_path: Path) -> None:
    again.write_text(again.read_text().replace("runs = 2", "runs = 3"))
    done = rtqual("select", again, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "no record of this run, seed 3" in done.stderr


def test_a_replayed_record_is_not_reproduced(
    rtqual: Run, fails: Callable[..., str], again: Path, tmp_path: Path
) -> None:
    rtqual("select", again, "--out", tmp_path / "out")
    path = Store(tmp_path / "out/records").paths()[0]
    assert read(path).manifest.provenance.command[:2] == ["rtqual", "show"]
    assert "was replayed: reproduce the record" in fails(2, "reproduce", path)


def test_a_candidate_that_is_not_there_is_named(campaign: Path) -> None:
    with pytest.raises(BadInput, match="no records of candidate 'other' there; it has debian-rt"):
        ReplayBoard(f"{campaign}/other", 1, of="virtual", held=kept.held).artefacts()


def test_another_boards_records_are_refused(campaign: Path) -> None:
    with pytest.raises(BadInput, match="measured on the virtual board; only the local board's replay"):
        ReplayBoard(f"{campaign}/debian-rt", 1, of="local", held=kept.held).artefacts()


def test_another_job_is_another_run(campaign: Path) -> None:
    board = ReplayBoard(f"{campaign}/debian-rt", 1, of="virtual", held=kept.held)
    with pytest.raises(RunFailed, match="no record of this run"):
        board.recorded(Job(Command(("true",))), seed=1)
    with pytest.raises(RunFailed, match="its runs are recorded, and no other runs there"):
        board.run(Job(Command(("true",))), seed=1, timeout_s=1)


def test_a_folder_without_records_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no records of candidate 'other' there; it has none"):
        ReplayBoard(f"{tmp_path}/none/other", 1, of="virtual", held=kept.held).artefacts()
