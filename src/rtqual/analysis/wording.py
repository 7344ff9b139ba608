# SPDX-License-Identifier: MIT
"""Figures in the sentences of comparisons, gates and verdicts."""

import math
from collections.abc import Sequence

from rtqual.analysis.model import Figure, Interval
from rtqual.units import format_value


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


def count(n: int, one: str) -> str:
    """'1 run', '12,000 samples'."""
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"


def one_in(probability: float) -> str:
    """A small probability as people count: 0.0003 -> '1 in 3,333', rounded to the more likely side."""
    return f"1 in {math.floor(1 / probability):,}"


def share(part: int, whole: int) -> str:
    """'0.1 %'."""
    return f"{100 * part / whole:.3g} %"


def some(names: Sequence[str], what: str, most: int = 2) -> str:
    """As many names as a reader wants to read, else how many there are: "'a' and 'b'", '10 criteria'."""
    return listed([f"'{name}'" for name in names]) if len(names) <= most else f"{len(names)} {what}"


def under(load: str) -> str:
    return "idle" if load == "none" else f"under {load}"


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    *head, last = names
    return f"{', '.join(head)} and {last}" if head else last
