# SPDX-License-Identifier: MIT
"""Guests boot beside other cells, and what a campaign gives does not depend on it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.engine.boards.saved import saved
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import Campaign, Watcher, _next, _system
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.store import Store
from support.command import Run, mission_text


def test_no_cell_waits_for_a_guest_that_another_boots(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(mission_text("debian-rt", "debian"))
    cells = plan(load_mission(path), "demo")
    first, *others = cells
    beside = _next(others, [first], ())
    assert beside and beside.candidate != first.candidate
    alike = [cell for cell in cells if cell.candidate == first.candidate]
    assert _next(alike[1:], [first], ()) == alike[1]  # all wait: the first does
    assert _next(others, [first], {_system(first)}) == others[0]


def test_the_boot_is_measured_in_a_guest_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    text = '\n[[scale.demo.plan]]\ninstruments = ["footprint", "sysbench-fileio-root"]\nruns = 1\n'
    path.write_text(mission_text("debian-rt") + text)
    machines = {cell.instrument.name: cell.machine for cell in plan(load_mission(path), "demo")}
    whole = {name: machine.whole_boot for name, machine in machines.items()}
    assert whole == {"cyclictest": False, "footprint": True, "sysbench-fileio-root": False}
    assert [machines[name].disks for name in whole] == [False, False, True]


@pytest.mark.parametrize("workers", [1, 2])
def test_records_do_not_depend_on_what_boots_beside_them(
    workers: int, campaign: Path, mission_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guests are booted again for this one, where the other campaign may have found them in the cache."""
    guests: list[Path] = []

    def fresh(folder: Path, name: str, make: Callable[[Path], None]) -> object:
        guests.append(folder / name)
        return saved(tmp_path / "guests", name, make)

    monkeypatch.setattr("rtqual.engine.boards.virtual.saved", fresh)
    Campaign(load_mission(mission_file), "demo", tmp_path / "out", workers=workers).run(Watcher())
    hashes = [{r.inputs.key(): r.manifest.hash for r in Store(one / "records").read_all()}
              for one in (campaign, tmp_path / "out")]  # fmt: skip
    assert len(guests) == 1 and hashes[0] == hashes[1]


def test_a_second_campaign_boots_nothing_and_a_finished_ones_report_is_left(
    rtqual: Run, campaign: Path, mission_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rtqual.engine.boards.virtual.VirtualBoard._boot", lambda *_: pytest.fail("it boots"))
    folder = tmp_path / "out"
    assert rtqual("select", mission_file, "--out", folder).returncode == 0
    assert len(Store(folder / "records").paths()) == len(Store(campaign / "records").paths())

    reports = [folder / name for name in ("report.html", "report.md", "report.pdf", "junit.xml")]
    written = [path.stat().st_mtime_ns for path in reports]
    assert rtqual("select", mission_file, "--out", folder).returncode == 0
    assert [path.stat().st_mtime_ns for path in reports] == written
    content = reports[0].read_bytes()
    reports[0].write_bytes(content.replace(b"e", b"f", 1))
    assert rtqual("select", mission_file, "--out", folder).returncode == 0
    assert reports[0].read_bytes() == content
