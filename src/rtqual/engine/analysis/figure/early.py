# SPDX-License-Identifier: MIT
"""Whether runs that began at once differ from what came later: then they measured the end of a boot.

This does not trust a board's own word that it was at rest. On the virtual board every second run begins later
(engine/boards/virtual.py); where the order of the samples is known, each run's first third is set beside its last.

Runs are the units: samples of a run depend on each other. Each of these is a sign, and next to impossible by chance:

- idle, every early run's mean is more than HALF_MORE times every late run's: latencies of idle runs differ by some
  percent, but an offset that is early or late by chance does not, so the means must be above zero;
- every early run lies above every late one by a tenth, in mean or, idle, in maximum, where the order alone (exact: of
  all ways to deal the runs into early and late, one) has a probability of CHANCE at most: five of each: 1 in 252;
- in each of eight or more runs the mean of the first third is above that of the last by a tenth, and the first thirds
  of all early runs are above those of all late ones: what falls alike in both is no boot but what is measured, as a
  program's first jobs or a clock's offset.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from rtqual.base.units import format_value
from rtqual.protocols.record.schema import LATER_S, RESET, WAITED_NS, Record, Series

HALF_MORE, TENTH_MORE = 1.5, 1.1
CHANCE = 0.005
_LEAST_SAMPLES = 90  # of a run, for thirds
_TIME = "ns"


@dataclass(frozen=True)
class RunLateness:
    """One run of a series, in the series' unit."""

    late: bool
    mean: float
    largest: float


def early_runs(records: Sequence[Record]) -> Iterator[str]:
    """Name each series of time whose early runs, or samples, are later than what came after them, with both figures."""
    names = dict.fromkeys(
        series.info.name for record in records for series in record.series if series.info.unit == _TIME
    )
    for name in names:
        runs = [run for record in records if (run := _run(record, name))]
        idle = all(record.inputs.load == "none" for record in records)
        if why := _between(runs, idle=idle) or _within(records, name):
            yield f"it was not at rest: {name} {why}; `rtqual explain` shows what ran"


def rested(records: Sequence[Record]) -> bool | None:
    """Whether all were waited for until their boot was over; None of what does not boot for its runs.

    Records from before rtqual waited do not tell.
    """
    if not all("initramfs" in record.inputs.artefacts for record in records):
        return None
    return all({WAITED_NS, RESET} & set(record.manifest.provenance.facts) for record in records)


def _of(record: Record, name: str) -> list[Series]:
    return [series for series in record.series if series.info.name == name and series.counts.any()]


def _run(record: Record, name: str) -> RunLateness | None:
    series = _of(record, name)
    if not series:
        return None
    mean = sum(_mean(each) * each.total for each in series) / sum(each.total for each in series)
    largest = max(_largest(each) for each in series)
    return RunLateness(_is_late(record), mean, largest)


def _is_late(record: Record) -> bool:
    return LATER_S in record.manifest.provenance.facts


def _mean(series: Series) -> float:
    """Of samples that overflowed only the tool knows."""
    if series.info.overflow and "avg" in series.info.reported:
        return float(series.info.reported["avg"])
    return float(series.values.astype(float) @ series.counts / series.counts.sum())


def _largest(series: Series) -> float:
    reported = series.info.reported.get("max", 0.0) if series.info.overflow else 0.0
    return max(float(series.values[-1]), float(reported))


def _between(runs: Sequence[RunLateness], *, idle: bool) -> str:
    early, late = [run for run in runs if not run.late], [run for run in runs if run.late]
    if not early or not late:
        return ""
    sure = 1 / comb(len(runs), len(early)) <= CHANCE
    least, most = min(run.mean for run in early), max(run.mean for run in late)
    what = "mean"
    if not (idle and most > 0 and _more(least, most, HALF_MORE)) and not (sure and _more(least, most, TENTH_MORE)):
        least, most = min(run.largest for run in early), max(run.largest for run in late)
        what = "maximum"
        if not (idle and sure and _more(least, most, TENTH_MORE)):
            return ""
    return (
        f"has a {what} of {_shown(least)} or more in each of {len(early)} runs at once, "
        f"and of {_shown(most)} or less in each of {len(late)} begun later"
    )


def _more(value: float, other: float, times: float) -> bool:
    """Whether it is so many times the other, or as much above it where the other is negative."""
    return value > other + (times - 1) * abs(other)


def _within(records: Sequence[Record], name: str) -> str:
    """Of runs on the emulator's clock whose samples' order is known."""
    counted = [record for record in records if record.manifest.timing.counted or record.manifest.timing.modelled]
    runs = [
        (_is_late(record), pairs)
        for record in counted
        if (pairs := [pair for series in _of(record, name) if (pair := _thirds(series))])
    ]
    thirds = [pair for _, pairs in runs for pair in pairs]
    if not runs or 0.5 ** len(runs) > CHANCE or not all(_more(first, last, TENTH_MORE) for first, last in thirds):
        return ""
    begun = [
        [float(np.mean([first for first, _ in pairs])) for late, pairs in runs if late == side]
        for side in (False, True)
    ]
    if all(begun) and min(begun[0]) <= max(begun[1]):
        return ""
    first, last = (float(np.mean(side)) for side in zip(*thirds, strict=True))
    return f"falls within each of {len(runs)} runs, from a mean of {_shown(first)} in the first third to {_shown(last)}"


def _thirds(series: Series) -> tuple[float, float] | None:
    """The means of the first and of the last third, read a million at a time."""
    chunks = series.ordered()
    total = int(series.counts.sum())
    if chunks is None or total < _LEAST_SAMPLES:
        return None
    third = total // 3
    first = last = 0.0
    at = 0
    for chunk in chunks:
        first += float(chunk[: max(0, third - at)].sum(dtype=float))
        last += float(chunk[max(0, total - third - at) :].sum(dtype=float))
        at += len(chunk)
    return first / third, last / third


def _shown(ns: float) -> str:
    return format_value(ns, _TIME)
