# SPDX-License-Identifier: MIT
"""The flight program's way by the camera's driver, on a ring that the test writes: what is told of cameras that come
and go, what counts as lost, what is written over meanwhile, and which parameters the modules are given."""

import subprocess
from pathlib import Path

import pytest

from support.flight_programs import flight_program


@pytest.mark.parametrize("build", ["flight_way", "flight_way-asan"])
def test_each_frame_each_loss_and_each_coming_of_the_camera_is_told_once(tmp_path: Path, build: str) -> None:
    done = subprocess.run([flight_program(build), tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
