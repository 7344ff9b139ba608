# SPDX-License-Identifier: MIT
"""The mission file: what is accepted, where errors point, that bad input gives nothing but BadInput."""

import os
import re
import tomllib
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.base.units import AS_WRITTEN
from rtqual.engine.mission import Mission, Need, load_mission, mission_schema
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads
from support.mission_texts import GOOD, MISSIONS, line_of, refusal

MEASURED = [path for path in MISSIONS if path.stem != "aarest-study"]  # its candidates are published: nothing runs


def test_reads_every_key(mission_file: Path) -> None:
    mission_file.write_text(GOOD)
    mission = load_mission(mission_file)
    assert mission.path == mission_file
    assert re.fullmatch("[0-9a-f]{64}", mission.sha256)
    assert mission.mission.duration == 6 * 3600 * 10**9
    assert mission.mission.purpose == "Two lines"
    assert mission.mission.needs == (Need.REALTIME, Need.USB)
    rt, stock, here = mission.candidates
    assert (rt.package, rt.preempt, rt.boot, rt.this_machine) == ("linux-image-rt-amd64", None, (), False)
    assert (stock.preempt, stock.boot) == ("full", ("tsc=reliable",))
    assert here.this_machine and here.package is None
    limits = [(r.limit.value, r.limit.unit, r.limit.text) for r in mission.requirements]
    assert limits == [(100_000, "ns", "100 us"), (64 * 2**20, "B", "64 MiB"), (20, None, "20")]
    assert (mission.criteria[0].load, mission.criteria[0].weight, mission.criteria[0].better) == (
        "none",
        3,
        "lower",
    )
    first, second = mission.scale().plan
    assert [c.name for c in mission.candidates_of(first)] == ["rt", "stock"]
    assert [c.name for c in mission.candidates_of(second)] == ["rt", "stock", "here"]
    assert (second.loads, second.cpus, second.runs) == (("none",), (1,), 1)


def test_parameters_of_the_scale_win(mission_file: Path) -> None:
    mission_file.write_text(GOOD)
    mission = load_mission(mission_file)
    assert mission.parameters_for("demo", "cyclictest") == {"interval": "2 ms", "cycles": 1000}
    assert mission.parameters_for("demo", "sysbench-cpu") == {}
    with pytest.raises(BadInput, match="no scale 'dmo'; did you mean 'demo'"):
        mission.parameters_for("dmo", "cyclictest")


def test_not_utf8(mission_file: Path) -> None:
    assert refusal(mission_file, GOOD.encode() + b"\xff").startswith(f"{GOOD.count(chr(10)) + 1}: not UTF-8")


