# SPDX-License-Identifier: MIT
"""A board is a file and a row (docs/architecture.md): all that asks about boards takes one that only its row names."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rtqual.protocols.record.schema import Timing
from rtqual.protocols.record.store import Store

PROGRAM = Path(__file__).with_name("one_more.py")
MISSION = """\
[mission]
name = "afar"
title = "A board by one row"
purpose = "Shows that nothing else has to know the board."
duration = "1 min"

[[candidate]]
name = "afar"
title = "What the line leads to"
far = "ttyUSB0"

[[requirement]]
name = "messages"
instrument = "hackbench"
statistic = "max"
at_most = "1 h"

[parameters.hackbench]
loops = 10
repetitions = 2

[[scale.demo.plan]]
instruments = ["hackbench"]
runs = 6
"""
SERVE = """
import json, sys
import one_more
from support.command import rtqual_here
one_more.registry.BOARDS += (one_more.FAR,)
for line in sys.stdin:
    done = rtqual_here(*json.loads(line))
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
"""
Far = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def mission(tmp_path: Path) -> Path:
    path = tmp_path / "afar.toml"
    path.write_text(MISSION)
    return path


@pytest.fixture(scope="module")
def asked() -> Iterator[Far]:
    """rtqual with that board, for what only asks: one process for all, as a mission's model is made once."""
    here = os.pathsep.join(map(str, (PROGRAM.parent, PROGRAM.parents[2])))
    command, env = [sys.executable, "-c", SERVE], {**os.environ, "PYTHONPATH": here}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        given, told = server.stdin, server.stdout

        def ask(*arguments: object) -> subprocess.CompletedProcess[str]:
            given.write(json.dumps([str(one) for one in arguments]) + "\n")
            given.flush()
            return subprocess.CompletedProcess(arguments, *json.loads(told.readline()))

        yield ask
        given.close()


def far(*arguments: object) -> subprocess.CompletedProcess[str]:
    """rtqual with that board, as a process of its own: the mission's model is made once."""
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


@pytest.mark.guest
def test_a_campaign_on_it_ends_in_a_report(mission: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "6 cells" in far("select", mission, "--out", out, "--dry-run").stdout
    done = far("select", mission, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "Verdict, far board" in done.stdout
    records = list(Store(out / "records").read_all())
    assert sorted(record.inputs.seed for record in records) == [1, 2, 3, 4, 5, 6]
    for record in records:
        assert (record.inputs.board, record.inputs.cpus, record.manifest.timing) == ("far", 1, Timing.REAL)
        assert record.inputs.artefacts["line"] == "ttyUSB0"
    report = (out / "report.md").read_text()
    (out / "report.md").unlink()
    assert far("report", out).returncode == 0
    assert (out / "report.md").read_text() == report
    assert "reached by ttyUSB0" in report and "Verdict, far board" in report
    refused = far("reproduce", next((out / "records").iterdir()))
    assert refused.returncode == 2
    assert "a run on the far board cannot give the same samples twice" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('far = "ttyUSB0"', 'far = "here"', ":10: candidate[0].far: 'here' is not a line, as 'ttyS0'"),
        ('far = "ttyUSB0"', "", 'far = "LINE"'),
        ('far = "ttyUSB0"', 'far = "ttyUSB0"\nroot = "debian"', "root: cannot stand beside far, which is elsewhere"),
        ("runs = 6", "runs = 6\ncpus = [1, 2]", "cpus: what ttyUSB0 leads to has one CPU; give afar a plan"),
    ],
)
def test_a_mission_is_checked_against_its_row(asked: Far, mission: Path, old: str, new: str, says: str) -> None:
    mission.write_text(MISSION.replace(old, new))
    refused = asked("mission", "check", mission)
    assert refused.returncode == 2
    assert says in refused.stderr


def test_what_its_row_says_is_foreseen(asked: Far, mission: Path) -> None:
    checked = asked("mission", "check", mission)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "no candidate can fly" not in checked.stdout, "its figures are of real time"
    mission.write_text(MISSION.replace("ttyUSB0", "ttyAMA0"))
    assert "no candidate can fly because ttyAMA0 is a console" in asked("mission", "check", mission).stdout


def test_the_schema_has_its_key(asked: Far) -> None:
    schema = json.loads(asked("mission", "schema").stdout)
    candidate = schema["$defs"]["Candidate"]
    assert candidate["properties"]["far"] == {
        "description": "Its line.", "pattern": "^tty[A-Z]+[0-9]$", "type": "string"
    }  # fmt: skip
    assert {"required": ["far"]} in candidate["oneOf"]


@pytest.mark.guest  # the doctor starts one
def test_the_doctor_looks_for_its_programs() -> None:
    (check,) = (one for one in json.loads(far("doctor", "--json").stdout)["checks"] if one["name"] == "ld-of-far")
    assert (check["state"], check["matters"]) == ("missing", "the far board")
