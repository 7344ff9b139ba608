# SPDX-License-Identifier: MIT
"""Candidates beside each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rtqual.engine.analysis.figure.model import Figure, Group


class Relation(StrEnum):
    """What may be said of one beside another."""

    LESS = "<"
    MORE = ">"
    EQUAL = "="  # within a margin that the mission states
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """Candidate `a` beside `b` in one statistic; effect sizes first."""

    a: Group
    b: Group
    statistic: str
    unit: str
    difference: Figure  # a - b
    ratio: Figure | None  # a / b; None where either is zero or negative: it has no meaning
    superiority: float | None  # P(a sample of a > a sample of b) + half the ties; 0.5 means no effect
    relation: Relation
    statement: str  # the same in words: "rt < stock", "rt = stock (within 2 us)", "undecided: " with `why`
    why: str = ""  # where it is undecided: what is missing
    margin: float | None = None  # in `unit`: a difference within it does not matter
    note: str = ""  # runs of other lengths, or fewer than planned
    emulated: bool = False  # either was not measured in real time: it ranks, it is no latency for flight

    @property
    def outcome(self) -> str:
        """The statement, without the reason why there is none."""
        return str(self.relation) if self.relation == Relation.UNDECIDED else self.statement


@dataclass(frozen=True)
class ShiftFunction:
    """How far candidate `a` lies from `b` at each quantile: where in their samples they differ."""

    a: Group
    b: Group
    unit: str
    differences: Mapping[str, Figure]  # quantile -> a - b, in ascending order
    margins: Mapping[str, float]  # quantile -> difference that does not matter; empty where the mission states none
    statement: str  # "rt < stock from p50 up", or "undecided: " with what is missing
    decided: bool = True  # at a quantile at least
