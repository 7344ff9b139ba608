# SPDX-License-Identifier: MIT
"""A board that GRUB starts, on the stand-in: one start of a candidate, and back, whatever it does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.engine.boards.remote.check import check
from rtqual.engine.boards.remote.remote_board import RemoteBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import Fell
from rtqual.protocols.board import Command, Job
from rtqual.protocols.board.system import Kernel
from support.grub import grub_disk
from support.stand_in import settings_of, stand_in

pytestmark = [pytest.mark.manual]  # five starts of a machine


def test_grub_starts_a_candidate_once_and_what_panics_falls_back(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    with stand_in(tmp_path / "board", grub_disk) as there:
        there.wait_up()
        settings = replace(settings_of(there), switch="grub")
        found = {one.name: one for one in check(settings)}
        assert all(one.good for one in found.values()), found
        looked = "cd /boot/grub; ls; sha256sum grub.cfg; grub-editenv grubenv list"
        before = there.ssh(looked).stdout
        session = Session(settings, "test", tmp_path / "log")
        job = Job(Command(("uname", "-r")))
        board = RemoteBoard(session, kernel("debian-rt"), "test")
        try:
            with pytest.raises(Fell, match="Kernel panic"):
                RemoteBoard(session, kernel("debian", "rdinit=/none"), "test").run(job, seed=1, timeout_s=60)
            assert "-rt-" in board.run(job, seed=1, timeout_s=60).stdout
        finally:
            board.close()
        assert there.ssh("uname -r").stdout.strip() == there.release
        assert there.ssh(looked).stdout.replace("next_entry=\n", "") == before  # as GRUB clears it
        assert not there.ssh("ls /boot/rtqual/armed").stdout
