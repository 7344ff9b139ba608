# SPDX-License-Identifier: MIT
"""Candidates of this machine that state their kernels: one waits for its reboot, and both end in one verdict."""

import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards import local
from rtqual.engine.boards.local import LocalBoard, RunningKernel, ran
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.campaign.stated import why_waits
from rtqual.engine.mission import Candidate, load_mission
from rtqual.protocols.record.store import Store
from rtqual.stages.selection import Selection, select
from support.command import Run

STOCK = "6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1"
RT = "6.1.0-18-rt-amd64 #1 SMP PREEMPT_RT Debian 6.1.76-1"
MISSION = """\
[mission]
name = "reboot"
title = "Two kernels of one machine"
purpose = "To choose between them."
duration = "1 h"

[[candidate]]
name = "here-rt"
title = "This machine, PREEMPT_RT"
this-machine = true
{first}

[[candidate]]
name = "here"
title = "This machine, stock kernel"
this-machine = true
{second}

[[requirement]]
name = "memory"
instrument = "footprint"
scalar = "ram_used"
at_most = "1000 GiB"

[[scale.demo.plan]]
instruments = ["footprint"]
runs = 2
"""
BY_RELEASE = ('release = "6.1.0-18-rt-amd64"', 'release = "6.1.0-18-amd64"')
BY_KIND = ("preempt-rt = true", "preempt-rt = false")


@pytest.fixture
def boot(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What this machine runs from now on: the last entry."""
    kernels = [STOCK]
    monkeypatch.setattr(local, "running", lambda: ran(kernels[-1]))
    monkeypatch.setattr("rtqual.engine.campaign.stated.running", lambda: ran(kernels[-1]))
    yield kernels


class Heard(Watcher):
    def __init__(self) -> None:
        self.told: list[str] = []
        self.ran: list[str] = []

    def waits(self, cells: Sequence[Cell], why: str) -> None:
        assert cells
        self.told.append(why)

    def started(self, cell: object) -> None:
        self.ran.append(str(cell))


def run(mission: Path, folder: Path) -> tuple[Selection, Heard]:
    heard = Heard()
    return select(Campaign(load_mission(mission), "demo", folder), heard), heard


def mission_at(folder: Path, stated: tuple[str, str]) -> Path:
    path = folder / "mission.toml"
    path.write_text(MISSION.format(first=stated[0], second=stated[1]))
    return path


@pytest.mark.guest
@pytest.mark.parametrize("stated", [BY_RELEASE, BY_KIND])
def test_a_campaign_goes_on_after_the_reboot_and_judges_both_in_one_verdict(
    tmp_path: Path, boot: list[str], stated: tuple[str, str]
) -> None:
    mission, folder = mission_at(tmp_path, stated), tmp_path / "out"
    first, heard = run(mission, folder)
    assert len(heard.told) == 1
    assert "this machine runs 6.1.0-18-amd64, candidate here-rt is " in heard.told[0]
    assert heard.told[0].endswith(": boot it and run the same command again")
    assert len(heard.ran) == 2
    assert all("here:" in cell or "here," in cell for cell in heard.ran)
    assert list(first.failures.values()) == heard.told
    before = {path.name: path.stat().st_mtime_ns for path in Store(folder / "records").paths()}

    boot.append(RT)
    campaign = Campaign(load_mission(mission), "demo", folder)
    assert {cell.candidate.name for cell in campaign.waiting()} == {"here-rt"}
    second, heard = run(mission, folder)
    assert (second.failures, heard.told) == ({}, [])
    assert second.records == 4
    after = {path.name: path.stat().st_mtime_ns for path in Store(folder / "records").paths()}
    assert {name: after[name] for name in before} == before
    told = {(one.inputs.candidate, one.inputs.artefacts["kernel"]) for one in Store(folder / "records").read_all()}
    assert told == {("here", STOCK), ("here-rt", RT)}
    (verdict,) = second.evidence.verdicts
    assert {one.candidate for one in verdict.standings} == {"here", "here-rt"}

    boot.append(STOCK)
    heard = run(mission, folder)[1]
    assert (heard.ran, heard.told) == ([], [])


@pytest.mark.guest
def test_a_record_of_another_kernel_is_not_taken_for_the_one_stated(tmp_path: Path, boot: list[str]) -> None:
    """It was made while the mission stated nothing."""
    mission, folder = mission_at(tmp_path, BY_RELEASE), tmp_path / "out"
    stating = mission.read_text()
    alone = stating[: stating.index('[[candidate]]\nname = "here"')] + stating[stating.index("[[requirement]]") :]
    mission.write_text(alone.replace(BY_RELEASE[0], ""))
    assert run(mission, folder)[0].records == 2
    mission.write_text(stating)
    assert len(Campaign(load_mission(mission), "demo", folder).waiting()) == 4
    selection, heard = run(mission, folder)
    assert selection.records == 2
    assert len(heard.told) == 1


@pytest.mark.guest
def test_the_configuration_of_a_kernel_that_waits_is_the_one_that_was_kept(
    tmp_path: Path, boot: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The running kernel's would be another's."""
    monkeypatch.setattr(LocalBoard, "config", lambda _: f"# {boot[-1]}\n")
    mission, folder = mission_at(tmp_path, BY_RELEASE), tmp_path / "out"
    run(mission, folder)
    boot.append(RT)
    run(mission, folder)
    configs = {path.stem: path.read_text() for path in (folder / "configs").iterdir()}
    assert configs == {"here": f"# {STOCK}\n", "here-rt": f"# {RT}\n"}


def test_where_every_candidate_waits_the_command_fails_with_what_to_boot(tmp_path: Path, boot: list[str]) -> None:
    boot.append("6.12.0-1-amd64 #1 SMP PREEMPT_DYNAMIC")
    with pytest.raises(RunFailed, match=r"candidate here-rt is 6\.1\.0-18-rt-amd64: boot it"):
        run(mission_at(tmp_path, BY_RELEASE), tmp_path / "out")


@pytest.mark.guest
def test_the_command_ends_with_3_and_one_line_a_candidate(tmp_path: Path, rtqual: Run) -> None:
    stated = ('release = "0.0.1-none"', f'release = "{platform.release()}"')
    done = rtqual("select", mission_at(tmp_path, stated), "--out", tmp_path / "out")
    assert done.returncode == 3
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("waiting")]
    assert line == (
        f"waiting 2 runs: this machine runs {platform.release()}, candidate here-rt is 0.0.1-none: "
        "boot it and run the same command again"
    )


@pytest.mark.parametrize(
    ("told", "is_rt"),
    [(STOCK, False), (RT, True), ("4.19.0-rt #1 SMP PREEMPT RT Debian", True), ("5.0 #1 SMP PREEMPT_RTX", False)],
)
def test_a_kernel_tells_by_its_version_whether_it_is_a_real_time_one(told: str, is_rt: bool) -> None:
    assert ran(told) == RunningKernel(told, is_rt)
    assert ran(told, realtime=True).preempt_rt


def test_what_waits_says_what_it_is(boot: list[str]) -> None:
    base = {"name": "x", "title": "x", "this-machine": True}
    assert why_waits(Candidate.model_validate(base)) == ""
    assert "is a PREEMPT_RT kernel" in why_waits(Candidate.model_validate({**base, "preempt-rt": True}))
    boot.append(RT)
    assert "is a kernel without PREEMPT_RT" in why_waits(Candidate.model_validate({**base, "preempt-rt": False}))
