# SPDX-License-Identifier: MIT
"""A campaign's folder: what a report shows is what the campaign kept, by its hash."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.campaign import folder as kept
from rtqual.campaign.approach import HEIGHT, WIDTH, Approach, Sight
from rtqual.campaign.folder import Result
from rtqual.mission import Mission, load_mission
from rtqual.stage.tailor import STEPWISE, step_by_step
from support.command import mission_text

DOCKING = Path(__file__).parents[2] / "missions/docking.toml"
FLOWN = Approach(sights=(Sight(distance_m=1.0, status="not found"),), pictured=0, picture=(7,) * (WIDTH * HEIGHT))
RESULT = Result((), {}, {"debian-rt": "CONFIG_USB=y\n"}, approach=FLOWN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kept.keep(tmp_path, mission_text("debian-rt").encode(), "demo", RESULT)
    return tmp_path


def test_a_campaign_is_loaded_as_it_was_kept(folder: Path) -> None:
    assert kept.load(folder).result == RESULT


def test_a_campaign_that_flew_no_approach_shows_none_of_before(folder: Path) -> None:
    old = (folder / kept.APPROACH).read_bytes()
    kept.keep(folder, mission_text("debian-rt").encode(), "demo", replace(RESULT, approach=None))
    assert kept.load(folder).result.approach is None
    (folder / kept.APPROACH).write_bytes(old)
    assert kept.load(folder).result.approach is None


@pytest.mark.parametrize("name", [kept.APPROACH, f"{kept.CONFIGS}/debian-rt.config"])
def test_a_file_that_is_not_the_one_kept_is_named(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"7", b"8") + b" ")
    with pytest.raises(BadInput, match=rf"{name}: not the one that was kept"):
        kept.load(folder)
    (folder / name).unlink()
    assert kept.load(folder).result != RESULT, "a copy may leave out what nobody asks of it"


def test_the_first_campaigns_named_no_files_and_are_read_as_they_stand(folder: Path) -> None:
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    del campaign["files"]
    (folder / kept.CAMPAIGN).write_text(json.dumps({**campaign, "schema_version": 1}))
    assert kept.load(folder).result == RESULT


def test_a_derived_mission_is_kept_beside_the_file_that_it_came_from(tmp_path: Path) -> None:
    mission = load_mission(DOCKING)
    steps = step_by_step(mission, "tailor")
    assert not mission.is_derived and steps.is_derived and steps.candidates != mission.candidates
    kept.keep(tmp_path, kept.content_of(steps), STEPWISE, Result((), {}, {}), derived=steps)
    again = kept.load(tmp_path)
    assert again.mission == replace_path(steps, tmp_path) and again.mission.is_derived
    assert (tmp_path / kept.MISSION).read_bytes() == DOCKING.read_bytes()


def replace_path(mission: Mission, folder: Path) -> Mission:
    """As it is once loaded: it names the kept file."""
    return mission.derived_from(load_mission(folder / kept.MISSION))


def test_one_at_a_time_works_in_a_folder(tmp_path: Path) -> None:
    raises = pytest.raises(RunFailed, match="another rtqual works there")
    with kept.alone(tmp_path / "out"), raises, kept.alone(tmp_path / "out"):
        pass
    with kept.alone(tmp_path / "out"):
        pass
