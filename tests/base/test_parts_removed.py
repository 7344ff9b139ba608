# SPDX-License-Identifier: MIT
"""Any part can be taken away: its folder is removed from a copy of the sources, and the rest stands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKING = "docking"
PARTS = [DOCKING, *sorted(path.parent.name for path in (ROOT / "src/rtqual/parts").glob("*/__init__.py"))]
# Of the floors' quick tests those that take seconds.
QUICK = (
    "base/test_interrupt.py", "base/test_lock.py", "base/test_scratch.py", "protocols/record", "protocols/test_part.py",
    "engine/analysis/test_analysis_needs.py", "engine/analysis/test_analysis_verdict.py",
    "engine/analysis/test_clocks.py", "engine/analysis/test_left_out.py", "engine/analysis/test_series.py",
    "engine/dialogue/test_framing.py", "engine/mission/test_toml_lines.py",
)  # fmt: skip
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
HIDDEN = """
import os, sys
sys.path[:] = [path for path in sys.path if not os.path.isdir(os.path.join(path, "rtqual_docking"))]
"""
WHERE = """
from importlib.util import find_spec
import rtqual
print(rtqual.__file__, find_spec("rtqual_docking"))
"""


def without(name: str, folder: Path) -> dict[str, str]:
    """The environment in which rtqual is a copy of the sources without a part."""
    shutil.copytree(ROOT / "src/rtqual", folder / "rtqual", ignore=shutil.ignore_patterns("__pycache__"))
    path = [folder, ROOT / "docking"]
    if name == DOCKING:  # a package of its own, whose folder the environment knows
        (folder / "sitecustomize.py").write_text(HIDDEN)
        path = [folder]
    else:
        shutil.rmtree(folder / "rtqual/parts" / name)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "XDG_CACHE_HOME": str(folder / "cache")}


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


@pytest.mark.full
@pytest.mark.parametrize("name", PARTS)
def test_quick_tests_of_the_floors_pass_without_a_part(name: str, tmp_path: Path) -> None:
    env = without(name, tmp_path)
    chosen = [ROOT / "tests" / one for one in QUICK]
    lane = ["-q", "-p", "no:cacheprovider", "-m", "not guest and not full and not manual", "--rootdir", ROOT]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *lane, *chosen], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    where = (
        "from importlib.util import find_spec as spec; import rtqual; print(rtqual.__file__, spec('rtqual_docking'))"
    )
    told = subprocess.run([sys.executable, "-c", where], env=env, capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) in told and (name != DOCKING or told.endswith("None\n")), "the copy, not the sources"
