# SPDX-License-Identifier: MIT
"""Another kernel's source: the Raspberry Pi's, where RTQUAL_RPI_TREE names it (github.com/raspberrypi/linux, 6.12 or
later). Its own configuration completed and judged; the mission's resolved for the board."""

import os
from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64
from rtqual.engine.kernel.lint.judged_system import from_config
from rtqual.engine.kernel.lint.lint_rules import Severity, State, lint
from rtqual.engine.kernel.needs import check_needs
from rtqual.engine.mission import load_mission
from rtqual.parts.tailor.configure.resolve import resolve
from rtqual.parts.tailor.configure.rules import removals
from rtqual.parts.tailor.configure.tree import Tree, open_tree
from rtqual.parts.tailor.lint.stage import lint as lint_command

pytestmark = pytest.mark.manual  # 30 s of processor
MISSION = Path(__file__).parents[3] / "docking/missions/docking-arm64.toml"
OWN = ("bcm2711_defconfig", "defconfig")  # the Raspberry Pi 4's; what every tree has


@pytest.fixture
def tree() -> Tree:
    place = os.environ.get("RTQUAL_RPI_TREE")
    if place is None:
        pytest.skip("NO OTHER TREE IS RESOLVED: set RTQUAL_RPI_TREE to the folder of the Raspberry Pi's kernel source")
    return open_tree(Path(place), ARM64)


def test_its_own_configuration_is_completed_and_judged(tree: Tree) -> None:
    path = next(one for name in OWN if (one := tree.path / "arch/arm64/configs" / name).is_file())
    linted = lint_command(path, board=None, candidate=None, boot=None, cpus=4, tree=str(tree.path))
    found = {one.rule.id: one.state for one in linted.findings}
    assert linted.system.version == tree.number
    assert (found["futex-pi"], found["high-res-timers"], found["preempt-rt"]) == (
        State.HOLDS,
        State.HOLDS,
        State.FOUND,
    )


def test_the_docking_missions_kernel_is_resolved_from_it(tree: Tree, tmp_path: Path) -> None:
    mission = load_mission(MISSION)
    (candidate,) = [one for one in mission.candidates if one.tailor]
    assert candidate.tailor
    needs = (*mission.mission.needs, *candidate.tailor.needs)
    found = resolve(tree, needs, start="minimal", removals=removals(), folder=tmp_path)
    text = found.config_path.read_text()
    assert all(found.config.get(name) == "y" for name in ("PREEMPT_RT", "ARCH_BCM2835", "USB_VIDEO_CLASS", "MAC80211"))
    assert [one.reason for one in check_needs(mission.mission.needs, text) if not one.ok] == []
    findings = [one for one in lint(from_config(text, "tailored", cpus=4)) if one.state == State.FOUND]
    assert [one.rule.id for one in findings if one.rule.severity != Severity.NOTE] == []
