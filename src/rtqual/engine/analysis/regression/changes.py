# SPDX-License-Identifier: MIT
"""Where a series of figures changes for good, where it drifts, and which versions moved many boards.

The series is cut into levels such that the squared distances of its values from their levels, in standard errors, plus
a penalty a cut are least (Jackson et al. 2005, "An algorithm for optimal partitioning of data on an interval").
Versions differ by more than their own intervals tell (a boot, heat), seldom by much, and not independently. So

- the standard error is that of the series, from what its neighbours differ by (median, so that steps do not count),
  where that is more than the interval's own;
- a value far from the median of the five around it is drawn in: one campaign is no level, nor are two;
- the penalty grows by what the rest's autocorrelation adds to the variance of a level, (1 + rho) / (1 - rho).

The penalty is the square of the normal quantile at ALARM / 2 shared among all pairs of places a level can begin and end
at and all series looked at together (Bonferroni). Where a line fits better than the levels the series drifts. All is of
logarithms where all values are positive. docs/verification/history.md says how often it is wrong.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from rtqual.engine.analysis.figure.intervals import FloatArray

ALARM = 0.05
LONG = 3  # versions that make a level
LEAST = 2 * LONG  # versions that can show a change
CONFIRMED = 3  # further versions by which a mark is no longer new
SMALLEST = 0.02  # a change by less is none
REPLAYED = 100  # versions after which the course is looked at again; what was marked and gone before is forgotten
BOARDS = 8  # fewer do not tell a shift of all from chance
_WINDOW = 4  # versions on either side of a shift that is tested over boards
_NEAR = 3  # versions within which two marks are the same
_CLIPPED = 2.5  # standard errors from the median of _AROUND
_ODD = 5.0  # the same, of a version that stands apart alone
_AROUND = 5
_AT_ONCE = 500  # series
_EXACT = 50  # boards
_MOST_DEPENDENT = 0.8  # autocorrelation
_NORMAL = NormalDist()
_SIDE = _NORMAL.inv_cdf(0.975)
_MAD = 1 / _NORMAL.inv_cdf(0.75)  # standard deviations in a median distance
_UPPER = 1 / _NORMAL.inv_cdf(0.875)  # and in the upper quartile of distances
# Runs that repeat to the tick give intervals without width, by which the next tick would be a change.
_FINEST = 1e-3  # of the value: the least standard error
Places = tuple[int, ...]


@dataclass(frozen=True)
class FigurePoint:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        return max((self.high - self.value) / _SIDE, (self.value - self.low) / _SIDE, _FINEST * abs(self.value), 1e-300)


@dataclass(frozen=True)
class Change:
    """`at`: the first of the new level; the levels are medians. `since`: the version that first showed it; `gone`: the
    one after which it was no longer found."""

    at: int
    before: float
    after: float
    since: int = 0
    gone: int | None = None

    def state(self, last: int) -> str:
        """'gone', 'new' until CONFIRMED versions more have shown it, 'stands'; `last`: the newest version."""
        if self.gone is not None:
            return "gone"
        return "new" if last - self.since < CONFIRMED else "stands"


@dataclass(frozen=True)
class Drift:
    """A line fits better than levels; its ends."""

    before: float
    after: float


@dataclass(frozen=True)
class Shift:
    """A version that moved a figure on many boards: by so many times in the median, tested over the boards."""

    at: int
    times: float
    boards: int
    chance: float  # the p-value


@dataclass(frozen=True)
class _Row:
    """The series until one of its versions, as it is cut."""

    values: FloatArray  # logarithms where `logs`
    errors: FloatArray
    logs: bool

    @cached_property
    def scale(self) -> float:
        """From what neighbours differ by: the median, or the upper quarter, for of two states that come by turns half
        of the neighbours differ by nothing."""
        apart = np.diff(self.values)
        middle, upper = np.quantile(np.abs(apart - np.median(apart)), (0.5, 0.75))
        return float(max(_MAD * middle, _UPPER * upper) / np.sqrt(2))

    @cached_property
    def middle(self) -> FloatArray:
        padded = np.pad(self.values, _AROUND // 2, mode="edge")
        return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, _AROUND), axis=1), np.float64)

    @cached_property
    def clipped(self) -> FloatArray:
        most = _CLIPPED * np.maximum(self.scale, self.errors)
        return np.clip(self.values, self.middle - most, self.middle + most)

    def odd(self, cuts: Places) -> Places:
        """Far from the versions around, and from those of their level."""
        from_all = np.minimum(np.abs(self.values - self.middle), np.abs(self.values - self.levels(cuts)))
        return tuple(int(place) for place in np.flatnonzero(from_all > _ODD * np.maximum(self.scale, self.errors)))

    def levels(self, cuts: Places) -> FloatArray:
        found = np.empty(len(self.values))
        for begin, end in pairwise((0, *cuts, len(found))):
            found[begin:end] = np.median(self.clipped[begin:end])
        return found

    def plain(self, value: float) -> float:
        return float(np.exp(value)) if self.logs else float(value)

    def matters(self, a: float, b: float) -> bool:
        size = 1.0 if self.logs else float(np.median(np.abs(self.values)))
        return abs(b - a) > (np.log1p(SMALLEST) if self.logs else SMALLEST * size)


def changes(series: Sequence[FigurePoint], together: int = 1) -> tuple[Change, ...]:
    """The changes in a series, one of so many that are looked at `together`; with those that earlier versions showed
    and later ones took back. None in fewer than LEAST points."""
    courses = _courses(series, together)
    return ledger([found for found, _ in courses], len(series) - len(courses))


def drift(series: Sequence[FigurePoint], together: int = 1) -> Drift | None:
    """Where the series as it now stands has no levels, and a slope."""
    courses = _courses(series, together, every=False)
    return courses[-1][1] if courses else None


@dataclass(frozen=True)
class SeriesCourse:
    """A series as it now stands. `odd`: versions that stand apart alone, which is no change of level."""

    changes: tuple[Change, ...] = ()
    drift: Drift | None = None
    odd: Places = ()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # of figures that no machine gives
def courses(series: Sequence[Sequence[FigurePoint]], together: int) -> list[SeriesCourse]:
    """Of many series at once: their changes, drifts and odd versions.

    `since` looks back over the last CONFIRMED versions alone, which tells 'new' from 'stands', and what was gone before
    is not among the changes. Series of fewer than LEAST points have none.
    """
    found = [SeriesCourse() for _ in series]
    long = [place for place, points in enumerate(series) if len(points) >= LEAST]
    rows = [_row(series[place]) for place in long]
    for place, row, (shaped, drifts) in zip(long, rows, _shapes(rows, together), strict=True):
        found[place] = SeriesCourse(shaped, drifts, row.odd(tuple(change.at for change in shaped)))
    changed = [place for place in long if found[place].changes]
    ends = {place: range(max(LEAST, len(series[place]) - CONFIRMED), len(series[place])) for place in changed}
    before = iter(_shapes([_row(series[place][:end]) for place in changed for end in ends[place]], together))
    for place in changed:
        earlier = [shaped for shaped, _ in islice(before, len(ends[place]))]
        kept = ledger([*earlier, found[place].changes], len(series[place]) - 1 - len(earlier))
        found[place] = replace(found[place], changes=tuple(change for change in kept if change.gone is None))
    return found


def _row(series: Sequence[FigurePoint]) -> "_Row":
    logs = all(point.value > 0 for point in series)
    values, errors = (np.array([getattr(point, name) for point in series]) for name in ("value", "error"))
    return _Row(np.log(values), errors / values, logs=True) if logs else _Row(values, errors, logs=False)


def _shapes(rows: Sequence["_Row"], together: int) -> list[tuple[tuple[Change, ...], Drift | None]]:
    return [
        _shape(row, cuts, together)
        for begin in range(0, len(rows), _AT_ONCE)
        for some in (rows[begin : begin + _AT_ONCE],)
        for row, cuts in zip(some, _cut(some, together), strict=True)
    ]


def ledger(found: Sequence[Sequence[Change]], first: int = LEAST - 1) -> tuple[Change, ...]:
    """Each mark once, from what was found after each version from `first` on: as it stands, or when it was gone."""
    kept: list[Change] = []
    for last, marks in enumerate(found, first):
        left = list(marks)
        for place, change in enumerate(kept):
            near = [other for other in left if abs(other.at - change.at) <= _NEAR]
            if near:
                same = min(near, key=lambda other: abs(other.at - change.at))
                left.remove(same)
                back = change.gone is not None and last - change.gone >= CONFIRMED  # a mark of its own, and no flicker
                kept[place] = replace(same, since=last if back else change.since)
            elif change.gone is None:
                kept[place] = replace(change, gone=last)
        kept += [replace(candidate, since=last) for candidate in left]
    return tuple(sorted(kept, key=lambda candidate: candidate.at))


def shifts(boards: Sequence[Sequence[float | None]], together: int = 1) -> tuple[Shift, ...]:
    """Of one figure over the versions on each of several boards: the versions that moved it on many.

    Wilcoxon's signed ranks of what the medians after and before differ by, a board each; ALARM is shared among the
    versions and all figures looked at `together`. A version that is marked hides its neighbours.
    """
    versions = min(map(len, boards), default=0)
    if not versions:
        return ()
    rows = np.array([[value or np.nan for value in row[:versions]] for row in boards], np.float64).reshape(-1, versions)
    rows = np.log(np.where(rows > 0, rows, np.nan))
    allowed = ALARM / (max(1, versions - LEAST + 1) * together)
    found: list[tuple[float, Shift]] = []  # with by how much the averages differ, which neighbours' medians share
    for at in range(LONG, versions - LONG + 1):
        before, after = rows[:, max(0, at - _WINDOW) : at], rows[:, at : at + _WINDOW]
        known = np.minimum(np.isfinite(before).sum(axis=1), np.isfinite(after).sum(axis=1)) >= LONG
        before, after = before[known], after[known]
        apart = np.nanmedian(after, axis=1) - np.nanmedian(before, axis=1)
        if len(apart) < BOARDS or not apart.any():
            continue
        chance = signed_ranks(apart)
        if chance <= allowed:
            means = np.median(np.nanmean(after, axis=1) - np.nanmean(before, axis=1))
            found.append((abs(float(means)), Shift(at, float(np.exp(np.median(apart))), len(apart), chance)))
    marked: list[Shift] = []
    for _, shift in sorted(found, key=lambda pair: -pair[0]):
        if all(abs(shift.at - other.at) >= _WINDOW for other in marked):
            marked.append(shift)
    return tuple(sorted(marked, key=lambda change: change.at))


def signed_ranks(apart: FloatArray) -> float:
    """The p-value of Wilcoxon's signed ranks, two-sided: exact for few that differ all, else the normal one."""
    apart = apart[apart != 0]
    _, place, alike = np.unique(np.abs(apart), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(alike) - (alike - 1) / 2)[place]
    above, all_ = float(ranks[apart > 0].sum()), float(ranks.sum())
    least, n = min(above, all_ - above), len(apart)
    if n <= _EXACT and len(alike) == n:
        ways = np.ones(1)
        for rank in range(1, n + 1):  # either sign for each
            ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
        return min(1.0, 2 * float(ways[: int(least) + 1].sum()) / 2.0**n)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((alike**3 - alike).sum()) / 48
    return 2 * _NORMAL.cdf((least - all_ / 2) / math.sqrt(variance))


