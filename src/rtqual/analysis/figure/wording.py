# SPDX-License-Identifier: MIT
"""Figures in the sentences of comparisons, gates and verdicts."""

from rtqual.analysis.figure.model import Figure, Interval
from rtqual.base.units import format_value


def span(interval: Interval | None, unit: str) -> str:
    """' [11.9 us, 12.6 us]'; empty without an interval."""
    if interval is None:
        return ""
    return f" [{format_value(interval.low, unit)}, {format_value(interval.high, unit)}]"


def figure(one: Figure) -> str:
    """'12.3 us [11.9 us, 12.6 us]', 'at least 400 us'."""
    at_least = "at least " if one.at_least else ""
    return at_least + format_value(one.value, one.unit) + span(one.interval, one.unit)
