# SPDX-License-Identifier: MIT
"""The results of an analysis. Reports print these and compute nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rtqual.analysis.tails.model import Tails
from rtqual.record.schema import Int64Array, Kind, Timing


@dataclass(frozen=True)
class Interval:
    low: float  # -math.inf where the data give no lower end
    high: float  # math.inf where the data give no upper end
    method: str  # e.g. "order statistics of the runs"
    level: float = 0.95
    runs_to_close: int | None = None  # about so many would give an open end, if they spread like those measured


@dataclass(frozen=True)
class Figure:
    """A number to show, with its unit and sample count, and an interval or the reason why there is none."""

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

    def __str__(self) -> str:
        return f"{self.candidate}: {self.instrument}, load {self.load}, {self.cpus} CPU"


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
class Dependence:
    """How much the samples of a run tell of each other (dependence.py)."""

    lags: tuple[float, ...]  # rank correlation of a sample with that 1, 2, 3... samples later; none where all are alike
    effective: float  # independent samples that they are worth, to tell a median
    effective_late: float  # and to tell how often a sample is late
    samples: int


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
    caveats: tuple[str, ...] = ()  # what a reader must know and a verdict may stand: hypervisor, steal...
    series: tuple[str, ...] = ()  # what was sampled; figures of all but the first begin with their name
    absent: Mapping[str, str] = field(default_factory=dict)  # what the system does not offer, and why
    dependence: Dependence | None = None  # None: the order of the samples is not recorded, or the runs are short


@dataclass(frozen=True)
class Comparison:
    """Candidate `a` beside `b` in one statistic; effect sizes first."""

    a: Group
    b: Group
    statistic: str
    unit: str
    difference: Figure  # a - b
    ratio: Figure | None  # a / b; None where it has no meaning (one of them is zero or negative)
    superiority: float | None  # P(a sample of a > a sample of b) + half the ties; 0.5 means no effect
    statement: str  # "rt < stock", "rt = stock (within 2 us)", or "undecided: " with what is missing
    margin: float | None = None  # in `unit`: a difference within it does not matter


@dataclass(frozen=True)
class ShiftFunction:
    """How far candidate `a` lies from `b` at each quantile: where in their samples they differ."""

    a: Group
    b: Group
    unit: str
    differences: Mapping[str, Figure]  # quantile -> a - b, in ascending order
    margins: Mapping[str, float]  # quantile -> difference that does not matter; empty where the mission states none
    statement: str  # "rt < stock from p50 up", or "undecided: " with what is missing


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
    misses: int | None = None  # samples beyond the limit; None: the limit is not one on samples


@dataclass(frozen=True)
class Score:
    """One criterion for one candidate: 1 is the best candidate, less is that much worse (best / own)."""

    criterion: str
    candidate: str
    weight: float
    score: float | None  # None: no figure
    figure: Figure | None
    firm: bool = True  # an interval from enough runs, or a size; else it enters the score as measured


@dataclass(frozen=True)
class Standing:
    """A candidate's place. All are ranked by what was measured; those that may fly come first."""

    candidate: str
    may_fly: Outcome  # MET: every gate is met
    rank: int | None  # None: nothing to rank it by; equal where the figures do not tell two apart
    total: float | None  # weighted mean of the scores; None: nothing to compare with
    gates: tuple[Gate, ...]
    scores: tuple[Score, ...]
    refusals: tuple[str, ...]  # why no verdict is given on this candidate


@dataclass(frozen=True)
class Verdict:
    """What the records support on one kind of board: figures of two kinds are not ranked together."""

    board: str
    fly: str | None
    headline: str
    standings: tuple[Standing, ...]  # best first
    findings: tuple[str, ...]  # the candidates beside each other in each required figure
    would_change: tuple[str, ...]  # what would turn it
    caveats: tuple[str, ...]
    not_measured: tuple[str, ...] = ()  # requirements that the scale measures of nobody: of no gate, and nobody flies


@dataclass(frozen=True)
class Evidence:
    """Everything a report shows."""

    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[Verdict, ...]
    failures: Mapping[Group, str] = field(default_factory=dict)  # cells that gave no record, and why
    scale: str = ""  # of the mission, at which all was measured
    shifts: tuple[ShiftFunction, ...] = ()
    tails: Mapping[Group, Tails] = field(default_factory=dict)  # of groups whose samples have a rate
