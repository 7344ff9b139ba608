# SPDX-License-Identifier: MIT
"""Weighted criteria: how much worse than the best a candidate is, and whether that lead is certain.

A criterion's score is best / own where lower is better, own / best where higher is. Stability figures
such as p95 - avg may be zero or negative, so lower-is-better figures count by their size, as the AAReST
study prints them, and never as less than one step of the measurement, below which it cannot tell two
candidates apart. The total is the weighted mean over the criteria that every candidate has a figure for.
A candidate that stands alone has no score: its own figures are nothing to compare it with.

A lead's interval comes from the same resampled runs as the figures'. A criterion with too few runs to
resample enters as measured, and no lead is certain that the others, the firm ones, do not give by themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rtqual.analysis.cells import Cells, figure_name
from rtqual.analysis.intervals import RESAMPLES, RUNS_TO_RESAMPLE, FloatArray, resampled_interval
from rtqual.analysis.model import Interval, Score
from rtqual.analysis.statistics import is_size
from rtqual.analysis.summary import RESOLUTION
from rtqual.mission import Better, Criterion

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ScoreTable:
    """The scores of the candidates that were measured, in the criteria that all of them have."""

    candidates: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    points: FloatArray  # (candidates, criteria)
    replicates: FloatArray  # (candidates, criteria, RESAMPLES)
    firm: BoolArray  # (criteria,) resampled, or a size, for every candidate
    runs: int  # the least of those resampled
    missing: Mapping[str, tuple[str, ...]]  # criterion left out -> candidates without a figure

    @cached_property
    def weights(self) -> FloatArray:
        return np.array([criterion.weight for criterion in self.criteria])

    def total(self, candidate: str) -> float | None:
        if candidate not in self.candidates or not self.criteria:
            return None
        return float(np.average(self.points[self.candidates.index(candidate)], weights=self.weights))

    def lead(self, a: str, b: str) -> tuple[float, Interval | None]:
        """How much more a scores than b, with its interval; None where no criterion is firm."""
        one, other = self.candidates.index(a), self.candidates.index(b)
        value = np.average(self.points[one] - self.points[other], weights=self.weights)
        return float(value), self._interval(self.replicates[one] - self.replicates[other], self.weights)

    def leads(self, a: str, b: str) -> bool:
        """Whether a scores more than b for certain: over all criteria, and over the firm ones alone."""
        one, other = self.candidates.index(a), self.candidates.index(b)
        gaps = self.replicates[one] - self.replicates[other]
        ends = [self._interval(gaps, self.weights), self._interval(gaps, self.weights * self.firm)]
        return all(interval is not None and interval.low > 0 for interval in ends)

    def _interval(self, gaps: FloatArray, weights: FloatArray) -> Interval | None:
        if not self.firm.any():
            return None
        return resampled_interval(np.average(gaps, axis=0, weights=weights), self.runs)

    def flipping_weights(self, leader: str, other: str) -> dict[str, float]:
        """For each criterion that can do it alone: the weight at which the other draws level with the leader.

        With one weight moved by d the totals' difference is (sum of w (l - r)) + d (l - r), zero at one d.
        """
        gaps = self.points[self.candidates.index(leader)] - self.points[self.candidates.index(other)]
        behind = float(gaps @ self.weights)
        level = {
            criterion.name: criterion.weight - behind / gap
            for criterion, gap in zip(self.criteria, gaps, strict=True)
            if gap
        }
        return {name: weight for name, weight in level.items() if weight >= 0}


def score_table(criteria: Sequence[Criterion], cells: Cells) -> ScoreTable:
    usable = {
        criterion.name: {name for name in cells.candidates if _usable(criterion, cells, name)} for criterion in criteria
    }
    candidates = tuple(name for name in cells.candidates if any(name in has for has in usable.values()))
    if len(candidates) < 2:
        candidates, usable = (), {name: set() for name in usable}
    missing = {
        name: tuple(one for one in candidates if one not in has)
        for name, has in usable.items()
        if not has.issuperset(candidates)
    }
    kept = tuple(one for one in criteria if usable[one.name] and one.name not in missing)
    points = np.zeros((len(candidates), len(kept)))
    replicates = np.zeros((len(candidates), len(kept), RESAMPLES))
    for k, criterion in enumerate(kept):
        values = np.array([_value(criterion, cells, name) for name in candidates])
        step = _step(criterion, cells, candidates)
        points[:, k] = _scores(values[:, None], criterion.better, step)[:, 0]
        resampled = np.array([_resampled(criterion, cells, name) for name in candidates])
        replicates[:, k] = _scores(resampled, criterion.better, step)
    firm = [all(_is_firm(criterion, cells, name) for name in candidates) for criterion in kept]
    figures = [cells.figure(criterion, name) for criterion in kept for name in candidates]
    enough = [figure.runs for figure in figures if figure and figure.runs >= RUNS_TO_RESAMPLE]
    return ScoreTable(
        candidates=candidates,
        criteria=kept,
        points=points,
        replicates=replicates,
        firm=np.array(firm, np.bool_),
        runs=min(enough, default=RUNS_TO_RESAMPLE),
        missing=missing,
    )


def scores_of(table: ScoreTable, criteria: Sequence[Criterion], cells: Cells, candidate: str) -> tuple[Score, ...]:
    """One candidate's scores, those of criteria that were left out without a number."""
    names = [criterion.name for criterion in table.criteria]
    found = []
    for criterion in criteria:
        score = None
        if candidate in table.candidates and criterion.name in names:
            score = float(table.points[table.candidates.index(candidate), names.index(criterion.name)])
        figure = cells.figure(criterion, candidate)
        firm = figure is None or _is_firm(criterion, cells, candidate)
        found.append(Score(criterion.name, candidate, criterion.weight, score, figure, firm))
    return tuple(found)


