# SPDX-License-Identifier: MIT
"""`rtqual lidar`: the docking camera's frames to ranges by every way, on every kernel, and to poses along an approach.

The ways are instruments like any other (ways.py), so this is `rtqual select` at a scale whose plans
name some, with one approach (docking/rtqual_docking/approach.py) for the report beside them.
"""

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import Mission
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.stages.selection import Selection, conclude, run
from rtqual_docking import approach
from rtqual_docking.ways import PREFIX


def lidar(campaign: Campaign, watcher: Watcher) -> Selection:
    """Fly the approach, stream on every candidate, report."""
    check(campaign.mission, campaign.scale)
    with kept.alone(campaign.folder):
        watcher.preparing("an approach of the docking target")
        return conclude(run(campaign, watcher, {approach.APPROACH.file: approach.fly()}), campaign.folder, anew=False)


def check(mission: Mission, scale: str) -> None:
    """Raises BadInput where a scale streams from no camera."""
    asked = {name for plan in mission.scale(scale).plan for name in plan.instruments}
    if not any(name.startswith(PREFIX) for name in asked):
        known = ", ".join(name for name in all_instruments() if name.startswith(PREFIX))
        raise BadInput(
            f"{mission.path or mission.mission.name}: scale {scale!r} streams from no camera: name one of {known} "
            "in a plan of the scale (docs/docking/lidar.md)"
        )
