# SPDX-License-Identifier: MIT
"""How honest the pose of the docking target is, over a grid of flights drawn by a seed (docs/docking/pose.md).

    PYTHONPATH=tests .venv/bin/python pose_grid.py --flights 2000 --seed 1 --workers 2 --picture grid.svg

Per class of flights: how many frames are `ok`, how many of these lie inside the ellipsoid that should hold 95 % of
them, the mean squared distance (6 where the covariance is true), how many are beyond 5 and 6 deviations: as the
distance of all six together and, weaker, of the worst axis. Then how many frames are `degenerate`, and in how many of
these an axis is beyond 6 deviations, those widened that are told as unobserved. With --strange, of pose_strange.py.
"""

import argparse
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pose_flights import (
    CLASSES,
    DEGENERATE,
    DEGREES,
    DISTANCE2,
    FLIGHT,
    FRAME,
    MM,
    OK,
    STATUS,
    WORST,
    Flight,
    flight,
)
from pose_picture import draw
from pose_strange import STRANGE, strange
from scipy.stats import chi2

from support.built import built

ROOT = Path(__file__).parents[2]
CHUNK = 12
SEARCH = 7  # frames in which the target is looked for, and one that bears it out


@dataclass(frozen=True)
class Grid:
    flights: list[Flight]
    rows: npt.NDArray[np.float64]  # a frame each, as pose-grid prints them

    def of(self, chosen: Sequence[int]) -> npt.NDArray[np.float64]:
        return self.rows[np.isin(self.rows[:, FLIGHT], chosen)]


def program() -> Path:
    return built(ROOT / "docking/bench/grid", "pose-grid") / "pose-grid"


def fly(flights: list[Flight], workers: int = 1, tool: Path | None = None, *, lit: bool = True) -> Grid:
    tool = tool or program()

    def some(first: int) -> npt.NDArray[np.float64]:
        text = "\n".join(one.line() for one in flights[first : first + CHUNK])
        done = subprocess.run(
            [tool, *([] if lit else ["--ranges-only"])], input=text, capture_output=True, text=True, check=True
        )
        rows = np.array([line.split() for line in done.stdout.splitlines()], float)
        rows[:, FLIGHT] += first
        return rows

    with ThreadPoolExecutor(workers) as pool:
        return Grid(flights, np.concatenate(list(pool.map(some, range(0, len(flights), CHUNK)))))


@dataclass(frozen=True)
class Honesty:
    """What the frames of some flights say of the covariance."""

    frames: int
    ok: int
    inside: float  # share of ok frames within the ellipsoid of 95 %
    mean: float  # squared distance
    beyond: tuple[int, int, int, int]  # 5 and 6 deviations: of all together, of an axis
    mm: float  # 95 % of ok frames
    degrees: float
    degenerate: int
    misled: int  # degenerate frames with an axis beyond 6 deviations


def honesty(rows: npt.NDArray[np.float64]) -> Honesty:
    ok, degenerate = rows[rows[:, STATUS] == OK], rows[rows[:, STATUS] == DEGENERATE]
    far, axis = np.sqrt(ok[:, DISTANCE2]), ok[:, WORST]
    told = len(degenerate), int(np.sum(degenerate[:, WORST] > 6))
    if not len(ok):
        return Honesty(len(rows), 0, np.nan, np.nan, (0, 0, 0, 0), np.nan, np.nan, *told)
    return Honesty(
        len(rows),
        len(ok),
        float(np.mean(ok[:, DISTANCE2] <= chi2.ppf(0.95, 6))),
        float(np.mean(ok[:, DISTANCE2])),
        (int(np.sum(far > 5)), int(np.sum(far > 6)), int(np.sum(axis > 5)), int(np.sum(axis > 6))),
        float(np.quantile(ok[:, MM], 0.95)),
        float(np.quantile(ok[:, DEGREES], 0.95)),
        *told,
    )


