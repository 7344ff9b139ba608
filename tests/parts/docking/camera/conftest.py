# SPDX-License-Identifier: MIT
"""What the emulator's tests share: its programs, built once, and frames it has written."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.listening_camera import FRAMES, Camera
from support.software_camera import programs


@pytest.fixture(scope="session", name="programs")
def _programs() -> Path:
    return programs()


@pytest.fixture(scope="session")
def recording(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "frames"
    subprocess.run([programs / "ds325-emulator", "--write", path, "--frames", str(FRAMES), "--step", "5"], check=True)
    return path


@pytest.fixture
def camera(programs: Path, recording: Path, tmp_path: Path) -> Iterator[Callable[..., Camera]]:
    started: list[Camera] = []

    def start(*arguments: str) -> Camera:
        command = [programs / "ds325-emulator-asan", "--listen", "0", "--replay", recording, *arguments]
        started.append(Camera(command, tmp_path))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()
