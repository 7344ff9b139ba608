# SPDX-License-Identifier: MIT
"""The kernel tailored to the docking mission, watched in its smallest scenario and trimmed (`make test-manual`): two
or three kernels, of which the first may be in the cache, and twice the scenario."""

from pathlib import Path

import pytest

from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.parts.tailor.stage import tailored
from rtqual.parts.tailor.trim.stage import trim
from rtqual.parts.tailor.trim.trimmed import ACCEPTED

MISSION = Path(__file__).parents[3] / "docking/missions/docking.toml"


@pytest.mark.manual
def test_the_docking_kernel_is_trimmed_by_what_its_scenario_uses(tmp_path: Path) -> None:
    mission = load_mission(MISSION)
    candidate = next(one for one in tailored(mission, "tailor-smoke") if not one.root)
    found = trim(Campaign(mission, "tailor-smoke", tmp_path), candidate, Watcher())
    assert {"vhci_hcd", "mac80211_hwsim"} <= set(found.modules)  # loaded before the jobs begin; vivid in one
    assert 0.1 < found.functions_entered / found.functions < 0.6
    unused = {*(one.symbol for one in found.proposals), *(one.symbol for one in found.kept)}
    # What the exercise does was seen, and what it does not do was not.
    assert not unused & {"USB", "USB_STORAGE", "EXT4_FS", "MAC80211", "VIDEO_DEV", "SERIAL_8250"}
    assert {"USB_EHCI_HCD", "CPU_SUP_AMD"} <= unused  # neither on the virtual board
    accepted = [one for one in found.proposals if one.state == ACCEPTED]
    if accepted:
        assert found.after and found.after.image_size_b < found.before.image_size_b
        assert found.after.symbols_on < found.before.symbols_on
