# SPDX-License-Identifier: MIT
"""A board with an old dropbear answers; what it lacks is a host key that today's ssh takes."""

import os
from pathlib import Path

from support.command import Run

MISSION = Path(__file__).parents[2] / "data" / "field" / "board-old-dropbear.toml"


def told_by(said: str, rtqual: Run, tmp_path: Path) -> str:
    """What a check says of a board whose ssh says `said`."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 255\n")
    ssh.chmod(0o755)
    done = rtqual("board", "check", "pi-a", "--mission", MISSION, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode != 0
    return done.stdout + done.stderr


def test_a_host_key_made_anew_at_each_start_is_told_from_a_board_that_is_off(rtqual: Run, tmp_path: Path) -> None:
    told = " ".join(told_by("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", rtqual, tmp_path).split())
    assert "another host key answers" in told and "at each start" in told and "switch it on" not in told


def test_a_board_that_offers_old_host_keys_only_is_told_from_one_that_is_off(rtqual: Run, tmp_path: Path) -> None:
    said = "Unable to negotiate with 192.0.2.20 port 22: no matching host key type found. Their offer: ssh-rsa"
    told = told_by(said, rtqual, tmp_path)
    assert "host key" in told and "ssh-rsa" in told and "ed25519" in told
    assert "switch it on" not in told
