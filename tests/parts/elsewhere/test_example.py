# SPDX-License-Identifier: MIT
"""The package of examples/part, installed beside rtqual; and its instrument once more, as a folder among the parts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rtqual.protocols.record.store import Store

ROOT = Path(__file__).parents[3]
PACKAGE, MISSION = ROOT / "examples/part/rtqual_example", ROOT / "examples/part/example.toml"
POINT = "[rtqual.part]\n{name} = {where}\n"
PART_OF_ONE = """\
from rtqual.protocols.part import Part, Row

PART = Part("starts", instruments=(Row(1000, "rtqual.parts.starts.starts:STARTS"),))
"""


def installed(site: Path, name: str, where: str) -> None:
    """What pip writes of an entry point."""
    told = site / f"rtqual_{name}-1.0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rtqual-{name}\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(POINT.format(name=name, where=where))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "rtqual_example", ignore=shutil.ignore_patterns("__pycache__"))
    installed(folder, "example", "rtqual_example.part:PART")
    return folder


def rtqual(site: Path, *arguments: object) -> str:
    command = [sys.executable, "-m", "rtqual", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), os.environ.get("PYTHONPATH", "")))}
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.guest
def test_its_instrument_measures_in_a_guest(site: Path, tmp_path: Path) -> None:
    assert "Verdict" in rtqual(site, "select", MISSION, "--out", tmp_path / "out")
    records = [record for record in Store(tmp_path / "out/records").read_all() if not record.manifest.repeat]
    assert len(records) == 6 and {record.inputs.instrument for record in records} == {"example-starts"}
    assert all(record.series[0].counts.sum() == 99 and record.series[0].values.min() > 0 for record in records)


@pytest.mark.guest  # a copy of the sources
def test_the_same_instrument_is_brought_by_a_folder_among_the_parts(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src/rtqual", tmp_path / "rtqual", ignore=shutil.ignore_patterns("__pycache__"))
    part = tmp_path / "rtqual/parts/starts"
    part.mkdir()
    (part / "__init__.py").touch()
    shutil.copy(PACKAGE / "starts.py", part)
    (part / "part.py").write_text(PART_OF_ONE)
    installed(tmp_path, "starts", "rtqual.parts.starts.part:PART")
    plan = json.loads(rtqual(tmp_path, "select", MISSION, "--out", tmp_path / "out", "--dry-run", "--json"))
    assert len(plan["cells"]) == 7 and all("example-starts" in row["cell"] for row in plan["cells"])


def test_its_board_load_and_format_are_known(site: Path, tmp_path: Path) -> None:
    mission = tmp_path / "shelved.toml"
    text = MISSION.read_text().replace('package = "linux-image-amd64"', 'shelf = "3"')
    mission.write_text(text.replace("runs = 6", 'loads = ["none", "example-copy"]\nruns = 6'))
    assert "good; 1 candidate" in rtqual(site, "mission", "check", mission)
    times = tmp_path / "times.json"
    times.write_text(json.dumps({"results": [{"command": "true", "times": [0.0004, 0.0007], "exit_codes": [0, 1]}]}))
    (read,) = json.loads(rtqual(site, "import", times, "--candidate", "x", "--out", tmp_path / "out", "--json"))
    assert (read["instrument"], read["samples"], read["series"][0]["max"]) == ("hyperfine (true)", 2, 700_000)
    assert read["problems"] == ["a run ended with exit code 1"]
