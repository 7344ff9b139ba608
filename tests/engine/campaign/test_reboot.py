# SPDX-License-Identifier: MIT
"""A campaign over two kernels of this machine, the second after a reboot: nothing is replaced in rtqual.

`setarch --uname-2.6` stands for the reboot: the kernel itself then tells every process of the command, the agent and
the programs it starts included, another release.
"""

import json
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.protocols.record.store import Store
from support.command import rtqual_command

REBOOTED = ("setarch", platform.machine(), "--uname-2.6")
MISSION = """\
[mission]
name = "two-kernels"
title = "Two kernels of one machine"
purpose = "To choose between them."
duration = "1 h"

[[candidate]]
name = "here-now"
title = "This machine, as it runs"
this-machine = true
release = "{now}"

[[candidate]]
name = "here-then"
title = "This machine, after the reboot"
this-machine = true
release = "{then}"

[[requirement]]
name = "memory"
instrument = "footprint"
scalar = "ram_used"
at_most = "1000 GiB"

[[scale.demo.plan]]
instruments = ["footprint"]
runs = 2
"""


def under(personality: Sequence[str], *command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*personality, *map(str, command)], capture_output=True, text=True, check=False)


@pytest.fixture
def then() -> str:
    """What `uname -r` says after the reboot."""
    if shutil.which("setarch") is None:
        pytest.skip("A REAL REBOOT IS NOT TESTED: there is no setarch here (package util-linux)")
    told = under(REBOOTED, "uname", "-r").stdout.strip()
    if told in ("", platform.release()):
        pytest.skip("A REAL REBOOT IS NOT TESTED: `setarch --uname-2.6` changes no release here")
    return told


def select(personality: Sequence[str], mission: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    done = under(personality, *rtqual_command("select", mission, "--out", folder, "--json"))
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.guest
def test_the_same_command_under_another_kernel_goes_on_and_judges_both_in_one_verdict(
    tmp_path: Path, then: str
) -> None:
    now, mission, folder = platform.release(), tmp_path / "mission.toml", tmp_path / "out"
    mission.write_text(MISSION.format(now=now, then=then))
    first = select((), mission, folder)
    assert first.returncode == 3, first.stderr
    waits = f"this machine runs {now}, candidate here-then is {then}: boot it and run the same command again"
    assert list(json.loads(first.stdout)["failures"].values()) == [waits]
    assert json.loads(first.stdout)["answer"]["fly"] is None
    before = {path.name: (path / "manifest.json").read_bytes() for path in Store(folder / "records").paths()}
    assert len(before) == 2

    second = select(REBOOTED, mission, folder)
    assert second.returncode == 0, second.stderr
    told = json.loads(second.stdout)
    after = {path.name: (path / "manifest.json").read_bytes() for path in Store(folder / "records").paths()}
    assert len(after) == 4
    assert {name: after[name] for name in before} == before
    kernels = {
        (one.inputs.candidate, one.inputs.artefacts["kernel"].split()[0])
        for one in Store(folder / "records").read_all()
    }
    assert kernels == {("here-now", now), ("here-then", then)}
    (verdict,) = told["verdicts"]
    assert {one["candidate"]: [gate["outcome"] for gate in one["gates"]] for one in verdict["standings"]} == {
        "here-now": ["met"],
        "here-then": ["met"],
    }
    assert (told["failures"], told["records"]) == ({}, 4)

    back = select((), mission, folder)  # to the first kernel: nothing is left to do, and the verdict stays
    assert (back.returncode, json.loads(back.stdout)["verdicts"]) == (0, told["verdicts"])


@pytest.mark.guest
def test_a_kernel_that_was_rebooted_between_two_commands_measures_for_no_other(tmp_path: Path, then: str) -> None:
    """The wrong one runs: its candidate waits, whatever it is called."""
    mission, folder = tmp_path / "mission.toml", tmp_path / "out"
    mission.write_text(MISSION.format(now=platform.release(), then=f"{then}-other"))
    done = select(REBOOTED, mission, folder)
    assert done.returncode == 3
    assert not (folder / "records").exists() or not Store(folder / "records").paths()
    assert f"this machine runs {then}" in done.stderr
