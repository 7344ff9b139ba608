# SPDX-License-Identifier: MIT
"""The results of an analysis. Reports print these and compute nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rtqual.record.schema import Int64Array, Kind, Timing


@dataclass(frozen=True)
class Interval:
    low: float
    high: float  # math.inf where the data give no upper end
    method: str  # e.g. "order statistics", "bootstrap over runs"
    level: float = 0.95


@dataclass(frozen=True)
class Figure:
    """A number to show: never without a unit and a sample count, nor without an interval or the reason why not."""

    value: float
    unit: str
    n: int  # samples it rests on
    runs: int
    interval: Interval | None = None
    why_no_interval: str = ""
    at_least: bool = False  # the value lies in an overflow: the true one is at least this
    binned: bool = False  # read from a tool's own bins


@dataclass(frozen=True, order=True)
class Group:
    """What is compared with what: groups that differ in more than one of these are not comparable."""

    instrument: str
    load: str
    board: str
    cpus: int
    candidate: str


@dataclass(frozen=True)
class Distribution:
    """Every value of a group and how often it came, all runs together; for plots and tables."""

    values: Int64Array
    counts: Int64Array
    unit: str
    kind: Kind
    overflow: int = 0
    overflow_from: int | None = None


@dataclass(frozen=True)
class Summary:
    group: Group
    timing: Timing
    runs: int
    samples: int
    figures: Mapping[str, Figure]  # statistic -> figure, in the order to print
    distribution: Distribution | None  # None: the tool gave no samples
    per_cpu: Mapping[int, Mapping[str, Figure]] = field(default_factory=dict)
    run_maxima: tuple[float, ...] = ()  # the largest sample of each run
    problems: tuple[str, ...] = ()  # why a verdict must not rest on it


@dataclass(frozen=True)
class Comparison:
    """Candidate `a` beside `b` in one statistic; effect sizes first."""

    a: Group
    b: Group
    statistic: str
    unit: str
    difference: Figure  # a - b
    ratio: Figure  # a / b
    superiority: float | None  # P(a sample of a > a sample of b) + half the ties; 0.5 means no effect
    statement: str  # "a < b", "a > b", "undecided" with what is missing


class Outcome(StrEnum):
    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Gate:
    """One requirement for one candidate."""

    requirement: str
    candidate: str
    outcome: Outcome
    measured: Figure | None  # None: read from the kernel's configuration, or refused
    limit: str  # as the mission states it
    reason: str  # one sentence with the figures


@dataclass(frozen=True)
class Score:
    """One criterion for one candidate: 1 is the best candidate, less is that much worse (best / own)."""

    criterion: str
    candidate: str
    weight: float
    score: float | None  # None: no figure
    figure: Figure | None


@dataclass(frozen=True)
class Standing:
    candidate: str
    rank: int | None  # None: not ranked (a gate failed, or refused)
    total: float | None  # weighted mean of the scores
    gates: tuple[Gate, ...]
    scores: tuple[Score, ...]
    refusals: tuple[str, ...]  # why no verdict is given on this candidate


@dataclass(frozen=True)
class Verdict:
    """What the records support, for candidates on one kind of board (figures of two kinds are not ranked together)."""

    board: str
    fly: str | None
    headline: str
    standings: tuple[Standing, ...]  # best first
    would_change: tuple[str, ...]  # what would turn it
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """Everything a report shows."""

    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[Verdict, ...]
