# SPDX-License-Identifier: MIT
"""The exit code of commands that run a campaign: which failures count."""

from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Ground
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.face.commands.running import RunOptions
from rtqual.reports.machine.junit import to_junit
from rtqual.stages.selection import Selection
from support.command import mission_text
from support.report_material import evidence

HERE = Group("footprint", "none", "local", 1, "here")
GUEST = Group("cyclictest", "none", "virtual", 1, "rt")
WHY = "it does not count"


def found(failed: Group, ground: Ground, *, alone: bool = False) -> Evidence:
    """The verdicts of the virtual board and of this machine, on the ground given."""
    guests, here = evidence().verdicts
    verdicts = (replace(here, ground=ground),) if alone else (guests, replace(here, ground=ground))
    return replace(evidence(), verdicts=verdicts, failures={failed: WHY})


@pytest.mark.parametrize(
    ("failed", "ground", "alone", "code"),
    [
        (HERE, Ground.REFERENCE, False, 0),  # a side figure
        (HERE, Ground.FLIGHT, False, 3),
        (GUEST, Ground.REFERENCE, False, 3),
        (HERE, Ground.REFERENCE, True, 3),  # nothing else was asked for
    ],
)
def test_a_failure_counts_where_something_is_judged_by_it(
    failed: Group, ground: Ground, alone: bool, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(mission_text("debian", "here"))
    mission, what = load_mission(path), found(failed, ground, alone=alone)

    def stage(campaign: Campaign, watcher: Watcher) -> Selection:
        return Selection(what, 1, {str(failed): WHY}, ())

    assert RunOptions(out=tmp_path / "out").of(stage, mission, "demo") == code
    assert WHY in capsys.readouterr().out  # told, whether it counts or not
    assert ('<error message="it does not count"' in to_junit(mission, what)) == (code == 3)
    assert WHY in to_junit(mission, what)
