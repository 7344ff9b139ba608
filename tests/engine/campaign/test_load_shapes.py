# SPDX-License-Identifier: MIT
"""Loads that a mission gives another shape: what runs, what records say, and what is refused."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.campaign.plan import plan
from rtqual.engine.mission import load_mission
from rtqual.protocols.load.all_loads import all_loads
from support.mission_texts import GOOD


def shaped(tmp_path: Path, table: str) -> Path:
    path = tmp_path / "m.toml"
    path.write_text(GOOD + table)
    return path


def commands(path: Path) -> set[tuple[str, str]]:
    cells = [one for one in plan(load_mission(path), "demo") if one.load == "hackbench"]
    return {(one.job().loads[0].argv[-1], str(one.shape.told if one.shape else {})) for one in cells}


def test_a_load_runs_in_the_shape_that_the_mission_gives_it(tmp_path: Path) -> None:
    usual = "while hackbench -P -g 1 -l 100 > /dev/null; do :; done"
    assert commands(shaped(tmp_path, "")) == {(usual, "{}")}
    assert commands(shaped(tmp_path, "[load.hackbench]\ndescriptors = 20\n")) == {(usual, "{}")}
    assert commands(shaped(tmp_path, "[load.hackbench]\npipes = true\ndescriptors = 10\n")) == {
        (
            "while hackbench -p -P -g 1 -f 10 -l 100 > /dev/null; do :; done",
            "{'load: pipes': True, 'load: descriptors': 10}",
        )
    }


def test_the_loads_of_one_kind_run_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(GOOD.replace("hackbench", "stress-all"))
    hackbench, stress = next(one for one in plan(load_mission(path), "demo") if one.load == "stress-all").job().loads
    alone = [all_loads()[name].background[0].argv for name in ("stress-cpu", "stress-memory", "stress-io")]
    assert hackbench == all_loads()["hackbench"].background[0]
    assert {word for argv in alone for word in argv} == set(stress.argv)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("[load.hackbench]\npipe = true\n", "load.hackbench.pipe: unknown key"),
        ("[load.hackbench]\ngroups = 0\n", "load.hackbench.groups: "),
        ("[load.stress-cpu]\ngroups = 1\n", "load.stress-cpu.groups: unknown key"),
        ("[load.hackbnch]\ngroups = 1\n", "hackbnch"),
    ],
)
def test_a_shape_that_a_load_does_not_have_is_refused_where_it_is_written(
    tmp_path: Path, table: str, told: str
) -> None:
    with pytest.raises(BadInput) as caught:
        load_mission(shaped(tmp_path, table))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
