# SPDX-License-Identifier: MIT
"""`rtqual lidar`: the docking camera's frames to ranges by every way, on every kernel, and to poses along an approach.

The ways are instruments like any other (instrument/lidar/ways.py), so this is `rtqual select` at a scale whose plans
name some, with one approach (campaign/approach.py) for the report beside them.
"""

from rtqual.base.errors import BadInput
from rtqual.campaign import approach
from rtqual.campaign import folder as kept
from rtqual.campaign.run import Campaign, Watcher
from rtqual.instrument.lidar.ways import PREFIX
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.mission import Mission
from rtqual.stage.select import Selection, conclude, run


def lidar(campaign: Campaign, watcher: Watcher) -> Selection:
    """Fly the approach, stream on every candidate, report."""
    check(campaign.mission, campaign.scale)
    with kept.alone(campaign.folder):
        watcher.preparing("an approach of the docking target")
        return conclude(run(campaign, watcher, approach.fly()), campaign.folder, anew=False)


def check(mission: Mission, scale: str) -> None:
    """Raises BadInput where a scale streams from no camera."""
    asked = {name for plan in mission.scale(scale).plan for name in plan.instruments}
    if not any(name.startswith(PREFIX) for name in asked):
        known = ", ".join(name for name in INSTRUMENTS if name.startswith(PREFIX))
        raise BadInput(
            f"{mission.path or mission.mission.name}: scale {scale!r} streams from no camera: name one of {known} "
            "in a plan of the scale (docs/lidar.md)"
        )
