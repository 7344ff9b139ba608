# SPDX-License-Identifier: MIT
"""Weighted criteria: how many times worse than the best a candidate is, and whether that lead is certain.

A criterion's score is best / own where lower is better, own / best where higher is. p95 - avg may be negative, so it
counts by its size, as the AAReST study prints it. No figure counts as less than what the finest measurement of those
in the table can tell apart: a latency below that, or below zero, is not late. What differs from the best by no more
than the criterion's margin counts as the best.

The total is the weighted geometric mean over the criteria that every candidate in the table has a figure for: of two
candidates it is the ratio that counts, and no third one changes it (weighted arithmetic means of best / own change
order with whoever is best). A lead is found in a table of the two alone, so that neither the figures of a third nor
those it lacks can decide between them. Candidates that are out have no score, nor has one that stands alone: its own
figures are nothing to compare it with.

A largest sample grows with every run and has no interval, so max and max - min enter by the median over the runs. That
does not see bad runs, so a lead must stand by what nine of ten runs stay below, too. A lead's interval comes from those
of the figures (MOVER: Zou & Donner 2008): each figure moves to the end of its interval that lowers the lead most,
figures of the same runs together, others by the root of their squares. A criterion whose figures have no interval, or
are host-timed, is left out: nothing is ranked by chance. Only what a study printed, which has no runs, enters as
printed, and no lead there is certain.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from rtqual.base.words import count
from rtqual.engine.analysis.difference.statement import fits, stands_for
from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL, UPPER, figure_name, ranked_by
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.comparable import lacking, runs_differ, unlike
from rtqual.engine.analysis.figure.intervals import BY_RUNS, FloatArray
from rtqual.engine.analysis.figure.model import Figure, Interval, Summary
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.engine.analysis.figure.wording import LEAST_DIGITS, digits, span
from rtqual.engine.analysis.verdict.model import Score
from rtqual.engine.mission import PUBLISHED, Better, Criterion, Quantity
from rtqual.protocols.record.schema import Timing

_OPEN = 1e300  # where an interval has no end
_LEAST = 1e-3  # the lowest score: one criterion alone does not decide without end
_MAY_BE_NEGATIVE = frozenset({"p95-avg"})  # and counts by its size


@dataclass(frozen=True)
class ScoreTable:
    """The scores of some candidates, in the criteria that all of them have."""

    every: tuple[Criterion, ...]  # with those left out
    cells: Cells
    candidates: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    values: FloatArray  # (candidates, criteria)
    uppers: FloatArray  # the same by what nine of ten runs stay below, of largest samples; the values of others
    ends: FloatArray  # (2, candidates, criteria) of the figures' intervals; the values where there is none
    steps: FloatArray  # (candidates, criteria) what the measurement can tell apart
    margins: tuple[Quantity | None, ...]  # of each criterion: a difference that does not matter
    still: bool  # whether the runs of no figure differ
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
        return float(np.exp(np.average(np.log(self.points[self.candidates.index(candidate)]), weights=self.weights)))

    def beside(self, a: str, b: str) -> "ScoreTable":
        """The table of the two alone; without candidates where no criterion can rank them."""
        if (a, b) not in self._pairs:
            self._pairs[a, b] = score_table(self.every, self.cells, (a, b))
        return self._pairs[a, b]

    def lead(self, a: str, b: str) -> tuple[float, Interval | None] | None:
        """How many times as much a scores as b, with its interval; without one where a figure has none, and None where
        no criterion compares them."""
        pair = self.beside(a, b)
        return pair._lead() if pair.criteria else None

    def leads(self, a: str, b: str) -> bool:
        """Whether a scores more than b for certain."""
        lead = self.lead(a, b)
        return lead is not None and lead[1] is not None and lead[1].low > 1

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], "ScoreTable"]:
        return {}

    def _lead(self) -> tuple[float, Interval | None]:
        """Of the first of two over the second."""
        gaps, upper = (gap(self._scores(values)) for values in (self.values, self.uppers))
        lead, also = (float(np.average(gap, weights=self.weights)) for gap in (gaps, upper))
        if not self.firm:
            return math.exp(lead), None
        found = self._around(gaps)
        low, high = min(found.low, also), max(found.high, also)
        return math.exp(lead), replace(found, low=math.exp(low), high=math.exp(high), least=self.still)

    def _around(self, gaps: FloatArray) -> Interval:
        """Of the logarithm of the first one's lead."""
        parts = self.weights / self.weights.sum()
        down: Counter[tuple[int, str, str]] = Counter()  # by what was run: its figures are not independent
        up: Counter[tuple[int, str, str]] = Counter()
        for candidate in range(len(self.candidates)):
            moved = np.array([gap(scores) for scores in self._moved(candidate)])
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
            scores[:, k] = _scores(values[:, k], criterion, self.steps[:, k], self.margins[k])
        return scores

    def flipping_weights(self, leader: str, other: str) -> dict[str, float]:
        """For each criterion that can do it alone: the weight at which the other draws level with the leader.

        With one weight moved by d the totals' logarithms differ by (sum of w (l - r)) + d (l - r), zero at one d.
        """
        pair = self.beside(leader, other)
        gaps = gap(pair.points) if pair.criteria else np.zeros(0)
        behind = float(gaps @ pair.weights)
        level = {
            criterion.name: criterion.weight - behind / apart
            for criterion, apart in zip(pair.criteria, gaps, strict=True)
            if apart
        }
        return {name: weight for name, weight in level.items() if weight > 0}


