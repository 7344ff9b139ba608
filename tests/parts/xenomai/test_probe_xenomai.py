# SPDX-License-Identifier: MIT
"""The probe's Xenomai port, where Xenomai is; what its build and `make xenomai` say where it is not."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.engine.instruments.probe.probe_output import Benchmark, Status, parse
from support.probe_sources import FAMILIES, PROBE
from support.real_tools import needs_fifo

ROOT = Path(__file__).parents[3]
PORT = PROBE / "xenomai"
XENO_CONFIG = os.environ.get("XENO_CONFIG") or shutil.which("xeno-config")

needs_xenomai = pytest.mark.skipif(
    XENO_CONFIG is None,
    reason="THE XENOMAI PORT IS NOT TESTED: no Xenomai here (no xeno-config in PATH, XENO_CONFIG is not set). Debian "
    "has no package: build Xenomai 3 with --with-core=mercury as docs/probe.md says, then set "
    "XENO_CONFIG=/path/to/xeno-config",
)


def make(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-s", "-C", PORT, *words], capture_output=True, text=True, timeout=120, check=False)


def run(program: Path, *words: str, under: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*under, program, *words], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("xenomai")
    done = make(f"BUILD={folder}", f"XENO_CONFIG={XENO_CONFIG}")
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "rtqual-probe-xenomai"


def check_whole(benchmarks: Sequence[Benchmark], iterations: int) -> None:
    """Every benchmark gave all its samples and faulted nothing in, or is not offered and says why."""
    assert {one.status for one in benchmarks} <= {Status.OK, Status.NOT_OFFERED}
    for one in benchmarks:
        if one.status == Status.NOT_OFFERED:
            assert one.why, one.name
            continue
        assert one.facts["page faults"] == (0, "1"), one.name
        for series in one.series:
            assert (len(series.values), series.overflows, series.lost) == (iterations, 0, 0), (one.name, series.name)


def test_without_xenomai_the_build_ends_with_one_clear_line() -> None:
    done = make("XENO_CONFIG=/nowhere/xeno-config")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "no Xenomai here: /nowhere/xeno-config is not to be found; install Xenomai 3" in line
    assert "XENO_CONFIG=/path/to/xeno-config" in line


@needs_xenomai
@needs_fifo
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_runs_on_this_machines_xenomai(program: Path, family: str, tmp_path: Path) -> None:
    out = tmp_path / "result"
    done = run(program, family, "iterations=20", "seed=7", f"out={out}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    output = parse(out.read_text(), "result")
    assert (output.family, output.facts["iterations"]) == (family, (20, "1"))
    assert output.system.startswith("Xenomai ")
    check_whole(output.benchmarks, 20)
    assert {one.name for one in output.benchmarks if one.status == Status.NOT_OFFERED} <= {
        "loop by network",
        *(f"memory {percent} %" for percent in (0, 25, 50, 90)),
    }


@needs_xenomai
@needs_fifo
def test_a_period_that_is_too_short_is_caught_up_with(program: Path) -> None:
    """A wait must not end early because an earlier period is still pending: wakeup would refuse."""
    for interval_ns in (1_000, 20_000):
        done = run(program, "wakeup", "iterations=1000", f"interval_ns={interval_ns}")
        assert (done.returncode, done.stderr) == (0, "")
        check_whole(parse(done.stdout, "stdout").benchmarks, 1000)


@needs_xenomai
def test_a_task_without_its_priority_refuses(program: Path) -> None:
    under = ["prlimit", "--rtprio=0:0"]
    if os.geteuid() == 0:
        under = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice", *under]
    done = run(program, "wakeup", "iterations=3", under=under)
    assert done.returncode == 3
    assert done.stderr.endswith(
        "rtqual-probe: wake-up: the task did not get priority 80 (be root, or raise RLIMIT_RTPRIO with ulimit -r)\n"
    )


@pytest.mark.parametrize("target", ["shared", "static"])
def test_the_whole_of_xenomais_archives_is_linked(tmp_path: Path, target: str) -> None:
    """What starts Alchemy before main is called by nothing: left out of an archive, every call of it fails (-22)."""
    config = tmp_path / "xeno-config"
    config.write_text("#!/bin/sh\ncase $* in *--ldflags*) echo -L/x/lib -lalchemy -lcobalt ;; esac\n")
    config.chmod(0o755)
    done = make("-n", target, f"BUILD={tmp_path}", f"XENO_CONFIG={config}")
    assert done.returncode == 0, done.stderr
    assert "-Wl,--whole-archive -L/x/lib -lalchemy -lcobalt -Wl,--no-whole-archive" in done.stdout


def test_kernels_that_are_no_folder_are_named_in_one_line(tmp_path: Path) -> None:
    folders = {name: str(tmp_path) for name in ("COBALT", "EVL", "PROGRAMS")}
    for missing in folders:
        words = [f"{name}={path}" for name, path in (folders | {missing: "/nowhere"}).items()]
        done = subprocess.run(
            ["make", "-s", "-C", ROOT, "xenomai", *words], capture_output=True, text=True, timeout=60, check=False
        )
        first, *_ = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (2, "")
        assert first.startswith(f"make xenomai: {missing}='/nowhere' is no folder")
