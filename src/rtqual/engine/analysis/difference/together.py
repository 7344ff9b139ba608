# SPDX-License-Identifier: MIT
"""Differences that are told together: of twenty that are each sure by 95 %, one is expected to be wrong.

Holm's procedure (S. Holm, *Scandinavian Journal of Statistics* 6, 1979): the surest of m must stand at 95 % shared
among m, the next among m - 1, until one does not; then nor do the others. All that is told holds in 95 % of campaigns,
however the differences depend on each other. An interval is widened to its level as Student's t with the figure's runs
is; what no run varies in is a matter of the clock and not of chance, and stays as it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from rtqual.engine.analysis.difference.model import Comparison, Relation, ShiftFunction
from rtqual.engine.analysis.difference.shift import in_words, is_decided
from rtqual.engine.analysis.difference.statement import stated
from rtqual.engine.analysis.figure.asked import TAIL
from rtqual.engine.analysis.figure.model import Figure


def shares(chances: Sequence[float]) -> tuple[int, ...]:
    """Among how many each must stand, by its p-value; it does where that is at most 5 % / shares."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    found, shared, stands = [0] * len(chances), len(chances), True
    for place in order:
        found[place] = shared
        stands = stands and chances[place] <= 2 * TAIL / shared
        shared -= stands
    return tuple(found)


def holm(differences: Sequence[Figure]) -> tuple[Figure, ...]:
    """The same differences, each with its interval at the level at which it is judged among all of them."""
    among = shares([chance(figure) for figure in differences])
    return tuple(widened(figure, shared) for figure, shared in zip(differences, among, strict=True))


def judged_together(
    comparisons: Sequence[Comparison], shifts: Sequence[ShiftFunction]
) -> tuple[tuple[Comparison, ...], tuple[ShiftFunction, ...]]:
    """The same with their statements, all of which hold at once."""
    places = [(shift, name) for shift in shifts for name in shift.differences]
    every = [
        *(comparison.difference for comparison in comparisons),
        *(shift.differences[name] for shift, name in places),
    ]
    judged = holm(every)
    compared = zip(comparisons, judged, strict=False)
    of_shifts: dict[int, dict[str, Figure]] = {id(shift): {} for shift in shifts}
    for (shift, name), figure in zip(places, judged[len(comparisons) :], strict=True):
        of_shifts[id(shift)][name] = figure
    return (
        tuple(_compared(comparison, difference, len(every)) for comparison, difference in compared),
        tuple(_shifted(shift, of_shifts[id(shift)]) for shift in shifts),
    )


def _compared(comparison: Comparison, difference: Figure, among: int) -> Comparison:
    if comparison.relation == Relation.UNDECIDED:
        return comparison
    pair = comparison.a.candidate, comparison.b.candidate
    said = stated(*pair, difference, comparison.margin, comparison.note)
    if said.relation == Relation.UNDECIDED:
        note = ", ".join(filter(None, [comparison.note, f"one of {among} compared"]))
        said = stated(*pair, difference, comparison.margin, note)
    return replace(comparison, difference=difference, **said._asdict())


def _shifted(shift_function: ShiftFunction, differences: Mapping[str, Figure]) -> ShiftFunction:
    if not shift_function.decided:
        return shift_function
    words = in_words(shift_function.a.candidate, shift_function.b.candidate, differences, shift_function.margins)
    decided = is_decided(differences, shift_function.margins)
    return replace(shift_function, differences=differences, statement=words, decided=decided)


def widened(figure: Figure, shared: int) -> Figure:
    """With the interval of one among so many that hold together."""
    between = figure.interval
    if between is None or between.least or shared < 2:
        return figure
    factor = _student(figure.runs - 1, TAIL / shared) / _student(figure.runs - 1, TAIL)
    low, high = (figure.value + factor * (end - figure.value) for end in (between.low, between.high))
    return replace(figure, interval=replace(between, low=low, high=high))


def _leaves_out_zero(figure: Figure) -> bool:
    return figure.interval is not None and not figure.interval.low <= 0 <= figure.interval.high


def chance(figure: Figure) -> float:
    """How easily a difference as large comes where there is none: about its p-value."""
    if figure.interval is None or figure.value == 0:
        return 1.0
    side = figure.value - figure.interval.low if figure.value > 0 else figure.interval.high - figure.value
    if math.isinf(side):
        return 1.0
    if figure.interval.least or side <= 0:
        return 0.0 if _leaves_out_zero(figure) else 1.0
    from scipy import special  # noqa: PLC0415 - slow to load

    freedom = figure.runs - 1
    return 2 * float(special.stdtr(freedom, -_student(freedom, TAIL) * abs(figure.value) / side))


@cache
def _student(freedom: int, tail: float) -> float:
    from scipy import special  # noqa: PLC0415

    return float(special.stdtrit(freedom, 1 - tail))