def times(lead: float, interval: Interval | None) -> str:
    """'1.92 times [1.2, 2.4]'; a lead that is barely one has the digits that say so."""
    needed = digits(lead, 1.0)
    return f"{lead:.{needed if needed > LEAST_DIGITS else LEAST_DIGITS - 1}g} times{span(interval, '1', 1.0)}"


def gap(points: FloatArray) -> FloatArray:
    """(criteria,) how far the first of two leads, in logarithms."""
    apart: FloatArray = np.log(points[0] / points[1])
    return apart


def score_table(criteria: Sequence[Criterion], cells: Cells, candidates: Sequence[str]) -> ScoreTable:
    """Of those candidates that have a figure at all."""
    figures = {criterion.name: _figures(criterion, cells, candidates) for criterion in criteria}
    candidates = tuple(name for name in candidates if any(name in has for has in figures.values()))
    if len(candidates) < 2:
        candidates, figures = (), {name: {} for name in figures}
    missing = {
        name: tuple(candidate for candidate in candidates if candidate not in has)
        for name, has in figures.items()
        if not has.keys() >= {*candidates}
    }
    loose = {} if cells.board == PUBLISHED else _loose(criteria, cells, candidates)
    kept = tuple(
        criterion
        for criterion in criteria
        if figures[criterion.name] and criterion.name not in missing and criterion.name not in loose
    )
    table = [[figures[criterion.name][name] for criterion in kept] for name in candidates]
    shape = len(candidates), len(kept)
    ends = np.array([[_ends(figure)[end] for figure in row] for end in (0, 1) for row in table], np.float64)
    values = np.array([[figure.value for figure in row] for row in table], np.float64).reshape(shape)
    uppers = [
        [
            upper.value if (upper := _upper(criterion, cells, name)) else values[row, k]
            for k, criterion in enumerate(kept)
        ]
        for row, name in enumerate(candidates)
    ]
    return ScoreTable(
        every=tuple(criteria),
        cells=cells,
        candidates=candidates,
        criteria=kept,
        values=values,
        uppers=np.array(uppers, np.float64).reshape(shape),
        ends=np.clip(ends, -_OPEN, _OPEN).reshape(2, *shape),
        steps=np.array([[_least(figure) for figure in row] for row in table], np.float64).reshape(shape),
        margins=tuple(_margin(criterion, table[0][k]) for k, criterion in enumerate(kept)),
        still=all(figure.interval is None or figure.interval.least for row in table for figure in row),
        firm=all(_is_firm(figure) for row in table for figure in row),
        missing=missing,
        asked=float(sum(criterion.weight for criterion in criteria)),
        loose={name: why for name, why in loose.items() if name not in missing},
    )


