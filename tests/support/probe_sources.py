# SPDX-License-Identifier: MIT
"""Where the probe's sources are, and the families of benchmarks: those that every port has, and Linux's own."""

from pathlib import Path

PROBE = Path(__file__).parents[2] / "target/probe"
LINUX_ONLY = "beside"
FAMILIES = ("wakeup", "periodic", "itc", "primitives", "loop", "loaded", "memory")
