# SPDX-License-Identifier: MIT
"""The real programs on this machine: their outputs are understood, the loads run and end."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtqual.protocols.board import Job, JobOutcome
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.instrument.version import VERSION_ARGV, parse_version
from rtqual.protocols.load.all_loads import all_loads
from support.instrument_outputs import NOTHING
from support.real_tools import may_use_fifo, need

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 only looked at
TINY: dict[str, dict[str, Any]] = {
    "cyclictest": {"cycles": 300, "histogram_limit": "1 ms"},
    "stress-ng-cyclic": {"cycles": 100},
    "hackbench": {"loops": 2, "repetitions": 2},
    "sysbench-cpu": {"events": 50},
    "sysbench-threads": {"events": 20, "yields": 100},
    "sysbench-threads-contended": {"events": 80, "yields": 10},
    "sysbench-mutex": {"locks": 50, "loops": 100},
    "sysbench-fileio-root": {"threads": 2, "total_size": "1 MiB", "files": 4, "events": 50},
    "sysbench-fileio-usb": {"threads": 2, "total_size": "1 MiB", "files": 4, "events": 50},
    "footprint": {},
}


def threads_of(pid: int) -> dict[int, dict[str, Any]]:
    names = {os.SCHED_FIFO: "fifo", os.SCHED_OTHER: "other"}
    threads: dict[int, dict[str, Any]] = {}
    try:
        for tid in (int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()):
            policy, priority = names.get(os.sched_getscheduler(tid), "?"), os.sched_getparam(tid).sched_priority
            threads[tid] = {"tid": tid, "policy": policy, "priority": priority}
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended meanwhile
    return threads


def run_here(job: Job, folder: Path) -> JobOutcome:
    for command in job.setup:
        subprocess.run(command.argv, cwd=folder, check=True, capture_output=True)
    process = subprocess.Popen(
        job.measure.argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=-1
    )
    threads: dict[int, dict[str, Any]] = {}
    while job.measure.fifo and process.poll() is None:
        for tid, seen in threads_of(process.pid).items():
            if seen["priority"] >= threads.get(tid, seen)["priority"]:  # a thread begins and ends at less
                threads[tid] = seen
        time.sleep(0.02)
    stdout, stderr = process.communicate(timeout=60)
    for command in job.teardown:
        subprocess.run(command.argv, cwd=folder, check=True, capture_output=True)
    return replace(
        NOTHING,
        exit_code=process.returncode,
        stdout=stdout,
        stderr=stderr,
        files={name: (folder / name).read_text() for name in job.collect},
        facts={"clock_resolution_ns": str(round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9))},
        threads=tuple(threads.values()),
    )


@pytest.mark.guest
@pytest.mark.parametrize("name", TINY)
def test_the_real_tool_is_understood(name: str, tmp_path: Path) -> None:
    instrument = all_instruments()[name]
    need(instrument.program)
    if name == "cyclictest" and not may_use_fifo():
        pytest.skip("SCHED_FIFO is not allowed here: run as root or raise the rtprio limit")
    cpus = len(os.sched_getaffinity(0)) if name == "cyclictest" else 1
    parameters = instrument.parameters(**TINY[name])
    outcome = run_here(instrument.job(parameters, cpus=cpus, seed=7), tmp_path)
    measurement = instrument.read(parameters, outcome, cpus=cpus)
    # a busy machine may hold up one of the threads; the problem then says so
    assert [text for text in measurement.problems if not (name == "cyclictest" and ": only " in text)] == []
    assert len(measurement.series) == (0 if name == "footprint" else cpus)
    assert not [path for path in tmp_path.iterdir() if path.name != "cyclictest.json"]


@pytest.mark.parametrize("program", VERSION_ARGV)
def test_the_real_programs_tell_their_version(program: str) -> None:
    need(program)
    done = subprocess.run(VERSION_ARGV[program], capture_output=True, text=True, check=True)
    assert parse_version(done.stdout + done.stderr)[0].isdigit()


@pytest.mark.guest
@pytest.mark.parametrize("name", [name for name, load in all_loads().items() if load.local and load.background])
def test_a_load_runs_until_it_is_killed_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    load = all_loads()[name]
    for program in load.programs:
        need(program)
    before = shared_by(load.programs)
    processes = [
        subprocess.Popen(command.argv, cwd=tmp_path, stdout=subprocess.DEVNULL, start_new_session=True)
        for command in load.background
    ]
    groups = [process.pid for process in processes]
    try:
        time.sleep(0.4)
        assert [process.poll() for process in processes] == [None] * len(processes)
        assert all(members(group) for group in groups)
    finally:
        for process in processes:
            os.killpg(process.pid, 9)
            process.wait()
    deadline = time.monotonic() + 5
    while any(members(group) for group in groups) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [member for group in groups for member in members(group)] == []
    assert shared_by(load.programs) <= before


def shared_by(programs: Iterable[str]) -> set[Path]:
    """Shared memory that is named after programs, whose names start with the tool's: others use it too."""
    tools = tuple(program.partition("-")[0] for program in programs)
    return {path for path in SHARED_MEMORY.iterdir() if path.name.startswith(tools)}


def members(group: int) -> list[int]:
    """Processes of a group or of the session it leads, that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp, session = path.read_text().rsplit(")", 1)[1].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if state != "Z" and group in (int(pgrp), int(session)):
            found.append(int(path.parent.name))
    return found


def test_the_none_load_is_nothing_and_wifi_stays_off_this_machine() -> None:
    assert (all_loads()["none"].background, all_loads()["none"].setup) == ((), ())
    assert not all_loads()["wifi"].local
    assert all_loads()["wifi"].modules == ("mac80211_hwsim",)


def test_a_load_that_cannot_run_ends() -> None:
    argv = all_loads()["hackbench"].background[0].argv
    shell = shutil.which(argv[0]) or argv[0]
    nothing = {"PATH": "/nonexistent"}
    done = subprocess.run([shell, *argv[1:]], check=False, env=nothing, timeout=10, capture_output=True)
    assert "hackbench" in done.stderr.decode()
