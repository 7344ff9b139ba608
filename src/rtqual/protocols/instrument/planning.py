# SPDX-License-Identifier: MIT
"""What the estimates of running times share. They are for planning only.

Their constants were seen on the virtual board: one CPU, 2 ns an instruction.
"""

STARTUP_S = 0.05  # load a program, start its threads
WAKEUP_S = 45e-6  # wake a thread that waits for its time, and wait again

_SLOWDOWN = {"none": 1.0, "hackbench": 12.0}  # of a program without real-time priority


def slowdown(load: str) -> float:
    """How many times longer a program of normal priority takes under a load: its share of one CPU."""
    return _SLOWDOWN.get(load, 2.0)
