# SPDX-License-Identifier: MIT
"""Guests that panic, hang, print garbage or lack something: one line that names who, where and the evidence."""

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards import virtual
from rtqual.engine.boards.local import LocalBoard
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, Job, Machine
from rtqual.protocols.board.system import Kernel
from support.command import Run, children, mission_text

WHERE = "debian-rt on the virtual board"


def shell(script: str, **how: object) -> Job:
    return Job(measure=Command(("sh", "-c", script)), **how)  # type: ignore[arg-type]


def failure(board: VirtualBoard | LocalBoard, job: Job, timeout_s: float = 60) -> str:
    with pytest.raises(RunFailed) as caught:
        board.run(job, seed=1, timeout_s=timeout_s)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 1000
    return text


def test_a_panic_is_told_with_the_kernels_last_lines(board: VirtualBoard) -> None:
    text = failure(board, shell("echo c > /proc/sysrq-trigger"))
    assert text.startswith(f"{WHERE}: no result came back")
    assert "Kernel panic - not syncing: sysrq triggered crash" in text


def test_a_hung_guest_is_ended_at_its_deadline(board: VirtualBoard) -> None:
    before = os.times()
    text = failure(board, shell("echo spinning > /dev/console; while :; do :; done"), timeout_s=4)
    assert text.startswith(f"{WHERE} hung and was ended at its deadline of 4 s")
    assert "spinning" in text
    after = os.times()
    assert (
        after.children_user + after.children_system - before.children_user - before.children_system < 60
    )  # a boot too
    assert children("qemu-system") == []


def test_a_guest_that_ends_by_itself_has_no_result(board: VirtualBoard) -> None:
    text = failure(board, shell("echo o > /proc/sysrq-trigger; sleep 10"))
    assert text.startswith(f"{WHERE}: no result came back")


def test_an_emulator_that_is_killed_is_told_so(board: VirtualBoard) -> None:
    def kill_it() -> None:
        while not (found := children("qemu-system")):
            time.sleep(0.05)
        time.sleep(1)
        for pid in found:
            os.kill(pid, signal.SIGKILL)

    board.run(shell("true"), seed=1, timeout_s=120)  # booted
    killer = threading.Thread(target=kill_it)
    killer.start()
    text = failure(board, shell("while :; do :; done"))
    killer.join()
    assert text.startswith(f"{WHERE}: QEMU failed: it was ended by signal 9")


