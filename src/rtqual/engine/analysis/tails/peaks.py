# SPDX-License-Identifier: MIT
"""From samples in order to clusters of late ones, in one pass and in memory for the exceedances alone.

Late samples come together: what delayed one wake-up delays the next. So exceedances are put into clusters and each
cluster counts once, by its largest. How far apart two must be to belong to different clusters is read from the
times between exceedances: intervals declustering (Ferro & Segers 2003), which needs no parameter and gives the
extremal index as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.tails.streams import Stream
from rtqual.protocols.record.schema import Int64Array


@dataclass(frozen=True)
class Exceedances:
    """Samples at or above a value, in order: of which run, at which place among all runs' samples, how large."""

    run: Int64Array
    place: Int64Array
    value: Int64Array

    def over(self, threshold: int) -> "Exceedances":
        kept = self.value >= threshold
        return Exceedances(self.run[kept], self.place[kept], self.value[kept])


@dataclass(frozen=True)
class Clusters:
    """Clusters over a threshold, in order. A sample equal to the threshold exceeds it: it lies between two steps."""

    threshold: int
    exceedances: int
    apart: int  # more samples than this below the threshold part two clusters
    extremal_index: float
    peak: Int64Array
    run: Int64Array
    place: Int64Array  # of the peak

    @property
    def number(self) -> int:
        return len(self.peak)

    def where(self, kept: npt.NDArray[np.bool_]) -> "Clusters":
        return replace(self, peak=self.peak[kept], run=self.run[kept], place=self.place[kept])


def collect(stream: Stream, lowest: int) -> Exceedances:
    """Every sample at or above `lowest`, in one pass over chunks."""
    runs, places, values = [], [], []
    start = 0
    for number, series in enumerate(stream.series):
        for chunk in series.ordered() or ():
            found = np.flatnonzero(chunk >= lowest)
            places.append(found + start)
            values.append(chunk[found])
            runs.append(np.full(len(found), number))
            start += len(chunk)
    return Exceedances(*(np.concatenate([np.empty(0, np.int64), *part]) for part in (runs, places, values)))


def decluster(found: Exceedances, threshold: int) -> Clusters:
    """A run ends its last cluster. The length of clusters is estimated as if each run continued the run before."""
    over = found.over(threshold)
    gaps = np.diff(over.place)
    index, apart = part(gaps)
    parted = (gaps > apart) | (np.diff(over.run) > 0)
    starts = np.flatnonzero(np.append(True, parted)) if len(over.value) else np.empty(0, np.int64)
    peaks = np.maximum.reduceat(over.value, starts) if len(starts) else over.value
    where = _first_of_each(over.value, peaks, starts)
    return Clusters(threshold, len(over.value), apart, index, peaks, over.run[where], over.place[where])


def part(gaps: Int64Array) -> tuple[float, int]:
    """Extremal index, and the gap (in samples) that two exceedances of one cluster have at most.

    Ferro & Segers 2003, section 4: of N exceedances theta * N begin a cluster, those after the longest gaps.
    """
    if len(gaps) < 2:
        return 1.0, 0
    times = gaps.astype(np.float64)
    if times.max() <= 2:
        index = 2 * times.sum() ** 2 / (len(times) * (times**2).sum())
    else:
        index = 2 * (times - 1).sum() ** 2 / (len(times) * ((times - 1) * (times - 2)).sum())
    share = min(1.0, float(index))
    longest_first = np.sort(gaps)[::-1]
    begin = int(share * (len(gaps) + 1))
    return share, int(longest_first[begin]) if begin < len(gaps) else 0


def _first_of_each(values: Int64Array, peaks: Int64Array, starts: Int64Array) -> Int64Array:
    """Where each cluster has its peak."""
    cluster = np.searchsorted(starts, np.arange(len(values)), side="right") - 1
    at_peak = np.flatnonzero(values == peaks[cluster]) if len(starts) else np.empty(0, np.int64)
    return at_peak[np.unique(cluster[at_peak], return_index=True)[1]] if len(starts) else at_peak


def block_maxima(stream: Stream, length: int) -> FloatArray:
    """The largest of every `length` samples; a shorter rest at the end of a run is not used."""
    found: list[Sequence[float]] = []
    for series in stream.series:
        rest = np.empty(0, np.int64)
        for chunk in series.ordered() or ():
            joined = np.concatenate([rest, chunk]) if len(rest) else chunk
            whole = len(joined) - len(joined) % length
            found.append(joined[:whole].reshape(-1, length).max(axis=1).tolist())
            rest = joined[whole:]
    return np.array([value for some in found for value in some], np.float64)
