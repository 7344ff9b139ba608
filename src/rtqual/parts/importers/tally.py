# SPDX-License-Identifier: MIT
"""A tool's histogram of one thread in the tool's own unit, and where the tool's own figures contradict it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rtqual.protocols.record.schema import Series, SeriesKind

LARGEST = 2**53  # counts and values beyond are no measurement; sums of smaller ones stay inside 64 bits


@dataclass(frozen=True)
class Tally:
    """`counts`: lower edge of a bin -> samples. None: the tool does not tell.

    `overflow` samples lie at or above `limit`, which is never below the end of the last bin that is printed.
    """

    counts: Mapping[int, int]
    width: int = 1
    binned: int | None = None  # samples the tool says are in the bins
    overflow: int | None = None
    limit: int | None = None
    low: int | None = None
    avg: float | None = None
    high: int | None = None

    @property
    def samples(self) -> int:
        return sum(self.counts.values()) + (self.overflow or 0)

    def series(self, name: str, unit_ns: int, cpu: int | None) -> Series:
        """In nanoseconds. Without a bin only what the tool reports is left."""
        filled = {value * unit_ns: count for value, count in self.counts.items() if count}
        told = {"min": self.low, "avg": self.avg, "max": self.high}
        reported = {key: float(value * unit_ns) for key, value in told.items() if value is not None}
        if not filled and (self.binned or not self.overflow):
            known = {"n": float(self.binned + (self.overflow or 0))} if self.binned and reported else {}
            return Series.counted({}, SeriesKind.SUMMARY, name=name, cpu=cpu, reported={**known, **reported})
        overflow = max(0, self.overflow or 0)
        limit = self._limit()
        return Series.counted(
            filled,
            SeriesKind.HISTOGRAM if self.width == 1 else SeriesKind.BINNED,
            name=name,
            cpu=cpu,
            overflow=overflow,
            overflow_from=limit * unit_ns if overflow and limit is not None else None,
            reported=reported,
        )

    def _limit(self) -> int | None:
        """The least an overflowed sample can be. A tool may leave out its empty last bins."""
        if self.limit is not None:
            return self.limit
        filled = [value for value, count in self.counts.items() if count]
        return max(filled) + 1 if filled else None

    def problems(self) -> list[str]:
        """Reasons to refuse a verdict: samples that are missing, uncounted or contradict the tool's figures."""
        filled = {value: count for value, count in self.counts.items() if count}
        problems = []
        if self.binned is not None and filled and sum(filled.values()) != self.binned:
            problems.append(f"the histogram holds {sum(filled.values())} of {self.binned} samples")
        if self.overflow is not None and self.overflow < 0:
            problems.append(f"{-self.overflow} more samples in the histogram than were taken")
        if not filled:
            return problems
        first, last = min(filled), max(filled)
        if self.low is not None and not first <= self.low < first + self.width:
            problems.append(f"its minimum is {self.low}, but its histogram starts at {first}")
        if self.overflow is None and (self.high is None or self.high >= last + self.width):
            told = "" if self.high is None else f"its maximum is {self.high}, the histogram ends at {last}: "
            problems.append(f"{told}samples above the last bin, if any, are not counted")
        elif self.high is not None and not self.overflow and not last <= self.high < last + self.width:
            problems.append(f"its maximum is {self.high}, but its histogram ends at {last}")
        elif self.high is not None and self.overflow and self.high < (self._limit() or 0):
            problems.append(f"{self.overflow} samples overflowed, but its maximum is {self.high}")
        return [*problems, *self._average_problems(filled)]

    def _average_problems(self, filled: Mapping[int, int]) -> list[str]:
        """Of an average that the samples cannot have: tools cut it, and a value may lie anywhere in its bin."""
        if self.avg is None or self.overflow is None or self.overflow < 0:
            return []
        below, number = sum(value * count for value, count in filled.items()), sum(filled.values())
        if self.overflow == 0:
            mean = below / number
            agrees = mean - 1 <= self.avg <= mean + self.width
            return [] if agrees else [f"its average is {self.avg:g}, that of its histogram {mean:.2f}"]
        number += self.overflow
        least = (below + self.overflow * (self._limit() or 0)) / number - 1
        most = math.inf if self.high is None else (below + self.overflow * self.high) / number + self.width
        if least <= self.avg <= most:
            return []
        return [f"its average is {self.avg:g}, that of its samples lies from {least + 1:.2f} to {most:.2f}"]
