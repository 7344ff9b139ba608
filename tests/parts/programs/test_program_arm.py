# SPDX-License-Identifier: MIT
"""The example's loop on the virtual ARM boards, on one CPU and on four."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read
from support.command import Run

pytestmark = [pytest.mark.full]  # four guests of ARM's
_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250"
_COMPILERS = {"arm64": "aarch64-linux-gnu-gcc", "armhf": "arm-linux-gnueabihf-gcc"}
_HEADERS = "#include <poll.h>\n#include <sys/epoll.h>\n#include <sys/select.h>\n"
# It looks before it waits, as an executor does: what says how long a call waits is its fourth or fifth argument.
_LOOKS = """
	struct epoll_event event;
	static int queue = -1;

	queue = queue < 0 ? epoll_create1(0) : queue;
	for (int i = 0; i < 5; i++) {
		struct timeval none = { 0 };

		select(0, NULL, NULL, NULL, &none);
		poll(NULL, 0, 0);
		epoll_wait(queue, &event, 1, 0);
	}
"""
_MISSION = """\
[mission]
name = "arm"
title = "A loop on ARM"
purpose = "Tries programs on another processor."
duration = "10 s"

[[candidate]]
name = "rt"
title = "PREEMPT_RT"
package = "linux-image-rt-{kernel}"

[[program]]
name = "loop250"
binary = "loop250"
arguments = ["50", "70"]
[[program.task]]
name = "control"
thread = "gnc-250hz"
released_by = "timer"
period = "4 ms"
deadline = "4 ms"
[[program.output]]
format = "csv"
series = {{ late = "late_ns" }}

[[scale.demo.plan]]
instruments = ["program-loop250"]
cpus = [1, 4]
runs = 1
"""


def _measured(rtqual: Run, folder: Path, architecture: str, kernel: str) -> list[Record]:
    source = (_EXAMPLE / "loop250.c").read_text()
    head, waits, rest = source.partition("\t\twhile (clock_nanosleep(")
    assert waits
    (folder / "loop.c").write_text(_HEADERS + head + _LOOKS + waits + rest)
    build = [_COMPILERS[architecture], "-std=gnu11", "-O2", "-static", "-pthread", "-o", folder / "loop250"]
    subprocess.run([*build, folder / "loop.c"], check=True)
    (folder / "arm.toml").write_text(_MISSION.format(kernel=kernel))
    done = rtqual("select", folder / "arm.toml", "--run-programs", "--out", folder / "out")
    assert (folder / "out" / "records").is_dir(), done.stderr
    records = [read(path) for path in sorted((folder / "out" / "records").iterdir())]
    assert [record.manifest.problems for record in records] == [[]] * len(records)
    return records


def _series(record: Record) -> dict[str, np.ndarray]:
    return {series.info.name: np.concatenate([*(series.ordered() or ())]) for series in record.series}


def test_jobs_on_arm64_are_those_that_the_program_sees(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a call that only looks begins none."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    records = _measured(rtqual, tmp_path, "arm64", "arm64")
    assert {record.manifest.inputs.cpus for record in records} == {1, 4}
    for record in records:
        taken = _series(record)
        assert (len(taken["late"]), len(taken["control start"])) == (50, 49)
        further = taken["late"][:49] - taken["control start"]
        assert further.min() > 0, "by the way back to user space"
        if record.manifest.inputs.cpus == 1:
            assert further.max() - further.min() <= 500


def test_on_armhf_what_it_prints_is_measured_and_its_jobs_are_absent(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    records = _measured(rtqual, tmp_path, "armhf", "armmp")
    assert {record.manifest.inputs.cpus for record in records} == {1, 4}
    for record in records:
        assert len(_series(record)["late"]) == 50
        assert "BTF" in record.manifest.absent["control response"]
