# SPDX-License-Identifier: MIT
"""What is handed on: the wheel, made of the sdist, does its work without the checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.ci_servers import Server

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
    (built,) = folder.glob("rtqual-*.whl")
    wheel = run(ROOT / "tools/wheel-tag", built, sysconfig.get_platform().replace("-", "_"), cwd=folder).strip()
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

    commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=ROOT).strip()
    assert f", commit {commit}, gcc " in run(rtqual, "--version", cwd=tmp_path)
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


MISSION = """
[mission]
name = "theirs"
title = "Their kernel"
purpose = "Fly."
duration = "1 h"
accept-virtual = true

[[candidate]]
name = "stock"
title = "Debian's"
package = "linux-image-amd64"

[[requirement]]
name = "wake-up"
instrument = "cyclictest"
statistic = "max"
at_most = "100 us"

[scale.demo.parameters.cyclictest]
cycles = 50

[[scale.demo.plan]]
instruments = ["cyclictest"]
runs = 10
"""


@pytest.fixture(params=["github", "gitlab"])
def theirs(request: pytest.FixtureRequest, installed: Path, tmp_path: Path) -> Iterator[Server]:
    """A repository of somebody's: a wheel of rtqual, a mission, and the file that `rtqual ci` wrote. Its runner has the
    tests' own libraries, and fetches no package but Debian's."""
    folder = tmp_path / "theirs"
    (folder / "wheels").mkdir(parents=True)
    run("git", "init", "--quiet", folder, cwd=tmp_path)
    (wheel,) = (installed.parents[1]).glob("rtqual-*.whl")
    shutil.copy(wheel, folder / "wheels")
    (folder / "mission.toml").write_text(MISSION)
    wheel_at = f"wheels/{wheel.name}"
    told = run(
        installed / "rtqual", "ci", request.param, "mission.toml", "--rtqual", wheel_at, "--mission-only", cwd=folder
    )
    assert "commit it" in told
    own = {
        "HOME": str(tmp_path / "home"),
        "PIP_NO_DEPS": "1",
        "PIP_IGNORE_INSTALLED": "1",
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }
    if "XDG_CACHE_HOME" in os.environ:
        own["XDG_CACHE_HOME"] = os.environ["XDG_CACHE_HOME"]
    (tmp_path / "home").mkdir()
    server = Server(folder, own)
    yield server
    server.end()


@pytest.mark.full
def test_the_written_job_catches_a_worse_kernel_and_passes_an_equal_one(theirs: Server) -> None:
    is_github = (theirs.folder / ".github").exists()
    run_job, change = (theirs.github, "pull_request") if is_github else (theirs.gitlab, "merge_request_event")
    assert run_job("push") == 0, theirs.said
    assert "No baseline yet" in theirs.said
    assert run_job(change) == 0, theirs.said
    assert "No regression found" in theirs.said
    mission = theirs.folder / "mission.toml"
    mission.write_text(MISSION.replace('amd64"\n', 'amd64"\nboot = ["highres=off"]\n'))
    assert run_job(change) == 1, theirs.said
    (comment,) = theirs.comments  # the first one, changed
    assert "wake-up" in comment
    assert "No regression found" not in comment
    assert run_job("workflow_dispatch" if is_github else "push", accept=True) == 0, theirs.said
    assert run_job(change) == 0, theirs.said  # it is the baseline now
    mission.write_text(MISSION.replace("cycles = 50", "cycles = 51"))
    assert run_job(change) == 2, theirs.said
    mission.write_text(MISSION.replace("linux-image-amd64", "linux-image-nowhere-amd64"))
    assert run_job(change) == 2, theirs.said
