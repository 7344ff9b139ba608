# SPDX-License-Identifier: MIT
"""Frames of a target that another program steers, made when they are due."""

import os
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.listening_camera import Camera
from support.software_camera import FRAME_BYTES

STEERED = struct.Struct(
    "=I4xQ3d3d4d"
)  # docking/camera/software/live.h: turn, ns, position, velocity, quaternion (w, x, y, z)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def steered(path: Path, position: tuple[float, ...], velocity: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Path:
    """Make the file, or write into it: it is mapped, so cutting it short would end whoever looks (SIGBUS)."""
    words = STEERED.pack(2, time.monotonic_ns(), *position, *velocity, *UPRIGHT)
    path.touch()
    with path.open("r+b", buffering=0) as file:
        file.write(words)
    return path


@contextmanager
def listening(programs: Path, folder: Path, *arguments: str) -> Iterator[Camera]:
    camera = Camera([programs / "ds325-emulator-asan", "--listen", "0", *arguments], folder)
    try:
        yield camera
    finally:
        camera.process.kill()
        camera.process.communicate()


def written(programs: Path, path: Path, *places: str, frames: int = 1) -> bytes:
    words = [word for place in places for word in ("--at", place)]
    command = [programs / "ds325-emulator", "--write", path, "--frames", str(frames), *words]
    subprocess.run(command, check=True)
    return path.read_bytes()


def test_a_frame_is_of_the_target_where_it_was_steered_to(programs: Path, tmp_path: Path) -> None:
    """Equal to the same frame that is made beforehand; where the file says another place, the next is of that."""
    file = steered(tmp_path / "steered", (0.01, -0.02, 0.3))
    with listening(programs, tmp_path, "--steered", str(file), "--unthrottled") as camera:
        with camera.host() as host:
            host.commit()
            urbs = host.urbs(1, 400_000)
            first = host.payload(urbs, urb_bytes=400_000).data[2:]
            steered(file, (0.0, 0.0, 0.2))
            for _ in range(3):  # one may have been under way
                later = host.payload(urbs, urb_bytes=400_000).data[2:]
        report = camera.end()
    assert first == written(programs, tmp_path / "first", "0 0.01 -0.02 0.3 0 0 0")
    assert later == written(programs, tmp_path / "later", "0 0 0 0.2 0 0 0", frames=4)[3 * FRAME_BYTES :]
    assert report["frames_sent"] >= 4


def test_between_two_words_the_target_moves_on(programs: Path, tmp_path: Path) -> None:
    """At a metre a second it leaves the picture; were it taken where it was told last, it would stand."""
    file = steered(tmp_path / "steered", (0.0, 0.0, 0.3), (1.0, 0.0, 0.0))
    empty = written(programs, tmp_path / "empty", "0 5 0 0.3 0 0 0")
    time.sleep(1.5)
    with listening(programs, tmp_path, "--steered", str(file), "--unthrottled") as camera:
        with camera.host() as host:
            host.commit()
            assert host.payload(host.urbs(1, 400_000), urb_bytes=400_000).data[2:] == empty
        camera.end()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listen=0", "--steered=FILE"], "has 3 bytes, 96 are needed"),
        (["--listen=0", "--steered=absent"], "No such file"),
        (["--write=x", "--steered=FILE"], "--steered makes frames when they are due"),
        (["--listen=0", "--steered=FILE", "--replay=x"], "--steered makes frames when they are due"),
    ],
)
def test_what_cannot_be_steered_is_refused_in_a_line(
    programs: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "FILE").write_text("no\n")
    command: list[str | Path] = [programs / "ds325-emulator-asan", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20, cwd=tmp_path, check=False, env=os.environ
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
