# SPDX-License-Identifier: MIT
"""Figures in the sentences of comparisons, gates and verdicts."""

import math

from rtqual.analysis.figure.model import Figure, Interval
from rtqual.base.units import format_value


def quantity(value: float, unit: str) -> str:
    """'12.3 us', '0.05', 'no end' for an infinite end of an interval."""
    if math.isinf(value):
        return "no end"
    return format_value(value, "" if unit == "1" else unit)


def span(interval: Interval | None, unit: str) -> str:
    """' [11.9 us, 12.6 us]'; empty without an interval."""
    if interval is None:
        return ""
    return f" [{quantity(interval.low, unit)}, {quantity(interval.high, unit)}]"


def figure(one: Figure) -> str:
    """'12.3 us [11.9 us, 12.6 us]', 'at least 400 us'."""
    at_least = "at least " if one.at_least else ""
    return at_least + quantity(one.value, one.unit) + span(one.interval, one.unit)
