# SPDX-License-Identifier: MIT
"""Where poses go for a controller that is a program of its own; that they come is seen in a guest (chaser)."""

import subprocess
from pathlib import Path

import pytest

from support.flight_programs import flight_program


@pytest.mark.parametrize("place", ["file", "absent", "."])
def test_poses_go_into_a_fifo_and_nowhere_else(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("kept")
    command = [flight_program("ds325-flight"), "--no-realtime", "--port=1", f"--poses={tmp_path / place}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is no FIFO that can be opened: make one with mkfifo" in done.stderr
    assert (tmp_path / "file").read_text() == "kept"
