# SPDX-License-Identifier: MIT
"""Samples and runs of shapes that no interval was made for: how often each interval holds the true figure.

`python tests/engine/analysis/test_other_shapes.py 200` writes its table (docs/verification/; PYTHONPATH=tests).
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from scipy import signal

from rtqual.engine.analysis.figure.asked import fraction
from rtqual.engine.analysis.figure.figures import pool_figures
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.protocols.record.schema import Series
from support.doc_tables import put

Rng = np.random.Generator
Samples = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
SAMPLES, TRUE_RUNS = 200, 4_000
FIGURES = ("p50", "p99", "avg", "median run max")


def noise(rng: Rng, runs: int) -> Samples:
    return np.exp(0.25 * rng.normal(size=(runs, SAMPLES)))


def in_turn(follow: float) -> Callable[[Rng, int], Samples]:
    """A run is like the one before it, as on a board that warms up and cools down; runs differ by a fifth."""

    def draw(rng: Rng, runs: int) -> Samples:
        warm = 50
        normal = signal.lfilter([math.sqrt(1 - follow**2)], [1, -follow], rng.normal(size=runs + warm))[warm:]
        return 5_000 * np.exp(0.2 * normal)[:, None] * noise(rng, runs)

    return draw


def pareto(exponent: float) -> Callable[[Rng, int], Samples]:
    """Without a variance at 2, and hardly with a mean at 1.5."""
    return lambda rng, runs: (
        2_000 + 3_000 * rng.lognormal(0, 0.1, (runs, 1)) * (rng.random((runs, SAMPLES)) ** (-1 / exponent) - 1)
    )


def longer_where_faster(rng: Rng, runs: int) -> Sequence[Samples]:
    """Runs of one duration: a slow one has fewer samples."""
    levels = rng.lognormal(0, 0.3, runs)
    return [5_000 * level * np.exp(0.25 * rng.normal(size=max(20, int(300 / level**2)))) for level in levels]


def two_modes(rng: Rng, runs: int) -> Samples:
    """Whose shares differ from run to run, by a clock of 19.2 MHz."""
    share = rng.beta(4, 4, (runs, 1))
    middle = np.where(rng.random((runs, SAMPLES)) < share, 4_000, 9_000)
    return np.floor((middle + rng.normal(0, 150, (runs, SAMPLES))) / 52.0833) * 52.0833


def late_at_the_end(rng: Rng, runs: int) -> Samples:
    found = 5_000 * noise(rng, runs)
    for run, last in zip(found, rng.integers(0, SAMPLES // 5, runs), strict=True):
        run[SAMPLES - last :] *= 3
    return found


SHAPES: Mapping[str, Callable[[Rng, int], Sequence[Samples] | Samples]] = {
    "Pareto, 1.5": pareto(1.5),
    "Pareto, 2": pareto(2.0),
    "longer where faster": longer_where_faster,
    "two modes": two_modes,
    "late at the end": late_at_the_end,
    "in turn, 0.5": in_turn(0.5),
    "in turn, 0.8": in_turn(0.8),
}


@cache
def truth(shape: str) -> dict[str, float]:
    drawn = [np.rint(run) for run in SHAPES[shape](np.random.default_rng(2024), TRUE_RUNS)]
    every = np.sort(np.concatenate(drawn))
    found = {name: float(every[math.ceil(len(every) * fraction(name)) - 1]) for name in ("p50", "p99")}
    average = float(every.mean())
    if shape.startswith("Pareto"):  # what so few samples do not tell
        average = 2_000 + 3_000 * math.exp(0.1**2 / 2) / (float(shape.split()[1]) - 1)
    return {**found, "avg": average, "median run max": float(np.median([run.max() for run in drawn]))}


def held(shape: str, runs: int, campaigns: int) -> dict[str, float]:
    """By figure, in percent."""
    found = dict.fromkeys(FIGURES, 0)
    for number in range(campaigns):
        drawn = SHAPES[shape](np.random.default_rng([7, number, runs]), runs)
        pool = pool_runs([[Series.raw(np.rint(run).astype(np.int64), name="latency")] for run in drawn])
        assert pool is not None
        figures = pool_figures(pool)
        for name in FIGURES:
            interval = figures[name].interval
            found[name] += interval is None or interval.low <= truth(shape)[name] <= interval.high
    return {name: 100 * number / campaigns for name, number in found.items()}


@pytest.mark.guest
@pytest.mark.parametrize("shape", ["Pareto, 2", "longer where faster", "two modes", "late at the end"])
def test_intervals_hold_for_other_shapes_too(shape: str) -> None:
    assert min(held(shape, 10, 100).values()) >= 88


def table(campaigns: int) -> Iterator[str]:
    kinds = (10, 30)
    yield f"| shape | {' | '.join(f'{name}, {runs}' for name in FIGURES for runs in kinds)} |"
    yield "|---" * (1 + len(kinds) * len(FIGURES)) + "|"
    for shape in SHAPES:
        by_runs = [held(shape, runs, campaigns) for runs in kinds]
        yield f"| {shape} | {' | '.join(f'{one[name]:.0f}' for name in FIGURES for one in by_runs)} |"


if __name__ == "__main__":
    put("verification/statistics.md", "other shapes", table(int(sys.argv[1])))
