# SPDX-License-Identifier: MIT
"""How sure a figure is. All intervals are at 95 %, come from how runs differ, and need no random numbers.

Samples within a run are autocorrelated, so a run counts as one draw. A figure is a mean of what each run
contributes to it (its share of samples below a quantile, its part in an average); the spread of the contributions
gives the interval:

- quantiles: the shares of each run's samples at the quantile give the effective number of independent samples, that
  number an exact binomial interval of the share, and its ends are looked up among all samples (Woodruff 1952; Korn &
  Graubard 1998). The upper end reaches to where a run may lie that is too rare to be drawn, by how far the runs' own
  quantiles differ (Weissman 1978). Where fewer than 3.7 effective samples lie beyond a quantile, none might have
  been seen, with 2.5 %: that end is open.
- averages, standard deviations, scalars: Student's t over jackknife pseudo-values, of logarithms where a figure cannot
  be negative; whether it can is known before, never read off values that happen to be positive.
- counts: the same, and at least as wide as an exact interval of a Poisson count: none seen is not none. Of equal counts
  as wide as if runs that were not drawn counted one more or less (unseen).
- differences, ratios, the score: from the ends of the figures' own intervals (MOVER: Zou & Donner 2008).
- medians over runs: order statistics, exact.

No end of an interval lies nearer than one step of the clock or 0.1 % (at_least_wide).

Where a campaign may stop at one of several looks, each of its intervals allows for that (tail in asked.py).

A skewed spread looks small in just those campaigns that missed its far side, so its variance is raised (SKEW).

    95 % intervals, 500 campaigns: held, in % (an end open, in %); kind of samples and number of runs
                            skewed      skewed      skewed       heavy      bursts      coarse      sticky
                                10          20          30          10          10          10          10
    p5                  97.4 (85)   97.0 (54)   98.2 (12)   97.2 (62)  99.6 (100)  100.0 (67)   97.2 (83)
    p50                      96.4        97.8        96.8        97.6        95.8        99.2        98.6
    p95                 98.2 (17)    99.8 (5)   100.0 (2)        99.0       100.0   98.8 (17)   98.6 (17)
    p99                 99.6 (33)   99.8 (11)   100.0 (4)    99.4 (3)   99.8 (81)  100.0 (31)   99.6 (32)
    p99.9              99.4 (100)   98.2 (68)   99.2 (37)  99.8 (100)  99.8 (100)  99.6 (100)   99.2 (84)
    avg                      97.0        98.4        98.0        97.8        97.4        98.6        97.8
    p95-avg             99.6 (17)   100.0 (5)   100.0 (2)        99.6       100.0   99.6 (17)  100.0 (17)
    median run max           97.0        96.8        96.2        98.0        97.6        98.4        98.0
    scalar                   98.8        97.8        97.4        98.8        97.8        98.8        97.4
    std                         -        97.8        97.4           -           -           -           -
    differences              98.3        96.8        96.1        97.9        98.7   98.9 (26)        98.1
    ratios                   98.7        97.0        96.1        98.3        99.0        99.0        97.7
    lead of the score       100.0       100.0       100.0       100.0       100.0       100.0       100.0

More of it, and what it does not cover, stands in docs/verification/statistics.md; test_coverage.py measures it again.
"""

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from rtqual.engine.analysis.figure.asked import LEVEL, RUNS_FOR_MEDIAN, TAIL
from rtqual.engine.analysis.figure.model import Interval

FloatArray = npt.NDArray[np.float64]

RARE = 0.05  # a bound on a probability says nothing of a tail unless it is lower than this
BY_RUNS = "from how the runs differ"
SKEW = 4.0  # found by trial on skewed, heavy-tailed, bimodal and quantised samples of 10 to 30 runs
SKEW_OF_SQUARES = 6.0
ROUNDING = 1e-9  # relative; what differs by less is the same
FINEST = 1e-3  # relative; boots of one system differ by as much, which runs of equal boots do not show


@dataclass(frozen=True)
class Sure:
    """A figure with its interval."""

    value: float
    interval: Interval


def variances(per_run: FloatArray, skew: float = SKEW) -> tuple[float, float]:
    """The variance of the mean of what the runs contribute: as it is, and allowing for skew.

    The second grows by `skew` times how much farther the largest contribution lies from the mean than the smallest, in
    squares; both are parts of the mean, so divided by the number of runs.
    """
    runs, mean = len(per_run), per_run.mean()
    above, below = (per_run.max() - mean) / runs, (mean - per_run.min()) / runs
    plain = float(per_run.var(ddof=1)) / runs
    return plain, plain + skew * float(abs(above**2 - below**2))


