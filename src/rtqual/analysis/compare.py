# SPDX-License-Identifier: MIT
"""One candidate beside another: how far apart, in figures with intervals.

Both sides' runs are resampled independently. A statement is made only where the interval of the
difference leaves zero out. A largest sample cannot be resampled (see summary.py), so maxima are compared
by the median of the runs' maxima: each run's maximum is one draw. The same holds for max - min.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from rtqual.analysis.intervals import RUNS_TO_RESAMPLE, FloatArray, resampled_interval
from rtqual.analysis.model import Comparison, Distribution, Figure, Interval, Summary
from rtqual.analysis.statistics import QUANTILES, is_size
from rtqual.analysis.summary import READ_ONCE, RESOLUTION, Measured
from rtqual.analysis.wording import count
from rtqual.record.schema import Int64Array, Kind

COMPARED = ("p50", "p99", "median run max", "avg", "median run max-min", "p95-avg")
UNDECIDED = "undecided"  # how a statement begins that only says what is missing
# What stands for a figure of the mission when candidates are compared.
STANDS_FOR = {"max": "median run max", "max-min": "median run max-min"}


def compare(measured: Iterable[Measured], statistics: Sequence[str] = COMPARED) -> tuple[Comparison, ...]:
    """Every pair of candidates that differ in nothing else."""
    ordered = sorted(measured, key=lambda one: one.group)
    return tuple(
        comparison
        for a, b in combinations(ordered, 2)
        if _cell(a) == _cell(b)
        for comparison in compare_pair(a, b, statistics)
    )


def compare_pair(a: Measured, b: Measured, statistics: Sequence[str] = COMPARED) -> tuple[Comparison, ...]:
    """Candidate a beside b in the statistics, and in what the tool itself printed, that both have."""
    names = dict.fromkeys([*statistics, *(name for name in a.scalars if name != RESOLUTION)])
    both = [name for name in names if name in a.summary.figures and name in b.summary.figures]
    superior = _superiorities(a.summary, b.summary, both)
    return tuple(_comparison(a, b, name, superior.get(name)) for name in both)


def mirrored(one: Comparison) -> Comparison:
    """The same with a and b in each other's place."""
    swap = {" < ": " > ", " > ": " < "}
    a, sign, b = one.statement.partition(" < " if " < " in one.statement else " > ")
    told = not one.statement.startswith(UNDECIDED)
    return replace(
        one,
        a=one.b,
        b=one.a,
        difference=_flipped(one.difference, lambda value: -value),
        ratio=_flipped(one.ratio, _inverse) if one.ratio and one.ratio.value > 0 else None,
        superiority=None if one.superiority is None else 1 - one.superiority,
        statement=f"{b}{swap[sign]}{a}" if told else one.statement,
    )


def is_constant(one: Comparison) -> bool:
    """Whether there is nothing to compare: what a tool prints, as the number of events asked for, and never varies."""
    interval = one.difference.interval
    varies = interval is not None and (interval.low, interval.high) != (0, 0)
    return one.statistic not in COMPARED and one.difference.value == 0 and not varies


def superiority(a: Distribution, b: Distribution) -> float:
    """P(a sample of a > a sample of b) + half the probability of a tie; exact. 0.5 means no effect.

    The common-language effect size A of Vargha & Delaney (2000). Overflowed samples tie with each other.
    """
    values_a, counts_a = _with_overflow(a)
    values_b, counts_b = _with_overflow(b)
    below = np.concatenate([[0.0], counts_b.cumsum()])
    less = below[np.searchsorted(values_b, values_a, side="left")]
    not_more = below[np.searchsorted(values_b, values_a, side="right")]
    return float(counts_a @ (less + not_more) / 2 / (counts_a.sum() * counts_b.sum()))


def _comparison(a: Measured, b: Measured, statistic: str, superior: float | None) -> Comparison:
    of_a, of_b = a.summary.figures[statistic], b.summary.figures[statistic]
    difference = _difference(a, b, statistic)
    return Comparison(
        a=a.group,
        b=b.group,
        statistic=statistic,
        unit=of_a.unit,
        difference=difference,
        ratio=_ratio(a, b, statistic) if of_a.value >= 0 and of_b.value > 0 else None,
        superiority=superior,
        statement=_statement(a.summary, b.summary, difference),
    )