def _courses(
    series: Sequence[FigurePoint], together: int, *, every: bool = True
) -> list[tuple[tuple[Change, ...], Drift | None]]:
    """What is found after each version from the LEAST-th on, of the REPLAYED last ones, or after the last alone."""
    if len(series) < LEAST:
        return []
    whole = _row(series)
    ends = range(max(LEAST, len(series) - REPLAYED) if every else len(series), len(series) + 1)
    return _shapes([_Row(whole.values[:end], whole.errors[:end], whole.logs) for end in ends], together)


def _penalty(versions: int, together: int) -> float:
    pairs = versions * (versions - 1) / 2 * together
    return _NORMAL.inv_cdf(1 - ALARM / 2 / pairs) ** 2


def _cut(rows: Sequence[_Row], together: int) -> list[Places]:
    """The places where each row is cut: by the noise of neighbours, then twice by what these cuts leave."""
    penalties = np.array([_penalty(len(row.values), together) for row in rows])
    errors = [np.maximum(max(row.scale, 1e-9), row.errors) for row in rows]
    found = _partition(rows, errors, penalties)
    for _ in range(2):
        factors = []
        for place, (row, cuts) in enumerate(zip(rows, found, strict=True)):
            rest = row.clipped - row.levels(cuts)
            factors.append(_dependence(rest, len(cuts) + 1))
            errors[place] = np.maximum(max(float(rest.std()), 1e-9), row.errors)
        found = _partition(rows, errors, penalties * factors)
    return found


