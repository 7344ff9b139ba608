# SPDX-License-Identifier: MIT
"""Weighted criteria: how much worse than the best a candidate is, and whether that lead is certain.

A criterion's score is best / own where lower is better, own / best where higher is. Stability figures such as
p95 - avg may be zero or negative, so lower-is-better figures count by their size, as the AAReST study prints them, and
never as less than one step of the measurement, below which it cannot tell two candidates apart. The total is the
weighted mean over the criteria that every candidate has a figure for.

A lead's interval comes from the same resampled runs as the figures'. A criterion with too few runs to resample enters
as measured; where that holds for all of them no lead is certain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rtqual.analysis.cells import Cells, figure_name
from rtqual.analysis.intervals import RESAMPLES, FloatArray, resampled_interval
from rtqual.analysis.model import Interval, Score
from rtqual.analysis.summary import RESOLUTION
from rtqual.mission import Better, Criterion


@dataclass(frozen=True)
class ScoreTable:
    """The scores of the candidates that were measured, in the criteria that all of them have."""

    candidates: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    points: FloatArray  # (candidates, criteria)
    replicates: FloatArray  # (candidates, criteria, RESAMPLES)
    runs: int  # the least of those resampled; 0: none was
    missing: Mapping[str, tuple[str, ...]]  # criterion left out -> candidates without a figure

    @cached_property
    def weights(self) -> FloatArray:
        return np.array([criterion.weight for criterion in self.criteria])

    def total(self, candidate: str) -> float | None:
        if candidate not in self.candidates or not self.criteria:
            return None
        return float(np.average(self.points[self.candidates.index(candidate)], weights=self.weights))

    def lead(self, a: str, b: str) -> tuple[float, Interval | None]:
        """How much more a scores than b, with its interval."""
        one, other = self.candidates.index(a), self.candidates.index(b)
        value = np.average(self.points[one] - self.points[other], weights=self.weights)
        if not self.runs:
            return float(value), None
        resampled = np.average(self.replicates[one] - self.replicates[other], axis=0, weights=self.weights)
        return float(value), resampled_interval(resampled, self.runs)

    def leads(self, a: str, b: str) -> bool:
        """Whether a scores more than b for certain."""
        _, interval = self.lead(a, b)
        return interval is not None and interval.low > 0

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
        criterion.name: {name for name in cells.candidates if _usable(criterion, cells, name)}
        for criterion in criteria
    }
    candidates = tuple(name for name in cells.candidates if any(name in has for has in usable.values()))
    missing = {
        name: tuple(one for one in candidates if one not in has)
        for name, has in usable.items()
        if not has.issuperset(candidates)
    }
    kept = tuple(criterion for criterion in criteria if criterion.name not in missing)
    points = np.zeros((len(candidates), len(kept)))
    replicates = np.zeros((len(candidates), len(kept), RESAMPLES))
    for k, criterion in enumerate(kept):
        values = np.array([_value(criterion, cells, name) for name in candidates])
        step = _step(criterion, cells, candidates)
        points[:, k] = _scores(values[:, None], criterion.better, step)[:, 0]
        resampled = np.array([_resampled(criterion, cells, name) for name in candidates])
        replicates[:, k] = _scores(resampled, criterion.better, step)
    runs = [
        figure.runs
        for criterion in kept
        for name in candidates
        if _is_resampled(criterion, cells, name) and (figure := cells.figure(criterion, name))
    ]
    return ScoreTable(candidates, kept, points, replicates, min(runs, default=0), missing)


def scores_of(table: ScoreTable, criteria: Sequence[Criterion], cells: Cells, candidate: str) -> tuple[Score, ...]:
    """One candidate's scores, those of criteria that were left out without a number."""
    names = [criterion.name for criterion in table.criteria]
    found = []
    for criterion in criteria:
        score = None
        if candidate in table.candidates and criterion.name in names:
            score = float(table.points[table.candidates.index(candidate), names.index(criterion.name)])
        figure = cells.figure(criterion, candidate)
        found.append(Score(criterion.name, candidate, criterion.weight, score, figure))
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
    return (
        found is not None and not found.summary.problems and figure_name(criterion) in found.summary.figures
    )


def _value(criterion: Criterion, cells: Cells, candidate: str) -> float:
    figure = cells.figure(criterion, candidate)
    return figure.value if figure else np.nan


def _is_resampled(criterion: Criterion, cells: Cells, candidate: str) -> bool:
    found = cells.find(criterion, candidate)
    return found is not None and figure_name(criterion) in found.replicates


def _resampled(criterion: Criterion, cells: Cells, candidate: str) -> FloatArray:
    found = cells.find(criterion, candidate)
    replicates = found.replicates.get(figure_name(criterion)) if found else None
    return np.full(RESAMPLES, _value(criterion, cells, candidate)) if replicates is None else replicates


def _step(criterion: Criterion, cells: Cells, candidates: Sequence[str]) -> float:
    """What the measurement can tell apart: as the instrument states it, else the least distance of two samples."""
    if criterion.scalar:
        return 0.0
    summaries = [found.summary for name in candidates if (found := cells.find(criterion, name))]
    stated = [summary.figures[RESOLUTION].value for summary in summaries if RESOLUTION in summary.figures]
    if stated:
        return max(stated)
    sampled = [np.diff(one.distribution.values) for one in summaries if one.distribution]
    return float(min((gaps.min() for gaps in sampled if len(gaps)), default=1))
