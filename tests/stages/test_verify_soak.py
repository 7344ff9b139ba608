# SPDX-License-Identifier: MIT
"""`rtqual verify --hours`: a series of segments, what grows in them, and how sure that is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.run import Watcher
from rtqual.engine.mission import load_mission
from rtqual.reports.verification import Verified
from rtqual.stages import verify as stage
from rtqual_docking import camera_files
from support.built import built
from support.command import Run
from support.ground_log import TOP

MISSION = TOP / "docking/missions/docking.toml"
BESIDE = 'procedures = "../procedures"\nload = "hackbench"'
IDLE = 'procedures = "procedures"\nload = "none"'
SEGMENT = """
title = "Eight seconds of a soak"
verifies = ["MEM-010"]
soak = true
ends = "8 s"

[[step]]
at = "100 ms"
send = "LIDAR_START"

[[step]]
at = "1 s"
send = "HK_ONCE"
entries = [{ structure = "SYSTEM" }]

[[step]]
at = "1500 ms"
times = 12
every = "500 ms"
send = "HK_ONCE"
entries = [{ structure = "SYSTEM" }, { structure = "POSE" }, { structure = "CONTROL" }]
expect = [{ report = "HK_SYSTEM", values = { memory_kib = { grows_at_most = 0 } }, within = "10 ms" }]
"""


class Started(Watcher):
    """Which segments were played."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def started(self, cell: Cell) -> None:
        self.seeds.append(cell.seed)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--hours", "0"), "--hours 0: write more than 0"),
        (("--hours", "nan"), "--hours nan: write more than 0"),
        (("--hours", "1", "--seeds", "2"), "--hours: is a scale of its own"),
        (("--hours", "1", "--only", "soak"), "--hours: is a scale of its own"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(fails: Callable[..., str], options: tuple[str, ...], told: str) -> None:
    assert told in fails(2, "verify", MISSION, *options)


def test_a_soaks_segments_fill_its_hours_and_are_played_by_no_other_scale(rtqual: Run) -> None:
    mission = load_mission(MISSION)
    asked = stage.plan(mission, stage.SOAK)
    assert [one.name for one in asked.played] == ["soak"]
    assert [stage.segments(asked, hours) for hours in (0.01, 1, 1.01)] == [1, 12, 13]
    for scale in stage.SCALES:
        assert not any(one.soak for one in stage.plan(mission, scale).played)


@pytest.mark.full
def test_a_program_that_leaks_is_found_and_the_real_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "procedures").mkdir()
    (tmp_path / "procedures/segment.toml").write_text(SEGMENT)
    (tmp_path / "docking.toml").write_text(MISSION.read_text().replace(BESIDE, IDLE))
    asked = stage.plan(load_mission(tmp_path / "docking.toml"), stage.SOAK)
    assert asked.verify.load == "none"

    def soaked(folder: str, segments: int) -> tuple[Verified, list[int]]:
        made, watcher = stage.campaign(asked, tmp_path / folder, 2, seeds=segments), Started()
        made.cells = made.least = [cell for cell in made.cells if not cell.repeat]
        return stage.verify(asked, made, watcher), sorted(watcher.seeds)

    first, played = soaked("real", 2)
    assert (first.passed, played) == (True, [1, 2]), [run.why for run in first.runs]
    more, played = soaked("real", 3)
    assert (more.passed, played) == (True, [3]), "what was played is not played again"
    of = {one.name: one for one in more.trends}
    assert of["memory"].slopes == (0.0, 0.0, 0.0) and of["deadline_misses"].slopes == (0.0, 0.0, 0.0)
    assert of["pose age"].why_none == "3 segments; an interval needs 10"

    program, real = built(TOP / "docking/flight/program", "ds325-flight-sabotage6"), camera_files.guest_file
    leaking = program / "ds325-flight-sabotage6"
    monkeypatch.setattr(camera_files, "guest_file", lambda file: leaking if file == "ds325-flight" else real(file))
    leaks, _ = soaked("leaking", 3)
    assert [run.passed for run in leaks.runs] == [False] * 3
    assert all("memory_kib" in run.why for run in leaks.runs)
    (memory,) = (one for one in leaks.trends if one.name == "memory")
    assert all(one == pytest.approx(80 * 1024 * 3600, rel=0.5) for one in memory.slopes), "80 KiB a second"
