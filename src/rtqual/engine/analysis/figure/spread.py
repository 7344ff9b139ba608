# SPDX-License-Identifier: MIT
"""Whether the runs of a group are of one kind: some may be late, or slow, as a whole.

A kind of run that comes one time in five is missed by ten runs in 11 % of all campaigns, and then no interval can tell.
So runs that stand far apart from the rest are counted; fewer than 3.7 of them (NONE_SEEN in asked.py) might as well
not have been drawn.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL, TAIL
from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.figure.model import Spread
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.protocols.record.schema import SeriesKind

Rules = Sequence[tuple[float, float]]  # stands apart: by how many times and standard deviations; the strictest last
FACTOR = 2.0  # runs that differ by so much are of two kinds where they lie SPREADS apart
SPREADS = 3.5  # how far apart, in standard deviations of the rest; found by trial: one false alarm in 13 to 200
CLOSE, FAR = 1.1, 6.0  # the same for runs that differ by less: of ten from one kind 1 in 200 is so far out
MEDIANS = ((FACTOR, SPREADS), (CLOSE, FAR))  # and of what a tool printed: stands apart by either
LARGEST = ((FACTOR, 8.0),)  # largest samples of runs of one kind are skewed, so some lie far out by nature


def spread(values: FloatArray, tail: float = TAIL, least: float = 0.0, rules: Rules = MEDIANS) -> Spread:
    """Of one value a run: their ends, and how many stand apart; fewer than RUNS_FOR_INTERVAL do not show that.

    `least`: what two values differ by at least, so that no spread is smaller.
    """
    low, high, runs = float(values.min()), float(values.max()), len(values)
    odd = 0
    if runs >= RUNS_FOR_INTERVAL and np.isfinite(values).all():
        logarithmic = low > 0  # of what can be negative there is no ratio, only a distance in spreads
        ordered = np.log(np.sort(values)) if logarithmic else np.sort(values)
        finest = least / float(np.median(values)) if logarithmic else least
        apart = [(math.log(times), far) for times, far in rules] if logarithmic else [(0.0, rules[-1][1])]
        odd = max(_above(array, finest, apart) for array in (ordered, -ordered[::-1]))
    none_seen = -math.log(tail)
    few = 0 < odd < none_seen
    return Spread(low, high, odd if few else 0, math.ceil(runs * none_seen / odd) if few else 0)


def run_medians(pool: Pool) -> FloatArray | None:
    """(R,) the median of each run; None of a tool that gave no samples."""
    if pool.kind == SeriesKind.SUMMARY or not pool.cumulative.size or not pool.cumulative[:, -1].all():
        return None
    return run_quantiles(pool, Fraction(1, 2))


def run_quantiles(pool: Pool, q: Fraction) -> FloatArray:
    """(R,) the quantile of each run that has samples."""
    runs = pool.cumulative[pool.cumulative[:, -1] > 0]
    places = [int(np.searchsorted(run, math.ceil(int(run[-1]) * q))) for run in runs]
    return pool.values[places].astype(np.float64)


def _above(ordered: FloatArray, finest: float, rules: Rules) -> int:
    """How many of the values, up to half of them, stand above the rest; `rules` in the values' own unit."""
    for rest in range(len(ordered) - len(ordered) // 2, len(ordered)):
        gap, deviation = ordered[rest] - ordered[:rest].mean(), max(finest, ordered[:rest].std(ddof=1))
        if any(gap > max(least, far * deviation) for least, far in rules):
            return len(ordered) - rest
    return 0
