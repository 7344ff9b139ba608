# SPDX-License-Identifier: MIT
"""The results of a tail analysis. Durations and levels are in nanoseconds. All are estimates, never bounds."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Estimated:
    """A figure with its 95 % interval; the upper end is math.inf where the samples give none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ReturnLevel:
    """What is passed on average once in `horizon_ns` of running: by one cluster of late samples, not one sample."""

    horizon_ns: float
    at: Estimated


@dataclass(frozen=True)
class Fitted:
    """Peaks over one threshold: a row of the stability table.

    The modified scale is scale - shape * threshold, which like the shape is the same for all thresholds that are
    high enough (Coles 2001, section 4.3.4).
    """

    threshold: float
    exceedances: int
    clusters: int
    apart: int  # samples at or below the threshold, more than which part two clusters
    extremal_index: float  # 1: exceedances come alone; 0.2: in clusters of five
    shape: Estimated
    modified_scale: Estimated
    level: Estimated  # at the horizon of the estimate


class Checked(StrEnum):
    """What an estimate rests on, each judged by its size."""

    SETTLED = "stability"
    SPIKES = "spikes"
    SHAPE = "fit"
    WEIGHT = "weight of the tail"
    HALVES = "half against half"
    RUNS = "run against run"
    BOUTS = "bouts"
    PEAKS = "independence of clusters"
    MAXIMA = "block maxima"


@dataclass(frozen=True)
class TailCheck:
    what: Checked
    passed: bool
    statement: str  # one sentence with the size found and the size allowed


class Why(StrEnum):
    """Reasons to refuse a tail estimate."""

    CLOCK = "not in real time"
    PROBLEMS = "records with problems"
    NO_INTERVAL = "sampling interval unknown"
    NO_ORDER = "order not recorded"
    FEW = "too few samples"
    COARSE = "steps too coarse"
    HORIZON = "beyond the samples"
    OBSERVED = "nothing to extrapolate"
    WIDE = "interval too wide"
    CHECKS = "diagnostics failed"


@dataclass(frozen=True)
class Observed:
    """What a tail analysis had: one thread's samples in all runs."""

    cpu: int | None  # None: not recorded
    runs: int
    samples: int
    interval_ns: int | None
    exposure_ns: float  # running time that the samples cover; 0 where it is not known

    @property
    def name(self) -> str:
        return "" if self.cpu is None else f"CPU {self.cpu}"


@dataclass(frozen=True)
class Estimate:
    observed: Observed
    method: str  # "peaks over threshold" or "block maxima of the runs"
    level: ReturnLevel
    chosen: Fitted | None  # None: from block maxima alone
    table: tuple[Fitted, ...]  # ascending thresholds
    curve: tuple[ReturnLevel, ...]  # for a return level plot: horizons ascending
    points: tuple[tuple[float, float], ...]  # (horizon, value) of the peaks observed
    maxima: ReturnLevel | None  # the same from block maxima
    blocks: int
    checks: tuple[TailCheck, ...]


@dataclass(frozen=True)
class Refusal:
    """Why there is no estimate for the horizon asked for; `instead` is for the longest that the samples support."""

    observed: Observed | None  # None: the whole group was refused
    why: Why
    reason: str  # one sentence with the figures
    instead: Estimate | None = None
    checks: tuple[TailCheck, ...] = ()
    table: tuple[Fitted, ...] = ()  # to see why, where thresholds were tried


@dataclass(frozen=True)
class Exceedance:
    """How often a requirement's limit was passed, and the exact upper bound of that share (95 %)."""

    requirement: str
    limit: float
    exceeding: int
    samples: int
    effective: float | None  # independent samples that these are worth; None: order not recorded
    bound: float  # probability a sample
    once_in_ns: float | None  # the bound in time; None: interval not known


@dataclass(frozen=True)
class Tails:
    """Of one group."""

    asked_ns: float
    threads: tuple[Estimate | Refusal, ...]
    exceedances: tuple[Exceedance, ...] = ()
