# SPDX-License-Identifier: MIT
"""What is handed on: the wheel, made of the sdist, does its work without the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: object, cwd: Path, path: str = "", code: int = 0) -> str:
    env: Mapping[str, str] = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of a fresh environment that has the wheel; libraries come from the tests' own."""
    if not (ROOT / ".git").exists():
        pytest.skip("an sdist is made of what is committed: this is no checkout")
    folder = tmp_path_factory.mktemp("dist")
    tools = str(Path(sys.executable).parent)
    make = f"import mesonpy; mesonpy.build_sdist({str(folder)!r})"
    run(sys.executable, "-c", make, cwd=ROOT, path=tools)
    (sdist,) = folder.glob("rtqual-*.tar.gz")
    alone = ("--quiet", "--no-deps", "--no-index")
    build = (*alone, "--no-build-isolation", "--wheel-dir", folder)
    run(sys.executable, "-m", "pip", "wheel", *build, sdist, cwd=folder, path=tools)
    (wheel,) = folder.glob("rtqual-*.whl")
    venv.create(folder / "venv", with_pip=False)
    programs = folder / "venv/bin"
    run(sys.executable, "-m", "pip", "--python", programs / "python", "install", *alone, wheel, cwd=folder)
    (packages,) = (folder / "venv/lib").glob("python3*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


@pytest.mark.guest
def test_the_wheel_goes_from_init_to_a_verdict(installed: Path, tmp_path: Path) -> None:
    rtqual = installed / "rtqual"
    where = run(installed / "python", "-c", "import rtqual; print(rtqual.__file__)", cwd=tmp_path)
    assert where.startswith(str(installed.parent))
    assert (installed.parent / "share/man/man1/rtqual.1").is_file()

    checks = {one["name"]: one for one in json.loads(run(rtqual, "doctor", "--json", cwd=tmp_path))["checks"]}
    assert checks["rtqual-agent"]["state"] == checks["rtqual-clock.so"]["state"] == "ok"
    assert "aarest" in run(rtqual, "published", "list", cwd=tmp_path)

    run(rtqual, "init", "least.toml", "--candidate", "linux-image-rt-amd64", cwd=tmp_path)
    run(rtqual, "mission", "check", "least.toml", cwd=tmp_path)
    told = run(rtqual, "select", "least.toml", cwd=tmp_path)
    assert "debian-rt" in told
    assert "on the emulator" in told
    assert (tmp_path / "out/least-demo/report.html").is_file()
    assert run(rtqual, "open", cwd=tmp_path).strip() == str(tmp_path / "out/least-demo/report.html")
    shown = run(rtqual, "show", "out/least-demo", cwd=tmp_path)
    assert "p99" in shown
    assert "on the emulator" in shown
