# SPDX-License-Identifier: MIT
"""The template of missions that dock (templates/)."""

from rtqual.stages.init import Kind

DOCKING = Kind("docking", "docking with a depth camera", "100 us", ("hackbench",), "rtqual_docking")
