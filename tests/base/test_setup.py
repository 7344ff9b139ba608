# SPDX-License-Identifier: MIT
"""What `make` is made of: steps that tell how they went, lanes that all run, a stamp that knows the compilers."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"


def run(
    *command: object, env: Mapping[str, str] | None = None, cwd: Path = ROOT, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**own, **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def step(tmp_path: Path, script: str, *options: str) -> tuple[subprocess.CompletedProcess[str], int]:
    """The step, and how often its command was run."""
    (tmp_path / "runs").touch()
    done = run(
        *(TOOLS / "step", *options, "Libraries", "sh", "-c", f"echo run >> {tmp_path}/runs; {script}"),
        env={"RTQUAL_STEP_WAIT_S": "0"},
    )
    return done, len((tmp_path / "runs").read_text().splitlines())


def test_a_step_is_a_line_with_seconds(tmp_path: Path) -> None:
    done, runs = step(tmp_path, "echo much; echo more >&2")
    assert (done.returncode, done.stderr, runs) == (0, "", 1)
    name, _, took = done.stdout.strip().partition(" ... ")
    assert name == "Libraries"
    assert took.removesuffix(" s").isdecimal()


@pytest.mark.parametrize(
    ("script", "tries", "word"),
    [
        ("echo 'Temporary failure resolving a name'; exit 1", 3, "OUTAGE"),
        ("echo 'error: Read timed out.' >&2; exit 2", 3, "OUTAGE"),
        ("echo 'cp: No space left on device'; exit 1", 1, "df -h"),
        ("echo 'E: dpkg was interrupted'; exit 100", 1, "dpkg --configure -a"),
        ("echo 'a.c:3: error: no such thing'; exit 1", 1, "make clean"),
    ],
)
def test_a_step_that_fails_says_why_and_what_next(tmp_path: Path, script: str, tries: int, word: str) -> None:
    done, runs = step(tmp_path, script, "--download")
    assert (done.returncode, runs) == (1, tries)
    *said, last = done.stderr.splitlines()
    assert any(line.strip() in script for line in said)
    assert last.startswith("make: Libraries: ")
    assert word in last


def test_a_download_that_comes_the_second_time_is_no_failure(tmp_path: Path) -> None:
    script = f"[ $(wc -l < {tmp_path}/runs) = 2 ] || {{ echo 'Connection reset by peer'; exit 1; }}"
    done, runs = step(tmp_path, script, "--download")
    assert (done.returncode, done.stderr, runs) == (0, "", 2)


def test_all_lanes_run_and_all_failures_stand_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "a:\n\t@echo 'FAILED tests/a.py::one - no'; echo much; exit 1\nb:\n\t@echo well\n"
        "c:\n\t@echo 'ERROR tests/c.py::two'; exit 3\n"
    )
    done = run(TOOLS / "lanes", "a", "b", "c", cwd=tmp_path)
    assert done.returncode == 1
    *failures, a, b, c = done.stdout.splitlines()[-5:]
    assert failures == ["FAILED tests/a.py::one - no", "ERROR tests/c.py::two"]
    assert [line.partition(" in ")[0] for line in (a, b, c)] == ["a: FAILED", "b: passed", "c: FAILED"]
    assert run(TOOLS / "lanes", "b", cwd=tmp_path).returncode == 0


def test_the_stamp_changes_when_a_compiler_comes(tmp_path: Path) -> None:
    environment, programs = tmp_path / "venv", tmp_path / "bin"
    for folder in (environment, programs):
        folder.mkdir()
    (environment / ".created").touch()
    stamp = environment / ".compilers"

    def make() -> int:
        env = {"PATH": f"{programs}:{os.environ['PATH']}"}
        done = run("make", f"VENV={environment}", "COMPILERS=sh another-cc", stamp, env=env)
        assert done.returncode == 0, done.stderr
        return stamp.stat().st_mtime_ns

    assert (first := make()) == make()
    assert "another-cc" not in stamp.read_text()
    (programs / "another-cc").touch(mode=0o755)
    assert make() > first
    assert "another-cc" in stamp.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not mount")
def test_where_nobody_may_mount_nothing_is_run_and_that_is_said(tmp_path: Path) -> None:
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = run(*nobody, "bash", "-s", "bookworm", "true", stdin=(TOOLS / "bare-debian").read_text())
    assert (done.returncode, done.stdout) == (77, "")
    assert "NOTHING WAS RUN" in done.stderr
