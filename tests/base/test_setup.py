# SPDX-License-Identifier: MIT
"""What `make` is made of: steps that tell how they went, lanes that all run, a stamp that knows the compilers."""

import os
import subprocess
import sys
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


def script(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A Python environment of stand-ins, as `make` leaves it. What they are asked for stands in the file "asked"."""
    folder = tmp_path / "venv"
    script(folder / "bin/python", f'exec {sys.executable} "$@"')
    for name in ("pip", "uv"):
        script(folder / "bin" / name, f'echo {name} "$@" >> {tmp_path}/asked; [ ! -e {tmp_path}/fails ]')
    (folder / ".created").write_text(f"{ROOT}\n{sys.version_info[0]} {sys.version_info[1]}\n")
    return folder


def make(environment: Path, stamp: str, *settings: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": f"{environment.parent}/programs:{os.environ['PATH']}", "RTQUAL_STEP_WAIT_S": "0"}
    own = ["PACKAGES=make", "TEST_PACKAGES=make", "COMPILERS=sh another-cc"]
    return run("make", f"VENV={environment}", f"BIN={environment}/bin", *own, *settings, environment / stamp, env=env)


def test_the_stamp_changes_when_a_compiler_comes(environment: Path) -> None:
    stamp = environment / ".compilers"

    def made() -> int:
        done = make(environment, ".compilers")
        assert done.returncode == 0, done.stderr
        return stamp.stat().st_mtime_ns

    assert (first := made()) == made()
    assert "another-cc" not in stamp.read_text()
    script(environment.parent / "programs/another-cc")
    assert made() > first
    assert "another-cc" in stamp.read_text()


@pytest.mark.parametrize("change", ["moved", "another Python", "no Python", "of an older rtqual"])
def test_an_environment_that_does_not_work_here_is_made_anew(environment: Path, tmp_path: Path, change: str) -> None:
    begun = tmp_path / "begun"
    python = script(tmp_path / "python", f'[ "$1" = -c ] || echo "$@" >> {begun}')
    assert make(environment, ".created", f"PYTHON={python}").returncode == 0
    assert not begun.exists()
    if change == "moved":
        (environment / ".created").write_text((environment / ".created").read_text().replace(str(ROOT), "/elsewhere"))
    elif change == "another Python":
        (environment / ".created").write_text(f"{ROOT}\n3 10\n")
    elif change == "no Python":
        script(environment / "bin/python", "exit 1")
    else:
        (environment / ".created").write_text("")
    make(environment, ".created", f"PYTHON={python}")
    assert begun.read_text() == f"-m venv --clear {environment}\n"


@pytest.mark.parametrize("stamp", [".installed", ".dev"])
def test_after_an_interrupted_step_all_is_installed_anew(environment: Path, tmp_path: Path, stamp: str) -> None:
    """pip and uv take a library that lies there in pieces for a whole one. No stamp outlives what it is of."""
    asked, fails, stamps = tmp_path / "asked", tmp_path / "fails", (stamp, ".installed", ".built")
    fails.touch()
    for name in stamps:
        (environment / name).touch()
        os.utime(environment / name, (1, 1))  # older than what it is made of
    assert make(environment, stamp).returncode == 2
    assert "--force-reinstall" not in asked.read_text()
    assert not any((environment / name).exists() for name in stamps)
    fails.unlink()
    asked.unlink()
    assert make(environment, stamp).returncode == 0
    *libraries, own = asked.read_text().splitlines()
    assert libraries and all("--force-reinstall" in line for line in libraries) and own.startswith("pip install")
    asked.unlink()
    (environment / stamp).unlink()
    assert make(environment, stamp).returncode == 0
    assert "--force-reinstall" not in asked.read_text()


@pytest.mark.parametrize("sign", [":", "'", '"', "$", "`", "\\"])
def test_a_folder_whose_name_means_something_else_is_refused(tmp_path: Path, sign: str) -> None:
    folder = tmp_path / f"a{sign}b"
    folder.mkdir()
    (folder / "Makefile").write_text((ROOT / "Makefile").read_text())
    done = run("make", "clean", cwd=folder)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert f"a{sign}b has {sign} in its name" in done.stderr and done.stderr.endswith("move it.  Stop.\n")


def test_flags_of_the_users_do_not_reach_what_records_name_by_its_hash(tmp_path: Path) -> None:
    (tmp_path / "own.mk").write_text(
        f"include {ROOT}/Makefile\nflags:\n\t@env | grep -cE '^(C|CPP|CXX|LD)FLAGS=' || true\n"
    )
    env = {"CFLAGS": "-O0", "LDFLAGS": "-s", "CPPFLAGS": "-DA", "CXXFLAGS": "-O0"}
    assert run("make", "--no-print-directory", "-f", tmp_path / "own.mk", "flags", env=env).stdout == "0\n"


@pytest.mark.parametrize(("status", "missing"), [("hi ", False), ("ii ", False), ("un ,ii ", False), ("rc ", True)])
def test_a_package_that_is_held_is_there(tmp_path: Path, status: str, missing: bool) -> None:
    script(tmp_path / "dpkg-query", f"printf '%s,' '{status}'")
    script(tmp_path / "apt-get", "echo apt-get > /dev/stderr; exit 1")
    script(tmp_path / "sudo", "exit 1")  # none may be asked
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = run(TOOLS / "debian-packages", "a-package", env={"PATH": path, "RTQUAL_STEP_WAIT_S": "0"})
    assert ("a-package" in done.stdout + done.stderr) == missing


def test_a_package_that_the_server_has_no_more_comes_with_new_lists(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.touch()
    script(tmp_path / "dpkg-query", "exit 1")
    missing = 'echo "E: Failed to fetch: 404"; exit 100'
    script(
        tmp_path / "apt-get",
        f'case "$*" in *update) rm {gone} ;; *) [ ! -e {gone} ] || {{ {missing}; }} ;; esac',
    )
    script(tmp_path / "find", f"echo {tmp_path}")  # lists of today
    script(tmp_path / "id", "echo 0")
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = run(TOOLS / "debian-packages", "a-package", env={"PATH": path, "RTQUAL_STEP_WAIT_S": "0"})
    assert (done.returncode, gone.exists()) == (0, False)
    assert done.stdout.splitlines()[-1].startswith("Debian's packages (a-package) ... ")


def test_where_sudo_refuses_the_command_for_root_is_said(tmp_path: Path) -> None:
    script(tmp_path / "dpkg-query", "exit 1")
    script(tmp_path / "id", "echo 1000")
    script(tmp_path / "sudo", "echo 'sudo: a password is required' >&2; exit 1")
    done = run(TOOLS / "debian-packages", "a-package", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("apt-get update && apt-get install a-package")


def test_without_a_folder_for_temporary_files_a_step_says_so() -> None:
    done = run(TOOLS / "step", "Libraries", "true", env={"TMPDIR": "/nosuch"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("make: Libraries: no file can be written in /nosuch: set TMPDIR")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not mount")
def test_where_nobody_may_mount_nothing_is_run_and_that_is_said(tmp_path: Path) -> None:
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = run(*nobody, "bash", "-s", "bookworm", "true", stdin=(TOOLS / "bare-debian").read_text())
    assert (done.returncode, done.stdout) == (77, "")
    assert "NOTHING WAS RUN" in done.stderr
