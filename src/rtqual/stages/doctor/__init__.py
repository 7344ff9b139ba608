# SPDX-License-Identifier: MIT
"""What this machine can do for rtqual, what is missing, and the command that mends it.

looked_at.py     what a check is, and how checks are shown
tools.py         what the virtual board, the analysis and the report need
this_machine.py  this machine: its resources, and what decides latencies measured on it
"""

from rtqual.engine.mission import Mission
from rtqual.stages.doctor import this_machine, tools
from rtqual.stages.doctor.looked_at import DoctorCheck, apt_line, as_json, demo_can_run, install_command, render

__all__ = ["DoctorCheck", "as_json", "demo_can_run", "diagnose", "install_command", "install_for", "render"]


def diagnose() -> list[DoctorCheck]:
    """Look at everything; takes a few seconds, as guests are really started."""
    return [*tools.examine(), *this_machine.resources(), *this_machine.this_machine()]


def install_for(mission: Mission) -> str:
    """One line for a shell that installs what a mission needs and this machine lacks; empty where nothing is."""
    return apt_line(tools.missing_for(mission))
