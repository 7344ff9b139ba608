# SPDX-License-Identifier: MIT
"""Figures of what was measured, each with an interval or the reason why it has none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtqual.base.units import format_value
from rtqual.base.words import count, under
from rtqual.protocols.record.schema import Int64Array, SeriesKind, Timing


@dataclass(frozen=True, slots=True)
class Interval:
    low: float  # -math.inf where the data give no lower end
    high: float  # math.inf where the data give no upper end
    method: str  # e.g. "order statistics of the runs"
    level: float = 0.95
    runs_to_close: int | None = None  # about so many runs would close an open end, if they spread like those measured
    least: bool = False  # the runs do not differ: it is as wide as what the measurement can tell apart


@dataclass(frozen=True)
class Spread:
    """The runs of a group beside each other, by the median of each or by what the tool printed (spread.py)."""

    low: float
    high: float
    odd: int = 0  # runs that stand apart, where they are too few to show how often such come
    needed: int = 0  # about so many runs would show it


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must agree where groups are compared (comparable.py)."""

    parameters: Mapping[str, object] = field(default_factory=dict)
    lengths: tuple[float, ...] = ()  # samples of the shortest and the longest run; empty: not known
    rested: bool | None = None  # whether the candidate was waited for until its boot was over; None: no candidate boots
    battery: str = ""  # the state of the probe's battery in an image; empty: not known


@dataclass(frozen=True, slots=True)
class Figure:
    """A number to show, with its unit and sample count, and an interval or the reason why there is none."""

    value: float
    unit: str
    n: int  # samples it rests on
    runs: int
    interval: Interval | None = None
    why_no_interval: str = ""
    at_least: bool = False  # the value lies in an overflow: the true value is at least this
    binned: bool = False  # read from a tool's own bins
    largest_count: float | None = None  # in a run, where every run gives a count; None: it is no count
    spread: Spread | None = None  # of the runs it rests on; None: of one number a run nothing is known
    least: float = 0.0  # what the measurement can tell apart, in `unit`; 0: not known, or exact


@dataclass(frozen=True, order=True)
class Group:
    """What is compared with what: groups that differ in more than one of these are not comparable."""

    instrument: str
    load: str
    board: str
    cpus: int
    candidate: str

    @property
    def cell(self) -> tuple[str, str, str, int]:
        """What candidates that are compared have in common."""
        return self.instrument, self.load, self.board, self.cpus

    @property
    def title(self) -> str:
        """The same in words: 'cyclictest under hackbench, virtual board, 1 CPU'."""
        return f"{self.instrument} {under(self.load)}, {self.board} board, {count(self.cpus, 'CPU')}"

    def __str__(self) -> str:
        return f"{self.candidate}: {self.instrument}, load {self.load}, {self.cpus} CPU"


@dataclass(frozen=True)
class LostRun:
    """A run that gave no record, at least once; it may have given one when it was made again."""

    group: Group
    seed: int | None  # None: what is known tells of the group alone
    repeat: int
    played: int  # times in all
    reasons: tuple[str, ...]  # why it gave none, each time that it gave none
    died: (
        int  # times that the system under test hung, panicked or restarted: that counts against it, whatever came later
    )

    @property
    def why(self) -> str:
        return self.reasons[0] if self.reasons else "no reason is known"


@dataclass(frozen=True)
class LeftOut:
    """Runs of a group that were measured in the campaign's folder, and that its plan has no more."""

    group: Group
    seeds: tuple[int, ...]
    alike: bool  # with the same programs and settings as those of the plan
    worst: float | None  # their largest sample; None: they have none
    unit: str

    @property
    def text(self) -> str:
        """'4 runs of rt were measured here and are left out (seeds 7 to 10): worst 19.31 us'."""
        numbers = f"{min(self.seeds)} to {max(self.seeds)}" if len(self.seeds) > 1 else str(self.seeds[0])
        worst = "" if self.worst is None else f": worst {format_value(self.worst, self.unit)}"
        how = "" if self.alike else " with other programs or settings"
        verb = "was" if len(self.seeds) == 1 else "were"
        return (
            f"{count(len(self.seeds), 'run')} of {self.group.candidate}{how} {verb} measured in this folder and left "
            f"out (seed{'s' if len(self.seeds) > 1 else ''} {numbers}){worst}"
        )


@dataclass(frozen=True)
class Distribution:
    """Every value of a group and how often it came, all runs together; for plots and tables."""

    values: Int64Array
    counts: Int64Array
    unit: str
    kind: SeriesKind
    overflow: int = 0
    overflow_from: int | None = None


@dataclass(frozen=True)
class Dependence:
    """How the samples of a run depend on each other (dependence.py)."""

    lags: tuple[float, ...]  # rank correlation with the sample 1, 2, 3... later; empty where all are alike
    effective: float  # independent samples that they are worth, for a median
    effective_late: float  # and for how often a sample is late
    samples: int


@dataclass(frozen=True, slots=True)
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
    hypervisor: str = ""  # of the machine that was measured in real time; empty: none
    caveats: tuple[str, ...] = ()  # what a reader must know and a verdict may stand: hypervisor, steal...
    series: tuple[str, ...] = ()  # what was sampled; figures of all but the first begin with their name
    others: Mapping[str, Distribution] = field(default_factory=dict)  # of all but the first
    absent: Mapping[str, str] = field(default_factory=dict)  # what the system does not offer, and why
    conditions: Conditions = field(default_factory=Conditions)
    planned: int | None = None  # runs that the mission plans; None: not known
    seeds: tuple[int, ...] = ()  # of the runs
    lost: tuple[LostRun, ...] = ()  # runs that gave no record, at least once
    dependence: Dependence | None = None  # None: the order of the samples is not recorded, or the runs are short
