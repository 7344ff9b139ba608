# SPDX-License-Identifier: MIT
"""One candidate beside another: how far apart, in figures with intervals.

The interval of a difference or ratio comes from those of the two figures, whose runs are independent. A largest sample
has none (see figures.py), so maxima are compared by the median of the runs' maxima: each run's maximum is one draw. The
same holds for max - min. What may be said of a difference stands in statement.py.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from rtqual.base.words import count
from rtqual.engine.analysis.difference.model import Comparison, Relation
from rtqual.engine.analysis.difference.statement import Margins, margin_value, stated, undecided
from rtqual.engine.analysis.figure.asked import QUANTILES, RUNS_FOR_INTERVAL
from rtqual.engine.analysis.figure.comparable import fewer_runs, lacking, other_lengths, runs_differ, unlike
from rtqual.engine.analysis.figure.figures import closed
from rtqual.engine.analysis.figure.intervals import Sure, difference, minus, ratio
from rtqual.engine.analysis.figure.model import Distribution, Figure, Interval, Summary
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.engine.analysis.figure.summary import READ_ONCE, RESOLUTION, Measured
from rtqual.protocols.record.schema import Int64Array, SeriesKind, Timing

COMPARED = ("p50", "p99", "median run max", "avg", "median run max-min", "p95-avg")


def compare(
    measured: Iterable[Measured], statistics: Sequence[str] = COMPARED, margins: Margins | None = None
) -> tuple[Comparison, ...]:
    """Every pair of candidates that differ in nothing else."""
    return tuple(comparison for a, b in pairs(measured) for comparison in compare_pair(a, b, statistics, margins))


def pairs(measured: Iterable[Measured]) -> Iterator[tuple[Measured, Measured]]:
    """Of candidates, measured alike."""
    ordered = sorted(measured, key=lambda measured: measured.group)
    return ((a, b) for a, b in combinations(ordered, 2) if a.group.cell == b.group.cell)


def compare_pair(
    a: Measured, b: Measured, statistics: Sequence[str] = COMPARED, margins: Margins | None = None
) -> tuple[Comparison, ...]:
    """Candidate a beside b in the statistics, and in what the tool itself printed, that both have."""
    names = dict.fromkeys([*statistics, *(name for name in a.scalars if name != RESOLUTION)])
    both = [name for name in names if name in a.summary.figures and name in b.summary.figures]
    superior = _superiorities(a.summary, b.summary, both)
    return tuple(_comparison(a.summary, b.summary, name, superior.get(name), margins or {}) for name in both)


def mirrored(comparison: Comparison) -> Comparison:
    """The same with a and b in each other's place."""
    apart = flipped(comparison.difference, lambda value: -value)
    said = stated(comparison.b.candidate, comparison.a.candidate, apart, comparison.margin, comparison.note)
    return replace(
        comparison,
        a=comparison.b,
        b=comparison.a,
        difference=apart,
        ratio=flipped(comparison.ratio, _inverse) if comparison.ratio else None,
        superiority=None if comparison.superiority is None else 1 - comparison.superiority,
        **({} if comparison.relation == Relation.UNDECIDED else said._asdict()),
    )


def is_constant(comparison: Comparison) -> bool:
    """Whether there is nothing to compare: what a tool prints, as the number of events asked for, and never varies."""
    varies = comparison.difference.interval is not None and not comparison.difference.interval.least
    return comparison.statistic not in COMPARED and comparison.difference.value == 0 and not varies


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


def figure_difference(of_a: Figure, of_b: Figure) -> Figure:
    """a - b, with an interval where both figures have one from enough runs."""
    both = _both_sure(of_a, of_b)
    interval = difference(*both) if both else None
    return _figure(of_a, of_b, value=minus(of_a.value, of_b.value), unit=of_a.unit, interval=interval)


def refusal(a: Summary, b: Summary) -> str:
    """Why two groups are not compared: the first problem of their records; empty where they have no problem."""
    for summary in (a, b):
        if summary.problems:
            return f"{summary.group.candidate}: {summary.problems[0]}"
    return unlike(a, b)


