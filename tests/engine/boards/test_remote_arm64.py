# SPDX-License-Identifier: MIT
"""A board over ssh with another processor: an arm64 machine with UEFI, whose known-good system rtqual made."""

import json
from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64
from rtqual.engine.boards.remote.settings import Settings
from rtqual.protocols.record.store import Store, read
from support.command import Run
from support.flashed import flashed
from support.machines import VIRT
from support.stand_in import NAME, SERIAL, candidate, mission_of, stand_in

pytestmark = [pytest.mark.full]  # three starts of an emulated arm64
SETTINGS = Settings("desk", "qemu-virt", ARM64, "root", "desk", 22, "ssh-ed25519 AAAA", "6.1", "systemd-boot")
RT = candidate("debian-rt", "Debian, PREEMPT_RT kernel", "linux-image-rt-arm64")


def test_a_candidate_is_started_once_on_arm64_measured_and_the_board_comes_back(rtqual: Run, tmp_path: Path) -> None:
    with stand_in(tmp_path / "board", flashed(SETTINGS, "linux-image-arm64"), VIRT) as there:
        there.wait_up(1800)
        mission, looked = tmp_path / "arm64.toml", "cat /boot/loader/loader.conf; ls -1 /boot /boot/loader/entries"
        mission.write_text(mission_of(there, RT, table=there.table(boot_timeout='"1200 s"')))
        checked = rtqual("board", "check", NAME, "--mission", mission)
        assert checked.returncode == 0, checked.stdout
        before, first = there.ssh(looked).stdout, there.ssh("cat /proc/sys/kernel/random/boot_id").stdout.strip()
        done = rtqual("select", mission, "--out", tmp_path / "out", "--json", env={})
        assert done.returncode == 0, done.stderr
        (verdict,) = json.loads(done.stdout)["verdicts"]
        assert (verdict["board"], verdict["ground"]) == ("qemu-virt", "real time")
        assert "meets the one requirement" in verdict["headline"]
        records = [read(path).manifest for path in Store(tmp_path / "out/records").paths()]
        assert len(records) == 6
        for one in records:
            facts = one.provenance.facts
            assert (one.timing, one.problems, one.inputs.board) == ("real", [], "qemu-virt")
            assert f"rtqual.candidate={facts['candidate_nonce']}" in (one.provenance.kernel_cmdline or "")
            kernel = one.provenance.kernel or ""
            assert "-rt-arm64 " in kernel and "PREEMPT_RT" in kernel
            assert (facts["serial"], one.provenance.clocksource) == (SERIAL, "arch_sys_counter")
        assert len({first, *(one.provenance.facts["boot_id"] for one in records)}) == 2, (
            "one start, another than before"
        )
        assert there.ssh("uname -rm").stdout == f"{there.release} aarch64\n"
        assert there.ssh(looked).stdout.replace("rtqual\n", "") == before
        assert "own" not in there.ssh("ls /boot/rtqual").stdout.split(), "its host key stays on no partition"