def test_not_a_mission_file(tmp_path: Path) -> None:
    for path, says in (
        (tmp_path / "missing.toml", "cannot be read: No such file"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / "zero\0byte", "cannot be read: .*embedded null"),
        (Path("/dev/zero"), "is a device, no file"),
    ):
        with pytest.raises(BadInput, match=says):
            load_mission(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """Nobody writes to it: opening it as a file is would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="is a pipe, no file"):
        load_mission(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("first", "second", "good"),
    [
        ('release = "6.1.0-18-amd64"', 'release = "6.1.0-18-rt-amd64"', True),
        ("preempt-rt = false", "preempt-rt = true", True),
        ('release = "6.1.0-18-amd64"', "preempt-rt = true", False),
        ("preempt-rt = true", "preempt-rt = true", False),
        ("", "preempt-rt = true", False),
        ("", "", False),
    ],
)
def test_candidates_of_this_machine_state_kernels_that_differ(
    mission_file: Path, first: str, second: str, good: bool
) -> None:
    other = f'[[candidate]]\nname = "other"\ntitle = "x"\nthis-machine = true\n{second}\n'
    text = GOOD.replace("this-machine = true", f"this-machine = true\n{first}\n\n{other}")
    if good:
        mission_file.write_text(text)
        assert len(load_mission(mission_file).candidates) == 4
    else:
        assert "may be the very kernel that here is" in refusal(mission_file, text)


def test_requirement_that_no_plan_measures_is_legitimate(mission_file: Path) -> None:
    mission_file.write_text(GOOD.replace('load = "hackbench"', 'load = "stress-io"'))
    assert load_mission(mission_file).requirements[0].load == "stress-io"


def test_windows_line_ends(mission_file: Path) -> None:
    text = GOOD.replace("weight = 3", "weight = 0").replace("\n", "\r\n")
    assert refusal(mission_file, text).startswith(f"{line_of(text, 'weight')}: criterion[0].weight")


def test_model_built_in_python() -> None:
    """Without the file, under Python's names and with integers for durations."""
    data = tomllib.loads(GOOD)
    by_name = {
        "candidate": "candidates",
        "requirement": "requirements",
        "criterion": "criteria",
        "scale": "scales",
    }
    mission = Mission(**{by_name.get(key, key): value for key, value in data.items()})
    assert mission.sha256 == "" and mission.path is None
    assert Mission.model_validate({**data, "mission": {**data["mission"], "duration": 5}}).mission.duration == 5


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_missions_of_the_project(path: Path) -> None:
    mission = load_mission(path)
    assert mission.mission.name == path.stem
    selected = path.stem != "docking-arm64"  # which is there to be tailored
    assert ({"demo", "full"} if selected else {"tailor"}) <= mission.scales.keys()
    shortest = "demo" if selected else "tailor"
    measured = {(i, load) for plan in mission.scale(shortest).plan for i in plan.instruments for load in plan.loads}
    for figure in (*mission.requirements, *mission.criteria):
        assert (figure.instrument, figure.load) in measured, f"{figure.name} is not measured at scale {shortest}"
    for scale in mission.scales:
        for name, instrument in all_instruments().items():
            instrument.parameters.model_validate(mission.parameters_for(scale, name), context=AS_WRITTEN)


def test_docking_mission_follows_the_study() -> None:
    mission = load_mission(next(path for path in MISSIONS if path.stem == "docking"))
    assert [n.value for n in mission.mission.needs] == [
        "realtime",
        "usb",
        "usb-storage",
        "wifi",
        "depth-camera",
    ]
    wake_up = mission.requirements[0]
    assert (wake_up.instrument, wake_up.load, wake_up.statistic) == ("cyclictest", "hackbench", "max")
    assert wake_up.limit.value == 100_000
    weights = {(c.instrument, c.statistic): c.weight for c in mission.criteria}
    mutex = min(weights["sysbench-mutex", "max-min"], weights["sysbench-mutex", "p95-avg"])
    second = [weights[i, s] for i in ("sysbench-threads", "sysbench-fileio-usb") for s in ("max-min", "p95-avg")]
    others = [w for (i, s), w in weights.items() if (i, s) != ("sysbench-mutex", "avg") and w not in (mutex, *second)]
    assert mutex > max(second) and min(second) > max(others)
    assert weights["sysbench-mutex", "avg"] < mutex  # stability before speed
    full = mission.scale("full").plan
    combined = {"hackbench-wifi", "stress-all"}
    assert set(full[0].loads) == set(all_loads()) - combined and full[0].cpus == (1, 2, 4) and full[0].runs == 30
    others = {"timerlat", "timerlat-late", "osnoise", "exercise", "stress-ng-cyclic"}
    others |= {name for name, one in all_instruments().items() if one.core}
    of_the_study = {name for name in all_instruments() if not name.startswith(("probe-", "lidar-", "docking"))} - others
    assert {i for plan in full for i in plan.instruments} == of_the_study


GOAL = """
[[goal]]
name = "ranges"
statistic = "p99"
at_most = "2 ms"
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"2 ms"', '"2 ms"\nways = ["lidar-drivr"]', "did you mean 'lidar-driver'"),
        ('"2 ms"', '"2 ms"\nways = ["lidar-no-copy"]', "unknown way from frames to ranges 'lidar-no-copy'"),
        ('"2 ms"', '"20 %"\nof = "cyclictest"', "unknown way from frames to ranges 'cyclictest'"),
        ('"2 ms"', '"20 %"', "'20 %' of what?"),
        ('"2 ms"', '"2 ms"\nof = "lidar-mmap"', "write a part of lidar-mmap's figure, as '20 %'"),
        ('"2 ms"', '"20 %"\nof = "lidar-mmap"\nover = "lidar-mmap"', "goal[0].over: stands beside of"),
        ('"2 ms"', "2", "is no limit for 'p99': write a duration"),
        ('at_most = "2 ms"', "", "has no limit"),
        ('"2 ms"', '"2 ms"\nat_least = "1 ms"', "goal[0].at_least: stands beside at_most"),
        ('statistic = "p99"', 'statistic = "p98"', "'p98' is not allowed"),
        ('statistic = "p99"', 'scalar = "pose p98"', "no way has a figure 'pose p98'; did you mean 'pose p99'"),
        ('statistic = "p99"', 'scalar = "frame_lost"', "did you mean 'frames_lost'"),
        ('statistic = "p99"', 'scalar = "frames_lost"', "is no limit for 'frames_lost': write a number"),
        ('statistic = "p99"', "", "says no figure"),
        ('"2 ms"', f'"2 ms"\n{GOAL}', "is the name of another goal already"),
    ],
)
def test_a_goal_names_ways_and_figures_that_there_are(mission_file: Path, old: str, new: str, says: str) -> None:
    assert says in refusal(mission_file, GOOD + GOAL.replace(old, new, 1))


def test_goals_of_the_docking_mission() -> None:
    goals = load_mission(next(path for path in MISSIONS if path.stem == "docking")).brought("goal")
    limits = [(goal.figure, goal.limit.value, goal.limit.unit, goal.of or goal.over) for goal in goals]
    assert limits == [
        ("frames_lost", 0, None, None),
        ("frames_per_s_unthrottled", 300, None, None),
        ("p99", 2e6, "ns", None),
        ("pose p99", 6e6, "ns", None),
        ("cpu_per_frame", 20, "%", "lidar-baseline"),
        ("cpu_per_frame", 50, "%", "lidar-mmap"),
        ("wake-up p99", 5_000, "ns", "lidar-mmap-simd"),
        ("wake-up max", 5_000, "ns", "lidar-mmap-simd"),
    ]
    met = [goal.met(5.0, 20.0 if goal.of or goal.over else 0.0) for goal in goals]
    assert met == [False, False, True, True, False, True, True, True]


def test_a_margin_is_a_quantity_or_a_part(mission_file: Path) -> None:
    def margin(written: str) -> tuple[float, str | None]:
        mission_file.write_text(GOOD.replace('at_most = "100 us"', f'at_most = "100 us"\nmargin = {written}', 1))
        found = load_mission(mission_file).requirements[0].margin
        assert found is not None
        return found.value, found.unit

    assert margin('"2 us"') == (2_000, "ns")
    assert margin('" 2.5 % "') == (2.5, "%")


def test_least_mission_of_the_reference_loads(mission_file: Path) -> None:
    reference = (Path(__file__).parents[3] / "docs" / "mission.md").read_text()
    mission_file.write_text(reference.partition("```toml\n")[2].partition("```")[0])
    assert load_mission(mission_file).mission.name == "docking"


def test_reference_names_every_key() -> None:
    docs = Path(__file__).parents[3] / "docs"
    pages = ("mission.md", "docking/mission.md", "reference/mission.md")
    reference = "".join((docs / page).read_text() for page in pages)
    schema = mission_schema()
    tables = [schema, *(node for node in schema["$defs"].values() if "properties" in node)]
    written = {key for table in tables for key in table["properties"]}
    written |= {value for node in schema["$defs"].values() for value in node.get("enum", [])}
    names = written | set(all_loads())
    assert not {name for name in names if not re.search(rf"`\[*{re.escape(name)}[\].`]", reference)}
