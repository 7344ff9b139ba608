# SPDX-License-Identifier: MIT
"""The pose of the docking target by two methods that are not ours, on the same frames (docs/docking/pose.md).

    make .venv/.opencv
    PYTHONPATH=tests .venv/bin/python docking/bench/pose_others.py --flights 48 --seed 7

`pnp`: the four corners of the outline, found by OpenCV, and its solvePnP (IPPE); of its answers that fit alike, that
nearest to the truth. `icp`: point-to-plane ICP of all points near it against the whole model, begun 10 mm and 3
degrees from the truth, as if it tracked. Both see one frame. Ours begins without any of that and tracks.
A covariance is each method's own: noise as its residuals show it, through its Jacobian.
"""

import argparse
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
from pose_flights import CLASSES, DEGREES, DISTANCE2, FLIGHT, FRAME, MM, OK, STATUS, Flight, Floats, flight
from pose_grid import SEARCH, fly, program
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation, Slerp

WIDTH, HEIGHT = 320, 240
FX, FY, CX, CY = 160 / np.tan(np.radians(37)), 120 / np.tan(np.radians(29)), 159.5, 119.5
CAMERA = np.array([[FX, 0, CX], [0, FY, CY], [0, 0, 1]])
FACE = np.array([[-0.15, -0.17, 0], [0.15, -0.17, 0], [0.15, 0.17, 0], [-0.15, 0.17, 0]])
JUMP_MM = 25
MIXED_MM = 60  # beyond, a pixel shows two surfaces
REACH_M = 0.3  # of the target's origin: all of the target
BESIDE_M = np.array([0.006, -0.005, 0.006])
LEAST_PX = 0.1  # an outline's corner is not known better
RATE_HZ = 60


@dataclass(frozen=True)
class Pose:
    position: Floats  # of the target's origin, m
    rotation: Rotation  # target to camera
    covariance: Floats  # of the camera's place (m) and of the turn (radians), target frame


def rays() -> Floats:
    u, v = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    way = np.stack([(u - CX) / FX, (v - CY) / FY, np.ones_like(u, float)], axis=-1)
    return np.asarray(way / np.linalg.norm(way, axis=-1, keepdims=True))


RAYS = rays()


def truth(one: Flight, number: int) -> tuple[Floats, Rotation]:
    """As the emulator moves it: straight, and at a constant rate of turning."""
    part = number / one.frames
    ends = Rotation.from_quat(np.array([one.start[[4, 5, 6, 3]], one.end[[4, 5, 6, 3]]]))
    return one.start[:3] + part * (one.end[:3] - one.start[:3]), Slerp([0, 1], ends)(part)


def segment(ranges: Floats) -> Floats | None:
    """The nearest connected surface of about the target's size."""
    kernel = np.ones((3, 3), np.uint8)
    smooth = (cv2.dilate(ranges, kernel) - cv2.erode(ranges, kernel) < JUMP_MM) & (ranges > 0)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(smooth.astype(np.uint8), connectivity=4)
    found = []
    for n in range(1, count):
        if stats[n, cv2.CC_STAT_AREA] < 300:
            continue
        mask = labels == n
        near = float(np.median(ranges[mask])) / 1000
        if 0.02 < mask.sum() * near**2 / (FX * FY) < 0.25:
            found.append((near, mask))
    if not found:
        return None
    mask = min(found, key=lambda one: one[0])[1]
    return np.asarray(cv2.dilate(mask.astype(np.uint8), kernel))  # the jumps' own pixels belong to its rim


def corners(mask: Floats) -> Floats | None:
    """Where the lines through the outline's four sides meet."""
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea)
    hull = cv2.convexHull(outline)
    length = cv2.arcLength(hull, True)
    for part in np.arange(0.02, 0.12, 0.01):
        found = cv2.approxPolyDP(hull, part * length, True)
        if len(found) <= 4:
            return met(found[:, 0].astype(float), outline[:, 0].astype(float)) if len(found) == 4 else None
    return None


