# SPDX-License-Identifier: MIT
"""Weighted criteria: how much worse than the best a candidate is, and whether that lead is certain.

A criterion's score is best / own where lower is better, own / best where higher is. Stability figures
such as p95 - avg may be zero or negative, so lower-is-better figures count by their size, as the AAReST
study prints them, and never as less than one step of the measurement, below which it cannot tell two
candidates apart. What differs from the best by no more than the criterion's margin counts as the best. The total is
the weighted mean over the criteria that every candidate has a figure for. A candidate that stands alone has no score:
its own figures are nothing to compare it with.

A largest sample grows with every run and has no interval, so max and max - min enter by the median over the runs. A
lead's interval comes from those of the figures (MOVER: Zou & Donner 2008): each figure moves to the end of its interval
that lowers the lead most, figures of the same runs together, others by the root of their squares. A criterion whose
figures have no interval, or are host-timed, is left out: nothing is ranked by chance. Only what a study printed, which
has no runs, enters as printed, and no lead there is certain.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from rtqual.base.words import count
from rtqual.engine.analysis.difference.statement import fits, stands_for
from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL, ranked_by
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.comparable import runs_differ, unlike
from rtqual.engine.analysis.figure.intervals import BY_RUNS, FloatArray
from rtqual.engine.analysis.figure.model import Figure, Interval, Summary
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.engine.analysis.figure.summary import RESOLUTION
from rtqual.engine.analysis.verdict.model import Score
from rtqual.engine.mission import PUBLISHED, Better, Criterion, Quantity
from rtqual.protocols.record.schema import Timing

_OPEN = 1e300  # where an interval has no end


@dataclass(frozen=True)
class ScoreTable:
    """The scores of the candidates that were measured, in the criteria that all of them have."""

    candidates: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    values: FloatArray  # (candidates, criteria)
    ends: FloatArray  # (2, candidates, criteria) of the figures' intervals; the values where there is none
    steps: FloatArray  # (criteria,) what the measurement can tell apart
    margins: tuple[Quantity | None, ...]  # of each criterion: a difference that does not matter
    firm: bool  # whether every figure has an interval from enough runs, or is a size; all have but a study's
    missing: Mapping[str, tuple[str, ...]]  # criterion left out -> candidates without a figure
    loose: Mapping[str, str] = field(default_factory=dict)  # criterion left out -> why its figures rank nobody
    asked: float = 0.0  # the weight of all criteria, with those left out

    @property
    def share(self) -> float:
        """Of the criteria's weight: what the score rests on."""
        return float(self.weights.sum()) / self.asked if self.asked else 0.0

    @cached_property
    def points(self) -> FloatArray:
        """(candidates, criteria)"""
        return self._scores(self.values)

    @cached_property
    def weights(self) -> FloatArray:
        return np.array([criterion.weight for criterion in self.criteria])

    def total(self, candidate: str) -> float | None:
        if candidate not in self.candidates or not self.criteria:
            return None
        return float(np.average(self.points[self.candidates.index(candidate)], weights=self.weights))

    def lead(self, a: str, b: str) -> tuple[float, Interval | None]:
        """How much more a scores than b, with its interval; None where a figure has none."""
        one, other = self.candidates.index(a), self.candidates.index(b)
        gaps = self.points[one] - self.points[other]
        return float(np.average(gaps, weights=self.weights)), self._around(one, other, gaps) if self.firm else None

    def leads(self, a: str, b: str) -> bool:
        """Whether a scores more than b for certain."""
        interval = self.lead(a, b)[1]
        return interval is not None and interval.low > 0

    def _around(self, one: int, other: int, gaps: FloatArray) -> Interval:
        parts = self.weights / self.weights.sum()
        down: Counter[tuple[int, str, str]] = Counter()  # by what was run: its figures are not independent
        up: Counter[tuple[int, str, str]] = Counter()
        for candidate in range(len(self.candidates)):
            moved = np.array([scores[one] - scores[other] for scores in self._moved(candidate)])
            least, most = (parts * (gaps - moved.min(axis=0)), parts * (moved.max(axis=0) - gaps))
            for k, criterion in enumerate(self.criteria):
                run = candidate, criterion.instrument, criterion.load
                down[run] += least[k]
                up[run] += most[k]
        lead = float(gaps @ parts)
        return Interval(lead - math.hypot(*down.values()), lead + math.hypot(*up.values()), BY_RUNS)

    def _moved(self, candidate: int) -> Iterator[FloatArray]:
        """The scores with one candidate's figures as they are, at either end, and where they are least in size."""
        low, high = self.ends[:, candidate]
        for figures in (self.values[candidate], low, high, np.clip(0.0, low, high)):
            values = self.values.copy()
            values[candidate] = figures
            yield self._scores(values)

    def _scores(self, values: FloatArray) -> FloatArray:
        scores = np.zeros(values.shape)
        for k, criterion in enumerate(self.criteria):
            scores[:, k] = _scores(values[:, k], criterion.better, self.steps[k], self.margins[k])
        return scores

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
        return {name: weight for name, weight in level.items() if weight > 0}


