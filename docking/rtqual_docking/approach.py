# SPDX-License-Identifier: MIT
"""One approach of the docking target as the software camera makes it, and what `ds325-pose` finds in its frames.

Both programs run here and not in a guest: neither waits for anything, so every run gives the same.
"""

import json
import subprocess
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.campaign.annex import Annex
from rtqual.engine.initramfs.contents import guest_file

FRAMES, STEP_S = 200, 0.1  # the emulator's own approach of 20 s, ten frames a second
PICTURED_S = 12.0  # of the approach, the frame that is shown
WIDTH, HEIGHT, _FRAME_B = 320, 240, 307_200  # docs/docking/emulator.md
_TURN_MM = 299_792_458 / (2 * 50e6) * 1000
_CONFIDENCE, _SATURATED = 10, 2047  # counts
_TIMEOUT_S = 300
Floats = npt.NDArray[np.float64]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Sight(_Model):
    """A frame: how far the target was (m), what was said of it, and how far off that was."""

    distance_m: float
    status: str  # ok | degenerate | not found
    range_error_mm: float | None = None
    position_error_mm: float | None = None
    rotation_error_deg: float | None = None


class Approach(_Model):
    """`picture`: ranges in mm of one frame, row by row, 0 where not valid; `pictured` is its number."""

    sights: tuple[Sight, ...]
    pictured: int
    picture: Annotated[tuple[int, ...], Field(min_length=WIDTH * HEIGHT, max_length=WIDTH * HEIGHT)]


APPROACH = Annex("approach.json", Approach, "run `rtqual lidar` again")


def fly() -> Approach:
    """Raises RunFailed when one of the two programs fails."""
    with scratch() as folder:
        frames = folder / "frames"
        _run("ds325-emulator", "--write", str(frames), "--frames", str(FRAMES), "--step", str(STEP_S))
        said = _run("ds325-pose", "--rate", repr(1 / STEP_S), str(frames)).splitlines()
        truth = _truth(frames.with_name("frames.truth").read_text())
        if not len(said) == len(truth) == FRAMES:
            raise RunFailed(f"ds325-pose told of {len(said)} frames, {FRAMES} were made: run it by hand")
        number = round(PICTURED_S / STEP_S)
        with frames.open("rb") as file:
            file.seek(number * _FRAME_B)
            picture = ranges_mm(file.read(_FRAME_B))
        sights = tuple(_sight(json.loads(line), row) for line, row in zip(said, truth, strict=True))
        return Approach(sights=sights, pictured=number, picture=tuple(map(int, picture)))


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [guest_file(program), *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise RunFailed(f"{program} ended with exit code {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout


def _truth(text: str) -> list[Floats]:
    """Position (m) and quaternion w x y z of each frame."""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [np.array([float(value) for value in row[2:9]]) for row in rows]


def ranges_mm(raw: bytes) -> npt.NDArray[np.int64]:
    """A picture of a frame's ranges; what flies decodes with integers (docking/camera/ds325/decode.h)."""
    words = np.frombuffer(raw, "<i2").reshape(-1, 2, 8).astype(float)
    i, q = words[:, 0].ravel(), words[:, 1].ravel()
    phase = np.arctan2(q, i) % (2 * np.pi)
    valid = (np.hypot(i, q) >= _CONFIDENCE) & (np.maximum(abs(i), abs(q)) < _SATURATED)
    return np.where(valid, np.rint(phase / (2 * np.pi) * _TURN_MM), 0).astype(np.int64)


def _sight(said: dict[str, Any], truth: Floats) -> Sight:
    position, turn = truth[:3], truth[3:]
    distance_m = float(np.linalg.norm(position))
    if said["status"] == "not found":
        return Sight(distance_m=round(distance_m, 6), status=said["status"])
    # The angle between two unit quaternions: 2 atan2(|vector part|, scalar part) of their quotient.
    found = np.array(said["orientation_wxyz"], float)
    cosine = min(1.0, abs(float(found @ turn)) / float(np.linalg.norm(found) * np.linalg.norm(turn)))
    return Sight(
        distance_m=round(distance_m, 6),
        status=said["status"],
        range_error_mm=round(said["range_mm"] - 1000 * distance_m, 4),
        position_error_mm=round(1000 * float(np.linalg.norm(position - said["position_m"])), 4),
        rotation_error_deg=round(float(np.degrees(2 * np.arccos(cosine))), 5),
    )


def within(sights: Sequence[Sight], low_m: float, high_m: float) -> list[Sight]:
    """The sights with a pose between two distances."""
    return [s for s in sights if low_m <= s.distance_m <= high_m and s.position_error_mm is not None]