@pytest.mark.parametrize(("idle", "boot_timeout_s"), [("idle=halt", 3.0), ("idle=poll", 0.3)])
def test_a_boot_that_hangs_is_ended_and_not_tried_again(
    kernel: Callable[..., Kernel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idle: str, boot_timeout_s: float
) -> None:
    """Of a guest that never idles much more is executed: it has ten times as long."""
    monkeypatch.setattr(virtual, "_BOOT_TIMEOUT_S", boot_timeout_s)
    guests = tmp_path / "guests"
    slow = kernel("debian-rt", idle, "rdinit=/bin/sleep", "--", "100000000")
    board = VirtualBoard(slow, Machine(), tmp_path / "scratch", guests=guests)
    first = failure(board, shell("true"))
    assert first.startswith(f"{WHERE} hung and was ended at its deadline of 3 s")
    started = time.monotonic()
    assert failure(board, shell("true")) == first
    assert time.monotonic() - started < 1
    assert [path.suffix for path in guests.iterdir()] == [".lock"]


def test_a_boot_that_panics_is_told_with_its_last_lines(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    board = VirtualBoard(kernel("debian-rt", "rdinit=/bin/false"), Machine(), tmp_path / "scratch")
    text = failure(board, shell("true"))
    assert text.startswith(f"{WHERE}: ")
    assert "ended before it had booted" in text
    assert "Attempted to kill init" in text


def test_noise_before_the_result_does_not_hurt(board: VirtualBoard) -> None:
    """The frame has a mark, a length and a checksum: what comes before it is not the result's."""
    outcome = board.run(
        shell("head -c 5000 /dev/urandom > /dev/ttyS1; echo 42; echo noise > /dev/ttyS1"), seed=1, timeout_s=60
    )
    assert outcome.stdout == "42\n"


def test_a_forged_frame_is_refused(board: VirtualBoard) -> None:
    text = failure(board, shell("echo 'RTQUAL1 3 00000000' > /dev/ttyS1"))
    assert "damaged" in text


def test_a_missing_instrument_is_named(board: VirtualBoard) -> None:
    job = CYCLICTEST.job(CyclictestParameters(cycles=10), cpus=1, seed=1)
    missing = replace(job, measure=replace(job.measure, argv=("cyclictest-9000", *job.measure.argv[1:])))
    outcome = board.run(missing, seed=1, timeout_s=60)
    with pytest.raises(RunFailed, match="cannot run cyclictest-9000: No such file or directory"):
        CYCLICTEST.read(CyclictestParameters(cycles=10), outcome, cpus=1)


def test_an_instrument_that_fails_is_no_result(board: VirtualBoard) -> None:
    outcome = board.run(shell("echo I give up >&2; exit 3", collect=("cyclictest.json",)), seed=1, timeout_s=60)
    assert (outcome.exit_code, outcome.stderr, outcome.files) == (3, "I give up\n", {})
    with pytest.raises(RunFailed, match="exit code 3, last words: 'I give up'"):
        CYCLICTEST.read(CyclictestParameters(), outcome, cpus=1)


def test_an_instrument_that_prints_garbage_is_no_result(board: VirtualBoard) -> None:
    garbage = "head -c 3000 /dev/urandom | tee cyclictest.json; head -c 3000 /dev/urandom >&2"
    outcome = board.run(shell(garbage, collect=("cyclictest.json",)), seed=1, timeout_s=60)
    assert outcome.exit_code == 0
    with pytest.raises(RunFailed, match="is not cyclictest's JSON"):
        CYCLICTEST.read(CyclictestParameters(), outcome, cpus=1)


def test_an_instrument_killed_by_a_signal_is_no_result(board: VirtualBoard) -> None:
    outcome = board.run(shell("kill -SEGV $$"), seed=1, timeout_s=60)
    assert outcome.exit_code == 128 + signal.SIGSEGV


BOARDS = ("virtual", "local")


@pytest.fixture(params=BOARDS)
def any_board(request: pytest.FixtureRequest) -> VirtualBoard | LocalBoard:
    """Both boards promise the same."""
    one: VirtualBoard = request.getfixturevalue("board")
    return one if request.param == "virtual" else LocalBoard()


@pytest.mark.guest
def test_a_load_that_ends_early_is_a_failure(any_board: VirtualBoard | LocalBoard) -> None:
    text = failure(any_board, shell("sleep 0.3", loads=(Command(("sh", "-c", "echo no disk >&2; exit 1")),)))
    assert re.search(
        r"(virtual board|this machine): the load `sh -c .*` ended before the measurement did: no disk", text
    )


@pytest.mark.guest
def test_a_load_that_runs_on_is_no_failure(any_board: VirtualBoard | LocalBoard) -> None:
    forever = Command(("sh", "-c", "while :; do sleep 0.01; done"))
    assert any_board.run(shell("sleep 0.3; echo done", loads=(forever,)), seed=1, timeout_s=60).stdout == "done\n"


@pytest.mark.guest
def test_a_setup_that_fails_is_named_with_what_it_said(any_board: VirtualBoard | LocalBoard) -> None:
    job = shell("true", setup=(Command(("true",)), Command(("sh", "-c", "echo no radio >&2; exit 1"))))
    text = failure(any_board, job)
    assert re.search(r"(virtual board|this machine): the preparation `sh -c .*` failed: no radio", text)


@pytest.mark.guest
def test_a_setup_that_is_missing_is_named(any_board: VirtualBoard | LocalBoard) -> None:
    text = failure(any_board, shell("true", setup=(Command(("no-such-program", "--now")),)))
    assert "`no-such-program --now` failed: cannot run no-such-program: No such file or directory" in text


def test_a_module_the_kernel_does_not_have_is_named(board: VirtualBoard) -> None:
    assert failure(board, shell("true", modules=("no_such_module",))).startswith(
        f"{WHERE}: the kernel has no module no_such_module"
    )


def test_a_disk_the_board_does_not_have_is_named(board: VirtualBoard) -> None:
    assert failure(board, shell("true", folder="usb")).startswith(f"{WHERE}: the usb disk cannot be mounted")


@pytest.mark.guest
def test_a_program_that_does_not_end_on_this_machine_is_ended_with_all_it_started() -> None:
    text = failure(LocalBoard(), shell("sleep 987 & sleep 987", loads=(Command(("sleep", "988")),)), timeout_s=1)
    assert text.startswith("this machine: `sh -c 'sleep 987 & sleep 987'` did not end by its deadline")
    assert running("sleep 987") + running("sleep 988") == []


def running(command: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue  # it ended meanwhile
        if words == command:
            found.append(int(path.parent.name))
    return found


@pytest.mark.full
def test_a_candidate_without_wifi_fails_alone(rtqual: Run, tmp_path: Path) -> None:
    """The cloud kernel has no radios: its cell fails and says so, the other candidate's figures stand."""
    mission = tmp_path / "tiny.toml"
    mission.write_text(mission_text("debian", "debian-cloud", loads=("wifi",), runs=1))
    done = rtqual("select", mission, "--out", tmp_path / "out")
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if line.startswith("failed")]
    assert len(lines) == 2  # the run and its repeat
    assert all("debian-cloud" in line and "the kernel has no module mac80211_hwsim" in line for line in lines)
    assert "2 records" in done.stdout or "1 records" in done.stdout
    assert (tmp_path / "out" / "report.html").exists()