def _dependence(rest: FloatArray, fitted: int) -> float:
    """By how many times dependence raises the variance of a level. The autocorrelation of a short rest comes out too
    low, by about (1 + 4 rho) / n for each level fitted (Kendall 1954)."""
    squares = float(rest @ rest)
    rho = float(rest[1:] @ rest[:-1]) / squares if squares else 0.0
    rho = min(max(rho + fitted * (1 + 4 * max(rho, 0.0)) / len(rest), 0.0), _MOST_DEPENDENT)
    return (1 + rho) / (1 - rho)


def _partition(rows: Sequence[_Row], errors: Sequence[FloatArray], penalties: FloatArray) -> list[Places]:
    """Optimal partitioning of all rows at once, into levels of LONG versions or more."""
    longest = max(len(row.values) for row in rows)
    values, weights = np.zeros((len(rows), longest)), np.ones((len(rows), longest))
    for place, (row, error) in enumerate(zip(rows, errors, strict=True)):
        values[place, : len(row.values)] = row.clipped - np.median(row.clipped)  # or squares lose their digits
        weights[place, : len(error)] = error**-2
    zero = np.zeros((len(rows), 1))
    sums = [np.hstack([zero, np.cumsum(weights * values**power, axis=1)]) for power in (0, 1, 2)]
    best, begun = np.full((len(rows), longest + 1), np.inf), np.zeros((len(rows), longest + 1), np.int64)
    best[:, 0] = -penalties
    for end in range(LONG, longest + 1):
        starts = slice(0, end - LONG + 1)
        weight, first, second = (array[:, end, None] - array[:, starts] for array in sums)
        total = best[:, starts] + np.maximum(second - first**2 / weight, 0) + penalties[:, None]
        begun[:, end] = total.argmin(axis=1)
        best[:, end] = total.min(axis=1)
    return [_traced(of, len(row.values)) for of, row in zip(begun, rows, strict=True)]


