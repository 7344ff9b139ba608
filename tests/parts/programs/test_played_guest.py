# SPDX-License-Identifier: MIT
"""Procedures for a program of the user's in a guest: what it does is seen, and what it does wrong."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rtqual.engine.procedure.played import log_of
from rtqual.protocols.record.store import read
from support.command import Fails, Run
from support.heater import HEATER


@pytest.mark.guest
def test_a_program_of_the_users_is_verified_and_a_bad_one_is_not(
    tmp_path: Path, rtqual: Run, fails: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice the same log, to its last octet; a program that answers twice fails by the answer that is one too many."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copytree(HEATER, tmp_path / "heater", ignore=shutil.ignore_patterns("heater"))
    folder = tmp_path / "heater"
    subprocess.run(["gcc", "-O2", "-static", "-o", folder / "heater", HEATER / "heater.c"], check=True)
    mission = folder / "heater.toml"
    out = tmp_path / "out"
    assert "--run-programs" in fails(2, "verify", mission, "--only", "ping", "--out", out)
    rtqual("verify", mission, "--only", "ping", "--run-programs", "--out", out)
    records = [read(path) for path in sorted((out / "records").iterdir())]
    assert sorted(record.manifest.repeat for record in records) == [0, 1]
    assert len({log_of(record) for record in records}) == 1
    assert [record.manifest.problems for record in records] == [[], []]
    bad = folder / "twice.toml"
    bad.write_text(mission.read_text().replace('binary = "heater"', 'binary = "heater"\narguments = ["twice"]'))
    done = rtqual("verify", bad, "--only", "ping", "--run-programs", "--out", tmp_path / "bad")
    assert done.returncode == 1
    assert "which had been answered before" in (tmp_path / "bad" / "verification.json").read_text()
