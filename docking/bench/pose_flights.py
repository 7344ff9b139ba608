# SPDX-License-Identifier: MIT
"""Flights before a depth camera, drawn by a seed: where the target is, how it turns, what stands behind and beside it.

Each flight is of one of the CLASSES, in turn, so that a few flights already show all of them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
# What pose-grid prints of a frame
FLIGHT, FRAME, STATUS, UNOBSERVED, MM, DEGREES, DISTANCE2, WORST, SAMPLES, CROSSINGS, SIGMA_MM, SIGMA_DEGREES = range(
    12
)
DEGENERATE, OK = 1, 2
CLASSES = ("open", "wall", "tilted", "corner", "sun", "clutter", "partial", "spin", "drift", "loss", "far", "all")
GAPS_M = (0.02, 0.1, 0.2, 0.4, 0.7, 1.1)  # from the target's rearmost point to the wall
HALF_M = np.array([0.15, 0.17, 0.1])
RATE_HZ = 60
Box = tuple[float, float, float, float, float, float]  # low corner, high corner, m


@dataclass(frozen=True)
class Flight:
    kind: str
    frames: int
    seed: int
    start: Floats  # position m, quaternion w x y z
    end: Floats
    step_s: float = 1 / RATE_HZ
    moving: float = 1  # share of the time in which it goes from start to end, where it then stands
    sun: float = 0
    albedo: float = 0.5
    wall_m: float = 0
    wall_albedo: float = 0.5
    offset_mm: float = 0
    drift_mm_per_k: float = 0
    temperature_c: float = 25
    loss: float = 0
    clutter: tuple[Box, ...] = ()
    tilt_deg: float = 0

    @property
    def range_m(self) -> float:
        return float(np.linalg.norm(self.start[:3]))

    def line(self) -> str:
        """As docking/bench/grid/grid_scene.c reads it."""
        head = (
            *(self.frames, self.step_s, self.seed, self.sun, self.albedo, self.wall_m, self.wall_albedo),
            *(self.offset_mm, self.drift_mm_per_k, self.temperature_c, self.loss),
            *(self.moving * self.frames * self.step_s, len(self.clutter)),
        )
        rest = [*self.start, *self.end, *(value for box in self.clutter for value in box)]
        return " ".join(f"{float(value):.9g}" for value in (*head, *rest))


def product(a: Floats, b: Floats) -> Floats:
    w, v, x, u = a[0], a[1:], b[0], b[1:]
    return np.concatenate([[w * x - v @ u], w * u + x * v + np.cross(v, u)])


def turn(degrees: float, axis: int | Floats) -> Floats:
    way = np.eye(3)[axis] if isinstance(axis, int) else axis / np.linalg.norm(axis)
    half = np.radians(degrees) / 2
    return np.concatenate([[np.cos(half)], np.sin(half) * way])


def attitude(roll: float, pitch: float, yaw: float) -> Floats:
    """As the emulator's waypoints have it."""
    return product(turn(yaw, 1), product(turn(pitch, 0), turn(roll, 2)))


def rotated(q: Floats, points: Floats) -> Floats:
    w, v = q[0], q[1:]
    return np.asarray(points + 2 * w * np.cross(v, points) + 2 * np.cross(v, np.cross(v, points)))


def rear_m(p: Floats, q: Floats) -> float:
    """How far the rearmost point of the body is."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (0, 1)]) * HALF_M
    return float((p + rotated(q, corners))[:, 2].max())


def flight(seed: int, number: int, frames: int) -> Flight:
    """Flight `number` of the grid that `seed` draws."""
    random = np.random.default_rng([seed, number])
    kind = CLASSES[number % len(CLASSES)]
    every = kind == "all"
    tilt = random.uniform(-20, 20, 2)
    if kind == "tilted" or every:
        tilt = np.zeros(2)
        tilt[random.integers(2)] = random.choice([-1, 1]) * random.uniform(20, 60)
    if kind == "corner":
        tilt = random.choice([-1, 1], 2) * random.uniform(20, 45, 2)
    roll = random.uniform(-180, 180)
    reach = np.exp(random.uniform(np.log(0.16), np.log(1.2)))
    if kind == "far":
        reach = random.uniform(1.2, 2)
    off = random.uniform(-0.25, 0.25, 2) * min(1, reach / 0.6)
    if kind == "partial":
        reach = random.uniform(0.25, 0.9)
        off = random.choice([-1, 1], 2) * random.uniform(0.2, 0.75, 2) * [1, 0.75 * random.integers(2)]
    q = attitude(roll, *tilt)
    p = np.array([*(off * reach), reach])
    seconds = frames / RATE_HZ
    rate = random.normal(size=3)
    spin = random.uniform(0, 10) if kind == "spin" or every else random.uniform(0, 1)
    speed = random.uniform(-1, 1, 3) * min(0.05, 0.1 * reach)
    end_q = product(turn(spin * seconds, rate), q)
    rear = max(rear_m(p, q), rear_m(p, end_q))
    wall = 0.0
    if kind in ("wall", "clutter") or random.random() < 0.3 or (every and random.random() < 0.7):
        wall = rear + GAPS_M[random.integers(len(GAPS_M))]
    boxes = []
    for _ in range(int(random.integers(1, 4)) if kind == "clutter" or every else 0):
        where = p + np.array([*(random.choice([-1, 1], 2) * random.uniform(0.3, 0.6, 2)), random.uniform(-0.1, 0.6)])
        half = random.uniform(0.01, 0.12, 3)
        boxes.append((*(where - half), *(where + half)))
    drift = kind == "drift" or (every and random.random() < 0.5)
    return Flight(
        kind=kind,
        frames=frames,
        seed=int(random.integers(1, 2**31)),
        start=np.concatenate([p, q]),
        end=np.concatenate([p + speed * seconds, end_q]),
        sun=float(np.exp(random.uniform(np.log(20), np.log(1000)))) if kind == "sun" or (every and number % 2) else 0.0,
        albedo=float(random.uniform(0.4, 0.7)) if kind not in ("far",) else float(random.uniform(0.4, 0.95)),
        wall_m=wall,
        wall_albedo=float(random.uniform(0.1, 0.9)),
        drift_mm_per_k=float(random.uniform(-0.2, 0.2)) if drift else 0.0,
        temperature_c=float(random.uniform(5, 45)) if drift else 25.0,
        loss=0.2 if kind == "loss" or every else 0.0,
        clutter=tuple(boxes),
        tilt_deg=float(np.degrees(np.arccos(np.clip(-rotated(q, np.array([0, 0, -1.0]))[2], -1, 1)))),
    )
