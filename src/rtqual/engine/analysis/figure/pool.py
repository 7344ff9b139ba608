# SPDX-License-Identifier: MIT
"""The runs of a group put together: counts over common values, never the samples one by one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rtqual.engine.analysis.figure.asked import TAIL, tail
from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.protocols.record.schema import Int64Array, Series, SeriesInfo, SeriesKind

_KINDS = list(SeriesKind)
_COARSE = (SeriesKind.BINNED, SeriesKind.SUMMARY)
_MOST_NS = 2**62
_TELL_STEP = 5  # distinct values; fewer have a common divisor that is no clock's
_CUT_NS = 1_000  # what the tools that count microseconds cut off


@dataclass(frozen=True)
class Pool:
    """R runs over K distinct values. An overflowed sample counts as `ceiling`, the least it can be."""

    unit: str
    kind: SeriesKind
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

    @cached_property
    def _bins(self) -> tuple[float, float]:
        """How wide the tool's own bins are: all alike, or as a part of their values. The closest two that hold samples
        tell it; so they are no narrower."""
        held = self.values[self.counts > 0].astype(np.float64)
        if self.kind != SeriesKind.BINNED or len(held) < 2:
            return 0.0, 0.0
        gaps = np.diff(held)
        least = float(gaps.min())
        if not (gaps % least).any():
            return least, 0.0
        above = held[:-1] > 0
        return least, float((gaps[above] / held[:-1][above]).min(initial=math.inf)) if above.any() else 0.0

    def bin_width(self, value: float) -> float:
        """By how much a sample in the tool's own bin at this value may lie off it; 0 of samples that have values of
        their own. Of a single bin the tool's own ends tell."""
        if self.kind != SeriesKind.BINNED:
            return 0.0
        if np.count_nonzero(self.counts) == 1:
            return float(max(self.highs.max() - value, value - self.lows.min(), 0.0))
        alike, part = self._bins
        return max(alike, part * abs(value))

    def at_rank(self, rank: int) -> float:
        """The sample of a 1-based rank among those of all runs."""
        return float(self.values[np.searchsorted(self.together, rank)])


def pool_runs(runs: Sequence[Sequence[Series]], looks: int = 1, step: float = 0.0) -> Pool | None:
    """Put runs together, the series of a run (its CPUs) as one. None where no run has samples or figures.

    `step`: of the clock, where the records state it; else what divides all samples, if they have values enough to tell.
    """
    spoken = [[series for series in run if series.total or series.info.reported] for run in runs]
    kept = [run for run in spoken if run]
    if not kept:
        return None
    every = [series for run in kept for series in run]
    overflown = [series for series in every if series.info.overflow]
    ceilings = np.array([_ceiling(series) for series in overflown], np.int64)
    values = _distinct(np.concatenate([*(series.values for series in every), ceilings]))
    counts = np.zeros((len(kept), len(values)), np.int64)
    for row, run in zip(counts, kept, strict=True):
        for samples in run:
            np.add.at(row, np.searchsorted(values, samples.values), samples.counts)
    valued = counts.sum(axis=0)
    for row, run in zip(counts, kept, strict=True):
        for samples in run:
            if samples.info.overflow:
                row[np.searchsorted(values, _ceiling(samples))] += samples.info.overflow
    return Pool(
        unit=every[0].info.unit,
        kind=max((series.info.kind for series in every), key=_KINDS.index),
        values=values,
        cumulative=counts.cumsum(axis=1),
        counts=valued,
        n=np.array([sum(_weight(series) for series in run) for run in kept], np.float64),
        totals=np.array([sum(_weight(series) * _average(series) for series in run) for run in kept], np.float64),
        lows=np.array([min(_low(series) for series in run) for run in kept], np.float64),
        highs=np.array([max(_high(series) for series in run) for run in kept], np.float64),
        reported=_reported(kept),
        samples=sum(series.total or int(series.info.reported.get("n", 0)) for series in every),
        overflow=sum(series.info.overflow for series in overflown),
        ceiling=int(ceilings.min()) if overflown else None,
        min_known=all("min" in series.info.reported for series in overflown),
        max_known=all("max" in series.info.reported for series in overflown),
        avg_known=all(map(_is_average_exact, overflown)),
        tail=tail(looks),
        incomplete=any(map(is_incomplete, every)),
        step=step or (float(np.gcd.reduce(values)) if len(values) >= _TELL_STEP else 1.0) or 1.0,
    )


def is_incomplete(series: Series) -> bool:
    """Whether the tool printed a larger maximum than its histogram has, and counted nothing beyond."""
    told = series.info.reported.get("max", -math.inf)
    return (
        series.info.kind == SeriesKind.HISTOGRAM
        and not series.info.overflow
        and len(series.values) > 0
        and told > series.values[-1]
    )


def _is_average_exact(series: Series) -> bool:
    """Tools cut their average to whole microseconds, as they do their samples."""
    average, step = series.info.reported.get("avg"), int(np.gcd.reduce(series.values, initial=0))
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


def _ceiling(series: Series) -> int:
    """Where the overflow begins, or the tool's own minimum where all lie beyond; just above the largest value where
    neither is known."""
    least = series.info.overflow_from
    if len(series.values):
        return int(series.values[-1]) + 1 if least is None else least
    told = series.info.reported.get("min", math.nan)
    return int(told) if (least or 0) < told < _MOST_NS else least or 0


def _weight(series: Series) -> float:
    return float(series.total or series.info.reported.get("n", 1))


def _average(series: Series) -> float:
    if _prefers_reported(series.info) and "avg" in series.info.reported:
        return series.info.reported["avg"]
    if not series.total:
        return math.nan
    overflowed = series.info.overflow * _ceiling(series) if series.info.overflow else 0
    return (float(series.values.astype(np.float64) @ series.counts) + overflowed) / series.total


def _low(series: Series) -> float:
    if _prefers_reported(series.info) and "min" in series.info.reported:
        return series.info.reported["min"]
    if len(series.values):
        return float(series.values.min())
    return float(_ceiling(series)) if series.info.overflow else math.nan


def _high(series: Series) -> float:
    if (_prefers_reported(series.info) or is_incomplete(series)) and "max" in series.info.reported:
        return series.info.reported["max"]
    if series.info.overflow:
        return float(_ceiling(series))
    return float(series.values.max()) if len(series.values) else math.nan


def _reported(runs: Sequence[Sequence[Series]]) -> dict[str, FloatArray]:
    """The figures that every series of every run reports, the series of a run averaged by their samples."""
    names = set.intersection(*(set(series.info.reported) for run in runs for series in run))
    return {
        name: np.array(
            [np.average([s.info.reported[name] for s in run], weights=[_weight(s) for s in run]) for run in runs]
        )
        for name in sorted(names)
    }