def score_table(criteria: Sequence[Criterion], cells: Cells) -> ScoreTable:
    figures = {criterion.name: _figures(criterion, cells) for criterion in criteria}
    candidates = tuple(name for name in cells.candidates if any(name in has for has in figures.values()))
    if len(candidates) < 2:
        candidates, figures = (), {name: {} for name in figures}
    missing = {
        name: tuple(one for one in candidates if one not in has)
        for name, has in figures.items()
        if not has.keys() >= {*candidates}
    }
    loose = {} if cells.board == PUBLISHED else _loose(criteria, cells, candidates)
    kept = tuple(one for one in criteria if figures[one.name] and one.name not in missing and one.name not in loose)
    table = [[figures[criterion.name][name] for criterion in kept] for name in candidates]
    shape = len(candidates), len(kept)
    ends = np.array([[_ends(figure)[end] for figure in row] for end in (0, 1) for row in table], np.float64)
    return ScoreTable(
        candidates=candidates,
        criteria=kept,
        values=np.array([[figure.value for figure in row] for row in table], np.float64).reshape(shape),
        ends=np.clip(ends, -_OPEN, _OPEN).reshape(2, *shape),
        steps=np.array([_step(criterion, cells, candidates) for criterion in kept]),
        margins=tuple(_margin(criterion, table[0][k]) for k, criterion in enumerate(kept)),
        firm=all(_is_firm(figure) for row in table for figure in row),
        missing=missing,
        asked=float(sum(one.weight for one in criteria)),
        loose={name: why for name, why in loose.items() if name not in missing},
    )


def _loose(criteria: Sequence[Criterion], cells: Cells, candidates: Sequence[str]) -> dict[str, str]:
    """Criteria whose figures rank nobody, and why."""
    reasons = {}
    for criterion in criteria:
        summaries = [found.summary for name in candidates if (found := cells.find(criterion, name))]
        figures = [one for name in candidates if (one := _figure(criterion, cells, name))]
        few = [one.runs for one in figures if not _is_firm(one) and one.runs < RUNS_FOR_INTERVAL]
        if any(one.timing == Timing.HOST_TIMED for one in summaries) and not all(is_size(one.unit) for one in figures):
            reasons[criterion.name] = "host-timed"
        elif few:
            reasons[criterion.name] = f"{count(min(few), 'run')}, {RUNS_FOR_INTERVAL} are needed"
        elif not all(map(_is_firm, figures)):
            reasons[criterion.name] = "its figures have no interval"
        elif any(one.at_least for one in figures):
            reasons[criterion.name] = "the tool's histogram ends below a figure"
        elif why := _incomparable(criterion, summaries, figures):
            reasons[criterion.name] = why
    return reasons


def _incomparable(criterion: Criterion, summaries: Sequence[Summary], figures: Sequence[Figure]) -> str:
    """The first reason why two candidates' figures are not compared; empty where all are alike."""
    reasons = [unlike(a, b, stands_for(ranked_by(criterion, a.series))) for a, b in combinations(summaries, 2)]
    reasons += [runs_differ(a, b) for a, b in combinations(figures, 2)]
    return next(filter(None, reasons), "")


def scores_of(table: ScoreTable, criteria: Sequence[Criterion], cells: Cells, candidate: str) -> tuple[Score, ...]:
    """One candidate's scores; those of criteria that were left out have no number."""
    names = [criterion.name for criterion in table.criteria]
    found = []
    for criterion in criteria:
        score = None
        if candidate in table.candidates and criterion.name in names:
            score = float(table.points[table.candidates.index(candidate), names.index(criterion.name)])
        figure = _figure(criterion, cells, candidate)
        firm = figure is None or _is_firm(figure)
        found.append(Score(criterion.name, candidate, criterion.weight, score, figure, firm))
    return tuple(found)


def _scores(values: FloatArray, better: Better, step: float, margin: Quantity | None) -> FloatArray:
    """(candidates,) 1 for the best, and for all where the best is nothing."""
    own = np.maximum(values, 0) if better == Better.HIGHER else np.maximum(np.abs(values), step)
    best = own.max() if better == Better.HIGHER else own.min()
    allowed = 0.0
    if margin is not None:
        allowed = margin.value / 100 * best if margin.unit == "%" else margin.value
    if better == Better.HIGHER:
        return _part(np.minimum(own + allowed, best), best)
    return _part(best, np.maximum(own - allowed, best))


def _part(part: FloatArray | float, whole: FloatArray | float) -> FloatArray:
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.ones(whole.shape), where=whole > 0)


def _figures(criterion: Criterion, cells: Cells) -> dict[str, Figure]:
    """The usable figure of each candidate that has one."""
    found = {name: _figure(criterion, cells, name) for name in cells.candidates if _is_usable(criterion, cells, name)}
    return {name: figure for name, figure in found.items() if figure is not None}


def _is_usable(criterion: Criterion, cells: Cells, candidate: str) -> bool:
    found = cells.find(criterion, candidate)
    return found is not None and not found.summary.problems


def _figure(criterion: Criterion, cells: Cells, candidate: str) -> Figure | None:
    found = cells.find(criterion, candidate)
    return found.summary.figures.get(stands_for(ranked_by(criterion, found.summary.series))) if found else None


def _ends(figure: Figure) -> tuple[float, float]:
    known = figure.interval if _is_firm(figure) else None
    return (known.low, known.high) if known else (figure.value, figure.value)


def _margin(criterion: Criterion, figure: Figure) -> Quantity | None:
    return criterion.margin if criterion.margin and fits(criterion.margin, figure.unit) else None


def _is_firm(figure: Figure) -> bool:
    return is_size(figure.unit) or (figure.interval is not None and figure.runs >= RUNS_FOR_INTERVAL)


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
