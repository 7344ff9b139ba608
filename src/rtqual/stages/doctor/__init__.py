# SPDX-License-Identifier: MIT
"""What this machine can do for rtqual, what is missing, and the command that mends it.

check.py    what a check is, and how checks are shown
tools.py    what the virtual board, the analysis and the report need
machine.py  this machine: its resources, and what decides latencies measured on it
"""

from rtqual.stages.doctor import machine, tools
from rtqual.stages.doctor.check import Check, as_json, demo_can_run, install_command, render

__all__ = ["Check", "as_json", "demo_can_run", "diagnose", "install_command", "render"]


def diagnose() -> list[Check]:
    """Look at everything; takes a few seconds, as guests are really started."""
    return [*tools.examine(), *machine.resources(), *machine.this_machine()]
