# SPDX-License-Identifier: MIT
"""Which reading of the clock is which sample of a periodic thread.

The thread sleeps until a moment that lies an interval after the last one, reads the clock and goes on; after a
wake-up that is late by an interval or more, cyclictest goes on with the next moment that lies ahead. So the first
moment decides all values, and the record says whether it is the right one: every value must be the record's.

The guest's kernel finds the rate of its time-stamp counter by a timer, to a few parts in a million (999.999 MHz, or
999.951 before it was refined), and counts its nanoseconds by a multiplier of 2^-23 for that, which it corrects now and
then (kernel/time/clocksource.c, clocks_calc_mult_shift). So the rate is looked for too: whole kHz, and all multipliers.
A second after its start it takes the refined rate (arch/x86/kernel/tsc.c), which the trace tells: two rates then. What
passes between its last reading of the old clock and its first of the new one is lost to it (113 ns were seen).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rtqual.base.errors import BadInput
from rtqual.parts.explain.symbols import Symbols
from rtqual.parts.explain.trace import KernelThread, Trace
from rtqual.protocols.record.schema import Series

FloatArray = npt.NDArray[np.float64]
_LOW_KHZ, _HIGH_KHZ = 999_900, 1_000_100
_BY_MULTIPLIER = (1e6 * 2**23 / m for m in range(2**23 * 1_000_000 // _HIGH_KHZ, 2**23 * 1_000_000 // _LOW_KHZ + 1))
_RATES_KHZ = sorted({*map(float, range(_LOW_KHZ, _HIGH_KHZ + 1)), *_BY_MULTIPLIER}, key=lambda khz: abs(khz - 1e6))
_TOLERANCE_NS = 3  # the kernel rounds at each of its ticks
_LOST_NS = 1_000  # at most, where the clock changes
_CLOCKS = ("port_now_ns", "port_cycles")  # of the battery (target/probe/port.h), which compilers may make one
_MANY = 20  # readings: with fewer, many rates give the same values


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
    thread: KernelThread
    samples: tuple[Sample, ...]


def match(trace: Trace, series: Series, interval_ns: int, priority: int | None, name: str) -> Matched:
    """The samples of the thread `name` of that FIFO priority, if one is given, on the CPU of the series.

    Raises BadInput where the readings do not give them.
    """
    found: dict[int, list[tuple[int, int, KernelThread]]] = {}
    for event, ns, thread in trace.readings(series.info.cpu):
        if thread.name == name and (priority is None or thread.priority == 99 - priority):
            found.setdefault(thread.task, []).append((event, ns, thread))
    total = series.total
    for every in found.values():
        readings = every[-total:]
        values = _values([ns for _, ns, _ in readings], trace.clocks_ns, series, interval_ns)
        if values is None and series.order is not None:
            values = np.concatenate(list(series.order.chunks())).astype(int).tolist()
            readings = [every[place] for place in _among([ns for _, ns, _ in every], values, interval_ns)]
        if values is not None and readings:
            return _matched(values, readings)
    seen = max(map(len, found.values()), default=0)
    of = name if priority is None else f"{name} (FIFO {priority})"
    raise BadInput(
        f"of {total} samples of {of}, {seen} readings of its clock were seen, which do not give "
        f"the record's values: perhaps its clock is not the one that is watched (docs/explain.md)"
    )


def match_by_function(trace: Trace, series: Series, interval_ns: int, symbols: Symbols) -> Matched:
    """The samples where nobody tells who reads the clock: the battery's own function does, or else one function alone
    gives the values, for a system's interrupt may read it once an interval too.

    Raises BadInput where the readings do not give them.
    """
    found: dict[str, list[tuple[int, int, KernelThread]]] = {}
    for event, ns, nobody in trace.readings(series.info.cpu):
        function = symbols.named(int(trace.words[trace.events[event]]))
        found.setdefault(_CLOCKS[0] if function in _CLOCKS else function, []).append((event, ns, nobody))
    found = {name: found[name] for name in _CLOCKS[:1] if name in found} or found
    values = [] if series.order is None else np.concatenate(list(series.order.chunks())).astype(int).tolist()
    fitting = []
    for every in found.values():
        places = _among([ns for _, ns, _ in every], values, interval_ns) if values else []
        fitting += [_matched(values, [every[place] for place in places])] if places else []
    if len(fitting) == 1:
        return fitting[0]
    seen = sum(map(len, found.values()))
    of = f"of {series.total} samples, {seen} readings of the counter were seen, "
    if fitting:
        raise BadInput(
            f"{of}and those of {len(fitting)} functions give the record's values: port_now_ns() calls which?"
        )
    raise BadInput(
        f"{of}which do not give the record's values: perhaps its clock is not the one that is watched (docs/explain.md)"
    )


def _matched(values: Sequence[int], readings: Sequence[tuple[int, int, KernelThread]]) -> Matched:
    samples = [
        Sample(number, value, event, ns)
        for number, (value, (event, ns, _)) in enumerate(zip(values, readings, strict=True), 1)
    ]
    return Matched(readings[-1][2], tuple(samples))


def _values(ticks: Sequence[int], changes_ns: Sequence[int], series: Series, interval_ns: int) -> list[int] | None:
    """The values in their order if some first moment, at some rate of the clock, gives exactly those of the series.

    The rate may change once among the readings; what the clock loses then is found with it.
    """
    changes = [number for number in changes_ns if len(ticks) and ticks[0] < number <= ticks[-1]]
    if len(ticks) != series.total or not len(series.values) or len(changes) > 1:
        return None
    wanted = np.repeat(series.values, series.counts)
    in_order = None if series.order is None else np.concatenate(list(series.order.chunks()))
    read_ns = np.asarray(ticks, np.float64)
    cut = int(np.searchsorted(read_ns, changes[0])) if changes else len(ticks)
    sides = [read_ns[:cut], read_ns[cut:]] if changes else [read_ns]
    firsts = [series.values if in_order is None else in_order[at : at + 1] for at in (0, cut)]
    found = [_fitting(side, first, wanted, interval_ns) for side, first in zip(sides, firsts, strict=False)]
    whole = _joined(found, sides, changes[0], interval_ns) if changes else (values for _, values in found[0])
    for values in whole:
        if in_order is not None and np.abs(values - in_order).max() <= _TOLERANCE_NS:
            return [int(item) for item in in_order]
        if in_order is None and np.abs(np.sort(values) - wanted).max() <= _TOLERANCE_NS:
            ranked = np.empty_like(wanted)
            ranked[np.argsort(values, kind="stable")] = wanted
            return [int(signedinteger) for signedinteger in ranked]
    return None


def _joined(
    found: Sequence[Iterable[tuple[float, FloatArray]]], sides: Sequence[FloatArray], change_ns: int, interval_ns: int
) -> Iterator[FloatArray]:
    """Values from both sides of a change that the same clock can have given."""
    later = list(found[1])
    for khz, values in found[0]:
        since = values[-1] + (change_ns - sides[0][-1]) * (1e6 / khz)
        for other_khz, others in later:
            lost_ns = since + (sides[1][0] - change_ns) * (1e6 / other_khz) - others[0]
            if (lost_ns + _TOLERANCE_NS) % interval_ns <= _LOST_NS:
                yield np.concatenate([values, others])


def _fitting(
    read_ns: FloatArray, first: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64], interval_ns: int
) -> Iterator[tuple[float, FloatArray]]:
    """The rates in kHz at which readings give values that are all wanted, and these values."""
    least, most = wanted[0] - _TOLERANCE_NS, wanted[-1] + _TOLERANCE_NS
    before = -np.inf
    for khz in _RATES_KHZ if len(read_ns) > _MANY else sorted(_RATES_KHZ):
        now = (read_ns - read_ns[0]) * (1e6 / khz)
        if len(read_ns) <= _MANY and abs(now[-1] - before) < 1:
            continue  # no other value than at the rate before
        before = now[-1]
        fitting = first
        if most < interval_ns:  # so no period was missed, and all values move with the first
            since = now - np.arange(len(now)) * interval_ns
            fitting = first[(first + since.min() >= least) & (first + since.max() <= most)]
        for value in fitting.tolist():
            values = _given(now, value, interval_ns)
            nearest = wanted[np.minimum(np.searchsorted(wanted, values - _TOLERANCE_NS), len(wanted) - 1)]
            if (np.abs(values - nearest) <= _TOLERANCE_NS).all():
                yield khz, values


def _among(ticks: Sequence[int], values: Sequence[int], interval_ns: int) -> list[int]:
    """Which of a thread's readings are samples, where it reads its clock for other ends too: the values say how far
    from the first each lies. Empty where none of them fits."""
    due_ns, since_first = 0, []
    for value in values:
        since_first.append(due_ns + value - values[0])
        due_ns += (value // interval_ns + 1) * interval_ns
    wanted, now = np.asarray(since_first), np.asarray(ticks)
    for first in range(len(ticks) - len(values) + 1):
        at = wanted + ticks[first]
        places = np.searchsorted(now, at - _TOLERANCE_NS)
        if places[-1] < len(now) and (np.abs(now[places] - at) <= _TOLERANCE_NS).all():
            return [int(place) for place in places]
    return []


def _given(now: FloatArray, first_value: int, interval_ns: int) -> FloatArray:
    """The values of readings at `now`. The moment after reading k is the next of the grid that begins at the first
    moment, or, where that lies behind, the first one ahead."""
    place = np.arange(len(now))
    ahead = np.ceil((now + first_value) / interval_ns)
    skipped = np.maximum.accumulate(np.concatenate(([0.0], ahead[:-1] - place[1:])))
    return now + first_value - (place + np.maximum(skipped, 0)) * interval_ns