def _comparison(a: Summary, b: Summary, statistic: str, superior: float | None, margins: Margins) -> Comparison:
    of_a, of_b = a.figures[statistic], b.figures[statistic]
    why = unlike(a, b, statistic)
    apart = replace(figure_difference(of_a, of_b), **_nothing(why))
    runs = [
        f"{summary.group.candidate}: {text}"
        for summary, figure in ((a, of_a), (b, of_b))
        for text in (fewer_runs(summary), lacking(summary, figure))
        if text
    ]
    note = ", ".join(filter(None, ["" if why else other_lengths(a.conditions, b.conditions), *runs]))
    margin = margin_value(margins.get((a.group.instrument, a.group.load, statistic), ()), of_a, of_b)
    refused = refusal(a, b)
    said = undecided(refused) if refused else stated(a.group.candidate, b.group.candidate, apart, margin, note)
    return Comparison(
        a=a.group,
        b=b.group,
        statistic=statistic,
        unit=of_a.unit,
        difference=apart,
        ratio=replace(_ratio(of_a, of_b), **_nothing(why)) if _is_positive(of_a) and _is_positive(of_b) else None,
        superiority=None if why else superior,
        **said._asdict(),
        margin=margin,
        note=note,
        emulated=any(summary.timing != Timing.REAL for summary in (a, b)),
    )


def _nothing(why: str) -> dict[str, Any]:
    """What is said of a difference that has no meaning."""
    return {"interval": None, "why_no_interval": why} if why else {}


def _ratio(of_a: Figure, of_b: Figure) -> Figure:
    both = _both_sure(of_a, of_b)
    return _figure(of_a, of_b, value=of_a.value / of_b.value, unit="1", interval=ratio(*both) if both else None)


def _is_positive(figure: Figure) -> bool:
    """Whether a ratio has a meaning; an open end says nothing against it."""
    low = figure.interval.low if figure.interval else figure.value
    return figure.value > 0 and (low >= 0 or math.isinf(low))


def _both_sure(of_a: Figure, of_b: Figure) -> tuple[Sure, Sure] | None:
    if of_a.interval is None or of_b.interval is None or min(of_a.runs, of_b.runs) < RUNS_FOR_INTERVAL:
        return None
    return Sure(of_a.value, of_a.interval), Sure(of_b.value, of_b.interval)


def _figure(of_a: Figure, of_b: Figure, *, value: float, unit: str, interval: Interval | None) -> Figure:
    runs = min(of_a.runs, of_b.runs)
    interval, why = closed(interval, runs) if interval else (None, _why_none(of_a, of_b))
    if interval and (differ := runs_differ(of_a, of_b)):
        interval, why = None, differ
    return Figure(
        value=value,
        unit=unit,
        n=of_a.n + of_b.n,
        runs=runs,
        interval=interval,
        why_no_interval=why,
        at_least=of_a.at_least and not of_b.at_least,
        binned=of_a.binned or of_b.binned,
    )


def _why_none(of_a: Figure, of_b: Figure) -> str:
    if is_size(of_a.unit):
        return READ_ONCE
    if min(of_a.runs, of_b.runs) < RUNS_FOR_INTERVAL:
        return f"{of_a.runs} and {count(of_b.runs, 'run')}; an interval needs {RUNS_FOR_INTERVAL} of each"
    return of_a.why_no_interval or of_b.why_no_interval


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
    return Distribution(values, counts, "", SeriesKind.HISTOGRAM)


def _with_overflow(distribution: Distribution) -> tuple[Int64Array, Int64Array]:
    if not distribution.overflow or distribution.overflow_from is None:
        return distribution.values, distribution.counts
    largest = max(distribution.overflow_from, int(distribution.values.max(initial=0)))
    return np.append(distribution.values, largest), np.append(distribution.counts, distribution.overflow)


def flipped(figure: Figure, turn: Callable[[float], float]) -> Figure:
    """A figure under a falling function: the ends of its interval change places."""
    interval = figure.interval
    if interval is not None:
        interval = replace(interval, low=turn(interval.high), high=turn(interval.low))
    return replace(figure, value=turn(figure.value), interval=interval)


def _inverse(value: float) -> float:
    return 1 / value if value else math.inf
