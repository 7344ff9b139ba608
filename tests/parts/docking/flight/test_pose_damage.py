# SPDX-License-Identifier: MIT
"""The pose of a target in damaged frames: it is tracked, lost and found again, and no answer is nonsense."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.built import built
from support.software_camera import programs

POSE = Path(__file__).parents[4] / "docking/flight/pose"


@pytest.mark.parametrize("seed", [1, *(pytest.param(more, marks=pytest.mark.guest) for more in (2, 3))])
@pytest.mark.parametrize("depth", [0.6, 0.35])
def test_damaged_frames_never_break_it_and_it_tracks(tmp_path: Path, seed: int, depth: float) -> None:
    """Under the address and undefined-behaviour sanitizers; each answer is finite, or it is "not found"."""
    flight = tmp_path / "flight"
    ends = ("--at", f"0 0.02 -0.01 {depth} 10 6 -8", "--at", f"1 0 0 {0.9 * depth} 3 1 -2")
    emulator = programs() / "ds325-emulator"
    subprocess.run([emulator, "--write", flight, "--frames", "20", "--step", "0.016666667", *ends], check=True)
    done = subprocess.run(
        [built(POSE, "pose-fuzz") / "pose-fuzz", str(seed), "1000", flight],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    seen = re.match(r"(\d+) not found, \d+ degenerate, (\d+) ok; (\d+) tracked, (\d+) times found", done.stdout)
    assert seen
    missed, ok, tracked, found = map(int, seen.groups())
    assert min(ok, tracked) > 500
    assert found >= 2
    assert missed > 0


@pytest.mark.guest
@pytest.mark.parametrize("rows", [1, 2, -3])
def test_a_picture_that_is_shifted_once_is_not_believed_as_if_the_target_had_moved(tmp_path: Path, rows: int) -> None:
    """By 2.6 to 8 mm at 0.58 m: it was 13 deviations off, and `ok`."""
    file, shifted, frames = tmp_path / "flight", 20, 40
    ends = ("--at", "0 0.02 -0.015 0.6 4 2 -3", "--at", "0.7 0.018 -0.013 0.565 3.8 1.9 -2.9")
    emulator = programs() / "ds325-emulator"
    subprocess.run([emulator, "--write", file, "--frames", str(frames), "--seed", "3", *ends], check=True)
    words = np.fromfile(file, np.uint8).reshape(frames, 240, -1)

    def answers() -> list[dict[str, Any]]:
        done = subprocess.run([built(POSE, "ds325-pose") / "ds325-pose", file], capture_output=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    true = answers()
    words[shifted] = np.roll(words[shifted], rows, 0)
    words.tofile(file)
    said = answers()
    found = [k for k in range(shifted, frames) if said[k]["status"] != "not found"]
    assert shifted in found
    assert all(said[k]["status"] == "ok" for k in range(shifted + 15, frames))
    for k in found:
        off = np.subtract(said[k]["position_m"], true[k]["position_m"])
        covariance = np.reshape(said[k]["covariance"], (6, 6))[:3, :3]
        assert off @ np.linalg.solve(covariance, off) < 9, k
