# SPDX-License-Identifier: MIT
"""Where the probe's sources are, and the families of benchmarks that every port has."""

from pathlib import Path

PROBE = Path(__file__).parents[2] / "target/probe"
FAMILIES = ("wakeup", "periodic", "itc", "primitives", "loop", "memory")
