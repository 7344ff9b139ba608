# SPDX-License-Identifier: MIT
"""The pose of a target in damaged frames: it is tracked, lost and found again, and no answer is nonsense."""

import re
import subprocess
from pathlib import Path

import pytest

from support.built import built
from support.software_camera import programs

POSE = Path(__file__).parents[2] / "flight" / "pose"


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
