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

from rtqual.engine.analysis.difference.model import Comparison, ShiftFunction
from rtqual.engine.analysis.difference.shift import in_words
from rtqual.engine.analysis.difference.statement import UNDECIDED, statement
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
    among = shares([chance(one) for one in differences])
    return tuple(widened(one, shared) for one, shared in zip(differences, among, strict=True))


def judged_together(
    comparisons: Sequence[Comparison], shifts: Sequence[ShiftFunction]
) -> tuple[tuple[Comparison, ...], tuple[ShiftFunction, ...]]:
    """The same with their statements, all of which hold at once."""
    places = [(shift, name) for shift in shifts for name in shift.differences]
    every = [*(one.difference for one in comparisons), *(shift.differences[name] for shift, name in places)]
    judged = holm(every)
    compared = zip(comparisons, judged, strict=False)
    of_shifts: dict[int, dict[str, Figure]] = {id(one): {} for one in shifts}
    for (shift, name), one in zip(places, judged[len(comparisons) :], strict=True):
        of_shifts[id(shift)][name] = one
    return (
        tuple(_compared(one, difference, len(every)) for one, difference in compared),
        tuple(_shifted(one, of_shifts[id(one)]) for one in shifts),
    )


def _compared(one: Comparison, difference: Figure, among: int) -> Comparison:
    if one.statement.startswith(UNDECIDED):
        return one
    said = statement(one.a.candidate, one.b.candidate, difference, one.margin, one.note)
    if said.startswith(UNDECIDED):
        note = ", ".join(filter(None, [one.note, f"one of {among} compared"]))
        said = statement(one.a.candidate, one.b.candidate, difference, one.margin, note)
    return replace(one, difference=difference, statement=said)


def _shifted(one: ShiftFunction, differences: Mapping[str, Figure]) -> ShiftFunction:
    if one.statement.startswith(UNDECIDED):
        return one
    words = in_words(one.a.candidate, one.b.candidate, differences, one.margins)
    return replace(one, differences=differences, statement=words)


def widened(one: Figure, shared: int) -> Figure:
    """With the interval of one among so many that hold together."""
    between = one.interval
    if between is None or between.least or shared < 2:
        return one
    factor = _student(one.runs - 1, TAIL / shared) / _student(one.runs - 1, TAIL)
    low, high = (one.value + factor * (end - one.value) for end in (between.low, between.high))
    return replace(one, interval=replace(between, low=low, high=high))


def _leaves_out_zero(one: Figure) -> bool:
    return one.interval is not None and not one.interval.low <= 0 <= one.interval.high


def chance(one: Figure) -> float:
    """How easily a difference as large comes where there is none: about its p-value."""
    if one.interval is None or one.value == 0:
        return 1.0
    side = one.value - one.interval.low if one.value > 0 else one.interval.high - one.value
    if math.isinf(side):
        return 1.0
    if one.interval.least or side <= 0:
        return 0.0 if _leaves_out_zero(one) else 1.0
    from scipy import special  # noqa: PLC0415 - slow to load

    freedom = one.runs - 1
    return 2 * float(special.stdtr(freedom, -_student(freedom, TAIL) * abs(one.value) / side))


@cache
def _student(freedom: int, tail: float) -> float:
    from scipy import special  # noqa: PLC0415

    return float(special.stdtrit(freedom, 1 - tail))
