# SPDX-License-Identifier: MIT
"""Boards that lie: of their jobs, of themselves, of when a result was measured."""

import os
import subprocess
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rtqual.base.cache import sha256_file
from rtqual.engine.boards.remote import clock_rate, job, truth
from rtqual.engine.boards.remote.job import Detached, clear_unfinished, unfinished
from rtqual.engine.boards.remote.measured import MeasuredBoard
from rtqual.engine.boards.remote.remote_board import RemoteBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.staged import NONCE
from rtqual.engine.campaign.provenance import provenance
from rtqual.protocols.board import LEFT, Command, Job, JobOutcome
from support.store_records import INPUTS

CELL: Any = SimpleNamespace(
    instrument=SimpleNamespace(program=INPUTS.instrument), job=lambda: SimpleNamespace(version=())
)


class Here:
    """The board is a folder of this machine; `lies` is what it says instead."""

    where = "here"

    def __init__(self, lies: bytes | None = None) -> None:
        self.lies, self.calls = lies, 0

    def run(self, script: str, **_: object) -> bytes:
        self.calls += 1
        if self.lies is not None:
            return self.lies
        return subprocess.run(["sh", "-c", script], check=True, capture_output=True).stdout


def begun(store: Path, *keys: str) -> None:
    for key in keys:
        (store / "jobs" / key).mkdir(parents=True)


def test_unfinished_jobs_go_in_one_command_however_many_there_are(tmp_path: Path) -> None:
    begun(tmp_path, "ab01", "ab02", "ab03")
    (tmp_path / "jobs/ab03/sum").write_text("done")
    board = Here()
    assert unfinished(board, str(tmp_path)) == ["ab01", "ab02"]
    clear_unfinished(board, str(tmp_path))
    assert ([path.name for path in (tmp_path / "jobs").iterdir()], board.calls) == (["ab03"], 2)


def test_a_board_that_tells_of_jobs_without_end_is_looked_at_a_few_times() -> None:
    """30,000 of them held a campaign for six hours."""
    lies = b"".join(b"%032x\n" % number for number in range(30_000)) + b"; rm -rf /\n"
    assert len(unfinished(Here(lies), "/boot")) == job._MOST_UNFINISHED
    assert unfinished(Here(b"$(reboot) ../x ab01"), "/boot") == ["ab01"]


def test_jobs_that_never_end_are_waited_for_as_long_as_a_start_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline is asked before each look, not once a round."""
    clock = SimpleNamespace(now=0.0, looks=0)

    def look(self: Detached) -> SimpleNamespace:
        clock.now += 1.0
        clock.looks += 1
        return SimpleNamespace(lives=True)

    monkeypatch.setattr(Detached, "look", look)
    monkeypatch.setattr("rtqual.engine.boards.remote.session.time.monotonic", lambda: clock.now)
    session: Any = object.__new__(Session)
    session.settings = SimpleNamespace(boot_timeout_s=5.0, name="pi")
    session._lease = SimpleNamespace(store="/boot", run=Here(b" ".join(b"%x" % one for one in range(100))).run)
    session._tell, session.pause = (lambda _: None), (lambda _: None)
    session._let_end()
    assert clock.looks <= 6


def test_a_boards_own_facts_do_not_take_the_place_of_what_is_asked_of_it() -> None:
    """Its serial number and machine are what tells two boards apart, and a guest from hardware."""
    board: Any = object.__new__(MeasuredBoard)
    board._settings = SimpleNamespace(cpus=1, name="pi", model="pi-4")
    board._kernel = SimpleNamespace(candidate="rt", release="6.1")
    board.candidate = SimpleNamespace(identity="abc")
    board.connection = "ssh"
    lies = "".join(f"{name}=a lie\n" for name in (*truth._FACTS, "hypervisor", "serial_before", "board", "model"))
    said = f"kernel=6.1 #1\ncmdline={NONCE}=abc\ncpus=1\nboot_id=x\n"
    for asked in ("serial=S1\nmachine=Pi 4\n", ""):  # also where the board does not say it when it is asked
        files = {"facts": said + lies + said, "before": asked + "boot_id=x\n", "after": asked + "boot_id=x\n"}
        facts, _ = board._facts(files)
        assert (facts.get("serial"), facts.get("machine")) == (("S1", "Pi 4") if asked else (None, None))
        assert (facts["board"], facts["model"]) == ("pi", "pi-4")
        assert "a lie" not in {value for name, value in facts.items() if name not in ("clocksource",)}


@pytest.mark.parametrize("age_s", [0, 86_400])
def test_a_result_tells_for_how_long_it_has_lain_on_the_board(tmp_path: Path, age_s: int) -> None:
    begun(tmp_path, "ab01")
    result = tmp_path / "jobs/ab01/sum"
    result.write_text("done")
    then = result.stat().st_mtime - age_s
    os.utime(result, (then, then))
    told = Detached(Here(), str(tmp_path), "ab01").age_s()
    assert told is not None and age_s <= told < age_s + 60


class Clocked(Here):
    """Its clock runs `fast` times the host's, which passes in pauses alone."""

    def __init__(self, fast: float) -> None:
        super().__init__()
        self.fast, self.host_s = fast, 1000.0

    def pause(self, seconds: float) -> None:
        self.host_s += seconds

    def run(self, script: str, **more: object) -> bytes:
        return f"{self.host_s * self.fast:.2f} 1\n".encode() if "uptime" in script else super().run(script, **more)


