# SPDX-License-Identifier: MIT
"""Another package brings a board, instrument, load, chapter, table, command and format: installed, used, removed."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from rtqual.protocols.record.schema import Timing
from rtqual.protocols.record.store import Store
from support.elsewhere import elsewhere_mission

HERE = Path(__file__).parent
WISH = """
[[wish]]
name = "no day"
longest = "1 h"
"""
MISSION = elsewhere_mission('far = "ttyUSB0"', runs=6, tables=WISH)
SERVE = """
import json, sys
from support.command import rtqual_here
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
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that the package is installed into, and from which it is removed when the tests are done."""
    folder = tmp_path_factory.mktemp("site")
    pip("install", "--target", folder, "--no-deps", "--offline", wheel(tmp_path_factory.mktemp("wheel")))
    yield folder
    pip("uninstall", "--target", folder, "rtqual-elsewhere")
    done = run(folder, "mission", "schema")
    assert done.returncode == 0 and "elsewhere-" not in done.stdout


def pip(*words: object) -> None:
    command = [sys.executable, "-m", "uv", "--quiet", "--no-cache", "pip", *map(str, words)]
    subprocess.run(command, check=True)


def wheel(folder: Path) -> Path:
    """The package as others get it, put together as a build would: no build tool is needed for a folder of Python."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "\n".join(lines),
    }
    files = {f"{name}/{path.name}": path.read_text() for path in sorted((HERE / name).glob("*.py"))}
    files |= {f"{name}-{version}.dist-info/{file}": text for file, text in about.items()}
    files[f"{name}-{version}.dist-info/RECORD"] = "".join(f"{path},,\n" for path in files)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


def run(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """rtqual as a process of its own, with what is installed there."""
    command, env = [sys.executable, "-m", "rtqual", *map(str, arguments)], {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


@pytest.fixture(scope="module")
def asked(site: Path) -> Iterator[Far]:
    """rtqual with that package, for what only asks: one process for all, as a mission's model is made once."""
    command = [sys.executable, "-c", SERVE]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (site, HERE.parents[1])))}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        given, told = server.stdin, server.stdout

        def ask(*arguments: object) -> subprocess.CompletedProcess[str]:
            given.write(json.dumps([str(one) for one in arguments]) + "\n")
            given.flush()
            return subprocess.CompletedProcess(arguments, *json.loads(told.readline()))

        yield ask
        given.close()


@pytest.mark.guest
def test_a_campaign_on_it_ends_in_a_report(site: Path, mission: Path, tmp_path: Path) -> None:
    out, far = tmp_path / "out", partial(run, site)
    assert "6 runs" in far("select", mission, "--out", out, "--dry-run").stdout
    done = far("select", mission, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "Verdict, far board" in done.stdout and "Every wish came true." in done.stdout
    told = json.loads(far("report", out, "--json").stdout)
    assert told["wishes_answer"] == {"whole": True, "text": "Every wish came true."}
    assert told["wishes"][0]["goals"]["line"]["no day"]["outcome"] == "met"
    for file, says in (
        ("junit.xml", 'name="line: no day"'), ("summary.md", "Every wish came true"), ("metrics.prom", 'goal="no day"'),
    ):  # fmt: skip
        assert says in (out / file).read_text()
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
    assert "Lines that were used" in report and "- ttyUSB0" in report
    assert {record.series[0].info.name for record in records} == {"pause"}
    assert {record.inputs.load for record in records} == {"elsewhere-sum"}
    refused = far("reproduce", next((out / "records").iterdir()))
    assert refused.returncode == 2
    assert "a run on the far board cannot give the same samples twice" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('far = "ttyUSB0"', 'far = "here"', ":10: candidate[0].far: 'here' is not a line, as 'ttyS0'"),
        ('far = "ttyUSB0"', "", 'far = "LINE"'),
        ('far = "ttyUSB0"', 'far = "ttyUSB0"\nroot = "debian"', "root: cannot stand beside far, which is elsewhere"),
        ('longest = "1 h"', 'longest = "never"', ":21: wish[0].longest: 'never'"),
        (
            'longest = "1 h"\n',
            'longest = "1 h"\n[[wish]]\nname = "no day"\nlongest = "2 h"\n',
            ":23: wish[1].name: 'no day' is the name of another wish already",
        ),
        ("[[wish]]", "[[wishes]]", ":19: wishes: unknown key; did you mean 'wish'"),
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
    assert schema["properties"]["wish"]["description"] == "What is wished, one [[wish]] each."
    assert schema["$defs"]["Wish"]["properties"]["longest"]["description"] == "How long a pause may be."
    assert {"required": ["far"]} in candidate["oneOf"]


@pytest.mark.guest  # the doctor starts one
def test_the_doctor_looks_for_its_programs(site: Path) -> None:
    (check,) = (one for one in json.loads(run(site, "doctor", "--json").stdout)["checks"] if one["name"] == "ld-of-far")
    assert (check["state"], check["matters"]) == ("missing", "the far board")


def test_its_command_stands_in_the_help_and_runs(asked: Far) -> None:
    assert "Print the lines to boards elsewhere." in asked("--help").stdout
    assert asked("where").stdout == 'far = "LINE"\n'


def test_its_format_is_found_read_and_accounted_for(asked: Far, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("at noon\nrung 12 us late\nrung 5 us late\n")
    read = asked("import", notes, "--candidate", "bell", "--out", tmp_path / "out", "--json")
    assert (read.returncode, read.stderr) == (0, "")
    (one,) = json.loads(read.stdout)
    assert (one["format"], one["instrument"], one["samples"]) == ("elsewhere-bell", "elsewhere-bell", 2)
    assert one["series"][0]["max"] == 12_000
    notes.write_text("rung 12 us late\nrung often\n")
    refused = asked("import", notes, "--candidate", "bell", "--out", tmp_path / "out")
    assert refused.returncode == 2 and "notes.txt:2: 'rung often' is damaged" in refused.stderr


def test_without_it_nobody_knows_its_format(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("rung 12 us late\n")
    done = run(tmp_path, "import", notes, "--candidate", "bell", "--out", tmp_path / "out")
    assert done.returncode == 2 and "none of the formats known" in done.stderr
