# SPDX-License-Identifier: MIT
"""The candidates beside each other in the figures a mission requires, as sentences."""

import math
from collections.abc import Iterator, Sequence

from rtqual.engine.analysis.difference.compare import mirrored
from rtqual.engine.analysis.difference.model import Comparison, Relation, ShiftFunction
from rtqual.engine.analysis.difference.shift import turned
from rtqual.engine.analysis.difference.statement import stands_for
from rtqual.engine.analysis.difference.together import judged_together
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.model import Interval
from rtqual.engine.analysis.figure.wording import value
from rtqual.engine.mission import Mission, Requirement


def compared(
    mission: Mission, cells: Cells, comparisons: Sequence[Comparison], shifts: Sequence[ShiftFunction]
) -> tuple[tuple[Comparison, ...], tuple[ShiftFunction, ...]]:
    """What a verdict says of pairs: in every required figure, and by quantile; each of the two holds together."""
    wanted = dict.fromkeys(
        comparison for requirement in mission.requirements for comparison in _of(requirement, cells, comparisons)
    )
    pairs = {(comparison.a, comparison.b) for comparison in wanted}
    # Two families: quantiles must not cost the required figures their power, nor let a look, which has none, decide
    # otherwise than the report.
    figures, _ = judged_together(tuple(wanted), ())
    _, quantiles = judged_together((), [shift for shift in shifts if (shift.a, shift.b) in pairs])
    return figures, quantiles


def findings(
    mission: Mission, cells: Cells, comparisons: Sequence[Comparison], shifts: Sequence[ShiftFunction]
) -> Iterator[str]:
    """Every pair of candidates in every required figure, the smaller one first; then where their samples differ."""
    of_pair = {(shift.a, shift.b): shift for shift in shifts}
    for requirement in mission.requirements:
        for comparison in _of(requirement, cells, comparisons):
            shift = of_pair.get((comparison.a, comparison.b))
            larger = comparison.difference.value > 0
            finding = _finding(mirrored(comparison) if larger else comparison, cells)
            yield f"{requirement.name}: {finding}{_where(shift, larger)}."


def _of(requirement: Requirement, cells: Cells, comparisons: Sequence[Comparison]) -> Iterator[Comparison]:
    wanted = stands_for(cells.compared(requirement))
    groups = {cells.group(requirement, name) for name in cells.candidates}
    return (
        comparison
        for comparison in comparisons
        if comparison.statistic == wanted and comparison.a in groups and comparison.b in groups
    )


def _finding(comparison: Comparison, cells: Cells) -> str:
    figures = [cells.measured[group].summary.figures[comparison.statistic] for group in (comparison.a, comparison.b)]
    beside = " against ".join(value(figure) for figure in figures)
    ratio = f", ratio {comparison.ratio.value:.3g}{_between(comparison.ratio.interval)}" if comparison.ratio else ""
    pair = f"{comparison.a.candidate}, {comparison.b.candidate}: " if comparison.relation == Relation.UNDECIDED else ""
    return f"{pair}{comparison.statement} ({comparison.statistic} {beside}{ratio})"


def _between(interval: Interval | None) -> str:
    if interval is None:
        return ""
    high = "no end" if math.isinf(interval.high) else f"{interval.high:.3g}"
    return f", {100 * interval.level:.0f} % interval {interval.low:.3g} to {high}"


def _where(shift: ShiftFunction | None, larger: bool) -> str:
    if shift is None or not shift.decided:
        return ""
    return f"; by quantile, {(turned(shift) if larger else shift).statement}"
