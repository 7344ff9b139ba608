# SPDX-License-Identifier: MIT
"""The tail of one thread's samples: an estimate of what is passed once in a horizon, or why there is none."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rtqual.base.units import format_ns
from rtqual.base.words import count
from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL
from rtqual.engine.analysis.figure.intervals import FloatArray, mean_interval
from rtqual.engine.analysis.tails import checks, tail_model
from rtqual.engine.analysis.tails.model import Checked, Estimate, Estimated, Refusal, ReturnLevel, TailCheck, Why
from rtqual.engine.analysis.tails.peaks import Clusters, block_maxima, collect
from rtqual.engine.analysis.tails.streams import Stream
from rtqual.engine.analysis.tails.tail_model import Fit
from rtqual.engine.analysis.tails.thresholds import (
    FEWEST,
    FEWEST_SHOWN,
    LARGEST_PART,
    RAYS,
    candidates,
    declustered,
    first_choice,
    fit_peaks,
    level_of,
    settled,
    steps,
    table,
)
from rtqual.protocols.record.schema import Int64Array

FARTHEST = 100  # times the running time observed
WIDEST = 10.0  # upper end to estimate
FEWEST_BLOCKS = 30
_BLOCKS = 100
_FEWEST_STEPS = 5  # different peaks; fewer show no shape
_SHORTER = (100, 50, 20, 10, 5, 2, 1)  # times the running time: horizons to fall back to
_POINTS = 200
_LEAST_EXPECTED = 2  # peaks in the horizon; with fewer, the level passed once lies below the threshold
_DECISIVE = frozenset(Checked) - {Checked.MAXIMA}
_UNORDERED = "the order of the samples was not recorded"
PEAKS, RUN_MAXIMA = "peaks over threshold", "block maxima of the runs"


def estimate(stream: Stream, asked_ns: float) -> Estimate | Refusal:
    """What one thread passes once in `asked_ns`, or why there is no estimate; see docs/tails.md for the rules."""
    return from_peaks(stream, asked_ns) if stream.ordered else from_runs(stream, asked_ns)


@dataclass(frozen=True)
class _Tail:
    """A fitted tail: values are origin + unit * y, and `times` counts from the fit's own span. `without`: the same of
    all but one part of the samples, part by part."""

    fit: Fit
    origin: float
    unit: float
    span_ns: float
    without: tuple["_Tail", ...] = ()

    def level(self, horizon_ns: float) -> Estimated:
        """By the likelihood, and by how much the parts differ (jackknife): the outer ends of the two."""
        found = level_of(self.fit, self.origin, self.unit, horizon_ns / self.span_ns)
        if not self.without:
            return found
        others = np.array([tail._best(horizon_ns) - self.origin for tail in self.without])
        over = mean_interval(found.value - self.origin, others, signed=False)
        return replace(found, low=min(found.low, self.origin + over.low), high=max(found.high, self.origin + over.high))

    def _best(self, horizon_ns: float) -> float:
        return self.origin + self.unit * float(tail_model.level(self.fit.best, horizon_ns / self.span_ns))


def from_peaks(stream: Stream, asked_ns: float) -> Estimate | Refusal:
    values, counts = stream.counted
    thresholds = candidates(values, counts)
    if stream.samples < LARGEST_PART * FEWEST:
        needs = f"needs {LARGEST_PART * FEWEST:,} samples, has {stream.samples:,}"
        return Refusal(stream.observed, Why.FEW, needs)
    late = collect(stream, thresholds[0]) if thresholds else None
    kept = declustered(late, values, counts) if late else []
    first = first_choice(kept, stream.samples) if kept else 0
    if late is None or not kept or kept[first].number < FEWEST:
        return _refuse_few(stream, kept) if thresholds else _refuse_coarse(stream)
    if len(np.unique(kept[first].peak)) < _FEWEST_STEPS:
        return _refuse_coarse(stream)
    if asked_ns * kept[first].number < _LEAST_EXPECTED * stream.exposure_ns:
        return _refuse_observed(stream, asked_ns)
    horizon_ns = min(asked_ns, FARTHEST * stream.exposure_ns)
    rows = table(kept, stream.step, horizon_ns / stream.exposure_ns)
    place = settled(rows, first)
    stands = checks.stability(rows, first, place)
    if place is None:
        tried = (stands, checks.spikes(kept[first], stream.step))
        return Refusal(stream.observed, Why.CHECKS, _reasons(tried), checks=tried, table=rows)
    clusters = kept[place]
    fit, unit = fit_peaks(clusters, stream.step, RAYS)
    tail = _Tail(fit, clusters.threshold, unit, stream.exposure_ns, tuple(_without(stream, clusters)))
    blocks, maxima = _from_blocks(stream)
    at = tail.level(horizon_ns)
    times = np.asarray(clusters.place / stream.samples, np.float64)  # when each peak came, as a part of all
    other = ReturnLevel(horizon_ns, maxima.level(horizon_ns)) if maxima else None
    block_ns = maxima.span_ns if maxima else 0.0
    found = (
        stands,
        checks.spikes(clusters, stream.step),
        checks.fit_distance(clusters, stream.step, fit, unit),
        checks.weight(fit),
        checks.halves(clusters, times, stream.step, fit, unit),
        checks.runs_alike(late.over(clusters.threshold), [series.total for series in stream.series]),
        checks.bouts(clusters, times),
        checks.peaks_alike(clusters),
        checks.block_maxima(at, other, blocks, block_ns),
    )
    made = Estimate(
        observed=stream.observed,
        method=PEAKS,
        level=ReturnLevel(horizon_ns, at),
        chosen=rows[place],
        table=rows,
        curve=_curve(tail, _LEAST_EXPECTED * stream.exposure_ns / clusters.number, stream.exposure_ns),
        points=_points(np.sort(clusters.peak)[::-1], stream.exposure_ns),
        maxima=other,
        blocks=blocks,
        checks=found,
    )
    return _judge(made, tail, asked_ns, maxima)


def _without(stream: Stream, clusters: Clusters) -> Iterator[_Tail]:
    """The tail but for each run in turn; of few runs, but for each of as many stretches."""
    runs = len(stream.series)
    parts, of = runs, clusters.run
    lengths = np.array([series.total for series in stream.series], np.float64)
    if runs < RUNS_FOR_INTERVAL:
        parts, of = RUNS_FOR_INTERVAL, clusters.place * RUNS_FOR_INTERVAL // stream.samples
        lengths = np.full(parts, stream.samples / parts)
    for part in range(parts):
        rest = clusters.where(of != part)
        fit, unit = fit_peaks(rest, stream.step, 0)
        span_ns = stream.exposure_ns * float(1 - lengths[part] / lengths.sum())
        yield _Tail(fit, clusters.threshold, unit, span_ns)


def from_runs(stream: Stream, asked_ns: float) -> Estimate | Refusal:
    """Where only counts are known, each run gives its largest sample: these are independent and need no order."""
    runs = len(stream.series)
    if runs < FEWEST_BLOCKS:
        needs = f"{_UNORDERED}, so each run gives one maximum: needs {FEWEST_BLOCKS} runs, has {runs}"
        return Refusal(stream.observed, Why.NO_ORDER, needs)
    totals = [series.total for series in stream.series]
    if max(totals) > 1.05 * min(totals):
        uneven = f"{_UNORDERED}, and the runs differ in length ({min(totals):,} to {max(totals):,} samples)"
        return Refusal(stream.observed, Why.NO_ORDER, uneven)
    highs = [_highest(series.values, series.info.reported, series.info.overflow) for series in stream.series]
    known = np.array([high for high in highs if high is not None])
    if len(known) < runs:
        lost = f"the largest sample of {count(runs - len(known), 'run')} lies in an overflow and was not kept"
        return Refusal(stream.observed, Why.NO_ORDER, lost)
    if asked_ns * runs < _LEAST_EXPECTED * stream.exposure_ns:
        return _refuse_observed(stream, asked_ns)
    tail = _fit_maxima(known, stream.step, stream.exposure_ns / runs)
    if tail is None:
        return _refuse_coarse(stream)
    horizon_ns = min(asked_ns, FARTHEST * stream.exposure_ns)
    made = Estimate(
        observed=stream.observed,
        method=RUN_MAXIMA,
        level=ReturnLevel(horizon_ns, tail.level(horizon_ns)),
        chosen=None,
        table=(),
        curve=_curve(tail, _LEAST_EXPECTED * stream.exposure_ns / runs, stream.exposure_ns),
        points=_points(np.sort(known)[::-1], stream.exposure_ns),
        maxima=None,
        blocks=runs,
        checks=(),
    )
    return _judge(made, tail, asked_ns, None)


def _judge(made: Estimate, tail: _Tail, asked_ns: float, maxima: _Tail | None) -> Estimate | Refusal:
    """The estimate where every check holds, else why there is none, and the longest horizon supported."""
    failed = [check for check in made.checks if not check.passed and check.what in _DECISIVE]
    if failed:
        return Refusal(made.observed, Why.CHECKS, _reasons(failed), checks=made.checks, table=made.table)
    exposure_ns = made.observed.exposure_ns
    horizons = [made.level.horizon_ns, *(n * exposure_ns for n in _SHORTER if n * exposure_ns < made.level.horizon_ns)]
    carried = [horizon_ns for horizon_ns in horizons if (end := tail.level(horizon_ns)).high <= WIDEST * end.value]
    if not carried:
        at = made.level.at
        reason = f"even for the time observed, the interval has no useful upper end ({format_ns(at.high)})"
        return Refusal(made.observed, Why.WIDE, reason, checks=made.checks, table=made.table)
    if carried[0] == asked_ns:
        return made
    other = ReturnLevel(carried[0], maxima.level(carried[0])) if maxima else None
    instead = replace(made, level=ReturnLevel(carried[0], tail.level(carried[0])), maxima=other)
    if carried[0] == made.level.horizon_ns:
        needs = f"needs {format_ns(asked_ns / FARTHEST)} of samples, has {format_ns(exposure_ns)}"
        return Refusal(made.observed, Why.HORIZON, needs, instead, made.checks, made.table)
    wide = (
        f"the interval for {format_ns(made.level.horizon_ns)} goes from {format_ns(made.level.at.low)} to "
        f"{format_ns(made.level.at.high)}: it does not even show the order of magnitude"
    )
    return Refusal(made.observed, Why.WIDE, wide, instead, made.checks, made.table)


def _reasons(found: Sequence[TailCheck]) -> str:
    return "; ".join(check.statement for check in found if not check.passed)


def _from_blocks(stream: Stream) -> tuple[int, _Tail | None]:
    length = min(stream.samples // _BLOCKS, *(series.total for series in stream.series))
    highs = block_maxima(stream, length)
    if len(highs) < FEWEST_BLOCKS:
        return len(highs), None
    return len(highs), _fit_maxima(highs, stream.step, length * stream.exposure_ns / stream.samples)


def _fit_maxima(highs: FloatArray, step: float, block_ns: float) -> _Tail | None:
    """The extreme value distribution of block maxima, about their median; None where they hardly differ."""
    quarter, origin, three_quarters = np.quantile(highs, [0.25, 0.5, 0.75])
    if len(np.unique(highs)) < _FEWEST_STEPS:
        return None
    unit = max(float(three_quarters - quarter), step)
    scaled = steps(highs, float(origin), step).scaled(unit)
    start = np.array([math.log(math.log(2)), math.log(0.6), 0.1])
    return _Tail(tail_model.fit(tail_model.maxima(scaled), start, rays=RAYS), float(origin), unit, block_ns)


def _curve(tail: _Tail, from_ns: float, exposure_ns: float) -> tuple[ReturnLevel, ...]:
    return tuple(
        ReturnLevel(float(ns), tail.level(float(ns))) for ns in np.geomspace(from_ns, FARTHEST * exposure_ns, 25)
    )


def _points(largest_first: FloatArray | Int64Array, exposure_ns: float) -> tuple[tuple[float, float], ...]:
    """The i-th largest was passed i times, itself included, in all the running time."""
    return tuple((exposure_ns / i, float(value)) for i, value in enumerate(largest_first[:_POINTS], 1))


def _highest(values: Int64Array, reported: dict[str, float], overflow: int) -> float | None:
    if overflow:
        return reported.get("max")
    return float(values[-1]) if len(values) else None


def _refuse_few(stream: Stream, kept: Sequence[Clusters]) -> Refusal:
    has = f"{max(clusters.number for clusters in kept)}" if kept else f"fewer than {FEWEST_SHOWN}"
    needs = f"needs {FEWEST} clusters of late samples in the upper {100 / LARGEST_PART:g} %, has {has}"
    return Refusal(stream.observed, Why.FEW, needs)


def _refuse_observed(stream: Stream, asked_ns: float) -> Refusal:
    times = stream.exposure_ns / asked_ns
    reason = f"the samples cover {format_ns(asked_ns)} {times:,.0f} times: their quantiles and maximum say it"
    return Refusal(stream.observed, Why.OBSERVED, reason)


def _refuse_coarse(stream: Stream) -> Refusal:
    different = len(stream.counted[0])
    reason = f"{count(different, 'different value')} in steps of {format_ns(stream.step)}: too few among the largest"
    return Refusal(stream.observed, Why.COARSE, reason)
