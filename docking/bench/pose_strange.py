# SPDX-License-Identifier: MIT
"""Flights that the grid does not draw: what nobody expects before a docking camera (docs/verification/pose.md)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from pose_flights import HALF_M, RATE_HZ, Box, Flight, attitude, product, rear_m, turn

Random = np.random.Generator
KEYS_M = ((0.072, -0.035, 0.012, 0.012), (-0.075, 0.03, 0.02, 0.008))  # middle and half sizes on the face
PLATE_M = 0.015
FAR_AWAY_M = 9  # too little light comes back


def flown(random: Random, frames: int, reach: float, roll_pitch_yaw: tuple[float, ...] = (), aside: float = 0.2,
          speed: float = 0.02, rate: float = 1) -> Flight:  # fmt: skip
    """At `reach` m, up to `aside` of that off the axis, at `speed` m/s and `rate` degrees/s into any direction."""
    q = attitude(*(roll_pitch_yaw or (random.uniform(-180, 180), *random.uniform(-20, 20, 2))))
    p = np.array([*random.uniform(-aside, aside, 2) * reach, reach])
    seconds, way = frames / RATE_HZ, random.normal(size=3)
    end = p + way / np.linalg.norm(way) * speed * seconds
    end[2] = max(end[2], 0.12 if reach > 0.12 else reach)
    return Flight("", frames, int(random.integers(1, 2**31)), np.concatenate([p, q]),
                  np.concatenate([end, product(turn(rate * seconds, random.normal(size=3)), q)]),
                  albedo=float(random.uniform(0.4, 0.7)))  # fmt: skip


def on_face(one: Flight, x: float, y: float, half_x: float, half_y: float) -> Box:
    """A plate on the face of a target that looks straight at the camera."""
    px, py, pz = one.start[:3]
    return px + x - half_x, py + y - half_y, pz - PLATE_M, px + x + half_x, py + y + half_y, pz + 0.001


def head_on(random: Random, frames: int) -> Flight:
    return flown(random, frames, random.uniform(0.2, 0.8), (0, 0, 0), speed=0, rate=0)


def tumbling(random: Random, frames: int) -> Flight:
    return flown(random, frames, random.uniform(0.3, 1), rate=random.uniform(30, 200))


def rushing(random: Random, frames: int) -> Flight:
    return flown(random, frames, random.uniform(0.4, 0.9), speed=random.uniform(0.2, 0.5))


def stopping(random: Random, frames: int) -> Flight:
    """At once, after half of the time."""
    turns = random.random() < 0.5
    one = flown(random, frames // 2, random.uniform(0.3, 0.9), speed=0 if turns else random.uniform(0.02, 0.2),
                rate=random.uniform(2, 20) if turns else 0)  # fmt: skip
    return replace(one, frames=frames, moving=0.5)


def contact(random: Random, frames: int) -> Flight:
    """Comes to 0.1 m and stands there."""
    one = flown(random, frames // 2, 0.1, (random.uniform(-180, 180), *random.uniform(-2, 2, 2)), 0.3, 0, 0)
    start = one.start.copy()
    start[2] += random.uniform(0.01, 0.1) * frames / 2 / RATE_HZ
    return replace(one, frames=frames, moving=0.5, start=start, end=one.start, albedo=float(random.uniform(0.05, 0.7)))


def rear(random: Random, frames: int) -> Flight:
    tilt = random.uniform(-20, 20, 2)
    return flown(random, frames, random.uniform(0.2, 0.9), (random.uniform(-180, 180), 180 + tilt[0], tilt[1]), 0.6)


def side(random: Random, frames: int) -> Flight:
    tilt = random.uniform(-25, 25, 2)
    return flown(random, frames, random.uniform(0.25, 0.9), (90 * random.integers(4), 90 + tilt[0], tilt[1]), 0.5)


def dark(random: Random, frames: int) -> Flight:
    """So close by that no edge of the body is in the picture."""
    one = flown(random, frames, random.uniform(0.1, 0.16), aside=0.1)
    return replace(one, albedo=float(random.uniform(0.05, 0.1)))


def decoys(random: Random, frames: int) -> Flight:
    """Plates where half a turn would have the keys."""
    one = head_on(random, frames)
    return replace(one, clutter=tuple(on_face(one, -x, -y, a, b) for x, y, a, b in KEYS_M))


def plates(random: Random, frames: int) -> Flight:
    one = head_on(random, frames)
    where = (np.concatenate([random.uniform(-0.1, 0.1, 2), random.uniform(0.006, 0.025, 2)]) for _ in range(3))
    return replace(one, clutter=tuple(on_face(one, *place) for place in where))


def within(random: Random, frames: int) -> Flight:
    """A wall of its albedo behind the plane of its face, and the target in it."""
    one = head_on(random, frames)
    return replace(one, wall_m=float(one.start[2] + random.uniform(0.01, 0.09)), wall_albedo=one.albedo)


def beside(random: Random, frames: int) -> Flight:
    """Boxes that touch its sides, their faces near the plane of its own."""
    one = head_on(random, frames)
    x, y, z = one.start[:3]
    z += random.uniform(-0.02, 0.02)
    wide = random.uniform(0.05, 0.2)
    boxes = ((x + HALF_M[0], y - 0.1, z, x + HALF_M[0] + wide, y + 0.1, z + 0.1),
             (x - 0.1, y - HALF_M[1] - wide, z, x + 0.1, y - HALF_M[1], z + 0.1))  # fmt: skip
    return replace(one, clutter=boxes[: random.integers(1, 3)])


def no_target(random: Random, frames: int) -> Flight:
    """A box of its size."""
    one = head_on(random, frames)
    x, y, z = one.start[:3]
    box = (x - HALF_M[0], y - HALF_M[1], z, x + HALF_M[0], y + HALF_M[1], z + HALF_M[2])
    away = np.array([0, 0, FAR_AWAY_M, 1, 0, 0, 0])
    return replace(one, start=away, end=away, clutter=(box,))


def offset(random: Random, frames: int) -> Flight:
    """All ranges off by ten times what the estimator is told to expect."""
    return replace(flown(random, frames, random.uniform(0.2, 1)), offset_mm=30.0 * random.choice([-1, 1]))


def all_at_once(random: Random, frames: int) -> Flight:
    one = flown(random, frames, random.uniform(0.25, 1), aside=0.5, rate=random.uniform(5, 60))
    rearmost = max(rear_m(end[:3], end[3:]) for end in (one.start, one.end))
    where = one.start[:3] + np.array([*random.choice([-1, 1], 2) * random.uniform(0.25, 0.5, 2), 0.1])
    return replace(one, sun=float(random.uniform(20, 500)), wall_m=rearmost + float(random.uniform(0.02, 0.5)),
                   wall_albedo=float(random.uniform(0.1, 0.9)), loss=0.2,
                   clutter=((*(where - 0.06), *(where + 0.06)),))  # fmt: skip


STRANGE: dict[str, Callable[[Random, int], Flight]] = {
    made.__name__.replace("_", " "): made
    for made in (
        *(
            tumbling,
            rushing,
            stopping,
            contact,
            rear,
            side,
            dark,
            decoys,
            plates,
            within,
            beside,
            no_target,
            offset,
            all_at_once,
        ),
    )
}


def strange(kind: str, seed: int, number: int, frames: int) -> Flight:
    """Flight `number` of those that `seed` draws of a kind."""
    return replace(STRANGE[kind](np.random.default_rng([seed, number]), frames), kind=kind)