def _scores(values: FloatArray, better: Better, step: float) -> FloatArray:
    """Scores of each candidate (row); 1 for the best, and for all where the best is nothing."""
    if better == Better.HIGHER:
        own = np.maximum(values, 0)
        return _part(own, own.max(axis=0))
    own = np.maximum(np.abs(values), step)
    return _part(own.min(axis=0), own)


def _part(part: FloatArray, whole: FloatArray) -> FloatArray:
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.ones(whole.shape), where=whole > 0)


def _usable(criterion: Criterion, cells: Cells, candidate: str) -> bool:
    found = cells.find(criterion, candidate)
    return found is not None and not found.summary.problems and figure_name(criterion) in found.summary.figures


def _value(criterion: Criterion, cells: Cells, candidate: str) -> float:
    figure = cells.figure(criterion, candidate)
    return figure.value if figure else np.nan


def _is_firm(criterion: Criterion, cells: Cells, candidate: str) -> bool:
    figure = cells.figure(criterion, candidate)
    return figure is not None and (figure.runs >= RUNS_TO_RESAMPLE or is_size(figure.unit))


def _resampled(criterion: Criterion, cells: Cells, candidate: str) -> FloatArray:
    found = cells.find(criterion, candidate)
    replicates = found.replicates.get(figure_name(criterion)) if found else None
    return np.full(RESAMPLES, _value(criterion, cells, candidate)) if replicates is None else replicates


def _step(criterion: Criterion, cells: Cells, candidates: Sequence[str]) -> float:
    """What the measurement can tell apart: as the instrument states it, else what divides all its samples."""
    if criterion.scalar:
        return 0.0
    summaries = [found.summary for name in candidates if (found := cells.find(criterion, name))]
    stated = [summary.figures[RESOLUTION].value for summary in summaries if RESOLUTION in summary.figures]
    if stated:
        return max(stated)
    sampled = [np.gcd.reduce(one.distribution.values) for one in summaries if one.distribution]
    return float(np.gcd.reduce(np.array(sampled, np.int64)) or 1)
