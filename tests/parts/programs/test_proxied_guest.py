# SPDX-License-Identifier: MIT
"""A link that is no good between the ground and a program that is: none of it passes in silence."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.command import Run
from support.heater import HEATER

PROXY = Path(__file__).parents[2] / "support/proxy.c"
# In the order of the proxy's numbers: what the procedure that asks for it must fail by.
WHY = {
    "none": "",
    "drop": "lost, there twice, or out of order",
    "delay": "the next came after 300.",
    "twice": "which had been answered before",
    "swap": "lost, there twice, or out of order",
    "flip": "a wrong checksum",
    "never": "did not come",
}
# Where nobody looks at counts and checksums.
WHY_UNCHECKED = {"drop": "accepted: did not come", "swap": "which had been completed before"}
PINGS = """title = "Pings over a link that does: {fault}"
verifies = ["TC-010"]
ends = "1 s"
[[step]]
at = "50 ms"
raw = "fa{number:02x}"
unanswered = true
expect = [{{ report = "HK", within = "300 ms" }}]
[[step]]
at = "100 ms"
times = 4
every = "100 ms"
send = "PING"
"""


@pytest.mark.guest
@pytest.mark.parametrize("checked", [True, False])
def test_what_a_link_does_to_answers_fails_by_its_name(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    """By a program of its own that stands between the two, and hurts one answer; the one that hurts none passes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "heater"
    shutil.copytree(HEATER, folder, ignore=shutil.ignore_patterns("heater", "procedures"))
    for source in (HEATER / "heater.c", PROXY):
        subprocess.run(["gcc", "-O2", "-static", "-o", folder / source.stem, source], check=True)
    (folder / "procedures").mkdir()
    expected = WHY if checked else {"none": "", **WHY_UNCHECKED}
    for number, fault in enumerate(WHY):
        if fault in expected:
            (folder / f"procedures/{fault}.toml").write_text(PINGS.format(fault=fault, number=number))
    more = 'arguments = ["listen"]\nfiles = { "/opt/proxy" = "proxy" }\nprepare = ["/opt/proxy > /dev/null 2>&1 &"]'
    text = (HEATER / "heater.toml").read_text().replace('binary = "heater"', f'binary = "heater"\n{more}')
    text = text.replace("udp:10025:10026", "connect:10035")
    mission = folder / "heater.toml"
    mission.write_text(
        text if checked else text.replace('check = ["ccsds-length", "crc16-ccitt", "ccsds-sequence"]', "")
    )
    out = tmp_path / "out"
    assert rtqual("verify", mission, "--run-programs", "--out", out).returncode == 1
    played = {row["procedure"]: row for row in json.loads((out / "verification.json").read_text())["procedures"]}
    assert played.keys() == expected.keys()
    for fault, why in expected.items():
        assert played[fault]["passed"] is not bool(why), (fault, played[fault]["why"])
        assert why in json.dumps(played[fault]), fault
