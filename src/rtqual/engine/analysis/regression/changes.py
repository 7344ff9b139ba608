# SPDX-License-Identifier: MIT
"""Where a series of figures changes: optimal partitioning.

The series is cut into pieces of one level each such that the squared distances of its values from their levels, in
standard errors, plus a penalty a cut are least (Jackson et al. 2005, "An algorithm for optimal partitioning of data on
an interval"; PELT by Killick, Fearnhead & Eckley 2012 finds the same cuts, faster than series of versions need).

A standard error is the longer side of a figure's 95 % interval over 1.96. The penalty is the square of the normal
quantile at ALARM / 2 shared among all pairs of places a level can begin and end at and all series looked at together:
by Bonferroni one unchanged set of series is marked anywhere with at most about ALARM (test_changes.py
measures it). Versions count as independent of each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import NormalDist

ALARM = 0.05
LEAST = 3  # two versions are a comparison
_NORMAL = NormalDist()
_SIDE = _NORMAL.inv_cdf(0.975)
# Runs that repeat to the tick give intervals without width, by which the next tick would be a change.
_FINEST = 1e-3  # of the value: the least standard error


@dataclass(frozen=True)
class Point:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        return max((self.high - self.value) / _SIDE, (self.value - self.low) / _SIDE, _FINEST * abs(self.value), 1e-300)


@dataclass(frozen=True)
class Change:
    """`at`: the first of the new level; the levels are means weighted by the inverse squares of the errors."""

    at: int
    before: float
    after: float


def changes(series: Sequence[Point], together: int = 1) -> tuple[Change, ...]:
    """The changes in a series, one of so many that are looked at `together`. None in fewer than LEAST points."""
    n = len(series)
    if n < LEAST:
        return ()
    pairs = n * (n - 1) / 2 * together
    penalty = _NORMAL.inv_cdf(1 - ALARM / 2 / pairs) ** 2
    distance = _distances(series)
    best = [-penalty]  # of the first so many points
    begun = [0]  # where their last level begins
    for end in range(1, n + 1):
        least = min((best[start] + distance(start, end) + penalty, start) for start in range(end))
        best.append(least[0])
        begun.append(least[1])
    cuts = [n]
    while cuts[-1]:
        cuts.append(begun[cuts[-1]])
    cuts.reverse()
    levels = [_level(series[start:end]) for start, end in pairwise(cuts)]
    return tuple(Change(at, *around) for at, around in zip(cuts[1:-1], pairwise(levels), strict=True))


def _level(points: Sequence[Point]) -> float:
    weights = [one.error**-2 for one in points]
    return sum(weight * one.value for weight, one in zip(weights, points, strict=True)) / sum(weights)


def _distances(series: Sequence[Point]) -> Callable[[int, int], float]:
    """The sum of the squared distances of the points from `start` to before `end` from their level, by running sums."""
    middle = _level(series)  # sums of squares far from zero would lose their digits
    rows = [(one.error**-2, one.value - middle) for one in series]
    weights, firsts, seconds = (
        [0.0, *accumulate(weight * off**power for weight, off in rows)] for power in (0, 1, 2)
    )  # fmt: skip

    def distance(start: int, end: int) -> float:
        first = firsts[end] - firsts[start]
        return max(0.0, seconds[end] - seconds[start] - first**2 / (weights[end] - weights[start]))

    return distance