@pytest.mark.parametrize(("fast", "doubted"), [(1.0, 0), (1.01, 1)])
def test_a_result_that_lay_there_is_taken_with_its_age_and_the_clock_as_it_runs_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast: float, doubted: int
) -> None:
    """Nothing is started, and nobody read its clock when it was."""
    monkeypatch.setattr(MeasuredBoard, "key", lambda *_: "ab01")
    begun(tmp_path, "ab01")
    folder = tmp_path / "jobs/ab01"
    with tarfile.open(folder / "result.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("facts"))
    (folder / "sum").write_text(f"{sha256_file(folder / 'result.tar')}  result.tar\n")
    then = (folder / "sum").stat().st_mtime - 86_400
    os.utime(folder / "sum", (then, then))
    board: Any = object.__new__(RemoteBoard)
    clock = Clocked(fast)
    monkeypatch.setattr(clock_rate, "_now_s", lambda: clock.host_s)
    board._session = SimpleNamespace(lease=clock, store=str(tmp_path), pause=clock.pause)
    board._kernel, board._settings = SimpleNamespace(candidate="rt"), SimpleNamespace(name="pi")
    monkeypatch.setattr(MeasuredBoard, "outcome", lambda *given, **more: (*given[2:], more))
    files, facts, more = board._run(Job(Command(("true",))), 1, 60)
    assert files == {"facts": ""} and len(more["away"]) == doubted
    assert 86_400 <= int(facts[LEFT]) < 86_460 and facts["polls"] == "0"
    assert "of the host's over 20 s" in facts["clock_rate"]
    now = datetime.now(UTC)
    outcome = JobOutcome(0, "", "", {}, facts, {}, "", (), "", 1.0, ("x",))
    started = datetime.fromisoformat(str(provenance(CELL, outcome, now, "0").started))
    assert timedelta(days=1) <= now - started < timedelta(days=1, minutes=2)


@pytest.mark.parametrize("lies", [b"", b"-5", b"x", b"9" * 40, b"99999999999"])
def test_an_age_that_cannot_be_is_unknown(lies: bytes) -> None:
    assert Detached(Here(lies), "/boot", "ab01").age_s() is None


@pytest.mark.parametrize(
    ("left", "started"),
    [
        ({}, "2026-01-02T00:00:00+00:00"),
        ({LEFT: "86400"}, "2026-01-01T00:00:00+00:00"),
        ({LEFT: ""}, None),
    ],
)
def test_a_result_that_was_left_is_dated_when_it_ran(left: dict[str, str], started: str | None) -> None:
    outcome = JobOutcome(0, "", "", {}, left, {}, "", (), "", 1.0, ("x",))
    assert provenance(CELL, outcome, datetime(2026, 1, 2, tzinfo=UTC), "0").started == started