def _difference(a: Measured, b: Measured, statistic: str) -> Figure:
    of_a, of_b = a.summary.figures[statistic], b.summary.figures[statistic]
    pair = _resampled(a, b, statistic)
    interval = resampled_interval(pair[0] - pair[1], min(of_a.runs, of_b.runs)) if pair else None
    if interval is not None:  # a figure that is only a lower bound leaves that end open
        low = -math.inf if of_b.at_least else interval.low
        high = math.inf if of_a.at_least else interval.high
        interval = Interval(low, high, interval.method, interval.level)
    return _figure(of_a, of_b, value=of_a.value - of_b.value, unit=of_a.unit, interval=interval)


def _ratio(a: Measured, b: Measured, statistic: str) -> Figure:
    of_a, of_b = a.summary.figures[statistic], b.summary.figures[statistic]
    pair = _resampled(a, b, statistic)
    interval = None
    if pair and (pair[0] >= 0).all() and (pair[1] > 0).all():
        interval = resampled_interval(pair[0] / pair[1], min(of_a.runs, of_b.runs))
    if interval is not None:
        low = 0.0 if of_b.at_least else interval.low
        high = math.inf if of_a.at_least else interval.high
        interval = Interval(low, high, interval.method, interval.level)
    return _figure(of_a, of_b, value=of_a.value / of_b.value, unit="1", interval=interval)


def _figure(of_a: Figure, of_b: Figure, *, value: float, unit: str, interval: Interval | None) -> Figure:
    return Figure(
        value=value,
        unit=unit,
        n=of_a.n + of_b.n,
        runs=min(of_a.runs, of_b.runs),
        interval=interval,
        why_no_interval="" if interval else _why_none(of_a, of_b),
        at_least=of_a.at_least and not of_b.at_least,
        binned=of_a.binned or of_b.binned,
    )


def _why_none(of_a: Figure, of_b: Figure) -> str:
    if is_size(of_a.unit):
        return READ_ONCE
    if min(of_a.runs, of_b.runs) < RUNS_TO_RESAMPLE:
        return f"{of_a.runs} and {count(of_b.runs, 'run')}; an interval needs {RUNS_TO_RESAMPLE} of each"
    return "it has no value in some resamples"


def _resampled(a: Measured, b: Measured, statistic: str) -> tuple[FloatArray, FloatArray] | None:
    of_a, of_b = a.replicates.get(statistic), b.replicates.get(statistic)
    return (of_a, of_b) if of_a is not None and of_b is not None else None


def _superiorities(a: Summary, b: Summary, statistics: Iterable[str]) -> dict[str, float]:
    """Of the runs' maxima where those are compared, of the samples where their place is."""
    found: dict[str, float] = {}
    if a.run_maxima and b.run_maxima:
        found["median run max"] = superiority(_run_maxima(a), _run_maxima(b))
    if a.distribution and b.distribution:
        of_samples = superiority(a.distribution, b.distribution)
        found |= {name: of_samples for name in statistics if name in QUANTILES or name == "avg"}
    return found


def _run_maxima(summary: Summary) -> Distribution:
    values, counts = np.unique(np.array(summary.run_maxima, np.int64), return_counts=True)
    return Distribution(values, counts, "", Kind.HISTOGRAM)


def _with_overflow(distribution: Distribution) -> tuple[Int64Array, Int64Array]:
    if not distribution.overflow or distribution.overflow_from is None:
        return distribution.values, distribution.counts
    largest = max(distribution.overflow_from, int(distribution.values.max(initial=0)))
    return np.append(distribution.values, largest), np.append(distribution.counts, distribution.overflow)


def _statement(a: Summary, b: Summary, difference: Figure) -> str:
    """What the figures allow to say; 'undecided' with what is missing."""
    for summary in (a, b):
        if summary.problems:
            return f"{UNDECIDED}: {summary.group.candidate}: {summary.problems[0]}"
    low, high = difference.value, difference.value
    if not is_size(difference.unit):
        if difference.interval is None:
            return f"{UNDECIDED}: {difference.why_no_interval}"
        low, high = difference.interval.low, difference.interval.high
    if high < 0:
        return f"{a.group.candidate} < {b.group.candidate}"
    if low > 0:
        return f"{a.group.candidate} > {b.group.candidate}"
    return f"{UNDECIDED}: the difference may be zero"


def _flipped(one: Figure, turn: Callable[[float], float]) -> Figure:
    """A figure under a falling function: the ends of its interval change places."""
    interval = one.interval
    if interval is not None:
        interval = replace(interval, low=turn(interval.high), high=turn(interval.low))
    return replace(one, value=turn(one.value), interval=interval)


def _inverse(value: float) -> float:
    return 1 / value if value else math.inf


def _cell(one: Measured) -> tuple[str, str, str, int]:
    return one.group.instrument, one.group.load, one.group.board, one.group.cpus
