# SPDX-License-Identifier: MIT
"""Every statistic, as a function of how often each run of a pool counts.

The q-quantile of n samples is the order statistic of rank ceil(n q), q being the exact fraction its name
states. It is given only where at least one sample lies above it, n (1 - q) >= 1: p99.99 needs 10,000
samples.

max - min and p95 - avg, absolute and relative to max and p95, are the stability measures of the AAReST
study (its figures 21 to 23). There p95 - avg is printed without its sign; here the sign stays: it is
negative where rare, very late samples lift the average over p95.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import numpy as np

from rtqual.analysis.intervals import FloatArray
from rtqual.analysis.pool import Pool
from rtqual.record.schema import Int64Array, Kind

QUANTILES: Mapping[str, Fraction] = {
    f"p{percent}": Fraction(percent) / 100 for percent in ("50", "90", "95", "99", "99.9", "99.99", "99.999")
}


class Weighted:
    """A pool in which run r counts weights[b, r] times, for each of B rows; results have shape (B,)."""

    def __init__(self, pool: Pool, weights: Int64Array) -> None:
        self.pool = pool
        self.weights = weights
        self.n = weights @ pool.n
        self.mean = weights @ pool.totals / self.n
        drawn = weights > 0
        self.low = np.where(drawn, pool.lows, np.inf).min(axis=1)
        self.high = np.where(drawn, pool.highs, -np.inf).max(axis=1)
        self._quantiles: dict[str, FloatArray] = {}

    def quantile(self, name: str) -> FloatArray:
        if name not in self._quantiles:
            self._quantiles[name] = self._read(name) if self.pool.kind == Kind.SUMMARY else self._find(name)
        return self._quantiles[name]

    def _read(self, name: str) -> FloatArray:
        """Of a tool that printed its quantile and no samples: the average over the runs."""
        total: FloatArray = self.weights @ (self.pool.n * self.pool.reported[name])
        return total / self.n

    def _find(self, name: str) -> FloatArray:
        """The least value at or below which ceil(n q) samples lie: a bisection for all rows at once."""
        by_value = self.pool.cumulative.T
        q = QUANTILES[name]
        n = self.weights @ by_value[-1]
        rank = -(-n * q.numerator // q.denominator)
        low = np.zeros(len(n), np.int64)
        high = np.full(len(n), len(by_value) - 1)
        while (low < high).any():
            middle = (low + high) // 2
            enough = np.einsum("br,br->b", self.weights, by_value[middle]) >= rank
            high = np.where(enough, middle, high)
            low = np.where(enough, low, middle + 1)
        return self.pool.values[low].astype(np.float64)

    def std(self) -> FloatArray:
        """Of the sample (n - 1), about each row's own mean of the counted values."""
        counts = np.diff(self.pool.cumulative, prepend=0)
        n = self.weights @ counts.sum(axis=1)
        values = self.pool.values.astype(np.float64)
        off = values - np.average(values, weights=counts.sum(axis=0))  # or the squares lose their digits
        first, second = counts @ off, counts @ off**2
        squares = self.weights @ second - (self.weights @ first) ** 2 / n
        std: FloatArray = np.sqrt(np.maximum(squares, 0) / (n - 1))
        return std

    def median_of(self, per_run: FloatArray) -> FloatArray:
        """The median over runs of one figure a run."""
        order = np.argsort(per_run)
        drawn = self.weights[:, order].cumsum(axis=1)
        runs = drawn[:, -1:]
        lower, upper = ((drawn < rank).sum(axis=1) for rank in ((runs + 1) // 2, runs // 2 + 1))
        middle: FloatArray = (per_run[order][lower] + per_run[order][upper]) / 2
        return middle


def _quantile(name: str) -> Callable[[Weighted], FloatArray]:
    return lambda w: w.quantile(name)


# In the order to print.
STATISTICS: Mapping[str, Callable[[Weighted], FloatArray]] = {
    "min": lambda w: w.low,
    "avg": lambda w: w.mean,
    "max": lambda w: w.high,
    **{name: _quantile(name) for name in QUANTILES},
    "std": Weighted.std,
    "max-min": lambda w: w.high - w.low,
    "p95-avg": lambda w: w.quantile("p95") - w.mean,
    "(max-min)/max": lambda w: _part(w.high - w.low, w.high),
    "(p95-avg)/p95": lambda w: _part(w.quantile("p95") - w.mean, w.quantile("p95")),
    "median run max": lambda w: w.median_of(w.pool.highs),
    "median run max-min": lambda w: w.median_of(w.pool.highs - w.pool.lows),
}
RELATIVE = frozenset({"(max-min)/max", "(p95-avg)/p95"})
# What an extreme of the samples enters; none has an honest interval (see why_no_interval in summary.py).
EXTREMES = frozenset({"min", "max", "max-min", "(max-min)/max"})


def is_size(unit: str) -> bool:
    """A size is read off a system, not drawn from what it might have been: one reading says it."""
    return unit == "B"


def samples_needed(statistic: str) -> int:
    """The least samples that let a statistic be given."""
    if statistic in QUANTILES:
        return math.ceil(1 / (1 - QUANTILES[statistic]))
    if statistic in ("p95-avg", "(p95-avg)/p95"):
        return samples_needed("p95")
    return 2 if statistic == "std" else 1


def available(pool: Pool) -> tuple[str, ...]:
    """The statistics a pool can give, in the order to print."""
    return tuple(name for name in STATISTICS if _can_give(pool, name))


def evaluate(pool: Pool, names: Iterable[str], weights: Int64Array) -> dict[str, FloatArray]:
    """The statistics for each row of weights; NaN where one has no value (a part of zero)."""
    weighted = Weighted(pool, weights)
    return {name: STATISTICS[name](weighted) for name in names}


def lies_in_overflow(pool: Pool, statistic: str, value: float) -> bool:
    """Whether the true figure may be larger than the value given."""
    if pool.ceiling is None:
        return False
    if statistic in QUANTILES or statistic == "min":
        return value >= pool.ceiling
    if statistic in ("p95-avg", "(p95-avg)/p95"):
        return bool(Weighted(pool, np.ones((1, pool.runs), np.int64)).quantile("p95")[0] >= pool.ceiling)
    if statistic == "avg":
        return not pool.avg_known
    return statistic == "std" or not pool.max_known


def _part(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def _can_give(pool: Pool, statistic: str) -> bool:
    if pool.kind == Kind.SUMMARY:
        said = {name for name in ("min", "avg", "max", *QUANTILES) if name in pool.reported}
        return _INPUTS.get(statistic, {statistic}) <= said
    if "avg" in _INPUTS.get(statistic, set()) and not pool.avg_known:
        return False  # the average is only a lower end: what is subtracted from p95 is not known
    return pool.samples >= samples_needed(statistic)


_INPUTS: Mapping[str, set[str]] = {
    "max-min": {"max", "min"},
    "(max-min)/max": {"max", "min"},
    "p95-avg": {"p95", "avg"},
    "(p95-avg)/p95": {"p95", "avg"},
    "median run max": {"max"},
    "median run max-min": {"max", "min"},
}
