# SPDX-License-Identifier: MIT
"""Every statistic of a pool of runs.

The q-quantile of n samples is the order statistic of rank ceil(n q), q being the exact fraction its name
states. It is given only where at least one sample lies above it, n (1 - q) >= 1: p99.99 needs 10,000
samples.

max - min and p95 - avg, absolute and relative to max and p95, are the stability measures of the AAReST
study (its figures 21 to 23). There p95 - avg is printed without its sign; here the sign stays: it is
negative where rare, very late samples lift the average over p95. A part of something needs a zero to count from, so
where samples can be negative there are no relative figures.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from rtqual.base.units import DURATIONS_NS
from rtqual.engine.analysis.figure.asked import OF_RUNS, QUANTILES, UPPER_SHARE, fraction, samples_needed
from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.protocols.record.schema import SeriesKind


def quantile(pool: Pool, name: str) -> float:
    """Of a tool that printed its quantile and no samples: the average over the runs."""
    if pool.kind == SeriesKind.SUMMARY:
        return float(np.average(pool.reported[name], weights=pool.n))
    return pool.at_rank(math.ceil(int(pool.together[-1]) * fraction(name)))


def mean(pool: Pool) -> float:
    return float(pool.totals.sum() / pool.n.sum())


def left_out(pool: Pool, name: str) -> FloatArray:
    """(R,) what 'avg', 'std' or a reported quantile would be without each run in turn."""
    if name == "std":
        n, first, second = _moments(pool)
        return _std(*(whole.sum() - whole for whole in (n, first, second)))
    totals = pool.totals if name == "avg" else pool.n * pool.reported[name]
    rest: FloatArray = (totals.sum() - totals) / (pool.n.sum() - pool.n)
    return rest


def upper(of_runs: FloatArray) -> float:
    """What nine of ten runs stay below: the order statistic of rank ceil(0.9 n)."""
    return float(np.sort(of_runs)[math.ceil(len(of_runs) * UPPER_SHARE) - 1])


def _quantile(name: str) -> Callable[[Pool], float]:
    return lambda pool: quantile(pool, name)


# In the order to print.
STATISTICS: Mapping[str, Callable[[Pool], float]] = {
    "min": lambda pool: float(pool.lows.min()),
    "avg": mean,
    "max": lambda pool: float(pool.highs.max()),
    **{name: _quantile(name) for name in QUANTILES},
    "std": lambda pool: float(_std(*(moment.sum(keepdims=True) for moment in _moments(pool)))[0]),
    "max-min": lambda pool: float(pool.highs.max() - pool.lows.min()),
    "p95-avg": lambda pool: quantile(pool, "p95") - mean(pool),
    "(max-min)/max": lambda pool: _part(pool, pool.highs.max() - pool.lows.min(), pool.highs.max()),
    "(p95-avg)/p95": lambda pool: _part(pool, quantile(pool, "p95") - mean(pool), quantile(pool, "p95")),
    "median run max": lambda pool: float(np.median(pool.highs)),
    "median run max-min": lambda pool: float(np.median(pool.highs - pool.lows)),
    "upper run max": lambda pool: upper(pool.highs),
    "upper run max-min": lambda pool: upper(pool.highs - pool.lows),
}
RELATIVE = frozenset({"(max-min)/max", "(p95-avg)/p95"})


def is_size(unit: str) -> bool:
    """A size is read off a system, not sampled: one reading is enough."""
    return unit == "B"


def never_negative(unit: str) -> bool:
    """Whether nothing in this unit can be less than zero; an offset in a unit of time can."""
    return is_size(unit) or unit.endswith("/s")


def is_count(unit: str, values: FloatArray) -> bool:
    """Whether these are numbers of something."""
    return unit == "1" and bool((values >= 0).all() and (values == np.rint(values)).all())


def is_of_time(unit: str) -> bool:
    """Whether a figure is one of time: a duration, or something by the second."""
    return unit in DURATIONS_NS or unit.endswith("/s")


def evaluate(pool: Pool) -> dict[str, float]:
    """The statistics a pool can give, in the order to print; NaN where one has no value (a part of zero)."""
    return {name: of(pool) for name, of in STATISTICS.items() if _can_give(pool, name)}


def lies_in_overflow(pool: Pool, statistic: str, value: float) -> bool:
    """Whether the true figure may be larger than the value given."""
    if pool.incomplete:
        return statistic not in ("min", "max", "max-min", "(max-min)/max", *OF_RUNS)
    if pool.ceiling is None:
        return False
    if statistic in ("p95-avg", "(p95-avg)/p95"):
        return quantile(pool, "p95") >= pool.ceiling
    if statistic.startswith("p") or statistic == "min":
        return value >= pool.ceiling and not (statistic == "min" and pool.min_known)
    if statistic == "avg":
        return not pool.avg_known
    return statistic == "std" or not pool.max_known


def _moments(pool: Pool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(R,) each: samples of a run, sums of their distances from the average of all, and of the squares of these."""
    counts = np.diff(pool.cumulative, prepend=0)
    values = pool.values.astype(np.float64)
    off = values - np.average(values, weights=counts.sum(axis=0))  # or the squares lose their digits
    return counts.sum(axis=1).astype(np.float64), counts @ off, counts @ off**2


def _std(n: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Of the sample (n - 1)."""
    std: FloatArray = np.sqrt(np.maximum(second - first**2 / n, 0) / (n - 1))
    return std


def _part(pool: Pool, part: float, whole: float) -> float:
    return math.nan if whole <= 0 or part > whole or (pool.lows < 0).any() else float(part / whole)


def _can_give(pool: Pool, statistic: str) -> bool:
    if pool.kind == SeriesKind.SUMMARY:
        printed = {name for name in ("min", "avg", "max", *QUANTILES) if name in pool.reported}
        return _INPUTS.get(statistic, {statistic}) <= printed
    if "avg" in _INPUTS.get(statistic, set()) and (pool.incomplete or not pool.avg_known):
        return False  # the average is only a lower end: what is subtracted from p95 is not known
    return pool.samples >= samples_needed(statistic)


_INPUTS: Mapping[str, set[str]] = {
    "max-min": {"max", "min"},
    "(max-min)/max": {"max", "min"},
    "p95-avg": {"p95", "avg"},
    "(p95-avg)/p95": {"p95", "avg"},
    "median run max": {"max"},
    "median run max-min": {"max", "min"},
    "upper run max": {"max"},
    "upper run max-min": {"max", "min"},
}
