# SPDX-License-Identifier: MIT
"""What grows in a soak: a slope a segment, and how sure their mean is.

What lies near in time is alike, so a slope's own residuals say little of how sure it is: a segment counts as one
sample, and the interval comes from how the segments differ (intervals.py). Each segment starts the
program anew: what grows over more than a segment is not seen.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rtqual.base.units import quantity
from rtqual.base.words import count
from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL
from rtqual.engine.analysis.figure.intervals import mean_interval
from rtqual.engine.dialogue.answer_times import ACCEPTED

POSE_AGE = "pose age"
# What is looked at: figure -> unit of what it grows by in an hour.
QUANTITIES = {"memory": "B", ACCEPTED: "ns", POSE_AGE: "ns", "deadline_misses": "1", "frames_lost": "1"}
_WARM = 0.2  # of a segment, at whose start buffers are taken and the camera starts
_LEAST = 3  # values in a segment, for a slope
_NS_PER_HOUR = 3600 * 10**9


@dataclass(frozen=True)
class Trend:
    """A quantity over a soak's segments. `interval`: at 95 %, None with `why_none`. `slopes`: of each segment."""

    name: str
    unit: str  # in an hour
    slopes: tuple[float, ...]
    interval: tuple[float, float] | None
    why_none: str

    @property
    def per_hour(self) -> float:
        return float(np.mean(self.slopes))

    def hourly(self, value: float) -> str:
        return f"{quantity(value, self.unit)}/h"

    @property
    def segments(self) -> str:
        return count(len(self.slopes), "segment")

    @property
    def said(self) -> str:
        if self.interval is None:
            return "nobody knows" if any(self.slopes) else "no change seen"
        low, high = self.interval
        return "grows" if low > 0 else "falls" if high < 0 else "no trend shown"


def trends(segments: Iterable[tuple[int, Mapping[str, Sequence[tuple[int, float]]]]]) -> tuple[Trend, ...]:
    """Of the segments of a soak, each played once with its seed: how long it lasts, in ns, and by the names of
    QUANTITIES when each had which value."""
    slopes: dict[str, list[float]] = defaultdict(list)
    for lasts_ns, courses in segments:
        for name in QUANTITIES:
            from_ns = _WARM * lasts_ns
            later = [course for course in courses.get(name, ()) if course[0] >= from_ns]
            if len(later) >= _LEAST:
                slopes[name].append(_slope(later))
    return tuple(_trend(name, slopes[name]) for name in QUANTITIES if slopes[name])


def _slope(course: Sequence[tuple[int, float]]) -> float:
    """By least squares, in an hour."""
    at, values = np.array(course, float).T
    at = (at - at.mean()) / _NS_PER_HOUR
    return float(at @ (values - values.mean()) / (at @ at)) if at.any() else 0.0


def _trend(name: str, slopes: Sequence[float]) -> Trend:
    n = len(slopes)
    if n < RUNS_FOR_INTERVAL:
        why = f"{count(n, 'segment')}; an interval needs {RUNS_FOR_INTERVAL}"
        return Trend(name, QUANTITIES[name], tuple(slopes), None, why)
    every = np.array(slopes)
    left_out = (every.sum() - every) / (n - 1)
    interval = mean_interval(float(every.mean()), left_out, signed=True)
    return Trend(name, QUANTITIES[name], tuple(slopes), (interval.low, interval.high), "")
