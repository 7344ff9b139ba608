# SPDX-License-Identifier: MIT
"""The flight library's test programs and the frames that they are given."""

import os
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from support.built import built

ROOT = Path(__file__).parents[2]
FLIGHT, DS325 = ROOT / "docking/flight", ROOT / "docking/camera/ds325"
WIDTH, HEIGHT = 320, 240
FRAME_BYTES = WIDTH * HEIGHT * 4
TURN_MM = 299_792_458 / (2 * 50e6) * 1000  # docs/docking/emulator.md: range of a whole turn at 50 MHz

Words = npt.NDArray[np.int16]


@cache
def program(name: str) -> Path:
    """One of docking/flight/Makefile's programs: `flight_decode`, `flight_ring-asan`, `ds325-stream`, ..."""
    return built(FLIGHT, name) / name


@cache
def flight_program(name: str) -> Path:
    """One of docking/flight/program/Makefile's: `ds325-flight`, `flight_lines`, ..."""
    return built(FLIGHT / "program", name) / name


def run(name: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [program(name), *map(str, arguments)],
        capture_output=True,
        timeout=120,
        check=False,
        env=os.environ | environment,
    )


def run_flight(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """ds325-flight, where it ends by itself."""
    return subprocess.run([flight_program("ds325-flight"), *arguments], capture_output=True, timeout=120, check=False)


def packed(i: npt.ArrayLike, q: npt.ArrayLike) -> bytes:
    """A frame's bytes from its words, each of 240 x 320."""
    blocks = [np.asarray(words, "<i2").reshape(-1, 8) for words in (i, q)]
    return np.stack(blocks, 1).tobytes()


def random_words(seed: int, most: int) -> tuple[Words, Words]:
    """Words from -most to most, as many as a frame has."""
    generator = np.random.default_rng(seed)
    i, q = generator.integers(-most, most + 1, (2, HEIGHT, WIDTH)).astype(np.int16)
    return i, q


def scene(seed: int = 1) -> tuple[Words, Words]:
    """A slanted disc at half a metre before nothing, with noise: what most frames look like."""
    generator = np.random.default_rng(seed)
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    range_m = 0.5 + 0.0005 * (u - 160)
    amplitude = np.where(np.hypot(u - 160, v - 120) < 90, 70 / range_m**2, 0)
    phase = range_m * 1000 / TURN_MM * 2 * np.pi
    i, q = (
        np.round(amplitude * wave(phase) + generator.normal(0, 1, range_m.shape)).clip(-2047, 2047).astype(np.int16)
        for wave in (np.cos, np.sin)
    )
    return i, q


def instructions_a_frame(command: list[str | Path], frames: int = 4) -> int:
    """Of user space, by callgrind: what `frames` more frames add; {} stands for their number."""

    def total(count: int) -> int:
        arguments = [str(one).replace("{}", str(count)) for one in command]
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        return int(done.stderr.split("Collected :")[1].split()[0])

    return (total(2 * frames) - total(frames)) // frames
