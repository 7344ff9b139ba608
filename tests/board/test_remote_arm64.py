# SPDX-License-Identifier: MIT
"""A board over ssh on the arm64 stand-in: a candidate is started once, measures, and gives the board back."""

from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64
from rtqual.board import Command, Job
from rtqual.board.remote.board import RemoteBoard
from rtqual.board.remote.session import Session
from rtqual.candidate.debian import prepare
from rtqual.initramfs.contents import guest_tools
from support.stand_in import settings_of, stand_in
from support.stand_in_arm64 import CANDIDATE, disk, machine

pytestmark = [pytest.mark.manual]  # three starts of an emulated arm64


def test_a_candidate_runs_on_arm64_and_gives_the_board_back(tmp_path: Path) -> None:
    candidate = prepare("debian-rt", CANDIDATE, preempt=None, boot=(), tools=guest_tools(ARM64))
    with stand_in(tmp_path / "board", disk, machine) as there:
        there.wait_up(1800)
        settings = replace(settings_of(there), architecture=ARM64, boot_timeout_s=1200.0, watchdog_s=0.0)
        board = RemoteBoard(Session(settings, "test", tmp_path / "log"), candidate, "test")
        try:
            outcome = board.run(Job(Command(("uname", "-rm"))), seed=1, timeout_s=600)
            assert outcome.stdout == f"{candidate.release} aarch64\n" and "-rt-arm64" in outcome.stdout
            assert outcome.problems == () and outcome.facts["clocksource"] == "arch_sys_counter"
        finally:
            board.close()
        assert there.ssh("uname -r").stdout.strip() == there.release
