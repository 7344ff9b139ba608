# SPDX-License-Identifier: MIT
"""Procedures for a program of the user's in a guest: what it does is seen, and what it does wrong."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rtqual.engine.procedure.played_log import log_of
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


_CUT = """title = "The link is cut, and the clock steps"
verifies = ["TC-010"]
ends = "3 s"
[[step]]
at = "100 ms"
times = 5
every = "50 ms"
send = "PING"
expect = [{ answer = "completed", since = "accepted", within = "5 ms" }]
[[step]]
at = "500 ms"
fault = { link = "close" }
forbid = [{ report = "HK", within = "900 ms" }]
[[step]]
at = "1500 ms"
fault = { link = "open" }
[[step]]
at = "2 s"
fault = { clock = "+1 h" }
[[step]]
at = "2200 ms"
send = "PING"
"""
_HK_OCTETS = 26


@pytest.mark.guest
@pytest.mark.parametrize(("way", "link"), [("listen", "connect:10025"), ("connect", "listen:10026")])
def test_a_link_over_tcp_is_played_cut_and_taken_up_again(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch, way: str, link: str
) -> None:
    """While it is cut nobody takes what the program says, so nothing old comes when it is there again."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "heater"
    shutil.copytree(HEATER, folder, ignore=shutil.ignore_patterns("heater"))
    subprocess.run(["gcc", "-O2", "-static", "-o", folder / "heater", HEATER / "heater.c"], check=True)
    (folder / "procedures/cut.toml").write_text(_CUT)
    mission = folder / "heater.toml"
    text = mission.read_text().replace('binary = "heater"', f'binary = "heater"\narguments = ["{way}"]')
    mission.write_text(text.replace("udp:10025:10026", link))
    out = tmp_path / "out"
    rtqual("verify", mission, "--only", "cut", "--run-programs", "--out", out)
    logs = {log_of(read(path)) for path in (out / "records").iterdir()}
    (log,) = logs
    lines = [line.split() for line in log.splitlines()]
    up_ns = max(int(line[0]) for line in lines if line[1] == "up")
    assert up_ns > 1_500_000_000
    first = sum(len(line[2]) // 2 for line in lines if line[1] == "recv" and 0 <= int(line[0]) - up_ns < 90_000_000)
    assert first < 2 * _HK_OCTETS
