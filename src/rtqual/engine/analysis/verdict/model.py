# SPDX-License-Identifier: MIT
"""What the records support, requirement by requirement and candidate by candidate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rtqual.engine.analysis.figure.model import Figure


class Outcome(StrEnum):
    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"
    UNASKED = "no requirement"  # of a candidate: the mission has no requirement and no need, so that nothing is met
    INDICATIVE = "indicative"  # a limit in time, judged by counted instructions: it ranks, it clears nobody to fly


class Ground(StrEnum):
    """What the figures of a board can support."""

    FLIGHT = "real time"  # "fly"
    EMULATED = "counted instructions"  # "ranks first on the emulator"
    ACCEPTED = "counted instructions that the mission takes for time"  # "passes on the emulator", for CI
    PUBLISHED = "figures that a study printed"  # "fly", by that study's figures
    REFERENCE = "a machine that does not fly"  # nothing but a comparison

    @property
    def clears(self) -> bool:
        """Whether it can say "fly"."""
        return self in (Ground.FLIGHT, Ground.ACCEPTED, Ground.PUBLISHED)


_NEED = "need "  # begins a need's name, and that of nothing else (mission/load.py)


def need_name(need: str) -> str:
    return _NEED + need


@dataclass(frozen=True)
class Gate:
    """One requirement for one candidate."""

    requirement: str
    candidate: str
    outcome: Outcome
    measured: Figure | None  # None: read from the kernel's configuration, or refused
    limit: str  # as the mission states it
    reason: str  # one sentence with the figures
    misses: int | None = None  # samples beyond the limit; None: the limit does not apply to samples
    limit_value: float | None = None  # in the figure's unit
    lost: int = 0  # runs that the candidate did not end: they have no sample, and count against it
    lost_alone: bool = False  # not met by these runs alone: no sample of the others breaks the limit
    origin: Mapping[str, str] = field(default_factory=dict)  # id, parent, rationale, deviation, waiver, where stated
    in_runs: tuple[int, int] | None = None  # of a limit that one sample breaks: runs that broke it, and all runs
    on_emulator: Outcome | None = None  # of an INDICATIVE one: how the counted instructions stand to the limit

    @property
    def name(self) -> str:
        """Its name where it is plain that it is a need."""
        return self.requirement.removeprefix(_NEED)

    @property
    def is_need(self) -> bool:
        return self.requirement.startswith(_NEED)

    @property
    def seen(self) -> Outcome:
        """How the samples stand to the limit, whatever clock they were taken by."""
        return self.on_emulator or self.outcome


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
    """A candidate's place; those that may fly come first. Those that are out have no score and no rank."""

    candidate: str
    may_fly: Outcome  # MET: every gate is met, of one at least
    seen: Outcome  # the same by whatever clock: MET where only the emulator says so
    rank: int | None  # 1 and one for each that surely leads it; None: nothing to rank it by, or out
    total: float | None  # weighted geometric mean of the scores; None: nothing to compare with, or out
    gates: tuple[Gate, ...]
    scores: tuple[Score, ...]
    refusals: tuple[str, ...]  # why no verdict is given on this candidate

    @property
    def keeps(self) -> bool:
        """Nothing speaks against it by whatever clock, so that the criteria rank it."""
        return self.seen in (Outcome.MET, Outcome.UNASKED)

    @property
    def other_refusals(self) -> tuple[str, ...]:
        """Those that are not the reason of an undecided gate, which stands with its gate."""
        of_gates = {f"'{gate.requirement}': {gate.reason}" for gate in self.gates}
        return tuple(refusal for refusal in self.refusals if refusal not in of_gates)


@dataclass(frozen=True)
class Open:
    """What more runs of a cell could decide."""

    instrument: str
    load: str
    cpus: int
    why: str


@dataclass(frozen=True)
class Verdict:
    """What the records support on one kind of board: figures of two kinds are not ranked together."""

    board: str
    ground: Ground
    fly: str | None  # never by counted instructions
    first: str | None  # ranks first among those that keep every limit, if there is one, by whatever clock
    headline: str
    standings: tuple[Standing, ...]  # best first
    findings: tuple[str, ...]  # the candidates beside each other in each required figure
    would_change: tuple[str, ...]  # what would turn it
    caveats: tuple[str, ...]
    differs: tuple[
        str, ...
    ] = ()  # what its candidates do not have in common besides the kernel; stands below the headline
    scored: float | None = (
        None  # the share of the criteria's weight that the score rests on; None: there is no criterion
    )
    undecided: tuple[Open, ...] = ()
    not_measured: tuple[
        str, ...
    ] = ()  # requirements that the scale measures for no candidate: no gate judges them, and no candidate may fly
