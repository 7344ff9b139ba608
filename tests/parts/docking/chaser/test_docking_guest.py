# SPDX-License-Identifier: MIT
"""The closed loop in a guest: camera, uvcvideo, flight program, chaser, and frames that take no time of the guest's."""

from pathlib import Path

import pytest

from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission.load import load_mission
from rtqual.protocols.record.schema import Timing

MISSION = """
[mission]
name = "loop"
title = "Loop"
purpose = "The closed loop."
duration = "1 h"

[[candidate]]
name = "debian-rt"
title = "Debian, PREEMPT_RT kernel"
package = "linux-image-rt-amd64"

[scale.loop]

[[scale.loop.plan]]
candidates = ["debian-rt"]
instruments = ["docking", "docking-100ms"]
runs = 1
"""


@pytest.mark.full
def test_it_docks_repeats_and_a_late_pose_costs_accuracy(tmp_path: Path) -> None:
    path = tmp_path / "loop.toml"
    path.write_text(MISSION)
    made = Campaign(load_mission(path), "loop", tmp_path / "out", workers=2)
    result = made.run(Watcher())
    assert result.failures == {}
    by_name = {one.inputs.instrument: one for one in result.records}
    prompt, late = (
        {name: scalar.value for name, scalar in by_name[one].manifest.scalars.items()}
        for one in ("docking", "docking-100ms")
    )
    for one in by_name.values():
        assert one.manifest.timing == Timing.INSTRUCTIONS  # its repetition gave the same
        assert one.manifest.problems == []
        assert one.inputs.artefacts["scene"]
    assert prompt["poses_other"] == prompt["emulator_lost"] == 0
    assert prompt["lateral_last"] < 1.0 < late["lateral_last"]
    (age,) = by_name["docking"].series
    assert age.values.max() < 30e6  # with frames made in the guest's own time it would be a quarter of a second
