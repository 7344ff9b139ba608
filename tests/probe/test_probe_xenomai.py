# SPDX-License-Identifier: MIT
"""The probe's Xenomai port: the results that are kept, and, where Xenomai is, the port itself."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rtqual.instrument.probe.output import Benchmark, Output, Status, in_ns, parse
from support.probe_sources import FAMILIES, PROBE
from support.real_tools import needs_fifo

ROOT = Path(__file__).parents[2]
PORT = PROBE / "xenomai"
RESULTS = PORT / "results"
COLUMNS = ("virtual-rt-xenomai", "virtual-rt-linux", "virtual-stock-xenomai", "virtual-stock-linux")
XENO_CONFIG = os.environ.get("XENO_CONFIG") or shutil.which("xeno-config")

needs_xenomai = pytest.mark.skipif(
    XENO_CONFIG is None,
    reason="THE XENOMAI PORT IS NOT TESTED: no Xenomai here (no xeno-config in PATH, XENO_CONFIG is not set). Debian "
    "has no package: build Xenomai 3 with --with-core=mercury as docs/probe.md says, then set "
    "XENO_CONFIG=/path/to/xeno-config",
)


@cache
def kept(name: str) -> Output:
    return parse((RESULTS / f"{name}.txt").read_text(), name)


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


def series_ns(output: Output, benchmark: str, series: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    (one,) = (one for one in output.benchmarks if one.name == benchmark)
    (sampled,) = (sampled for sampled in one.series if sampled.name == series)
    return in_ns(sampled, output.cycles_per_s)


def test_every_family_is_kept() -> None:
    needed = {f"virtual-rt-xenomai-{family}" for family in FAMILIES}
    assert needed <= {path.stem for path in RESULTS.glob("*.txt")}


@pytest.mark.parametrize("name", sorted(path.stem for path in RESULTS.glob("*.txt")))
def test_a_kept_result_is_whole(name: str) -> None:
    output = kept(name)
    assert output.system.startswith("Linux 6.1" if "linux" in name else "Xenomai 3.3 mercury, Alchemy skin, on Linux ")
    assert output.family == name.rpartition("-")[2]
    check_whole(output.benchmarks, output.facts["iterations"][0])
    battery = "".join(path.read_text() for path in (ROOT / "probe/battery").glob("*.c"))
    assert [one.name for one in output.benchmarks if f'"{one.name}"' not in battery] == []


def test_what_is_not_offered_is_not_offered_by_alchemy_or_the_board() -> None:
    missing = {
        (name, one.name, one.why)
        for name in (path.stem for path in RESULTS.glob("*.txt") if "linux" not in path.stem)
        for one in kept(name).benchmarks
        if one.status == Status.NOT_OFFERED
    }
    places = ("virtual-rt-xenomai", "virtual-stock-xenomai")
    assert missing == {
        *((f"{place}-loop", "loop by network", "Alchemy has no network") for place in places),
        *(
            ("virtual-rt-xenomai-memory", f"memory {percent} %", "there is no other CPU to stream on")
            for percent in (0, 25, 50, 90)
        ),
    }


def test_a_mutex_bounds_the_inversion() -> None:
    output = kept("virtual-rt-xenomai-primitives")
    inherits, does_not = (one for one in output.benchmarks if one.name.startswith("inversion"))
    section_ns, middle_ns = (inherits.facts[name][0] for name in ("critical section", "middle's work"))
    waits = [float(np.median(series_ns(output, one.name, "high waits"))) for one in (inherits, does_not)]
    assert section_ns / 2 < waits[0] < section_ns + middle_ns / 2
    assert waits[1] > middle_ns


def cell(result: str, row: str) -> str:
    """What docs/probe.md must say, in us: the median, of single operations less that of the control run."""
    benchmark, _, series = row.partition(", ")
    family = {
        "wake-up": "wakeup", "semaphore": "itc", "message queue": "itc", "message pipe": "itc",
    }.get(row, "loop" if row.startswith("loop") else "primitives")  # fmt: skip
    if not (RESULTS / f"{result}-{family}.txt").exists():
        return ""
    output = kept(f"{result}-{family}")
    if any(one.name == benchmark and one.status == Status.NOT_OFFERED for one in output.benchmarks):
        return "not offered"
    median_ns = np.median(series_ns(output, benchmark, series or ("latency" if family == "wakeup" else "time")))
    if family == "primitives":
        median_ns -= np.median(series_ns(output, "empty", "time"))
    return f"{median_ns / 1000:.2f}"


def test_the_figures_in_the_documentation_are_those_kept() -> None:
    section = (ROOT / "docs/probe.md").read_text().partition("## Xenomai\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w ,-]+) \|" + r" ?([\w. ]*?) \|" * 4 + "$", section, re.MULTILINE)
    rows = [row for row in rows if "kernel" not in row[1]]
    assert len(rows) == 11
    for name, *cells in rows:
        assert cells == [cell(result, name) for result in COLUMNS], name
    itc, periodic = kept("virtual-rt-xenomai-itc"), kept("virtual-rt-xenomai-periodic")
    averages = [
        series_ns(periodic, "periodic task", "jitter").mean(),
        *(series_ns(itc, name, "time").mean() for name in ("semaphore", "message queue", "message pipe")),
    ]
    said = section.partition("average of 500 |\n")[2].splitlines()[1:5]
    assert [row.split(" | ")[-1].rstrip(" |") for row in said] == [f"{average / 1000:.2f}" for average in averages]


def test_the_period_is_deferred_on_the_rt_kernel_and_the_sleep_is_not() -> None:
    """As docs/probe.md explains: a POSIX timer expires in a softirq there."""
    rt, stock = (kept(f"virtual-{kernel}-xenomai-loop") for kernel in ("rt", "stock"))
    for path, deferred in (("sleep", True), ("hard timer", False)):
        late, direct = (np.median(series_ns(loop, f"loop by {path}", "sensor start")) for loop in (rt, stock))
        assert (late > 2 * direct) == deferred, path


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
