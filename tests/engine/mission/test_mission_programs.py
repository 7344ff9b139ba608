# SPDX-License-Identifier: MIT
"""Programs and loads of the user's own in a mission: what is read, and one line for what is wrong."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.mission import load_mission, mission_schema
from rtqual.protocols.load.own import OwnLoad, load_of, shape_of
from support.own_programs import MISSION, MISTAKES


@pytest.fixture
def mission_file(tmp_path: Path) -> Path:
    return tmp_path / "own.toml"


def test_programs_and_loads_are_read(mission_file: Path) -> None:
    mission_file.write_text(MISSION)
    mission = load_mission(mission_file)
    (program,) = mission.programs
    assert (program.instrument, program.binary_for("amd64"), program.warm_up) == ("program-loop", "bin/loop", 10**8)
    control, act = program.tasks
    assert (control.period, control.deadline, act.after, act.priority) == (4 * 10**6, 3 * 10**6, "control", 60)
    assert mission.parameters_for("demo", "program-loop") == {"program": program}
    flood = shape_of("flood").model_validate(mission.loads["flood"])
    assert isinstance(flood, OwnLoad)
    assert load_of("flood", flood).background[0].argv == ("sh", "-c", "while :; do :; done")
    forks = shape_of("forks").model_validate(mission.loads["forks"])
    assert load_of("forks", forks).background[0].argv[:2] == ("stress-ng", "--quiet")
    assert forks.told == {"load: stress-ng": ["--fork", "2"]}
    assert shape_of("hackbench").model_validate(mission.loads["hackbench"]).told == {"load: groups": 2}


def test_loads_may_be_written_by_their_names(mission_file: Path) -> None:
    listed, text = MISSION, MISSION
    for name in ("flood", "forks", "beside", "hackbench"):
        text = text.replace(f'[[load]]\nname = "{name}"\n', f"[load.{name}]\n")
    for one, other in ((listed, text), (text, listed)):
        mission_file.write_text(one)
        first = load_mission(mission_file).loads
        mission_file.write_text(other)
        assert load_mission(mission_file).loads == first


@pytest.mark.parametrize(("written", "instead", "says"), MISTAKES)
def test_a_mistake_is_one_line_at_its_place(mission_file: Path, written: str, instead: str, says: str) -> None:
    assert written in MISSION
    mission_file.write_text(MISSION.replace(written, instead, 1))
    with pytest.raises(BadInput) as caught:
        load_mission(mission_file)
    line = str(caught.value)
    assert says in line
    assert "\n" not in line
    number = int(line.removeprefix(f"{mission_file}:").partition(":")[0])
    lines = mission_file.read_text().splitlines()
    at = MISSION[: MISSION.index(written)].count("\n") + 1
    # The lines that were changed, or that of the table they stand in.
    assert at <= number <= at + instead.count("\n") or lines[number - 1].startswith(("[", "name"))


def test_the_schema_describes_every_key_of_a_program() -> None:
    schema = mission_schema()
    program = schema["$defs"]["Program"]["properties"]
    assert {"binary", "packages", "files", "kernel_threads", "ready", "task", "output"} <= {*program}
    assert all("description" in one for one in program.values())