def met(square: Floats, outline: Floats) -> Floats | None:
    """A quadrilateral's corners, with its sides fitted to the outline's points."""
    lines = []
    for first, last in zip(square, np.roll(square, -1, axis=0), strict=True):
        way = (last - first) / np.linalg.norm(last - first)
        along, across = (outline - first) @ way, (outline - first) @ [-way[1], way[0]]
        near = (abs(across) < 3) & (along > 0) & (along < np.linalg.norm(last - first))
        if near.sum() < 8:
            return None
        fitted = cv2.fitLine(outline[near].astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        lines.append(np.cross([*fitted[2:], 1], [*(fitted[2:] + fitted[:2]), 1]))
    points = [np.cross(a, b) for a, b in zip(np.roll(lines, 1, axis=0), lines, strict=True)]
    return np.array([point[:2] / point[2] for point in points])


def nearest(poses: list[Pose], rotation: Rotation) -> Pose:
    return min(poses, key=lambda one: float((one.rotation.inv() * rotation).magnitude()))


def pnp(ranges: Floats, _: Floats, rotation: Rotation) -> Pose | None:
    mask = segment(ranges)
    square = None if mask is None else corners(mask)
    if square is None:
        return None
    if cv2.contourArea(square.astype(np.float32), oriented=True) < 0:
        square = square[::-1]
    found = []
    for shift in range(4):
        seen = np.roll(square, shift, axis=0)
        _, turns, places, errors = cv2.solvePnPGeneric(FACE, seen, CAMERA, None, flags=cv2.SOLVEPNP_IPPE)
        for turn, place, wrong in zip(turns, places, np.ravel(errors), strict=True):
            error = float(wrong)
            jacobian = cv2.projectPoints(FACE, turn, place, CAMERA, None)[1][:, :6]
            information = jacobian.T @ jacobian / max(error, LEAST_PX) ** 2
            rotated = Rotation.from_rotvec(np.ravel(turn))
            found.append((error, Pose(np.ravel(place), rotated, np.linalg.pinv(information))))
    least = min(error for error, _ in found)
    return nearest([one for error, one in found if error < 2 * least + 1], rotation)


def model() -> tuple[Floats, Floats]:
    """Points on the target's surfaces, 3 mm apart, and their normals."""
    points, normals = [], []

    def plate(axis: int, at: float, first: tuple[float, float], second: tuple[float, float], sign: int) -> None:
        a, b = np.meshgrid(np.arange(*first, 0.003), np.arange(*second, 0.003))
        others = [n for n in range(3) if n != axis]
        some = np.empty((a.size, 3))
        some[:, axis], some[:, others[0]], some[:, others[1]] = at, a.ravel(), b.ravel()
        if axis == 2 and at in (0, -0.02):  # the port's floor is the face's plane; its rim stands before it
            r = np.hypot(some[:, 0], some[:, 1])
            some = some[(r < 0.035) | (r > 0.045) if at == 0 else (r >= 0.035) & (r <= 0.045)]
        points.append(some)
        normals.append(np.tile(sign * np.eye(3)[axis], (len(some), 1)))

    def box(x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> None:
        plate(2, z[0], x, y, -1)
        for k in range(2):
            plate(0, x[k], y, z, 2 * k - 1)
            plate(1, y[k], x, z, 2 * k - 1)

    box((-0.15, 0.15), (-0.17, 0.17), (0, 0.1))
    box((0.06, 0.084), (-0.047, -0.023), (-0.015, 0))
    box((-0.095, -0.055), (0.022, 0.038), (-0.015, 0))
    plate(2, -0.02, (-0.045, 0.046), (-0.045, 0.046), -1)
    for radius, sign in ((0.045, 1), (0.035, -1)):
        angle, z = (one.ravel() for one in np.meshgrid(np.arange(0, 2 * np.pi, 0.07), np.arange(-0.02, 0, 0.003)))
        out = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
        points.append(radius * out + np.stack([0 * z, 0 * z, z], axis=1))
        normals.append(sign * out)
    return np.concatenate(points), np.concatenate(normals)


MODEL, NORMALS = model()
TREE = cKDTree(MODEL)


def icp(ranges: Floats, position: Floats, rotation: Rotation) -> Pose | None:
    kernel = np.ones((3, 3), np.uint8)
    inside = (cv2.dilate(ranges, kernel) - cv2.erode(ranges, kernel) < MIXED_MM) & (ranges > 0)
    seen = (RAYS[inside] * ranges[inside][:, None]) / 1000
    seen = seen[np.linalg.norm(seen - position, axis=1) < REACH_M]
    seen = seen[:: max(1, len(seen) // 3000)]
    turn = (rotation * Rotation.from_rotvec(np.radians([2, -1.5, 1.5]))).inv()  # camera to target
    place = -turn.apply(position + BESIDE_M)
    for step in range(25):
        points = turn.apply(seen) + place
        distance, index = (np.asarray(one) for one in TREE.query(points))
        normal = NORMALS[index]
        towards = np.einsum("ij,ij->i", points - place, normal) < 0
        good = (distance < max(0.008, 0.04 * 0.8**step)) & towards
        if good.sum() < 50:
            return None
        p, n = points[good], normal[good]
        jacobian = np.hstack([n, np.cross(p, n)])
        residual = np.einsum("ij,ij->i", n, p - MODEL[index[good]])
        information = jacobian.T @ jacobian
        if np.linalg.cond(information) > 1e12:
            return None
        change = -np.linalg.solve(information, jacobian.T @ residual)
        spin = Rotation.from_rotvec(change[3:])
        turn, place = spin * turn, spin.apply(place) + change[:3]
    covariance = float(np.mean(residual**2)) * np.linalg.inv(information)
    return Pose(-turn.inv().apply(place), turn.inv(), covariance)


def off(found: Pose, position: Floats, rotation: Rotation, *, of_points: bool) -> tuple[float, float, float]:
    """Millimetres, degrees, and the distance in deviations, each method's in the unknowns that it solved for."""
    turned = float((found.rotation.inv() * rotation).magnitude())
    if of_points:
        difference = rotation.inv() * found.rotation
        places = (-rotation.inv().apply(position), -found.rotation.inv().apply(found.position))
        error = np.concatenate([places[0] - difference.apply(places[1]), difference.as_rotvec()])
    else:
        error = np.concatenate([found.rotation.as_rotvec() - rotation.as_rotvec(), found.position - position])
        if np.linalg.norm(error[:3]) > np.pi:  # the same turn, the other way round
            other = rotation.as_rotvec() * (1 - 2 * np.pi / rotation.magnitude())
            error[:3] = found.rotation.as_rotvec() - other
    distance = float(np.sqrt(max(0, error @ np.linalg.pinv(found.covariance, rcond=1e-14) @ error)))
    return 1000 * float(np.linalg.norm(found.position - position)), np.degrees(turned), distance


def frames(flights: list[Flight]) -> Iterator[tuple[int, int, Floats]]:
    """Flight, frame and ranges, as the grid's program decodes them."""
    lines = "\n".join(one.line() for one in flights)
    with subprocess.Popen([program(), "--planes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as made:
        assert made.stdin and made.stdout, "both are pipes"
        made.stdin.write(lines.encode())
        made.stdin.close()
        for n, one in enumerate(flights):
            for number in range(one.frames):
                plane = np.frombuffer(made.stdout.read(4 * WIDTH * HEIGHT), "<u2")[: WIDTH * HEIGHT]
                ranges = plane.astype(np.float32).reshape(HEIGHT, WIDTH)
                yield n, number, np.where(ranges < 32000, ranges, 0).astype(np.float32)


Method = Callable[[Floats, Floats, Rotation], Pose | None]
METHODS: dict[str, Method] = {"pnp": pnp, "icp": icp}


def compare(flights: list[Flight]) -> dict[str, Floats]:
    """Of each method rows of flight, mm, degrees, deviations, for the frames after ours may have searched.

    NaN where it found nothing, or ours does not call it ok.
    """
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in METHODS}
    for n, number, ranges in frames(flights):
        if number < SEARCH:
            continue
        position, rotation = truth(flights[n], number)
        for name, method in METHODS.items():
            found = method(ranges, position, rotation)
            errors = (np.nan,) * 3 if found is None else off(found, position, rotation, of_points=name == "icp")
            rows[name].append((n, *errors))
    others = {name: np.array(lines) for name, lines in rows.items()}
    ours = fly(flights).rows
    ours = ours[ours[:, FRAME] >= SEARCH]
    ok = np.where(ours[:, STATUS] == OK, 1, np.nan)[:, None]
    figures = np.stack([ours[:, MM], ours[:, DEGREES], np.sqrt(ours[:, DISTANCE2])], axis=1)
    return {"ours": np.hstack([ours[:, [FLIGHT]], figures * ok]), **others}


def line(name: str, rows: Floats) -> str:
    good = rows[~np.isnan(rows[:, 1])]
    if not len(good):
        return f"{name:16}{len(rows):8}{0:8.1%}"
    mm, degrees = (np.quantile(good[:, column], [0.5, 0.95]) for column in (1, 2))
    return (
        f"{name:16}{len(rows):8}{len(good) / len(rows):8.1%}{mm[0]:9.2f}{mm[1]:9.2f}{degrees[0]:8.2f}{degrees[1]:8.2f}"
        f"{np.mean(good[:, 3] > 6):9.1%}{np.mean((good[:, 3] > 6) & (good[:, 1] > 10)):9.1%}"
    )


def cpu_ms(flights: list[Flight]) -> dict[str, float]:
    """CPU by frame of the other methods; of ours callgrind counts the instructions (docs/docking/pose.md)."""
    pictures = [(ranges, *truth(flights[n], number)) for n, number, ranges in frames(flights)]
    found = {}
    for name, method in METHODS.items():
        before = time.process_time()
        for ranges, position, rotation in pictures:
            method(ranges, position, rotation)
        found[name] = 1000 * (time.process_time() - before) / len(pictures)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flights", type=int, default=48)
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    flights = [replace(flight(options.seed, n, options.frames), loss=0.0) for n in range(options.flights)]
    found = compare(flights)
    print(
        f"{'':16}{'frames':>8}{'answer':>8}{'mm p50':>9}{'p95':>9}{'deg p50':>8}{'p95':>8}{'> 6 dev':>9}{'& 10 mm':>9}"
    )
    for kind in (*CLASSES, "every"):
        chosen = [n for n, one in enumerate(flights) if kind in (one.kind, "every")]
        for name, rows in found.items():
            print(line(f"{kind} {name}", rows[np.isin(rows[:, 0], chosen)]))
    print(", ".join(f"{name} {ms:.1f} ms" for name, ms in cpu_ms(flights[:12]).items()), "of CPU by frame")


if __name__ == "__main__":
    main()
