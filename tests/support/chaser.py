# SPDX-License-Identifier: MIT
"""The chaser's programs (docking/chaser/), and the orbit's equations computed once more."""

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from support.built import built

SOURCE = Path(__file__).parents[2] / "docking/chaser"
Floats = npt.NDArray[np.float64]


@cache
def programs() -> Path:
    """Where rtqual-chaser-asan and docking_cw are."""
    return built(SOURCE, "rtqual-chaser-asan", "docking_cw")


def coasted(n: float, seconds: float, steps: int, state: Floats) -> Floats:
    """Position and velocity (m, m/s: radial, along, cross) after so many steps in closed form, by the program."""
    text = " ".join(map(repr, (n, seconds, steps, *(float(one) for one in state))))
    said = subprocess.run([programs() / "docking_cw"], input=text, capture_output=True, text=True, check=True).stdout
    return np.array([float(one) for one in said.split()])


def integrated(n: float, seconds: float, state: Floats, steps: int = 2000) -> Floats:
    """The same by Runge-Kutta from the differential equations: x'' = 3n²x + 2ny', y'' = -2nx', z'' = -n²z."""

    def rate(s: Floats) -> Floats:
        x, _, z, vx, vy, vz = s
        return np.array([vx, vy, vz, 3 * n * n * x + 2 * n * vy, -2 * n * vx, -n * n * z])

    h = seconds / steps
    for _ in range(steps):
        a = rate(state)
        b = rate(state + h / 2 * a)
        c = rate(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + rate(state + h * c))
    return state


def flown(**options: float) -> dict[str, float]:
    """An approach by a perfect sensor; a complaint of a sanitizer fails the test."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = subprocess.run(
        [programs() / "rtqual-chaser-asan", "--perfect", *words], capture_output=True, text=True, timeout=60, check=True
    )
    rows = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert rows.pop("ended") == "docked"
    assert rows.pop("pose_age_ns")
    return {name: float(value) for name, value in rows.items()}
