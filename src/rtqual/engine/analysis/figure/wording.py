# SPDX-License-Identifier: MIT
"""Figures in the sentences of comparisons, gates and verdicts."""

import math

from rtqual.base.units import format_value
from rtqual.engine.analysis.figure.model import Figure, Interval

LEAST_DIGITS = 4
MOST_DIGITS = 17  # tell any two floats apart


def span(interval: Interval | None, unit: str, limit: float | None = None) -> str:
    """' [11.9 us, 12.6 us]'; empty without an interval. Beside a limit each end lies on its side of it."""
    if interval is None:
        return ""
    low, high = (format_value(end, unit, digits(end, limit)) for end in (interval.low, interval.high))
    return f" [{low}, {high}]"


def value(reading: Figure, limit: float | None = None) -> str:
    """'12.3 us', 'at least 400 us'; beside a limit with as many digits as tell the two apart."""
    return ("at least " if reading.at_least else "") + format_value(
        reading.value, reading.unit, digits(reading.value, limit)
    )


def digits(number: float, limit: float | None) -> int:
    """How many to print, four or more, so that a number still lies on its side of the limit."""
    if limit in (None, number):
        return LEAST_DIGITS
    return next((n for n in range(LEAST_DIGITS, MOST_DIGITS) if _apart(number, limit, n)), MOST_DIGITS)


def figure(reading: Figure, limit: float | None = None) -> str:
    """'12.3 us [11.9 us, 12.6 us]', 'at least 400 us'."""
    return value(reading, limit) + span(reading.interval, reading.unit, limit)


def _apart(number: float, limit: float | None, shown_digits: int) -> bool:
    """Whether a number that is printed with so many digits still lies on its side of the limit."""
    if limit is None or not math.isfinite(number):
        return True
    shown = float(f"{number:.{shown_digits}g}")
    return shown > limit if number > limit else shown < limit
