# SPDX-License-Identifier: MIT
"""What the regression gate finds: how every figure and requirement went since the baseline, and what is gone."""

from dataclasses import dataclass
from enum import StrEnum

from rtqual.engine.analysis.figure.model import Figure, Group
from rtqual.engine.analysis.regression.origin import InputChange


class Course(StrEnum):
    """How something went, from the baseline to now."""

    WORSE = "worse"
    UNDECIDED = "undecided"  # cannot be judged
    CHANGED = "changed"  # different, and it is not known which way is better
    BETTER = "better"
    SAME = "same"  # equal, or no difference shown


@dataclass(frozen=True)
class Moved:
    """One figure, before and now, each over all runs that are compared."""

    group: Group
    figure: str
    course: Course
    before: Figure
    after: Figure
    reason: str
    exact: bool  # deterministic on both sides: seed against seed


@dataclass(frozen=True)
class RequirementCourse:
    """One requirement or need of one candidate, before and now; None: not asked."""

    board: str
    candidate: str
    requirement: str
    course: Course
    before: str | None  # as it was judged, in words that its clock supports
    after: str | None
    reason: str


@dataclass(frozen=True)
class LostSince:
    """What the baseline has and is not there now: a cell, runs of it, a figure."""

    group: Group
    what: str
    reason: str


@dataclass(frozen=True)
class Regressions:
    """Everything that `rtqual gate` prints."""

    before: str
    after: str
    figures: tuple[Moved, ...]
    answers: tuple[RequirementCourse, ...]
    lost: tuple[LostSince, ...]
    added: tuple[str, ...]  # cells and runs that the baseline lacks
    inputs: tuple[InputChange, ...]
    notes: tuple[str, ...]
    strict: bool = False  # what cannot be judged fails too

    def of(self, *courses: Course) -> list[Moved]:
        return [moved for moved in self.figures if moved.course in courses]

    def answered(self, *courses: Course) -> list[RequirementCourse]:
        return [answer for answer in self.answers if answer.course in courses]

    @property
    def failing(self) -> tuple[Course, ...]:
        return (Course.WORSE, Course.UNDECIDED) if self.strict else (Course.WORSE,)

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.of(*self.failing) or self.answered(*self.failing))
