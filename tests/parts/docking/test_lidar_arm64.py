# SPDX-License-Identifier: MIT
"""The camera on 64-bit ARM: streams, faults and replugs, as on the PC."""

from pathlib import Path

import pytest

from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import Timing
from support.camera_faults import assert_costs_through_the_driver, assert_costs_through_uvcvideo

MISSION = Path(__file__).parents[3] / "docking/missions/docking-arm64.toml"
WAYS = {"lidar-mmap-simd": 1, "lidar-dmabuf": 1, "lidar-driver": 0}  # and how often raw bytes are copied


@pytest.mark.full  # three minutes of processor, with the boot
def test_ranges_faults_and_replugs_are_those_of_the_pc(tmp_path: Path) -> None:
    result = Campaign(load_mission(MISSION), "lidar", tmp_path / "out", workers=2).run(Watcher())
    assert result.failures == {}
    for one in result.records:
        assert one.manifest.timing == Timing.INSTRUCTIONS  # its repetition gave the same
        assert one.manifest.problems == []
    told = {
        one.inputs.instrument: {name: scalar.value for name, scalar in one.manifest.scalars.items()}
        for one in result.records
    }
    for name, copies in WAYS.items():
        assert (told[name]["frames_checked"], told[name]["frames_lost"]) == (120, 0)
        assert told[name]["raw_copies"] == copies
        # Six frames of search, and one of which way round the target is (docs/docking/pose.md); a pose of every other.
        poses = [told[name][f"poses_{status}"] for status in ("not_found", "degenerate", "valid")]
        assert poses == [6, 1, 53]
    assert_costs_through_uvcvideo(told["lidar-faults"])
    assert_costs_through_the_driver(told["lidar-faults-driver"])
