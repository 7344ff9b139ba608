# SPDX-License-Identifier: MIT
"""A run that leaves no record is played again, and both is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed, SystemDied
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.lost import INTERRUPTED, LOST
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.protocols.board import Board, Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, NoParameters, Parameters
from rtqual.protocols.record.schema import Measurement
from support.command import mission_text


@dataclass(frozen=True, kw_only=True, eq=False)
class Once(Instrument):
    """Gives no record the first time that it runs."""

    flag: Path

    def job(self, parameters: Parameters, *, cpus: int, seed: int) -> Job:  # noqa: ARG002
        return Job(measure=Command(("sh", "-c", f"[ -e {self.flag} ] || {{ : > {self.flag}; exit 1; }}")))

    def read(self, parameters: Parameters, outcome: JobOutcome, *, cpus: int) -> Measurement:  # noqa: ARG002
        if outcome.exit_code:
            raise RunFailed("nothing came")
        return Measurement(())

    def seconds(self, parameters: Parameters, load: str) -> float:  # noqa: ARG002
        return 1.0


class Ended(Watcher):
    """Ended as if by a signal when a run starts."""

    def started(self, cell: Cell) -> None:
        raise KeyboardInterrupt(cell)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    path = tmp_path / "tiny.toml"
    path.write_text(mission_text("here"))
    mission = load_mission(path)
    (candidate,) = mission.candidates
    assert candidate.place
    once = Once(name="once", title="Once", program="sh", flag=tmp_path / "flag")
    cells = [Cell(candidate, once, NoParameters(), "none", 1, seed=1, place=candidate.place)]
    (tmp_path / "out").mkdir()
    return Campaign(mission, "demo", tmp_path / "out", cells=cells)


def _told(campaign: Campaign) -> Sequence[str]:
    return [str(one) for one in campaign.run(Watcher()).lost.values()]


def test_what_passes_in_the_end_says_how_often_it_did_not(campaign: Campaign) -> None:
    with pytest.raises(KeyboardInterrupt):
        campaign.run(Ended())
    why = f"{INTERRUPTED}; nothing came"
    assert _told(campaign) == [f"seed 1: played 2 times, 2 left no record: {why}"]
    for _ in range(2):  # the third call finds the record
        assert _told(campaign) == [f"seed 1: played 3 times, 2 left no record: {why}"]
    assert len(campaign.store.paths()) == 1


def test_what_leaves_its_record_leaves_nothing_else(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "flag").touch()
    assert not campaign.run(Watcher()).failures
    assert not list((tmp_path / "out" / LOST).iterdir())


class Hangs(Board):
    """Hangs the first time."""

    instruction_clock = False
    times = 0

    def config(self) -> str | None:
        return None

    def artefacts(self) -> dict[str, str]:
        return {}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:  # noqa: ARG002
        self.times += 1
        if self.times == 1:
            raise SystemDied("hung")
        return JobOutcome(0, "", "", {}, {}, {"exit": 0}, "", (), "", 0.1, ("true",))


def test_a_hang_is_remembered_though_the_run_gives_a_record_later(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Hangs()
    monkeypatch.setattr(campaign, "board", lambda _cell: board)
    (first,) = campaign.run(Watcher()).lost.values()
    later = campaign.run(Watcher())
    assert len(later.records) == 1
    (again,) = later.lost.values()
    assert (first.died, again.died, again.played) == (1, 1, 2)
    (run,) = later.runs_lost
    assert (run.seed, run.died, run.group.instrument) == (1, 1, "once")


class Noted(Watcher):
    """Notes the seeds in the order in which their runs start."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def started(self, cell: Cell) -> None:
        self.seeds.append(cell.seed)


def test_what_hung_is_played_again_after_what_was_not_played_yet(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = campaign.cells
    monkeypatch.setattr(campaign, "board", lambda _cell: Hangs())
    campaign.run(Watcher())
    cells = [replace(first, seed=seed) for seed in (1, 2, 3)]
    longer = Campaign(campaign.mission, "demo", campaign.folder, cells=cells, workers=1)
    board, noted = Hangs(), Noted()
    monkeypatch.setattr(longer, "board", lambda _cell: board)
    longer.run(noted)
    assert noted.seeds == [2, 3, 1]
