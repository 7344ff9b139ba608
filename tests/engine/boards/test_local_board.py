# SPDX-License-Identifier: MIT
"""This machine: what the hypervisor stole while a run was made, and what else ran."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards import local
from rtqual.engine.boards.local import LocalBoard
from rtqual.protocols.board import Command, Job, JobOutcome


def stat(steal_ticks: int) -> str:
    """A /proc/stat (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice."""
    return f"cpu  10 20 30 40 50 60 70 {steal_ticks} 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10"


@pytest.fixture
def stolen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The /proc/stat that the next reads find; every other file is as it is."""
    texts: list[str] = []
    real = local._read
    monkeypatch.setattr(local, "_read", lambda path: texts.pop(0) if path == "/proc/stat" else real(path))
    yield texts
    assert texts == []


def test_a_run_records_the_ticks_stolen_while_it_was_made(stolen: list[str]) -> None:
    stolen += [stat(2100), stat(2107)]
    outcome = LocalBoard().run(Job(measure=Command(("true",))), seed=1, timeout_s=30)
    assert outcome.facts["steal_ticks"] == "7"


@pytest.mark.parametrize("unknown", ["", "cpu  10 20 30 40"])
def test_ticks_that_cannot_be_read_are_absent(stolen: list[str], unknown: str) -> None:
    stolen += [unknown, stat(2107)]
    outcome = LocalBoard().run(Job(measure=Command(("true",))), seed=1, timeout_s=30)
    assert "steal_ticks" not in outcome.facts


def test_what_keeps_this_machine_busy_is_named_and_no_problem() -> None:
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as spinner:
        try:
            outcome = LocalBoard().run(Job(measure=Command(("true",))), seed=1, timeout_s=30)
        finally:
            spinner.kill()
    assert outcome.problems == ()
    assert re.fullmatch(r"\S.*, \d+\.\d % of a CPU", outcome.facts["rest_awaited"])


def test_nothing_follows_a_preparation_that_failed(tmp_path: Path) -> None:
    """As in a guest, where the script ends there."""
    ran = tmp_path / "ran"
    touch = Command(("touch", str(ran)))
    job = Job(touch, setup=(Command(("false",)), touch), loads=(touch,))
    with pytest.raises(RunFailed, match="the preparation `false` failed: silently"):
        LocalBoard().run(job, seed=1, timeout_s=30)
    assert not ran.exists()


def measured_beside(systemctl: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> JobOutcome:
    tool = folder / "systemctl"
    tool.write_text(f"#!/bin/sh\ncd {folder}\n{systemctl}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return LocalBoard().run(Job(measure=Command(("true",))), seed=1, timeout_s=30)


JOBS = "  8 timers.target start waiting\n 12 apt-daily.service start running\n"
APT = "systemd's job of apt-daily.service"


def test_what_systemd_starts_is_waited_for_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has jobs at the first look, and none at the next."""
    (tmp_path / "jobs").write_text(JOBS)
    outcome = measured_beside("cat jobs; : > jobs", tmp_path, monkeypatch)
    assert (outcome.problems, outcome.facts["rest_awaited"]) == ((), APT)
    assert (tmp_path / "jobs").read_text() == ""


@pytest.mark.parametrize(
    "group", ["0::/system.slice/nightly.service/part", "1:name=systemd:/system.slice/nightly.service"]
)
def test_the_service_that_rtqual_runs_in_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    """A timer's oneshot service is starting for as long as rtqual runs."""
    monkeypatch.setattr("rtqual.engine.boards.start_awaited._CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr("rtqual.engine.boards.start_awaited._PATIENCE_S", 0.1)
    (tmp_path / "cgroup").write_text(f"{group}\n")
    (tmp_path / "jobs").write_text(" 12 nightly.service start running\n")
    assert measured_beside("cat jobs", tmp_path, monkeypatch).problems == ()


@pytest.mark.parametrize(
    ("systemctl", "answer_s", "why"),
    [("cat jobs", 30, APT), ("exec sleep 100", 0.1, "systemd, which does not answer")],
)
def test_a_start_that_does_not_end_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, systemctl: str, answer_s: float, why: str
) -> None:
    monkeypatch.setattr("rtqual.engine.boards.start_awaited._PATIENCE_S", 0.1)
    monkeypatch.setattr("rtqual.engine.boards.start_awaited._ANSWER_S", answer_s)
    (tmp_path / "jobs").write_text(JOBS)
    (problem,) = measured_beside(systemctl, tmp_path, monkeypatch).problems
    assert problem.startswith("measured before it had come to rest: still starting") and problem.endswith(why)


def test_rtqual_s_own_programs_run_without_being_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe lies beside the agent, not in PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    outcome = LocalBoard().run(Job(measure=Command(("rtqual-probe", "--version"))), seed=1, timeout_s=30)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("rtqual-probe")


@pytest.mark.guest
def test_a_program_that_waits_for_its_turn_is_not_ended_at_its_deadline() -> None:
    """A third of a CPU is what a busy host leaves it; it takes all its time, and less than its deadline of CPU."""
    late = (
        "i=0; while [ $i -lt 30 ]; do i=$((i + 1)); sleep 0.1; j=0; while [ $j -lt 10000 ]; do j=$((j + 1)); done; done"
    )
    outcome = LocalBoard().run(Job(measure=Command(("sh", "-c", f"{late}; echo done"))), seed=1, timeout_s=2)
    assert outcome.stdout == "done\n"
