# SPDX-License-Identifier: MIT
"""The runs of a group put together: counts over common values, never the samples one by one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rtqual.engine.analysis.figure.asked import TAIL, tail
from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.protocols.record.schema import Int64Array, Kind, Series, SeriesInfo

_KINDS = list(Kind)
_COARSE = (Kind.BINNED, Kind.SUMMARY)
_MOST_NS = 2**62
_TELL_STEP = 5  # distinct values; fewer have a common divisor that is no clock's
_CUT_NS = 1_000  # what the tools that count microseconds cut off


@dataclass(frozen=True)
class Pool:
    """R runs over K distinct values. An overflowed sample counts as `ceiling`, the least it can be."""

    unit: str
    kind: Kind
    values: Int64Array  # (K,) ascending
    cumulative: Int64Array  # (R, K) samples of a run at or below a value
    counts: Int64Array  # (K,) of all runs, overflowed samples not included
    n: FloatArray  # (R,) samples of a run; 1 where not known
    totals: FloatArray  # (R,) sums of the samples
    lows: FloatArray  # (R,)
    highs: FloatArray  # (R,)
    reported: Mapping[str, FloatArray]  # (R,) each: what the tool printed for every run
    samples: int  # 0 where not known
    overflow: int
    ceiling: int | None
    min_known: bool
    max_known: bool
    avg_known: bool  # exactly: no overflow, or the tool printed it to less than the step of its samples
    tail: float = TAIL  # what each end of an interval may miss
    incomplete: bool = False  # the tool saw larger samples than it counted: quantiles and the rest are at least
    step: float = 1.0  # of the clock: what two samples differ by at least

    @property
    def runs(self) -> int:
        return len(self.n)

    @cached_property
    def together(self) -> Int64Array:
        """(K,) samples of all runs at or below a value."""
        total: Int64Array = self.cumulative.sum(axis=0)
        return total

    @cached_property
    def signed(self) -> bool:
        """Whether its samples can be negative; where the least of them is not known, they may."""
        return not bool((self.lows >= 0).all())

    def at_rank(self, rank: int) -> float:
        """The sample of a 1-based rank among those of all runs."""
        return float(self.values[np.searchsorted(self.together, rank)])


def pool_runs(runs: Sequence[Sequence[Series]], looks: int = 1, step: float = 0.0) -> Pool | None:
    """Put runs together, the series of a run (its CPUs) as one. None where no run has samples or figures.

    `step`: of the clock, where the records state it; else what divides all samples, if they have values enough to tell.
    """
    spoken = [[one for one in run if one.total or one.info.reported] for run in runs]
    kept = [run for run in spoken if run]
    if not kept:
        return None
    every = [one for run in kept for one in run]
    overflown = [one for one in every if one.info.overflow]
    ceilings = np.array([_ceiling(one) for one in overflown], np.int64)
    values = _distinct(np.concatenate([*(one.values for one in every), ceilings]))
    counts = np.zeros((len(kept), len(values)), np.int64)
    for row, run in zip(counts, kept, strict=True):
        for one in run:
            np.add.at(row, np.searchsorted(values, one.values), one.counts)
    valued = counts.sum(axis=0)
    for row, run in zip(counts, kept, strict=True):
        for one in run:
            if one.info.overflow:
                row[np.searchsorted(values, _ceiling(one))] += one.info.overflow
    return Pool(
        unit=every[0].info.unit,
        kind=max((one.info.kind for one in every), key=_KINDS.index),
        values=values,
        cumulative=counts.cumsum(axis=1),
        counts=valued,
        n=np.array([sum(_weight(one) for one in run) for run in kept], np.float64),
        totals=np.array([sum(_weight(one) * _average(one) for one in run) for run in kept], np.float64),
        lows=np.array([min(_low(one) for one in run) for run in kept], np.float64),
        highs=np.array([max(_high(one) for one in run) for run in kept], np.float64),
        reported=_reported(kept),
        samples=sum(one.total or int(one.info.reported.get("n", 0)) for one in every),
        overflow=sum(one.info.overflow for one in overflown),
        ceiling=int(ceilings.min()) if overflown else None,
        min_known=all("min" in one.info.reported for one in overflown),
        max_known=all("max" in one.info.reported for one in overflown),
        avg_known=all(map(_is_average_exact, overflown)),
        tail=tail(looks),
        incomplete=any(map(is_incomplete, every)),
        step=step or (float(np.gcd.reduce(values)) if len(values) >= _TELL_STEP else 1.0) or 1.0,
    )


def is_incomplete(one: Series) -> bool:
    """Whether the tool printed a larger maximum than its histogram has, and counted nothing beyond."""
    told = one.info.reported.get("max", -math.inf)
    return one.info.kind == Kind.HISTOGRAM and not one.info.overflow and len(one.values) > 0 and told > one.values[-1]


def _is_average_exact(one: Series) -> bool:
    """Tools cut their average to whole microseconds, as they do their samples."""
    average, step = one.info.reported.get("avg"), int(np.gcd.reduce(one.values, initial=0))
    return average is not None and (step < _CUT_NS or average % _CUT_NS != 0)


def _distinct(values: Int64Array) -> Int64Array:
    """Ascending. A stable sort only merges what is sorted in parts; np.unique takes ten times as long."""
    ordered: Int64Array = np.sort(values, kind="stable")
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _prefers_reported(info: SeriesInfo) -> bool:
    """A tool that bins or drops samples still knows its min, avg and max exactly."""
    return info.kind in _COARSE or info.overflow > 0


def _ceiling(one: Series) -> int:
    """Where the overflow begins, or the tool's own minimum where all lie beyond; just above the largest value where
    neither is known."""
    least = one.info.overflow_from
    if len(one.values):
        return int(one.values[-1]) + 1 if least is None else least
    told = one.info.reported.get("min", math.nan)
    return int(told) if (least or 0) < told < _MOST_NS else least or 0


def _weight(one: Series) -> float:
    return float(one.total or one.info.reported.get("n", 1))


def _average(one: Series) -> float:
    if _prefers_reported(one.info) and "avg" in one.info.reported:
        return one.info.reported["avg"]
    if not one.total:
        return math.nan
    overflowed = one.info.overflow * _ceiling(one) if one.info.overflow else 0
    return (float(one.values.astype(np.float64) @ one.counts) + overflowed) / one.total


def _low(one: Series) -> float:
    if _prefers_reported(one.info) and "min" in one.info.reported:
        return one.info.reported["min"]
    if len(one.values):
        return float(one.values.min())
    return float(_ceiling(one)) if one.info.overflow else math.nan


def _high(one: Series) -> float:
    if (_prefers_reported(one.info) or is_incomplete(one)) and "max" in one.info.reported:
        return one.info.reported["max"]
    if one.info.overflow:
        return float(_ceiling(one))
    return float(one.values.max()) if len(one.values) else math.nan


def _reported(runs: Sequence[Sequence[Series]]) -> dict[str, FloatArray]:
    """The figures that every series of every run reports, the series of a run averaged by their samples."""
    names = set.intersection(*(set(one.info.reported) for run in runs for one in run))
    return {
        name: np.array(
            [np.average([s.info.reported[name] for s in run], weights=[_weight(s) for s in run]) for run in runs]
        )
        for name in sorted(names)
    }
