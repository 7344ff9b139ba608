# SPDX-License-Identifier: MIT
"""Our pose beside two methods that are not ours, on the same frames (docking/bench/pose_others.py)."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[4] / "docking/bench"))


@pytest.mark.full  # half a minute of processor
def test_ours_is_nearer_to_the_truth_and_less_often_wrong_and_sure() -> None:
    pytest.importorskip("cv2", reason="NOTHING WAS COMPARED: `make .venv/.opencv` installs what is missing")
    from pose_flights import flight
    from pose_others import compare

    found = compare([replace(flight(29, n, 12), loss=0.0) for n in range(24)])
    answered = {name: rows[~np.isnan(rows[:, 1])] for name, rows in found.items()}
    assert all(len(rows) >= 20 for rows in answered.values())
    ours = answered.pop("ours")
    for other in answered.values():
        assert np.median(ours[:, 1]) < np.median(other[:, 1])
        assert np.median(ours[:, 2]) < np.median(other[:, 2])
        assert np.mean(ours[:, 3] > 6) < np.mean(other[:, 3] > 6)
