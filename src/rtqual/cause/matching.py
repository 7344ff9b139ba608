# SPDX-License-Identifier: MIT
"""Which reading of the clock is which sample of a periodic thread.

The thread sleeps until a moment that lies an interval after the last one, reads the clock and goes on; after a
wake-up that is late by an interval or more, cyclictest goes on with the next moment that lies ahead. So the first
moment decides all values, and the record says whether it is the right one: every value must be the record's.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.cause.trace import Thread, Trace
from rtqual.record.schema import Series


@dataclass(frozen=True)
class Sample:
    """`number` counts from 1. Times are ns of the guest."""

    number: int
    value_ns: int
    event: int  # of its reading
    read_ns: int

    @property
    def expiry_ns(self) -> int:
        return self.read_ns - self.value_ns


@dataclass(frozen=True)
class Matched:
    thread: Thread
    samples: tuple[Sample, ...]


def match(trace: Trace, series: Series, interval_ns: int, priority: int, name: str) -> Matched:
    """The samples of the thread `name` of that FIFO priority. Raises BadInput where the readings do not give them."""
    found: dict[int, list[tuple[int, int, Thread]]] = {}
    for event, ns, thread in trace.readings():
        if thread.name == name and thread.priority == 99 - priority:
            found.setdefault(thread.task, []).append((event, ns, thread))
    total = series.total
    for readings in found.values():
        values = _values([ns for _, ns, _ in readings[-total:]], series, interval_ns)
        if values is not None:
            samples = [
                Sample(number, value, event, ns)
                for number, (value, (event, ns, _)) in enumerate(zip(values, readings[-total:], strict=True), 1)
            ]
            return Matched(readings[-1][2], tuple(samples))
    seen = max(map(len, found.values()), default=0)
    raise BadInput(
        f"of {total} samples of {name} (FIFO {priority}), {seen} readings of its clock were seen, which do not give "
        f"the record's values: perhaps its clock is not the time-stamp counter at 1 GHz (docs/explain.md)"
    )


def _values(read_ns: Sequence[int], series: Series, interval_ns: int) -> list[int] | None:
    """The values in their order if some first moment gives exactly those of the series."""
    if len(read_ns) != series.total or not len(series.values):
        return None
    wanted = Counter(dict(zip(series.values.tolist(), series.counts.tolist(), strict=True)))
    in_order = None if series.order is None else np.concatenate(list(series.order.chunks())).tolist()
    first = series.values.tolist() if in_order is None else in_order[:1]
    lowest = int(series.values[0])
    for value in first:
        values = _given(read_ns, value, interval_ns)
        if min(values) == lowest and Counter(values) == wanted:
            return values if in_order in (None, values) else None
    return None


def _given(read_ns: Sequence[int], first_value: int, interval_ns: int) -> list[int]:
    due = read_ns[0] - first_value
    values = []
    for now in read_ns:
        values.append(now - due)
        due += interval_ns
        if now > due:
            due += -(-(now - due) // interval_ns) * interval_ns
    return values
