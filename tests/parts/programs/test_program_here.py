# SPDX-License-Identifier: MIT
"""The example's loop on this machine: watched by the kernel's tracer, among files of its own, and nothing is left."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.architecture import AMD64
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.here import TRACE
from rtqual.engine.boards.local import LocalBoard
from rtqual.engine.mission.program import Program
from rtqual.parts.programs import program_files
from rtqual.parts.programs.instrument import ProgramParameters, program
from rtqual.protocols.board import JobOutcome
from rtqual.protocols.record.schema import Measurement

_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250" / "loop250.c"
_TRACING = Path("/sys/kernel/tracing")
pytestmark = [
    pytest.mark.guest,
    pytest.mark.skipif(os.geteuid() != 0 or not _TRACING.is_dir(), reason="needs root and a kernel that traces"),
]


def _run(folder: Path, **more: object) -> tuple[JobOutcome, ProgramParameters]:
    told = {"name": "loop250", "binary": "loop250", "arguments": ["50", "70"], **more}
    task = {"name": "control", "thread": "gnc-250hz", "period": "4 ms", "deadline": "4 ms"}
    output = {"from": "stdout", "format": "csv", "series": {"late": "late_ns"}}
    wanted = Program.model_validate({**told, "task": [task], "output": [output]}, context={})
    parameters = ProgramParameters(program=wanted, folder=folder)
    board = LocalBoard(program_files.own(wanted, folder, AMD64))
    job = program("program-loop250").job(parameters, cpus=1, seed=1)
    return board.run(job, seed=1, timeout_s=120), parameters


def _measured(outcome: JobOutcome, parameters: ProgramParameters) -> Measurement:
    return program("program-loop250").read(parameters, outcome, cpus=1)


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", tmp_path / "loop250", _EXAMPLE], check=True)
    return tmp_path


def test_jobs_by_the_tracer_are_those_that_the_program_sees(loop: Path) -> None:
    outcome, parameters = _run(loop)
    measured = _measured(outcome, parameters)
    assert measured.problems == ()
    taken = {one.info.name: np.concatenate([*(one.ordered() or ())]) for one in measured.series}
    assert (len(taken["late"]), len(taken["control response"])) == (50, 49)
    assert "late moved by tracing" in measured.scalars
    rows = [list(map(int, line.split(","))) for line in outcome.files["traced.out"].splitlines()[1:]]
    finished = np.array([late + work for _, late, work in rows[:49]])
    further = taken["control response"] - finished  # from its last look at the clock to the next call
    assert further.min() > 0
    assert np.median(further) < 100_000
    assert not Path("/run/loop250").exists()
    assert not Path("/opt/loop250").exists()
    shown = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"mount -t tracefs tracefs {_TRACING} && ls {_TRACING}/instances"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    mine = f"-{Path('/proc/self/ns/pid').stat().st_ino}-"  # others may be at it, in other files of this run
    pids = [name.rpartition("-")[2] for name in shown.stdout.split() if name.startswith("rtqual-") and mine in name]
    assert [pid for pid in pids if not Path("/proc", pid).exists()] == []


def test_the_tracer_counts_threads_otherwise_than_a_pid_namespace() -> None:
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-m", "pytest"]
    test = f"{__file__}::{test_jobs_by_the_tracer_are_those_that_the_program_sees.__name__}"
    ran = subprocess.run([*alone, "-q", "-p", "no:cacheprovider", test], capture_output=True, text=True, check=False)
    assert "1 passed" in ran.stdout, ran.stdout


def test_a_program_that_fails_is_told_as_anywhere(loop: Path) -> None:
    outcome, parameters = _run(loop, arguments=["50", "70", "0"])  # it ends with exit code 1
    assert TRACE not in outcome.files
    with pytest.raises(RunFailed, match=r"loop250 ended after .* with exit code 1"):
        _measured(outcome, parameters)


def test_what_it_writes_stays_in_memory(tmp_path: Path) -> None:
    script = tmp_path / "loop250"
    script.write_text("#!/bin/sh\necho late_ns; echo 5; echo mine > /opt/rtqual-test-of-a-program; echo seen\n")
    script.chmod(0o755)
    _run(tmp_path, arguments=[])
    assert not Path("/opt/rtqual-test-of-a-program").exists()
