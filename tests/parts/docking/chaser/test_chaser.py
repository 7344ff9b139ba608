# SPDX-License-Identifier: MIT
"""The chaser: its dynamics against the equations of Clohessy and Wiltshire, its controller against a perfect sensor."""

import struct
import subprocess
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from rtqual.base.errors import RunFailed
from support.chaser import coasted, flown, integrated, programs
from support.instrument_outputs import captured_text, read_text

RATE = 0.0011  # rad/s
POSE_OK = 2  # docking/flight/pose/pose.h
STATES = [
    np.array([0.0, -1.0, 0.0, 0.0, 0.06, 0.0]),  # the approach's own
    np.array([120.0, -800.0, 45.0, 0.3, -0.5, 0.2]),
]
SEEDS = range(1, 16)


@pytest.mark.parametrize("state", STATES, ids=["near", "far"])
@pytest.mark.parametrize("seconds", [5.0, 600.0, 5712.0])
def test_coasting_is_what_the_differential_equations_give(state: np.ndarray, seconds: float) -> None:
    assert coasted(RATE, seconds, 1, state) == pytest.approx(integrated(RATE, seconds, state), rel=1e-8, abs=1e-9)


def test_steps_add_up_to_the_whole() -> None:
    assert coasted(RATE, 600.0, 60_000, STATES[1]) == pytest.approx(coasted(RATE, 600.0, 1, STATES[1]), rel=1e-8)


def test_what_is_known_of_such_orbits() -> None:
    """An ellipse of twice its height closes where vy = -2nx; what drifts with it is level in radius."""
    period_s = 2 * np.pi / RATE
    closed = np.array([10.0, 0.0, 5.0, 0.0, -2 * RATE * 10.0, 0.0])
    assert coasted(RATE, period_s, 1, closed) == pytest.approx(closed, abs=1e-9)
    assert coasted(RATE, period_s / 4, 1, closed)[:2] == pytest.approx([0.0, -20.0], abs=1e-9)
    level = np.array([10.0, 0.0, 0.0, 0.0, -1.5 * RATE * 10.0, 0.0])
    assert coasted(RATE, 1000.0, 1, level)[[0, 3]] == pytest.approx([10.0, 0.0], abs=1e-9)


def test_with_a_perfect_sensor_and_a_still_target_it_meets_the_axis() -> None:
    """Thrusters fire whole milliseconds: 0.05 mm/s, and so much is left of every speed."""
    for seed in SEEDS:
        told = flown(seed=seed, swing_deg=0)
        assert told["lateral_um"] < 100
        assert told["drift_um_s"] < 200
        assert told["closing_um_s"] == pytest.approx(10_000, abs=1_200)
        assert told["angle_urad"] == 0


def test_a_late_pose_costs_accuracy() -> None:
    late = {ms: median(flown(seed=seed, delay_ms=ms)["last_rms_um"] for seed in SEEDS) for ms in (0, 50, 100)}
    assert late[0] < 700
    assert late[50] > 1.1 * late[0]
    assert late[100] > 1.5 * late[50]


def test_a_delay_of_the_sensor_is_a_delay() -> None:
    """Held back or old when it comes: the controller does not know which."""
    told = flown(seed=3, delay_ms=30, sensor_ms=20), flown(seed=3, delay_ms=50)
    assert told[0] == told[1]


def test_the_same_seed_flies_the_same_and_another_does_not() -> None:
    assert flown(seed=5) == flown(seed=5) != flown(seed=6)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("lateral_um=643.2", "lateral_um=128269.9", "missed the port: they touched 128 mm beside its axis"),
        ("pose_age_ns=40000000", "pose_age_ns=1001000000", "had no pose for 1.001 s, and flew on blindly"),
    ],
)
def test_who_flies_on_without_poses_or_misses_the_port_has_not_docked(old: str, new: str, told: str) -> None:
    """The first is what the chaser says where poses end, or are no numbers, after the thirtieth."""
    text = captured_text("docking")
    assert old in text
    with pytest.raises(RunFailed, match=told):
        read_text("docking", text.replace(old, new))
    assert read_text("docking-20ms", text.replace("pose_age_ns=40000000", "pose_age_ns=1020000000")).series


def test_no_thruster_fires_for_a_pose_that_is_no_number(tmp_path: Path) -> None:
    """More of them than it takes to begin; it stays where it was, for some of its periods."""
    steered, poses = tmp_path / "steered", tmp_path / "poses"
    command = [programs() / "rtqual-chaser-asan", f"--steered={steered}", f"--poses={poses}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as chaser:
        assert chaser.stdout is not None
        assert chaser.stdout.readline() == b"ready\n"
        before = _looked(steered)
        told = struct.pack("QII10d", 1, POSE_OK, 0, 0.0, np.nan, 0.6, 0.0, 0.0, np.inf, 1.0, 0.0, 0.0, 0.0)
        poses.write_bytes(told * 40)
        while _looked(steered)[0] < before[0] + 20:
            assert chaser.poll() is None
        chaser.kill()
    assert _looked(steered)[1:] == before[1:]


def _looked(steered: Path) -> tuple[float, ...]:
    """The turn, twice a period one more; position and velocity."""
    turn, _, _, *state = struct.unpack_from("IIQ6d", steered.read_bytes())
    return turn, *state


@pytest.mark.parametrize("arguments", [[], ["--steered=x"], ["--perfect", "--poses=x"], ["--delay-ms=3000"]])
def test_what_makes_no_sense_is_refused_in_a_line(arguments: list[str]) -> None:
    done = subprocess.run([programs() / "rtqual-chaser-asan", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
