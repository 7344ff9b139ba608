# SPDX-License-Identifier: MIT
"""What may be said of a difference: smaller, larger, equal within a margin, or how many runs would decide it.

A candidate is called smaller or larger only where the interval of the difference leaves zero out, and equal only
where the interval lies within a margin that the mission states: no difference seen is not no difference there.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rtqual.base.units import format_value
from rtqual.base.words import count
from rtqual.engine.analysis.difference.model import Relation
from rtqual.engine.analysis.figure.asked import RUNS_AGAIN, Asked, named
from rtqual.engine.analysis.figure.model import Figure, Interval
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.engine.mission import Quantity

MOST_RUNS = 10_000  # of each candidate; more is not practical
# What stands for a figure of the mission when candidates are compared: a largest sample grows with every run.
STANDS_FOR = {"max": "median run max", "max-min": "median run max-min"}


def stands_for(name: str) -> str:
    """What a figure is compared by, be it of a series that stands before it."""
    series, _, statistic = name.rpartition(" ")
    of = STANDS_FOR.get(statistic, statistic)
    return f"{series} {of}" if series else of


Margins = Mapping[tuple[str, str, str], tuple[Quantity, ...]]  # (instrument, load, figure as it is compared)


def margins_of(asked: Iterable[Asked]) -> dict[tuple[str, str, str], tuple[Quantity, ...]]:
    """The margins a mission states."""
    found: dict[tuple[str, str, str], tuple[Quantity, ...]] = {}
    for requirement in asked:
        if requirement.margin is not None:
            place = requirement.instrument, requirement.load, stands_for(named(requirement))
            found[place] = (*found.get(place, ()), requirement.margin)
    return found


def fits(margin: Quantity, unit: str) -> bool:
    """Whether a margin applies to a figure in this unit. A bare number is in the figure's own unit."""
    return margin.unit in ("%", None, unit)


def margin_value(margins: Iterable[Quantity], a: Figure, b: Figure) -> float | None:
    """The smallest margin, in the figures' unit; a percentage is of the smaller figure."""
    smaller = min(abs(a.value), abs(b.value))
    values = [
        quantity.value / 100 * smaller if quantity.unit == "%" else quantity.value
        for quantity in margins
        if fits(quantity, a.unit)
    ]
    return min(values, default=None)


def relation(difference: Figure, margin: float | None) -> tuple[Relation, bool]:
    """What it shows; and whether the whole interval lies within the margin."""
    between = _between(difference)
    if between is None:
        return Relation.UNDECIDED, False
    inside = margin is not None and -margin <= between.low and between.high <= margin
    if between.high < 0 or between.low > 0:
        return Relation.LESS if between.high < 0 else Relation.MORE, inside
    return Relation.EQUAL if inside else Relation.UNDECIDED, inside


class Stated(NamedTuple):
    """The fields of a comparison that say what it shows."""

    relation: Relation
    statement: str
    why: str = ""


def undecided(why: str) -> Stated:
    return Stated(Relation.UNDECIDED, f"undecided: {why}", why)


def stated(a: str, b: str, difference: Figure, margin: float | None, note: str = "") -> Stated:
    """'a < b', 'a > b, but within 2 us', 'a = b (within 2 us)', or 'undecided: ' with what is missing; a note stands
    in brackets behind what is said."""
    shown, inside = relation(difference, margin)
    noted = f" ({note})" if note else ""
    if shown == Relation.UNDECIDED:
        return undecided(f"{_missing(difference, margin)}{noted}")
    within = f"within {format_value(margin, difference.unit)}" if inside and margin is not None else ""
    if shown == Relation.EQUAL:
        return Stated(shown, f"{a} = {b} ({within}){noted}")
    return Stated(shown, f"{a} {shown} {b}{f', but {within}' if within else ''}{noted}")


def more_runs(difference: Figure, margin: float | None) -> int | None:
    """About how many more runs of each would decide it; None where no number would.

    The difference is taken to stay as it is, and each end of its interval to come nearer with the square root of
    the runs; the further look at them takes RUNS_AGAIN times as many.
    """
    between = _between(difference)
    if between is None or math.isinf(between.low) or math.isinf(between.high):
        return between.runs_to_close - difference.runs if between and between.runs_to_close else None
    if between.least:
        return None
    value, below, above = difference.value, difference.value - between.low, between.high - difference.value
    grown: list[float] = []  # how many times what was measured would do
    if value:
        grown.append(((below if value > 0 else above) / value) ** 2)
    if margin is not None and abs(value) < margin:
        grown.append(max(above / (margin - value), below / (margin + value)) ** 2)
    return max(1, math.ceil(difference.runs * RUNS_AGAIN * min(grown)) - difference.runs) if grown else None


def _between(difference: Figure) -> Interval | None:
    """A size is known."""
    if is_size(difference.unit):
        return Interval(difference.value, difference.value, "read off the systems", least=True)
    return difference.interval


def _missing(difference: Figure, margin: float | None) -> str:
    between = _between(difference)
    if between is None:
        return difference.why_no_interval
    if between.least or between.low == between.high:
        return "the clock cannot show a difference in any run; only a margin can call them equal"
    larger = f", or more than {format_value(margin, difference.unit)}" if margin is not None else ""
    more = more_runs(difference, margin)
    is_open = math.isinf(between.low) or math.isinf(between.high)
    if more is not None and more > MOST_RUNS:
        would = f"not even {MOST_RUNS:,} more runs of each would tell"
    elif is_open:
        least = "" if more is None else f"; at least {count(more, 'more run')} of each would close it"
        would = f"an end of its interval is open{least}"
    elif more is None:
        would = "no number of runs would tell, only a margin"
    else:
        would = f"about {count(more, 'more run')} of each would tell"
    return f"the difference may be zero{larger}; {would}"
