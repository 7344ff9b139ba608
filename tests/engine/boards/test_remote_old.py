# SPDX-License-Identifier: MIT
"""A board with an old dropbear answers; what it lacks is a host key that today's ssh takes."""

import os
from pathlib import Path

from support.command import Run

MISSION = Path(__file__).parents[2] / "data" / "field" / "board-old-dropbear.toml"


def test_a_board_that_offers_old_host_keys_only_is_told_from_one_that_is_off(rtqual: Run, tmp_path: Path) -> None:
    ssh = tmp_path / "ssh"
    said = "Unable to negotiate with 192.0.2.20 port 22: no matching host key type found. Their offer: ssh-rsa"
    ssh.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 255\n")
    ssh.chmod(0o755)
    done = rtqual("board", "check", "pi-a", "--mission", MISSION, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    told = done.stdout + done.stderr
    assert done.returncode != 0
    assert "host key" in told and "ssh-rsa" in told and "ed25519" in told
    assert "switch it on" not in told
