# SPDX-License-Identifier: MIT
"""The template of missions that dock (templates/)."""

from rtqual.stages.init import MissionTemplate

DOCKING = MissionTemplate("docking", "docking with a depth camera", "100 us", ("hackbench",), "rtqual_docking")