def _traced(begun: npt.NDArray[np.int64], end: int) -> Places:
    cuts: list[int] = []
    while begun[end]:
        end = int(begun[end])
        cuts.append(end)
    return tuple(reversed(cuts))


def _shape(row: _Row, cuts: Places, together: int) -> tuple[tuple[Change, ...], Drift | None]:
    """Levels, or a line where that fits better; with neither the series is flat."""
    cuts = _mattering(row, cuts)
    times = np.arange(len(row.values), dtype=np.float64)
    line = np.asarray(np.polyval(np.polyfit(times, row.clipped, 1), times), np.float64)
    if cuts and _information(row, row.levels(cuts), 2 * len(cuts) + 1) <= _information(row, line, 2):
        return tuple(_levels(row, cuts)), None
    rest = row.clipped - line
    error = max(float(rest.std()), float(np.median(row.errors)))
    explained = float(((row.clipped - row.clipped.mean()) ** 2).sum() - rest @ rest) / error**2
    sloped = explained > _penalty(len(row.values), together) * _dependence(rest, 2)
    if sloped and row.matters(line[0], line[-1]):
        return (), Drift(row.plain(line[0]), row.plain(line[-1]))
    return (), None


def _information(row: _Row, fitted: FloatArray, parameters: int) -> float:
    """Schwarz's criterion; less is better. No fit is closer than the figures are known."""
    known = float((row.errors**2).sum()) * 1e-6
    squares = float(((row.clipped - fitted) ** 2).sum()) + known
    return len(fitted) * float(np.log(squares / len(fitted))) + parameters * float(np.log(len(fitted)))


def _mattering(row: _Row, cuts: Places) -> Places:
    """Without the cuts beside which the levels hardly differ, the least first."""
    while cuts:
        steps = [abs(float(np.diff(row.levels(cuts)[at - 1 : at + 1])[0])) for at in cuts]
        least = int(np.argmin(steps))
        if row.matters(0.0, steps[least]):
            return cuts
        cuts = (*cuts[:least], *cuts[least + 1 :])
    return cuts


def _levels(row: _Row, cuts: Places) -> Iterator[Change]:
    levels = row.levels(cuts)
    for at in cuts:
        yield Change(at, row.plain(levels[at - 1]), row.plain(levels[at]))
