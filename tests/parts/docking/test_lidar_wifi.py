# SPDX-License-Identifier: MIT
"""Poses at another spacecraft: what is made of what both ends leave, and the whole in a guest."""

from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission.load import load_mission
from rtqual.protocols.record.schema import Timing
from rtqual_docking.air import AGE
from support.instrument_outputs import captured_text, read_text

LEFT = captured_text("lidar-wifi")


def test_ages_jitter_and_losses_are_those_of_what_came() -> None:
    measured = read_text("lidar-wifi", LEFT)
    ages, jitter = measured.series
    assert ages.info.name == AGE
    assert dict(zip(ages.values.tolist(), ages.counts.tolist(), strict=True)) == {
        3_000_000: 2, 3_050_000: 1, 3_100_000: 1, 3_200_000: 1, 4_000_000: 1,
    }  # fmt: skip
    assert jitter.values.tolist() == [50_000, 100_000, 200_000, 950_000, 1_000_000]
    told = {name: scalar.value for name, scalar in measured.scalars.items()}
    assert (told["poses_sent"], told["poses_came"], told["poses_came_twice"]) == (6, 5, 1)
    assert told["poses_lost"] == pytest.approx(100 / 6)
    assert told["stalest"] == 2 * 16_666_667 + 4_000_000  # pose 2 was the newest until 4 came


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("sent 6", "sent 7", "7 poses sent, 6 logged"),
        ("4 4000000", "7 4000000", "others than those came"),
        ("2.000 -20.500", "2 -20.500", "a line that is no pose"),
        ("sent 6 unsent", "rtqual-peer: no", "left no count of poses"),
        ("unsent 0", "unsent 7", "left no count of poses"),
        ("== sent", "== came\n0 1\n== sent", "a part twice"),
        ("5 1083333335", "4 1083333335", "that do not rise"),
        ("5 1083333335", "5 1083", "that do not rise"),
        ("== poses", "== others", "rtqual-peer's output has no part 'poses'"),
    ],
)
def test_what_both_ends_do_not_agree_on_is_no_result(was: str, now: str, told: str) -> None:
    assert was in LEFT
    with pytest.raises(RunFailed, match=told):
        read_text("lidar-wifi", LEFT.replace(was, now, 1))


def test_a_way_on_which_nothing_comes_has_no_ages() -> None:
    head, rest = LEFT.split("== sent", 1)
    with pytest.raises(RunFailed, match="1 of 6 poses came"):
        read_text("lidar-wifi", "\n".join(head.splitlines()[:2]) + "\n== sent" + rest)


# --- in a guest ---------------------------------------------------------------------------------------------------

MISSION = """
[mission]
name = "air"
title = "Air"
purpose = "Poses over the air."
duration = "1 h"

[[candidate]]
name = "debian-rt"
title = "Debian, PREEMPT_RT kernel"
package = "linux-image-rt-amd64"

[[scale.air.plan]]
instruments = ["lidar-wifi", "lidar-wifi-lossy"]
loads = ["hackbench-wifi"]
runs = 1
parameters.lidar-wifi = { poses = 120 }
parameters.lidar-wifi-lossy = { poses = 120, loss = 30 }
"""


@pytest.mark.full  # two minutes of processor
def test_poses_come_and_only_a_lossy_way_loses_some(tmp_path: Path) -> None:
    path = tmp_path / "air.toml"
    path.write_text(MISSION)
    result = Campaign(load_mission(path), "air", tmp_path / "out", workers=2).run(Watcher())
    assert result.failures == {}
    by_name = {one.inputs.instrument: one for one in result.records}
    whole, lossy = (
        {name: scalar.value for name, scalar in by_name[one].manifest.scalars.items()}
        for one in ("lidar-wifi", "lidar-wifi-lossy")
    )
    for one in by_name.values():
        assert one.manifest.timing == Timing.INSTRUCTIONS  # its repetition gave the same
        assert one.manifest.problems == []
    assert whole["poses_sent"] >= 120
    assert whole["poses_lost"] == whole["emulator_lost"] == 0
    assert 15 < lossy["poses_lost"] < 45  # of 120, each lost by chance 30 in 100: 3.6 standard deviations
    assert lossy["stalest"] > whole["stalest"]
    assert by_name["lidar-wifi"].series[0].values.max() < 50e6
