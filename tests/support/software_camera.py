# SPDX-License-Identifier: MIT
"""What tests of the emulated camera share: its builds, its files, what it reports, its geometry computed once more."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from support.built import built

SOURCE = Path(__file__).parents[2] / "docking/camera/software"
HEIGHT, WIDTH, FRAME_BYTES, Z16_BYTES = 240, 320, 307_200, 153_600
LIGHT_M_S = 299_792_458.0
MODULATION_HZ = 50e6
Floats = npt.NDArray[np.float64]


@cache
def programs() -> Path:
    """Where ds325-emulator is, as it goes into guests, and -asan and -fuzz, with sanitizers."""
    return built(SOURCE, *(f"ds325-emulator{kind}" for kind in ("", "-asan", "-fuzz")))


def directions() -> Floats:
    """The unit vectors of docs/docking/emulator.md, (240, 320, 3)."""
    fx, fy = 160 / np.tan(np.radians(37)), 120 / np.tan(np.radians(29))
    x, y = np.meshgrid((np.arange(WIDTH) - 159.5) / fx, (np.arange(HEIGHT) - 119.5) / fy)
    rays = np.stack([x, y, np.ones_like(x)], axis=-1)
    return np.asarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True))


def words(frames: bytes) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """I and Q of frames, each (n, 240, 320)."""
    blocks = np.frombuffer(frames, dtype="<i2").reshape(-1, HEIGHT, WIDTH // 8, 2, 8)
    return blocks[:, :, :, 0].reshape(-1, HEIGHT, WIDTH), blocks[:, :, :, 1].reshape(-1, HEIGHT, WIDTH)


def ranges(frames: bytes, modulation_hz: float = MODULATION_HZ) -> Floats:
    """Radial ranges in metres as a decoder finds them, (n, 240, 320)."""
    i, q = words(frames)
    phase = np.arctan2(q.astype(float), i.astype(float)) % (2 * np.pi)
    return np.asarray(phase * LIGHT_M_S / (4 * np.pi * modulation_hz))


@dataclass(frozen=True)
class Truth:
    """A .truth file: its settings, and for each frame time, position, quaternion (w, x, y, z), temperature, CRC-32."""

    settings: dict[str, str]
    rows: Floats
    crcs: list[int]

    @classmethod
    def read(cls, path: Path) -> "Truth":
        lines = path.read_text().splitlines()
        settings = dict(line[2:].partition(" ")[::2] for line in lines if line.startswith("# "))
        fields = [line.split() for line in lines if not line.startswith("#")]
        return cls(settings, np.array([[float(x) for x in f[:-1]] for f in fields]), [int(f[-1], 16) for f in fields])


def values(text: str) -> dict[str, int]:
    """Numbers among `key=value` lines and the emulator's report."""
    found = re.findall(r"^(\w+)=(\d+)$", text, re.MULTILINE) + re.findall(r"^report (\w+) (\d+)$", text, re.MULTILINE)
    return {key: int(value) for key, value in found}