def line(name: str, figures: Honesty) -> str:
    far5, far6, axis5, axis6 = figures.beyond
    return (
        f"{name:18}{figures.frames:8}{figures.ok / max(1, figures.frames):8.1%}{figures.inside:8.1%}{figures.mean:9.2f}"
        f"{far5:7}{far6:6}{axis5:7}{axis6:6}{figures.mm:9.2f}{figures.degrees:8.2f}"
        f"{figures.degenerate:12}{figures.misled:9}"
    )


def should(one: Flight) -> bool:
    """Is the whole target in sight, near and bright enough, so that it should be `ok`?"""
    if one.kind not in CLASSES:
        return False
    light = 64 * one.albedo * np.cos(np.radians(one.tilt_deg)) / one.range_m**2
    easy = one.kind not in ("partial",) and one.tilt_deg <= 45 and 0.16 <= one.range_m <= 1.2
    return bool(easy and one.sun == 0 and light > 12)


def table(grid: Grid) -> str:
    lines = [
        f"{'flights':18}{'frames':>8}{'ok':>8}{'inside':>8}{'mean d2':>9}{'d > 5':>7}{'> 6':>6}{'axis>5':>7}{'> 6':>6}"
        f"{'mm':>9}{'deg':>8}{'degenerate':>12}{'axis>6':>9}"
    ]
    settled = grid.rows[grid.rows[:, FRAME] >= SEARCH]
    numbers = range(len(grid.flights))
    for name in dict.fromkeys(one.kind for one in grid.flights):
        chosen = [n for n in numbers if grid.flights[n].kind == name]
        lines.append(line(name, honesty(settled[np.isin(settled[:, FLIGHT], chosen)])))
    chosen = [n for n in numbers if should(grid.flights[n])]
    if chosen:
        lines.append(line("should be ok", honesty(settled[np.isin(settled[:, FLIGHT], chosen)])))
    lines.append(line("all", honesty(grid.rows)))
    return "\n".join(lines)


def worst(grid: Grid, most: int = 12) -> str:
    """The flights that are furthest off, to be looked at."""
    ok = grid.rows[grid.rows[:, STATUS] == OK]
    lines = []
    for n in sorted({int(n) for n in ok[:, FLIGHT]}, key=lambda n: -ok[ok[:, FLIGHT] == n, DISTANCE2].max())[:most]:
        rows, one = ok[ok[:, FLIGHT] == n], grid.flights[n]
        at = rows[np.argmax(rows[:, DISTANCE2])]
        axes = " ".join(f"{value:+.1f}" for value in at[12:18])
        lines.append(
            f"{n:5} {one.kind:8} range {one.range_m:.2f} tilt {one.tilt_deg:3.0f} sun {one.sun:4.0f} wall "
            f"{one.wall_m:.2f} ({one.wall_albedo:.2f}) frame {at[FRAME]:3.0f} of {len(rows)}: "
            f"d {at[DISTANCE2] ** 0.5:7.1f} mean d2 {rows[:, DISTANCE2].mean():8.1f} "
            f"{at[MM]:7.2f} mm {at[DEGREES]:6.2f} deg, axes {axes}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flights", type=int, default=240)
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--worst", type=int, default=0, help="show so many of the flights that are furthest off")
    parser.add_argument("--program", type=Path, help="a pose-grid built before")
    parser.add_argument("--ranges-only", action="store_true", help="without amplitudes")
    parser.add_argument("--strange", action="store_true", help="flights that the grid does not draw")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.strange:
        kinds = tuple(STRANGE) * (1 + options.flights // len(STRANGE))
        flights = [strange(kinds[n], options.seed, n, options.frames) for n in range(options.flights)]
    else:
        flights = [flight(options.seed, n, options.frames) for n in range(options.flights)]
    grid = fly(flights, options.workers, options.program, lit=not options.ranges_only)
    print(table(grid))
    if options.worst:
        print(worst(grid, options.worst))
    if options.picture:
        draw(grid.flights, grid.rows, options.picture)


if __name__ == "__main__":
    main()