def mean_interval(
    value: float, left_out: FloatArray, skew: float = SKEW, *, signed: bool, tail: float = TAIL
) -> Interval:
    """Of a figure that varies smoothly with the runs; `left_out` is what it would be without each of them in turn.

    `signed`: whether the figure can be negative. Logarithms of one that happens to be positive in all runs would leave
    zero out by themselves.
    """
    runs = len(left_out)
    logarithmic = not signed and value > 0 and bool((left_out > 0).all())
    whole, parts = (math.log(value), np.log(left_out)) if logarithmic else (value, left_out)
    if np.ptp(parts) <= ROUNDING * max(1.0 if logarithmic else 0.0, abs(whole)):
        return Interval(value, value, BY_RUNS)
    _, variance = variances(runs * whole - (runs - 1) * parts, skew)
    half = _student(runs, tail) * math.sqrt(variance)
    if logarithmic:
        return Interval(value * math.exp(-half), value * _exponential(half), BY_RUNS)
    return Interval(value - half, value + half, BY_RUNS)


def count_interval(around: Interval, events: float, runs: int, *, tail: float = TAIL) -> Interval:
    """Of a mean count a run: no narrower than the exact interval of a Poisson count (Garwood 1936).

    None in n runs leaves up to 3.7 / n a run: the rule of three, for both ends.
    """
    from scipy import special  # noqa: PLC0415

    low = float(special.gammaincinv(events, tail)) / runs if events else 0.0
    high = float(special.gammaincinv(events + 1, 1 - tail)) / runs
    return Interval(max(0.0, min(around.low, low)), max(around.high, high), around.method, around.level)


def unseen(runs: int, *, tail: float = TAIL) -> float:
    """How large a share of all runs may be of a kind that none of these shows: 3.7 of their number."""
    return -math.log(tail) / runs


def at_least_wide(interval: Interval, value: float, least: float, *, signed: bool) -> Interval:
    """With no end nearer to the value than `least`: what the measurement can tell apart.

    Runs that do not differ by as much leave an interval of the `least` width, which no number of runs makes narrower.
    """
    low, high = min(interval.low, value - least), max(interval.high, value + least)
    bounded = low if signed or interval.low < 0 else max(0.0, low)
    narrow = interval.high - interval.low <= least
    return replace(interval, low=bounded, high=high, least=narrow)


def share_interval(per_run: FloatArray, share: float, samples: int, *, tail: float = TAIL) -> Interval:
    """The interval of the share of samples below a quantile's estimate; `per_run` is what each run contributes to it.

    An end at 0 or 1 is open.
    """
    from scipy import special  # noqa: PLC0415 - slow to load; few runs have no interval

    runs, binomial = len(per_run), share * (1 - share)
    plain, raised = (max(variance, binomial / samples) for variance in variances(per_run))
    independent = binomial / plain
    effective = binomial / raised * (float(special.ndtri(1 - tail)) / _student(runs, tail)) ** 2
    low = float(special.betaincinv(effective * share, effective * (1 - share) + 1, tail))
    high = float(special.betaincinv(effective * share + 1, effective * (1 - share), 1 - tail))
    none_seen = -math.log(tail)
    least = min(share, 1 - share)
    more = math.ceil(runs * none_seen / (independent * least))
    return Interval(
        low if independent * share >= none_seen else 0.0,
        high if independent * (1 - share) >= none_seen else 1.0,
        BY_RUNS,
        runs_to_close=more if independent * least < none_seen else None,
    )


def rare_level(levels: FloatArray, q: Fraction, *, tail: float = 0.5) -> float:
    """The level that one run in 1 / (1 - q) reaches; `tail`: the probability that it is higher.

    A far quantile of all samples is that of the few highest runs, and R runs need not have drawn one. The upper half of
    the `levels` (R,) is taken to have an exponential tail, of logarithms where all are positive (Hill 1975; Weissman
    1978).
    """
    from scipy import special  # noqa: PLC0415

    runs, logarithmic = len(levels), bool((levels > 0).all())
    ordered = np.sort(np.log(levels) if logarithmic else levels)
    top = runs // 2
    base = float(ordered[-top - 1])
    scale = float((ordered[-top:] - base).mean()) * top / float(special.gammaincinv(top, tail))
    level = base + scale * max(0.0, math.log(top / (runs * float(1 - q))))
    return _exponential(level) if logarithmic else level


