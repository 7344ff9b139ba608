# SPDX-License-Identifier: MIT
"""Any part can be taken away: its folder is removed from a copy of the sources, and the rest stands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = sorted(path.parent.name for path in (ROOT / "src/rtqual/parts").glob("*/__init__.py"))
LOAD = """
import sys
from importlib import import_module
from pathlib import Path
root = Path(sys.argv[1])
floors = ("base", "protocols", "engine", "reports", "stages", "face")
for path in sorted(path for floor in floors for path in (root / "rtqual" / floor).rglob("*.py")):
    import_module(".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"))
from rtqual.protocols import part
for field in part.Part.__dataclass_fields__:
    if field not in ("name", "commands"):
        [part.load(row.where) for _, row in part.rows(field)]
print(*(one.name for one in part.parts()))
"""


def without(name: str, folder: Path) -> dict[str, str]:
    """The environment in which rtqual is a copy of the sources without a part."""
    shutil.copytree(ROOT / "src/rtqual", folder / "rtqual", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(folder / "rtqual/parts" / name)
    path = os.pathsep.join(map(str, (folder, ROOT / "docking")))
    return {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache")}


@pytest.mark.guest  # five seconds of CPU each
@pytest.mark.parametrize("name", PARTS)
def test_all_floors_load_without_a_part(name: str, tmp_path: Path) -> None:
    env = without(name, tmp_path)
    done = subprocess.run([sys.executable, "-c", LOAD, tmp_path], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    left = set(done.stdout.split())
    assert name not in left and {"engine", "reports", "face"} <= left
    told = subprocess.run(
        [sys.executable, "-m", "rtqual", "--help"], env=env, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0 and "select" in told.stdout, told.stderr
    mission = ROOT / "missions/uav-250hz.toml"
    read = subprocess.run(
        [sys.executable, "-m", "rtqual", "mission", "check", mission],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in read.stderr and read.returncode == 0, read.stderr