def _loose(criteria: Sequence[Criterion], cells: Cells, candidates: Sequence[str]) -> dict[str, str]:
    """Criteria whose figures rank nobody, and why."""
    reasons = {}
    for criterion in criteria:
        summaries = [found.summary for name in candidates if (found := cells.find(criterion, name))]
        figures = [figure for name in candidates if (figure := _figure(criterion, cells, name))]
        few = [reading.runs for reading in figures if not _is_firm(reading) and reading.runs < RUNS_FOR_INTERVAL]
        if any(summary.timing == Timing.HOST_TIMED for summary in summaries) and not all(
            is_size(reading.unit) for reading in figures
        ):
            reasons[criterion.name] = "host-timed"
        elif few:
            reasons[criterion.name] = f"{count(min(few), 'run')}, {RUNS_FOR_INTERVAL} are needed"
        elif not all(map(_is_firm, figures)):
            reasons[criterion.name] = "its figures have no interval"
        elif any(reading.at_least for reading in figures):
            reasons[criterion.name] = "the tool's histogram ends below a figure"
        elif lack := next(filter(None, map(lacking, summaries, figures)), ""):
            reasons[criterion.name] = lack
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


def _scores(values: FloatArray, criterion: Criterion, steps: FloatArray, margin: Quantity | None) -> FloatArray:
    """(candidates,) 1 for the best, and for all where the best is nothing."""
    sized = np.abs(values) if figure_name(criterion) in _MAY_BE_NEGATIVE else values
    known = steps[steps > 0]
    own = np.maximum(sized, known.min() if len(known) else 0.0)  # one for all, or steps would lead each other
    best = own.max() if criterion.better == Better.HIGHER else own.min()
    allowed = 0.0
    if margin is not None:
        allowed = margin.value / 100 * best if margin.unit == "%" else margin.value
    if criterion.better == Better.HIGHER:
        return np.maximum(_part(np.minimum(own + allowed, best), best), _LEAST)
    return np.maximum(_part(best, np.maximum(own - allowed, best)), _LEAST)


def _part(part: FloatArray | float, whole: FloatArray | float) -> FloatArray:
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.ones(whole.shape), where=whole > 0)


def _figures(criterion: Criterion, cells: Cells, candidates: Sequence[str]) -> dict[str, Figure]:
    """The usable figure of each candidate that has one."""
    found = {name: _figure(criterion, cells, name) for name in candidates if _is_usable(criterion, cells, name)}
    return {name: figure for name, figure in found.items() if figure is not None}


def _is_usable(criterion: Criterion, cells: Cells, candidate: str) -> bool:
    found = cells.find(criterion, candidate)
    return found is not None and not found.summary.problems


def _figure(criterion: Criterion, cells: Cells, candidate: str) -> Figure | None:
    found = cells.find(criterion, candidate)
    return found.summary.figures.get(stands_for(ranked_by(criterion, found.summary.series))) if found else None


def _upper(criterion: Criterion, cells: Cells, candidate: str) -> Figure | None:
    """Of a largest sample: what nine of ten runs stay below."""
    found = cells.find(criterion, candidate)
    if found is None:
        return None
    name = stands_for(ranked_by(criterion, found.summary.series))
    series = [(median, upper) for median, upper in UPPER.items() if name.endswith(median)]
    return found.summary.figures.get(name.removesuffix(series[0][0]) + series[0][1]) if series else None


def _ends(figure: Figure) -> tuple[float, float]:
    known = figure.interval if _is_firm(figure) else None
    return (known.low, known.high) if known else (figure.value, figure.value)


def _margin(criterion: Criterion, figure: Figure) -> Quantity | None:
    return criterion.margin if criterion.margin and fits(criterion.margin, figure.unit) else None


def _is_firm(figure: Figure) -> bool:
    return is_size(figure.unit) or (figure.interval is not None and figure.runs >= RUNS_FOR_INTERVAL)


def _least(figure: Figure) -> float:
    """What the measurement can tell apart; of a count, one in all runs."""
    return figure.least or (1 / figure.runs if figure.unit == "1" else 0.0)