def difference(a: Sure, b: Sure, correlation: float = 0.0) -> Interval:
    """Of a - b, from the interval of each (Zou & Donner 2008).

    `correlation` is that of the two estimates (Zou 2007); less than the true one makes the interval too wide, never
    too short.
    """
    value = minus(a.value, b.value)
    low = value - _together(a.value - a.interval.low, b.interval.high - b.value, correlation)
    high = value + _together(a.interval.high - a.value, b.value - b.interval.low, correlation)
    least = a.interval.least and b.interval.least
    return Interval(low, high, BY_RUNS, runs_to_close=_later(a.interval, b.interval), least=least)


def ratio(a: Sure, b: Sure, correlation: float = 0.0) -> Interval:
    """Of a / b, both above zero: the difference of their logarithms."""
    found = difference(_logarithm(a), _logarithm(b), correlation)
    low, high = (_exponential(end) for end in (found.low, found.high))
    return Interval(low, high, BY_RUNS, runs_to_close=found.runs_to_close, least=found.least)


def minus(a: float, b: float) -> float:
    """a - b, zero where they differ by rounding only."""
    return 0.0 if math.isclose(a, b, rel_tol=ROUNDING) else a - b


def sure_correlation(a: FloatArray, b: FloatArray, *, tail: float = TAIL) -> float:
    """A lower bound (one-sided) of the correlation of two figures, from what the runs contribute; at least 0."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    from scipy import special  # noqa: PLC0415

    found = float(np.corrcoef(a, b)[0, 1])
    fisher = math.atanh(min(max(found, 0.0), 1 - ROUNDING)) - float(special.ndtri(1 - 2 * tail)) / math.sqrt(len(a) - 3)
    return math.tanh(max(0.0, fisher))


@cache
def quantile_ranks(n: int, q: Fraction, tail: float = TAIL) -> tuple[int, int]:
    """1-based ranks of the order statistics that enclose the q-quantile of n independent values.

    Rank 0 means there is no lower end, rank n + 1 no upper (David & Nagaraja, Order Statistics, section 7.1).
    """
    from scipy import special  # noqa: PLC0415

    at_most = special.bdtr(np.arange(n + 1), n, float(q))
    return int(np.searchsorted(at_most, tail)), int(np.searchsorted(at_most, 1 - tail)) + 1


def median_interval(values: FloatArray, *, tail: float = TAIL) -> Interval | None:
    """Order-statistic interval of the median of independent values; None where they are too few."""
    if len(values) < max(RUNS_FOR_MEDIAN, math.ceil(1 - math.log2(2 * tail))):
        return None
    return order_interval(values, Fraction(1, 2), tail=tail)


def order_interval(values: FloatArray, q: Fraction, *, tail: float = TAIL) -> Interval:
    """Of the q-quantile of independent values; an end is open where they are too few for it."""
    low, high = quantile_ranks(len(values), q, tail)
    ordered = np.concatenate([[-math.inf], np.sort(values), [math.inf]])
    needed = math.ceil(math.log(tail) / math.log(max(q, 1 - q)))
    close = needed if len(values) < needed else None
    return Interval(float(ordered[low]), float(ordered[high]), "order statistics of the runs", runs_to_close=close)


def exceedance_bound(exceeding: float, n: float, level: float = LEVEL) -> float:
    """Exact one-sided upper bound of a probability after `exceeding` of n independent trials.

    Clopper & Pearson (1934); about 3 / n for none at 95 %.
    """
    if n <= 0 or exceeding >= n:
        return 1.0
    from scipy import special  # noqa: PLC0415

    return float(special.betaincinv(exceeding + 1, n - exceeding, level))


@cache
def _student(runs: int, tail: float) -> float:
    from scipy import special  # noqa: PLC0415

    return float(special.stdtrit(runs - 1, 1 - tail))


def _together(a: float, b: float, correlation: float) -> float:
    """How far both move at once; an open end of either leaves it open."""
    if math.isinf(a) or math.isinf(b):
        return math.inf
    return math.sqrt(max(0.0, a * a + b * b - 2 * correlation * a * b))


def _exponential(value: float) -> float:
    return math.exp(value) if value < math.log(sys.float_info.max) else math.inf


def _logarithm(sure: Sure) -> Sure:
    low = math.log(sure.interval.low) if sure.interval.low > 0 else -math.inf
    high = math.log(sure.interval.high) if math.isfinite(sure.interval.high) else math.inf
    ends = replace(sure.interval, low=low, high=high)
    return Sure(math.log(sure.value), ends)


def _later(a: Interval, b: Interval) -> int | None:
    return max((interval.runs_to_close for interval in (a, b) if interval.runs_to_close), default=None)
